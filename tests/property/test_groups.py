"""Whatever the launches: groups, families and every level of the tree add up to the same total."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.traces import Event, frame, kernel, launch, op, opened, steps
from traceview.analysis.groups import GROUPINGS
from traceview.selection import EVERYTHING

NAMES = st.sampled_from(["gemm_a", "gemm_b", "ncclDevKernel_AllReduce", "", "x" * 200, "copy<[/red]|>"])
LAUNCH = st.tuples(
    NAMES,
    st.integers(-1, 30),  # duration; -1 has no end
    st.sampled_from([None, [1, 1, 1], [8, 2, 1]]),
    st.sampled_from([None, [[8, 16], []], [[9]]]),
    st.sampled_from([None, "aten::mm", "aten::copy_"]),
)


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Launches one after another, some in ops and frames, some in two steps."""
    found: list[Event] = steps(0, 300, dur=300) if draw(st.booleans()) else []
    for i, (name, length, grid, dims, of) in enumerate(draw(st.lists(LAUNCH, max_size=12))):
        at = 50 * i
        if of is not None:
            found += [frame(f"model.py({i % 2}): f", at, 40, i + 1), op(of, at + 1, 30, i + 1, dims=dims)]
        found.append(
            launch(at + 5, i + 1, name=draw(st.sampled_from(["cudaLaunchKernel", "hipGraphLaunch"])))
        )
        found.append(kernel(name, at + 15, length, i + 1, grid=grid, stream=i % 2))
    return found


@given(events())
def test_groups_hold_every_launch_once_in_the_order_of_their_sums_and_names(found: list[Event]) -> None:
    asked = opened(found)
    total, calls = asked.gpu()["sum_ns"], asked.work.height
    for table in (asked.groups(), asked.families()):
        assert (table["sum_ns"].sum(), table["calls"].sum()) == (total, calls)
        if total:
            assert table["share"].sum() == pytest.approx(1)
    rows = [(-group["sum_ns"], group["name"]) for group in asked.groups().iter_rows(named=True)]
    assert rows == sorted(rows)


@given(events(), st.sampled_from(sorted(GROUPINGS)))
def test_every_row_of_the_tree_is_the_sum_of_the_rows_below(found: list[Event], grouping: str) -> None:
    asked = opened(found)

    def descend(path: tuple[Any, ...], total: int, calls: int) -> None:
        level = asked.tree(EVERYTHING, grouping, path)
        assert (level["sum_ns"].sum(), level["calls"].sum()) == (total, calls)
        assert level["sum_ns"].to_list() == sorted(level["sum_ns"], reverse=True)
        for row in level.iter_rows(named=True):
            below = (*path, row["key"])
            work = asked.path_work(EVERYTHING, grouping, below)
            assert (work.filter("timed")["dur_ns"].sum(), work.height) == (row["sum_ns"], row["calls"])
            if row["expandable"]:
                descend(below, row["sum_ns"], row["calls"])

    descend((), asked.gpu()["sum_ns"], asked.work.height)


@given(events())
def test_statistics_are_those_of_the_launches(found: list[Event]) -> None:
    asked = opened(found)
    for group in asked.groups().iter_rows(named=True):
        work = asked.work.filter(pl.col("group") == group["group"])
        durations = sorted(work.filter("timed")["dur_ns"])
        assert group["calls"] == work.height
        if not durations:
            assert (group["sum_ns"], group["mean_ns"], group["p50_ns"]) == (0, None, None)
            continue
        middle = durations[(len(durations) - 1) // 2], durations[len(durations) // 2]
        assert (group["min_ns"], group["max_ns"]) == (durations[0], durations[-1])
        assert group["p50_ns"] == round(sum(middle) / 2)
        assert group["mean_ns"] == round(sum(durations) / len(durations))
        assert durations[0] <= group["p50_ns"] <= group["p95_ns"] <= durations[-1]
