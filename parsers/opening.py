"""Opening a trace: from its saved index, else from the file."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from traceview.parsers.cache import file_key, save, saved
from traceview.trace import Trace


@dataclass(frozen=True)
class Progress:
    """How far the reading is: bytes of the file on disk, events so far, and their number by category.

    `total_bytes` is 0 where it is not known (standard input). `kinds` has the phase for events without
    category.
    """

    done_bytes: int
    total_bytes: int
    events: int
    kinds: dict[str, int]
    snapshot: Callable[[], Trace | None] | None = field(default=None, repr=False, compare=False)

    def partial(self) -> Trace | None:
        """The trace as far as it is read by now; from an index, the whole trace.

        None before the first event and once the reading is over. Takes some milliseconds for each 100 MB
        read; may be called from any thread.
        """
        return self.snapshot() if self.snapshot else None


def load(
    path: str | Path,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    use_cache: bool = True,
) -> Trace:
    """Read the trace at `path` ("-": standard input), or its saved index, which is made the first time.

    `progress` is called now and then from this thread, at most 20 times a second; `cancelled` is asked
    as often, and stops the reading with `Cancelled`. `use_cache=False` neither reads nor writes an
    index. Raises TraceError where nothing can be read.
    """
    name, rebuilt = str(path), None
    key = None
    if use_cache and name != "-" and os.path.isfile(name):
        with suppress(OSError):  # the reading says why
            key = file_key(name)
    if key:
        trace, rebuilt = saved(name, key)
        if trace:
            if progress:
                progress(_progress(trace))
            return trace
    # Imported here: a trace that comes from its index needs none of it.
    from traceview.parsers.loader import read

    trace = read(path, progress, cancelled)
    if key:
        save(trace, key)
    return replace(trace, notices=(*trace.notices, rebuilt)) if rebuilt else trace


def _progress(trace: Trace) -> Progress:
    """The progress of a trace that is there."""
    kinds = by_category(trace.kinds.iter_rows())
    return Progress(trace.bytes, trace.bytes, trace.events.loaded, kinds, lambda: trace)


def by_category(counts: Iterable[tuple[str, str, int]]) -> dict[str, int]:
    """Numbers of events (ph, cat, count) by category, or by phase where there is none."""
    kinds: dict[str, int] = {}
    for ph, cat, count in counts:
        kinds[cat or ph] = kinds.get(cat or ph, 0) + count
    return kinds
