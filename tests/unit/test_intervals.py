"""Unions and exclusive time of intervals, worked out by hand. Times are nanoseconds, half-open."""

import numpy as np
import polars as pl

from traceview.analysis.intervals import busy, covered_until, exposed, merged


def spans(*rows: tuple[int, int, int]) -> pl.DataFrame:
    """Rows of (device, begin, end)."""
    return pl.DataFrame(
        [(device, begin, end - begin) for device, begin, end in rows],
        schema={"device": pl.Int64, "begin_ns": pl.Int64, "dur_ns": pl.Int64},
        orient="row",
    )


def test_overlapping_intervals_become_one_and_separate_ones_stay() -> None:
    frame = spans((0, 30, 40), (0, 0, 10), (0, 5, 20))
    assert merged(frame, ["device"]).rows() == [(0, 0, 20), (0, 30, 10)]


def test_touching_is_not_a_gap_and_adds_no_time() -> None:
    # [0,10) and [10,15) cover 15, in one piece.
    assert merged(spans((0, 0, 10), (0, 10, 15)), ["device"]).rows() == [(0, 0, 15)]


def test_an_interval_inside_another_does_not_shorten_the_union() -> None:
    # [0,100) holds [10,20); [90,110) overlaps the outer one although the inner one ended long before.
    assert merged(spans((0, 0, 100), (0, 10, 20), (0, 90, 110)), ["device"]).rows() == [(0, 0, 110)]


def test_devices_are_united_apart() -> None:
    # Both devices work over [0,10): 10 each, although no moment has more than 10.
    frame = spans((0, 0, 10), (1, 0, 10), (1, 5, 8))
    assert busy(frame, ["device"]).rows() == [(0, 10), (1, 10)]


def test_work_of_an_unknown_device_is_a_device_of_its_own() -> None:
    frame = spans((0, 0, 10)).vstack(spans((0, 5, 15)).with_columns(device=pl.lit(None, dtype=pl.Int64)))
    assert sorted(busy(frame, ["device"])["busy_ns"]) == [10, 10]


def test_nothing_is_busy_in_an_empty_frame() -> None:
    assert busy(spans(), ["device"]).height == 0
    assert merged(spans(), ["device"]).height == 0


def kinds(*rows: tuple[int, str, int, int]) -> pl.DataFrame:
    """Rows of (device, kind, begin, end)."""
    return spans(*((device, begin, end) for device, _, begin, end in rows)).with_columns(
        kind=pl.Series([kind for _, kind, _, _ in rows], dtype=pl.String)
    )


def test_exposed_is_the_time_in_which_no_other_kind_ran() -> None:
    # compute [0,400) and [450,800); communication [300,600) and [850,950):
    # alone in [400,450) = 50 and [850,950) = 100.
    frame = kinds(
        (0, "compute", 0, 400), (0, "compute", 450, 800), (0, "comm", 300, 600), (0, "comm", 850, 950)
    )
    assert dict(exposed(frame, "device", "kind").iter_rows()) == {
        "comm": 50 + 100,
        "compute": 300 + (800 - 600),
    }


def test_two_streams_of_one_kind_hide_nothing_from_each_other() -> None:
    frame = kinds((0, "comm", 0, 10), (0, "comm", 5, 15), (0, "compute", 12, 20))
    assert dict(exposed(frame, "device", "kind").iter_rows()) == {"comm": 12, "compute": 5}


def test_work_of_another_device_hides_nothing() -> None:
    frame = kinds((0, "comm", 0, 10), (1, "compute", 0, 10))
    assert dict(exposed(frame, "device", "kind").iter_rows()) == {"comm": 10, "compute": 10}


def test_a_kind_that_is_always_overlapped_is_exposed_for_no_time() -> None:
    frame = kinds((0, "comm", 5, 10), (0, "compute", 0, 20))
    assert dict(exposed(frame, "device", "kind").iter_rows()) == {"comm": 0, "compute": 15}


def test_touching_kinds_do_not_overlap() -> None:
    frame = kinds((0, "comm", 0, 10), (0, "compute", 10, 20))
    assert dict(exposed(frame, "device", "kind").iter_rows()) == {"comm": 10, "compute": 10}


def test_covered_until_counts_what_lies_before_each_moment() -> None:
    # [0,10) and [5,15): before 0 nothing, before 7 there are 7 + 2, before 20 all 10 + 10.
    begin, end = np.array([0, 5]), np.array([10, 15])
    assert covered_until(begin, end, np.array([0, 7, 20])).tolist() == [0, 9, 20]


def test_clipping_is_exact_at_nanoseconds_since_1970() -> None:
    # Sums of many such times overflow 64 bits on the way; the difference must not.
    base = 1_772_366_400_000_000_000
    begin = np.full(100, base)
    clipped = covered_until(begin, begin + 7, np.array([base + 5])) - covered_until(
        begin, begin + 7, np.array([base + 2])
    )
    assert clipped.tolist() == [100 * 3]
