"""Reads a trace file: finds its events, has them decoded part by part, and puts the Trace together."""

import gc
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, TimeoutError
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from traceview import processes
from traceview.errors import Cancelled, TraceError
from traceview.parsers import notices
from traceview.parsers.builder import Batch, Frames, Kinds, concat, finished
from traceview.parsers.careful import Careful, Outcome
from traceview.parsers.document import End, Start, find_events, read_end
from traceview.parsers.opening import Progress, by_category
from traceview.parsers.pool import Pool
from traceview.parsers.source import PlainText, Text, open_text
from traceview.parsers.splitter import learn_separator
from traceview.parsers.worker import Part
from traceview.trace import EventCounts, Trace

_SAMPLE = 256 << 10
_PART = 9 << 20  # what a worker gets at a time
_FIRST_PART = 1 << 20  # what is read here first, so that something shows while workers start
_PROGRESS_EVERY = 0.05  # seconds


def read(
    path: str | Path, progress: Callable[[Progress], None] | None, cancelled: Callable[[], bool] | None
) -> Trace:
    """The trace at `path`, read from the file itself; see opening.load."""
    text = open_text(path)
    try:
        with _paused_collector():
            return _Reading(text, progress, cancelled).run()
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}; copy it to another disk") from None
    finally:
        text.close()
        processes.dismiss()


