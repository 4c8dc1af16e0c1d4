"""Interval sums against counting, moment by moment."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from traceview.analysis.intervals import busy, covered_until, exposed, merged

# (device, kind, begin, length) on a short axis, so that overlaps, touching and zero lengths are common.
SPANS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.integers(0, 20), st.integers(0, 8)), max_size=12
)
Rows = list[tuple[int, str, int, int]]


def frame_of(rows: Rows) -> pl.DataFrame:
    schema = {"device": pl.Int64, "kind": pl.String, "begin_ns": pl.Int64, "dur_ns": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def active(rows: Rows, moment: int) -> set[tuple[int, str]]:
    """(device, kind) of what runs in [moment, moment + 1)."""
    return {(device, kind) for device, kind, begin, length in rows if begin <= moment < begin + length}


@given(SPANS)
def test_busy_is_the_number_of_moments_with_work_and_never_above_the_sum(rows: Rows) -> None:
    found = dict(busy(frame_of(rows), ["device"]).iter_rows())
    for device in {row[0] for row in rows}:
        moments = sum(any(d == device for d, _ in active(rows, t)) for t in range(30))
        assert found[device] == moments
        assert found[device] <= sum(row[3] for row in rows if row[0] == device)


@given(SPANS)
def test_merged_intervals_are_apart_and_in_order(rows: Rows) -> None:
    for _, part in merged(frame_of(rows), ["device"]).group_by("device"):
        ends = (part["begin_ns"] + part["dur_ns"]).to_list()
        assert all(end < begin for end, begin in zip(ends, part["begin_ns"].to_list()[1:], strict=False))


@given(SPANS)
def test_exposed_is_the_number_of_moments_with_that_kind_alone(rows: Rows) -> None:
    found = dict(exposed(frame_of(rows), "device", "kind").iter_rows())
    for kind in {row[1] for row in rows}:
        alone = 0
        for t in range(30):
            running = active(rows, t)
            alone += sum({k for d, k in running if d == device} == {kind} for device in range(3))
        assert found[kind] == alone


@given(SPANS, st.lists(st.integers(-5, 35), max_size=6))
def test_covered_until_is_the_count_of_covered_moments(rows: Rows, at: list[int]) -> None:
    begin = np.array([row[2] for row in rows], dtype=np.int64)
    end = begin + np.array([row[3] for row in rows], dtype=np.int64)
    wanted = [
        sum(max(0, min(e, t) - b) for b, e in zip(begin.tolist(), end.tolist(), strict=True)) for t in at
    ]
    assert covered_until(begin, end, np.array(at, dtype=np.int64)).tolist() == wanted
