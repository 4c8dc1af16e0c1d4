"""Worker processes (`traceview.processes`) that read parts of a large file at once.

A worker that cannot be started or dies costs speed only: its parts are reported as not fitting, and are
read by the caller.
"""

import os
import threading
from collections import deque
from concurrent.futures import Future
from contextlib import suppress

import msgspec
import polars as pl

from traceview import processes
from traceview.parsers.builder import Batch, Kinds
from traceview.parsers.source import PlainText
from traceview.parsers.worker import Answer, Part, Setup, receive, send


class Pool:
    """`count` workers; parts are given out in order, answers come as futures of a Batch or None."""

    def __init__(self, count: int, text: PlainText | None, separator: bytes) -> None:
        """`text`: what the workers can read for themselves; None where they are given the bytes."""
        file = None if text is None else (os.fsencode(text.path), *text.identity)
        self._setup = Setup(file, separator)
        self._waiting: deque[tuple[Part, bytes, Future[Batch | None]]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._processes = processes.started(count)
        self._alive = list(self._processes)
        for process in list(self._processes):
            try:
                threading.Thread(target=self._serve, args=(process,), daemon=True).start()
            except RuntimeError:  # the system lets no more threads start
                self._processes.remove(process)
                self._alive.remove(process)
                processes.end([process])

    def __len__(self) -> int:
        return len(self._processes)

    def submit(self, part: Part, data: bytes) -> "Future[Batch | None]":
        """Have a part read; `data` are its bytes where the workers have no file to read from."""
        future: Future[Batch | None] = Future()
        with self._changed:
            self._waiting.append((part, data, future))
            self._changed.notify()
        return future

    def close(self) -> None:
        """End the workers at once; parts not answered yet are answered None."""
        with self._changed:
            self._closed = True
            for _, _, future in self._waiting:
                future.set_result(None)
            self._waiting.clear()
            self._changed.notify_all()
        processes.end(self._processes)

    def _serve(self, process: processes.Process) -> None:
        """Feed one worker, in a thread: parts in, answers out."""
        assert process.stdin
        assert process.stdout
        dead = False
        try:
            send(process.stdin, self._setup)
        except OSError:
            dead = True
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    break
                part, data, future = self._waiting.popleft()
            batch = None
            if not dead:
                try:
                    send(process.stdin, part, data)
                    batch = _answer(process)
                except (OSError, EOFError, msgspec.MsgspecError, pl.exceptions.PolarsError):
                    dead = True
            future.set_result(batch)
            if dead and self._another_lives(process):
                break
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()

    def _another_lives(self, dead: processes.Process) -> bool:
        """Whether a worker is left for what waits; the last one's thread answers for all that are dead."""
        with self._changed:
            if dead in self._alive:
                self._alive.remove(dead)
            return bool(self._alive)


def _answer(process: processes.Process) -> Batch | None:
    assert process.stdout
    message = receive(process.stdout)
    if message is None:
        raise EOFError
    answer = msgspec.msgpack.decode(message, type=Answer)
    if not answer.fits:
        return None
    frames = {}
    for name, size in answer.sizes.items():
        blob = process.stdout.read(size)
        if len(blob) < size:
            raise EOFError
        frames[name] = pl.read_ipc_stream(blob)
    kinds = Kinds({(ph, cat): n for ph, cat, n in answer.kinds})
    return Batch(frames, kinds, answer.repaired, answer.set_aside)
