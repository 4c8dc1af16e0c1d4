"""Parents against a stack that is walked slice by slice."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from traceview.analysis import nesting
from traceview.analysis.nesting import NONE, chains, nest

# (thread, begin, length); lengths around the tolerance, so that bleeding children are common.
TICK = nesting.SLACK_NS // 2
SLICES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12), st.integers(0, 10)), max_size=14)
Rows = list[tuple[int, int, int]]


def frame_of(rows: Rows) -> pl.DataFrame:
    columns = {
        "id": list(range(len(rows))),
        "thread": [row[0] for row in rows],
        "begin_ns": [row[1] * TICK for row in rows],
        "dur_ns": [row[2] * TICK for row in rows],
    }
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))


def by_stack(rows: Rows) -> list[int]:
    """Parents by the textbook: a stack for each thread, from which what has ended is taken off.

    What a slice outlasts by more than the tolerance is taken off too.
    """
    parent = [NONE] * len(rows)
    for thread in {row[0] for row in rows}:
        mine = [i for i, row in enumerate(rows) if row[0] == thread]
        stack: list[int] = []
        for i in sorted(mine, key=lambda i: (rows[i][1], -rows[i][2], i)):
            begin, end = rows[i][1] * TICK, (rows[i][1] + rows[i][2]) * TICK
            while stack:
                top = (rows[stack[-1]][1] + rows[stack[-1]][2]) * TICK
                if begin < top and end <= top + nesting.SLACK_NS:
                    break
                stack.pop()
            parent[i] = stack[-1] if stack else NONE
            stack.append(i)
    return parent


@given(SLICES)
def test_parents_are_those_of_a_stack(rows: Rows) -> None:
    assert nest(frame_of(rows)).parent_row.tolist() == by_stack(rows)


@given(SLICES)
def test_a_parent_begins_before_its_child_and_holds_it_up_to_the_tolerance(rows: Rows) -> None:
    for child, parent in enumerate(nest(frame_of(rows)).parent_row.tolist()):
        if parent != NONE:
            (thread, begin, length), (other, opens, whole) = rows[child], rows[parent]
            assert thread == other
            assert opens <= begin < opens + whole
            assert (begin + length) * TICK <= (opens + whole) * TICK + nesting.SLACK_NS


@given(SLICES, st.lists(st.tuples(st.integers(0, 1), st.integers(-1, 25)), max_size=8))
def test_what_is_around_a_moment_is_the_last_to_open_of_those_that_hold_it(
    rows: Rows, moments: list[tuple[int, int]]
) -> None:
    found = nest(frame_of(rows)).around(
        np.array([m[0] for m in moments], dtype=np.int64),
        np.array([m[1] * TICK for m in moments], dtype=np.int64),
    )
    for (thread, at), row in zip(moments, found.tolist(), strict=True):
        holding = [
            (begin, -length, i)
            for i, (t, begin, length) in enumerate(rows)
            if t == thread and begin <= at < begin + length
        ]
        assert row == (max(holding)[2] if holding else NONE)


@given(SLICES)
def test_chains_end_at_the_top_and_never_come_back(rows: Rows) -> None:
    parent = nest(frame_of(rows)).parent_row
    for _, chain in chains(parent, np.arange(len(rows))).group_by("start"):
        path = chain["row"].to_list()
        assert len(path) == len(set(path))
        assert parent[path[-1]] == NONE
