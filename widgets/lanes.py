"""Events made ready for the timeline: split by lane, sorted, findable by id and by kernel."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from traceview.units import safe_text
from traceview.widgets.viewport import Ints, Lane, lane_of


@dataclass(frozen=True)
class LaneLabel:
    """A lane in the order to show it. `key` is its number in the frame's column `lane`."""

    key: int
    label: str


@dataclass(frozen=True, eq=False)
class Drawing:
    """What the timeline draws; `prepare` makes it. `ids` and `names` go by a lane's `row`."""

    labels: tuple[LaneLabel, ...] = ()
    lanes: tuple[Lane, ...] = ()
    families: tuple[str, ...] = ()
    ids: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    names: pl.Series | None = None

    def extent(self) -> tuple[int, int]:
        """The first begin and the last end; (0, 0) where there is no event."""
        filled = [lane for lane in self.lanes if len(lane.begin)]
        low = min((int(lane.begin[0]) for lane in filled), default=0)
        return low, max((int(lane.latest[-1]) for lane in filled), default=low)

    def name(self, lane: Lane, event: int) -> str:
        """The safe name of an event by its place in a lane; empty where the frame had no names."""
        return "" if self.names is None else safe_text(str(self.names[int(lane.row[event])]))

    def find(self, row_id: int) -> tuple[int, int] | None:
        """The number of the lane and the place in it of the event with this id."""
        rows = np.flatnonzero(self.ids == row_id)
        for number, lane in enumerate(self.lanes):
            found = np.flatnonzero(np.isin(lane.row, rows))
            if len(found):
                return number, int(found[0])
        return None

    def next_of_kernel(self, key: int, time: int, direction: int) -> tuple[int, int] | None:
        """Begin, and number of the lane, of the nearest event of kernel `key` after (before) `time`."""
        found = []
        for number, lane in enumerate(self.lanes):
            begins = lane.begin[lane.key == key]
            begins = begins[begins > time] if direction > 0 else begins[begins < time]
            if len(begins):
                found.append((int(begins[0] if direction > 0 else begins[-1]), number))
        if not found:
            return None
        return min(found) if direction > 0 else max(found)


def prepare(labels: Sequence[LaneLabel], frame: pl.DataFrame, families: Sequence[str]) -> Drawing:
    """Splits events by lane and sorts them; takes a second for millions, so call it beside the interface.

    `frame` has the columns lane (a key of `labels`), begin_ns, dur_ns, colour (a number in `families`),
    row_id and, where there are, key (alike for events of one kernel; else the colour counts) and name. Events
    without begin or duration cannot be drawn and are left out, as are those of other lanes.
    """
    known = frame.filter(pl.col("begin_ns").is_not_null() & (pl.col("dur_ns") >= 0))
    kernel = "key" if "key" in known.columns else "colour"
    lane, begin, duration, colour, key, ids = (
        known.get_column(name).cast(pl.Int64).to_numpy()
        for name in ("lane", "begin_ns", "dur_ns", "colour", kernel, "row_id")
    )
    lanes = []
    for label in labels:
        here = np.flatnonzero(lane == label.key)
        lanes.append(lane_of(begin[here], duration[here], colour[here], key[here], here))
    names = known.get_column("name") if "name" in known.columns else None
    return Drawing(tuple(labels), tuple(lanes), tuple(families), ids, names)
