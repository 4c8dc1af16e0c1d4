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
    """Slices in nesting order with their parents.

    row: the slice's row in its frame, shape [n]; begin, end: nanoseconds; thread: code; parent: position in
    this order, -1 at the top; position: where a frame's row stands in this order (-1: not in it).
    """

    row: Ints
    begin: Ints
    end: Ints
    thread: Ints
    parent: Ints
    position: Ints

    def around(self, thread: Ints, at: Ints) -> Ints:
        """Rows of the innermost slices that hold the moments `at` on the threads `thread`; -1 where none does.

        thread and at have shape [m]; the result too.
        """
        moments = pl.DataFrame({"thread": thread, "at": at}).with_row_index("i").sort("at")
        slices = pl.DataFrame({"thread": self.thread, "at": self.begin}).with_row_index("found")
        found = (
            moments.join_asof(slices.sort("at", maintain_order=True), on="at", by="thread", strategy="backward", check_sortedness=False)
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

    def parents_of(self, rows: Ints) -> Ints:
        """Rows of the parents of `rows`, -1 where there is none. rows may hold -1. Shape [m] to [m]."""
        if not len(self.row):
            return np.full(len(rows), NONE)
        position = np.where(rows == NONE, NONE, self.position[rows])
        parent = np.where(position == NONE, NONE, self.parent[position])
        return np.where(parent == NONE, NONE, self.row[parent])


def nest(frame: pl.DataFrame) -> Nest:
    """The nesting of a frame with the columns id (row number), thread, begin_ns, dur_ns.

    Rows without a time, or with a negative duration, take no part.
    """
    rows = frame.height
    usable = frame.filter(pl.col("begin_ns").is_not_null(), pl.col("dur_ns") >= 0).sort(
        "thread", "begin_ns", -pl.col("dur_ns"), "id", maintain_order=True
    )
    row = usable["id"].to_numpy()
    begin = usable["begin_ns"].to_numpy()
    end = begin + usable["dur_ns"].to_numpy()
    thread = usable["thread"].cast(pl.Int64).to_numpy()
    position = np.full(rows, NONE, dtype=np.int64)
    position[row] = np.arange(len(row))
    return Nest(row, begin, end, thread, _parents(begin, end, thread), position)


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


def chains(nesting: Nest, rows: Ints) -> list[Ints]:
    """The rows themselves, their parents, the parents of these, ...: one array a level, -1 past the top."""
    levels = []
    while (rows != NONE).any():
        levels.append(rows)
        rows = nesting.parents_of(rows)
    return levels