@contextmanager
def _paused_collector() -> Iterator[None]:
    """Without the cyclic collector, which would walk millions of short-lived objects again and again.

    Reading is four times as fast without it. Nothing is left to collect: decoded events are in no cycles,
    and frames are no Python objects.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Reading:
    """One run over a text. Batches arrive in file order at `_take`."""

    def __init__(
        self,
        text: Text,
        progress: Callable[[Progress], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._text, self._progress, self._cancelled = text, progress, cancelled
        self._frames: list[Frames] = []
        self._kinds = Kinds()
        self._repaired: list[int] = []
        self._set_aside: list[int] = []
        self._header: dict[str, Any] = {}
        self._layout = "object"
        self._last_report = 0.0

    def run(self) -> Trace:
        """Read everything."""
        start = find_events(self._text, self._check)
        self._header = start.header
        self._layout = _layout(start.layout, start.header)
        sample = self._text.read_at(start.events_at, _SAMPLE)
        separator = learn_separator(sample)
        around = b"[" if start.layout == "array" else start.around
        careful = Careful(self._text, separator, self._take, around)
        outcome = Outcome(start.events_at)
        workers = processes.wanted(self._text.size, self._text.compression is not None)
        if separator and workers:
            outcome = self._read_parts(careful, separator, outcome.at, workers)
        if not outcome.closed and not outcome.ended:
            outcome = careful.read(outcome.at, check=self._check)
        end = read_end(self._text, outcome.at, start) if outcome.closed else End()
        return self._trace(start, outcome, end)

    def _read_parts(self, careful: Careful, separator: bytes, at: int, workers: int) -> Outcome:
        """Read part by part in worker processes, in order; what does not fit is read here, and the first.

        A part fits if it begins and ends with an event. It is known to begin with one if the part before
        it fits, so a cut at the wrong place is always noticed, and read over.
        """
        plain = isinstance(self._text, PlainText)
        first = self._plan(at, separator, _FIRST_PART)
        if first:
            outcome = careful.read(at, [first.end], self._check)
            if outcome.closed or outcome.ended:
                return outcome
            at = outcome.at
        pool = Pool(workers, self._text if isinstance(self._text, PlainText) else None, separator)
        waiting: deque[tuple[Part, Future[Batch | None]]] = deque()
        planned: int | None = at if len(pool) else None
        try:
            while True:
                while planned is not None and len(waiting) < 2 * len(pool):
                    part = self._plan(planned, separator, _PART)
                    planned = part.end if part else None
                    if part:
                        size = part.end - part.begin + len(separator)
                        data = b"" if plain else self._text.read_at(part.begin, size)
                        part.size = len(data)
                        waiting.append((part, pool.submit(part, data)))
                    self._check()
                if not waiting:
                    return Outcome(at)
                part, answer = waiting.popleft()
                batch = self._answer(answer)
                if batch is not None:
                    self._take(batch, part.end)
                    at = part.end
                    continue
                outcome = careful.read(at, [p.begin for p, _ in waiting] or [part.end], self._check)
                if outcome.closed or outcome.ended:
                    return outcome
                at = outcome.at
                waiting = deque(w for w in waiting if w[0].begin >= at)
        finally:
            pool.close()

    def _plan(self, begin: int, separator: bytes, size: int) -> Part | None:
        """A part of about `size` bytes from the event at `begin` to where another seems to begin.

        None where none does near that size: what is left is read here, without workers.
        """
        look = min(_SAMPLE, size)
        while look <= size:
            offset = begin + size - look
            cut = self._text.read_at(offset, look).rfind(separator)
            if cut >= 0:
                return Part(begin, offset + cut + separator.index(b"{"))
            look *= 8
        return None

    def _answer(self, answer: "Future[Batch | None]") -> Batch | None:
        while True:
            try:
                return answer.result(timeout=_PROGRESS_EVERY)
            except TimeoutError:
                self._check()

    def _check(self) -> None:
        if self._cancelled and self._cancelled():
            raise Cancelled

    def _take(self, batch: Batch, end: int) -> None:
        """The next batch in file order; the text before `end` is done with."""
        if batch.frames:
            self._frames.append(batch.frames)
        self._kinds.update(batch.kinds)
        self._repaired += batch.repaired
        self._set_aside += batch.set_aside
        self._text.forget(end)
        now = time.monotonic()
        if self._progress and now - self._last_report >= _PROGRESS_EVERY:
            self._last_report = now
            self._report(self._text.consumed(end))

    def _report(self, done: int) -> None:
        if self._progress:
            kinds = by_category((ph, cat, count) for (ph, cat), count in self._kinds.items())
            self._progress(Progress(done, self._text.size, self._kinds.total(), kinds, self._snapshot))

    def _snapshot(self) -> Trace | None:
        if not self._frames:
            return None
        kinds = Kinds(self._kinds)
        frames = finished(concat(list(self._frames)), kinds)
        counts = _counts(kinds, len(self._set_aside), len(self._repaired))
        return self._made(frames, counts, complete=False)

    def _trace(self, start: Start, outcome: Outcome, end: End) -> Trace:
        """The finished trace."""
        self._report(self._text.size)
        self._header = {**start.header, **end.header}
        self._layout = _layout(start.layout, self._header)
        batches = concat(self._frames)
        self._frames.clear()  # from here on each frame is let go as soon as it is copied together
        frames = finished(batches, self._kinds)
        repaired = sorted(set(self._repaired))
        if outcome.junk_at is not None:
            end.damaged_at = outcome.junk_at
        # An array may lack its closing bracket; other text that ends inside the list is cut off.
        whole = outcome.closed or outcome.junk_at is not None
        whole |= start.layout == "array" and outcome.cut_at is None
        broken_at = self._text.damaged_at
        if whole and broken_at is not None and not end.cut and end.damaged_at is None:
            end.damaged_at = broken_at  # behind the document: nothing of it is missing
            broken_at = None
        truncated = not whole or broken_at is not None
        counts = _counts(self._kinds, len(self._set_aside) + (outcome.cut_at is not None), len(repaired))
        found = [
            *notices.damage(repaired, self._set_aside, outcome.cut_at, outcome.at, truncated),
            *notices.surroundings(start, end),
        ]
        trace = self._made(frames, counts, not truncated)
        return replace(trace, notices=(*found, *notices.content(trace)))

    def _made(self, frames: dict[str, Any], counts: EventCounts, complete: bool) -> Trace:
        text = self._text
        return Trace(
            text.path, text.size, text.compression, self._layout, self._header, counts, complete, **frames
        )


def _counts(kinds: Kinds, set_aside: int, repaired: int) -> EventCounts:
    loaded = kinds.total()
    return EventCounts(loaded + set_aside, loaded, set_aside, repaired)


def _layout(form: str, header: dict[str, Any]) -> str:
    return "array" if form == "array" else "kineto" if "schemaVersion" in header else "object"
