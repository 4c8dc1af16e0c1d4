"""The time axis as numbers: zoom, pan, bins and what is under the cursor, checked against plain counting."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview.widgets import viewport
from traceview.widgets.viewport import View, binned, event_at, gap_at, lane_of

EVENTS = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 40), st.integers(0, 3)), min_size=0, max_size=25
)


def lane(events: list[tuple[int, int, int]]) -> viewport.Lane:
    columns = np.array(events, dtype=np.int64).reshape(-1, 3).T
    return lane_of(columns[0], columns[1], columns[2], columns[2], np.arange(len(events), dtype=np.int64))


@given(EVENTS, st.integers(1, 40))
def test_a_bin_is_busy_as_long_as_some_event_runs_in_it(
    events: list[tuple[int, int, int]], bins: int
) -> None:
    view = viewport.whole(0, 240)
    edges = viewport.bin_edges(view, bins)
    busy, _ = binned(lane(events), edges)
    runs = np.zeros(240)
    for begin, duration, _colour in events:
        runs[begin : begin + duration] = 1
    expected = [runs[a:b].mean() for a, b in pairwise(edges)]
    assert busy == pytest.approx(expected)


def test_a_bin_has_the_colour_that_fills_most_of_it() -> None:
    work = lane([(0, 3, 1), (3, 6, 2), (20, 10, 1), (45, 0, 3)])
    busy, colour = binned(work, np.array([0, 10, 20, 30, 40, 50]))
    assert busy.tolist() == [0.9, 0.0, 1.0, 0.0, 0.0]
    assert colour.tolist() == [2, -1, 1, -1, 3]  # an event of no length is still there


def test_an_event_longer_than_a_bin_fills_every_bin_that_it_runs_in() -> None:
    busy, _ = binned(lane([(5, 100, 0)]), np.arange(0, 121, 10))
    assert busy.tolist() == [0.5, *[1.0] * 9, 0.5, 0.0]


@given(EVENTS, st.integers(0, 240))
def test_the_latest_begun_of_the_running_events_is_under_the_cursor(
    events: list[tuple[int, int, int]], time: int
) -> None:
    work = lane(events)
    found = event_at(work, time)
    running = [begin for begin, duration, _ in events if begin <= time < begin + duration]
    if running:
        assert found is not None
        assert work.begin[found] == max(running)
    else:
        assert found is None


def test_near_misses_count_within_the_slack() -> None:
    work = lane([(0, 10, 0), (30, 10, 0)])
    assert event_at(work, 12) is None
    assert event_at(work, 12, slack=5) == 0
    assert event_at(work, 28, slack=5) == 1
    assert event_at(lane([]), 5, slack=5) is None


def test_a_gap_reaches_from_the_work_before_to_the_work_after() -> None:
    view = viewport.whole(0, 100)
    work = lane([(10, 30, 0), (15, 5, 0), (60, 10, 0)])
    assert gap_at(work, 50, view) == (40, 60)
    assert gap_at(work, 5, view) == (0, 10)
    assert gap_at(work, 90, view) == (70, 100)
    assert gap_at(lane([]), 50, view) == (0, 100)


VIEWS = st.builds(
    lambda low, length, begin, span: viewport.moved_to(viewport.whole(low, low + length), low + begin, span),
    st.integers(-(10**15), 10**15),
    st.integers(1, 10**12),
    st.integers(0, 10**12),
    st.integers(1, 10**12),
)


@given(VIEWS, st.floats(0.01, 100), st.integers(-(10**12), 10**12))
def test_no_zoom_or_pan_leaves_the_axis(view: View, factor: float, by: int) -> None:
    for other in (
        viewport.zoomed(view, factor, view.begin),
        viewport.panned(view, by),
        viewport.shown(view, view.low + abs(by) % (view.high - view.low)),
    ):
        assert view.low <= other.begin < other.end <= view.high
        assert other.span >= min(viewport.SHORTEST_NS, view.high - view.low)


def test_zooming_keeps_the_anchor_where_it_is() -> None:
    view = viewport.moved_to(viewport.whole(0, 1_000_000), 400_000, 100_000)
    closer = viewport.zoomed(view, 0.5, 425_000)
    assert (closer.begin, closer.end) == (412_500, 462_500)
    assert viewport.zoomed(closer, 2, 425_000) == view


@given(VIEWS, st.integers(1, 300))
def test_columns_and_times_agree(view: View, columns: int) -> None:
    edges = viewport.bin_edges(view, columns)
    assert edges[0] == view.begin
    assert edges[-1] == view.end
    if view.span >= 2 * columns:
        for column in {0, columns // 2, columns - 1}:
            assert viewport.column_of(view, viewport.time_of(view, column, columns), columns) == column


def test_a_time_out_of_sight_is_brought_in_with_a_margin() -> None:
    view = viewport.moved_to(viewport.whole(0, 1_000), 100, 100)
    assert viewport.shown(view, 150) == view
    assert viewport.shown(view, 500).end == 511
    assert viewport.shown(view, 50).begin == 40
    assert viewport.shown(view, 0).begin == 0
