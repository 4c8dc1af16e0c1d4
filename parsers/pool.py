"""Worker processes that read parts of a large file at once.

They are started with `subprocess`, not `multiprocessing`, whose start fails inside a running Textual
app. A worker that cannot be started or dies costs speed only: its parts are reported as not fitting, and
are read by the caller.
"""

import os
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future
from contextlib import suppress

import msgspec
import polars as pl

from traceview.parsers.builder import Batch, Kinds
from traceview.parsers.worker import Answer, Part, Setup, receive, send

# One worker a core, so threads of the libraries would only take turns, and OpenBLAS's wait by spinning. And
# glibc keeps the memory of one block for the next, instead of giving it back and having it cleared again: a
# tenth of the time.
_ENVIRONMENT = {
    "POLARS_MAX_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(16 << 20),
}
_COMMAND = "import sys; sys.path[:] = {path!r}; from traceview.parsers.worker import main; main()"


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """`count` workers; parts are given out in order, answers come as futures of a Batch or None."""

    def __init__(self, count: int, path: str | None, separator: bytes | None) -> None:
        self._path, self._separator = path, separator
        self._waiting: deque[tuple[Part, bytes, Future[Batch | None]]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._processes: list[subprocess.Popen[bytes]] = []
        self._alive: list[subprocess.Popen[bytes]] = []
        command = [sys.executable, "-c", _COMMAND.format(path=[p or os.getcwd() for p in sys.path])]
        for _ in range(count if sys.executable else 0):
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    env={**os.environ, **_ENVIRONMENT},
                )
            except (OSError, ValueError):
                break
            self._processes.append(process)
            self._alive.append(process)
            threading.Thread(target=self._serve, args=(process,), daemon=True).start()

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
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def _serve(self, process: "subprocess.Popen[bytes]") -> None:
        """Feed one worker, in a thread: parts in, answers out."""
        assert process.stdin
        assert process.stdout
        dead = False
        try:
            send(process.stdin, Setup(self._path, self._separator))
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

    def _another_lives(self, dead: "subprocess.Popen[bytes]") -> bool:
        """Whether a worker is left for what waits; the last one's thread answers for all that are dead."""
        with self._changed:
            if dead in self._alive:
                self._alive.remove(dead)
            return bool(self._alive)


def _answer(process: "subprocess.Popen[bytes]") -> Batch | None:
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
