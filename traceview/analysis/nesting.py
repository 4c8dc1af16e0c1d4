"""Who encloses whom on a thread: parents by containment, and the innermost slice around a moment.

Slices have `begin_ns`, `dur_ns` and a `thread` code. On a thread they nest: sorted by begin, longest
first, file order last, the parent of a slice is the nearest earlier one that has not ended when it begins.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Clocks of whole microseconds let a child end a tick after its parent (the tolerance of TraceLens' tree).
SLACK_NS = 1_000
NONE = -1


@dataclass(frozen=True)
class Nest:
    """Slices in nesting order.

    row: each slice's row in its frame; begin, end: nanoseconds; thread: code; parent: position of the parent
    in this order (always an earlier one), -1 at the top; all of shape [slices]. parent_row: for each row of
    the frame the row of its parent, -1 where there is none, shape [rows].
    """

    row: Ints
    begin: Ints
    end: Ints
    thread: Ints
    parent: Ints
    parent_row: Ints

    def around(self, thread: Ints, at: Ints) -> Ints:
        """Rows of the innermost slices that hold the moments `at` on the threads `thread`; else -1.

        thread, at and the result have shape [m].
        """
        moments = pl.DataFrame({"thread": thread, "at": at}).with_row_index("i").sort("at")
        slices = pl.DataFrame({"thread": self.thread, "at": self.begin}).with_row_index("found")
        found = (
            moments.join_asof(
                slices.sort("at", maintain_order=True),
                on="at",
                by="thread",
                strategy="backward",
                check_sortedness=False,
            )
            .sort("i")["found"]
            .cast(pl.Int64)
            .fill_null(NONE)
            .to_numpy()
            .copy()
        )
        while True:
            over = found != NONE
            over[over] = self.end[found[over]] <= at[over]
            if not over.any():
                break
            found[over] = self.parent[found[over]]
        return np.where(found == NONE, NONE, self.row[found]) if len(self.row) else found


_NOTHING = np.zeros(0, dtype=np.int64)
NO_NEST = Nest(_NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING)


def nest(frame: pl.DataFrame) -> Nest:
    """The nesting of a frame with the columns id (row number), thread, begin_ns, dur_ns.

    Rows without a time, or with a negative duration, take no part.
    """
    usable = frame.filter(pl.col("begin_ns").is_not_null(), pl.col("dur_ns") >= 0).sort(
        "thread", "begin_ns", -pl.col("dur_ns"), "id", maintain_order=True
    )
    row = usable["id"].to_numpy()
    begin = usable["begin_ns"].to_numpy()
    end = begin + usable["dur_ns"].to_numpy()
    thread = usable["thread"].to_numpy()
    parent = _parents(begin, end, thread)
    parent_row = np.full(frame.height, NONE, dtype=np.int64)
    held = parent != NONE
    parent_row[row[held]] = row[parent[held]]
    return Nest(row, begin, end, thread, parent, parent_row)


def _parents(begin: Ints, end: Ints, thread: Ints) -> Ints:
    """Positions of the parents, for slices in nesting order.

    Each slice starts from its neighbour before it and jumps along the candidates of the slices it passes,
    which all ended before it began; every round at least doubles the distance of those still looking.
    """
    parent = np.arange(len(begin), dtype=np.int64) - 1
    looking = np.arange(len(begin), dtype=np.int64)
    while len(looking):
        candidate = parent[looking]
        known = candidate != NONE
        looking, candidate = looking[known], candidate[known]
        elsewhere = thread[candidate] != thread[looking]
        parent[looking[elsewhere]] = NONE
        over = ~elsewhere & (end[candidate] <= begin[looking])
        looking, candidate = looking[over], candidate[over]
        parent[looking] = parent[candidate]
    return _without_bleed(parent, end)


def _without_bleed(parent: Ints, end: Ints) -> Ints:
    """A slice that outlasts its parent by more than the tolerance belongs to the next one that holds it."""
    looking = np.flatnonzero(parent != NONE)
    while len(looking):
        out = end[parent[looking]] + SLACK_NS < end[looking]
        looking = looking[out]
        parent[looking] = parent[parent[looking]]
        looking = looking[parent[looking] != NONE]
    return parent


def chains(parent_row: Ints, rows: Ints) -> pl.DataFrame:
    """Each row, its parent, the parent of that, ...: `start` (the row itself) and `row`, from the inside out.

    parent_row as in Nest, without rings. One pass a level of nesting, over the chains still going up.
    """
    start, row, levels = rows, rows, []
    while len(row):
        levels.append(pl.DataFrame({"start": start, "row": row}))
        up = parent_row[row]
        start, row = start[up != NONE], up[up != NONE]
    return pl.concat(levels) if levels else pl.DataFrame(schema={"start": pl.Int64, "row": pl.Int64})
