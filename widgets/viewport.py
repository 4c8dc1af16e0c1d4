"""Zoom, pan, bin and hit-test on a time axis: functions of numbers that know no screen.

Times are whole nanoseconds. A lane's events may overlap (kernels of one stream can, with programmatic
dependent launch): each then counts only where no earlier one runs, so that no lane is more than busy.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SHORTEST_NS = 20  # a view is never narrower: the GPU's clock ticks in tens of nanoseconds


@dataclass(frozen=True)
class View:
    """The part of the time axis that is on the screen: from `begin` up to `end`, within `low` and `high`."""

    begin: int
    end: int
    low: int
    high: int

    @property
    def span(self) -> int:
        """Nanoseconds that are seen."""
        return self.end - self.begin


def whole(low: int, high: int) -> View:
    """Everything between two times, at least `SHORTEST_NS`."""
    high = max(high, low + SHORTEST_NS)
    return View(low, high, low, high)


def moved_to(view: View, begin: int, span: int) -> View:
    """The view of `span` nanoseconds from `begin`, pushed back inside the limits."""
    span = max(min(SHORTEST_NS, view.high - view.low), min(span, view.high - view.low))
    begin = max(view.low, min(begin, view.high - span))
    return View(begin, begin + span, view.low, view.high)


def zoomed(view: View, factor: float, anchor: int) -> View:
    """A view `factor` times as long (below 1: closer) in which `anchor` stays where it was."""
    span = max(1, round(view.span * factor))
    span = max(min(SHORTEST_NS, view.high - view.low), min(span, view.high - view.low))
    place = (anchor - view.begin) / view.span
    return moved_to(view, round(anchor - place * span), span)


def panned(view: View, ns: int) -> View:
    """The view `ns` later (earlier where negative), as far as there is anything."""
    return moved_to(view, view.begin + ns, view.span)


def shown(view: View, time: int, margin: float = 0.1) -> View:
    """The view moved no more than it must for `time` to be in it, a `margin` of the view off its edges."""
    edge = round(view.span * margin)
    if time < view.begin + edge:
        return moved_to(view, time - edge, view.span)
    if time >= view.end - edge:
        return moved_to(view, time + edge - view.span + 1, view.span)
    return view


def column_of(view: View, time: int, columns: int) -> int:
    """The column in which `time` falls; below 0 or from `columns` on where it is out of sight."""
    return (time - view.begin) * columns // view.span


def time_of(view: View, column: int, columns: int) -> int:
    """The time at the middle of a column."""
    return view.begin + (2 * column + 1) * view.span // (2 * columns)


def bin_edges(view: View, bins: int) -> Ints:
    """The `bins` + 1 times that cut the view into equal parts (to the nanosecond)."""
    return view.begin + np.arange(bins + 1, dtype=np.int64) * view.span // bins


@dataclass(frozen=True)
class Lane:
    """Events of one lane in order of their begin; all arrays have one entry an event.

    `begin` and `end` are the events' own, `latest` the latest end so far. `colour` is a small number, `key`
    is alike for events of one kernel, `row` is the caller's name for an event.
    """

    begin: Ints
    end: Ints
    latest: Ints
    colour: Ints
    key: Ints
    row: Ints
    by_colour: tuple[tuple[int, "Sums"], ...]


@dataclass(frozen=True)
class Sums:
    """Disjoint spans in order, and the time in all spans before each."""

    from_: Ints
    to: Ints
    before: Ints


def lane_of(begin: Ints, duration: Ints, colour: Ints, key: Ints, row: Ints) -> Lane:
    """Sorts the events of a lane and prepares what binning needs. Durations are not negative."""
    order = np.lexsort((-duration, begin))
    begin, colour, key, row = begin[order], colour[order], key[order], row[order]
    end = begin + duration[order]
    latest = np.maximum.accumulate(end)
    from_ = begin.copy()
    from_[1:] = np.maximum(begin[1:], latest[:-1])
    parts = tuple(
        (int(number), _sums(from_[colour == number], latest[colour == number]))
        for number in np.unique(colour)
    )
    return Lane(begin, end, latest, colour, key, row, parts)


def _sums(from_: Ints, to: Ints) -> Sums:
    to = np.maximum(from_, to)
    return Sums(from_, to, np.concatenate([[0], np.cumsum(to - from_)]).astype(np.int64))


def busy_until(sums: Sums, times: Ints) -> Ints:
    """Nanoseconds of the spans that lie before each of `times` (prefix sums: exact at any zoom)."""
    started = np.searchsorted(sums.from_, times)
    if not len(sums.to):
        return np.zeros(len(times), dtype=np.int64)
    beyond = np.maximum(0, sums.to[np.maximum(started - 1, 0)] - times)
    return np.where(started > 0, sums.before[started] - beyond, 0)


def binned(lane: Lane, edges: Ints) -> tuple[Floats, Ints]:
    """For each bin the busy fraction, and the colour that fills most of it (-1: nothing is there).

    An event of no length has its colour where nothing else is.
    """
    bins = len(edges) - 1
    most = np.zeros(bins, dtype=np.int64)
    total = np.zeros(bins, dtype=np.int64)
    colour = np.full(bins, -1, dtype=np.int64)
    for number, sums in lane.by_colour:
        filled = np.diff(busy_until(sums, edges))
        colour[filled > most] = number
        most = np.maximum(most, filled)
        total += filled
    first = np.searchsorted(lane.begin, edges)
    alone = np.flatnonzero((colour < 0) & (np.diff(first) > 0))
    colour[alone] = lane.colour[first[alone]]
    return total / np.maximum(1, np.diff(edges)), colour


def event_at(lane: Lane, time: int, slack: int = 0) -> int | None:
    """The event that runs at `time`, the latest begun of several; else the nearest within `slack`."""
    before = int(np.searchsorted(lane.begin, time, side="right")) - 1
    # A longer one that began earlier may still run: not before the first whose latest end is after `time`.
    first = int(np.searchsorted(lane.latest, time, side="right"))
    running = np.flatnonzero(lane.end[first : before + 1] > time)
    if len(running):
        return first + int(running[-1])
    near = [event for event in (before, before + 1) if 0 <= event < len(lane.begin)]
    distance = {e: max(int(lane.begin[e]) - time, time - int(lane.end[e]) + 1) for e in near}
    nearest = min(near, key=distance.__getitem__, default=None)
    return nearest if nearest is not None and distance[nearest] <= slack else None


def gap_at(lane: Lane, time: int, view: View) -> tuple[int, int]:
    """The idle span around `time`, from the end of the work before it to the begin of the next.

    Where there is none on a side, it reaches to the limit of the view's axis.
    """
    after = int(np.searchsorted(lane.begin, time, side="right"))
    begin = int(lane.latest[after - 1]) if after else view.low
    end = int(lane.begin[after]) if after < len(lane.begin) else view.high
    return begin, max(begin, end)
