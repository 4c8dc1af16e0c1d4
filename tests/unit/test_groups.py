"""Kernels added up by name: the arithmetic of each column. Times: microseconds in, nanoseconds out."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, copy, kernel, launch, launched, op, session, steps
from traceview.selection import Selection


def groups(folder: Path, *events: Event, **selected: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = session(folder, *events).summary(Selection(**selected))["groups"]
    return found


def only(folder: Path, *durations: float) -> dict[str, Any]:
    """The one group of kernels of these lengths."""
    (group,) = groups(folder, *(kernel("k", 100 * i + 1, dur) for i, dur in enumerate(durations)))
    return group


def test_a_group_has_the_statistics_of_its_launches(tmp_path: Path) -> None:
    # Ten of 10 us, nine of 90, one of 1090: sum 2000, mean 100 (which no launch has), median (10 + 90) / 2.
    group = only(tmp_path, *[10] * 10, *[90] * 9, 1090)
    assert [group[k] for k in ("calls", "sum_ns", "mean_ns", "p50_ns", "min_ns", "max_ns")] == [
        20,
        2_000_000,
        100_000,
        50_000,
        10_000,
        1_090_000,
    ]


def test_p95_lies_between_two_ranks(tmp_path: Path) -> None:
    # Of 1 to 5 us: rank 0.95 x 4 = 3.8, between 4 and 5: 4.8.
    assert only(tmp_path, 1, 2, 3, 4, 5)["p95_ns"] == 4_800


@pytest.mark.parametrize(
    ("durations", "mean"), [((0.001, 0.002), 2), ((0.002, 0.003), 2), ((0.003, 0.004), 4)]
)
def test_half_a_nanosecond_goes_to_the_even_one(
    tmp_path: Path, durations: tuple[float, float], mean: int
) -> None:
    # 1.5, 2.5 and 3.5 ns.
    group = only(tmp_path, *durations)
    assert (group["mean_ns"], group["p50_ns"]) == (mean, mean)


def test_untimed_launches_count_as_calls_and_nowhere_else(tmp_path: Path) -> None:
    # 80 + 150 + 200 = 430 over three, not over five.
    events = [
        kernel("k", 100, 80),
        kernel("k", 200, 150),
        kernel("k", 400, 200),
        kernel("k", 0, 0),
        kernel("k", 0, 0),
    ]
    (group,) = groups(tmp_path, *events)
    assert [group[k] for k in ("calls", "sum_ns", "mean_ns", "min_ns")] == [5, 430_000, 143_333, 80_000]


def test_a_group_of_untimed_launches_alone_has_no_statistics(tmp_path: Path) -> None:
    found = {g["name"]: g for g in groups(tmp_path, kernel("timed", 5, 5), kernel("untimed", 0, 0))}
    group = found["untimed"]
    assert [group[k] for k in ("calls", "sum_ns", "share")] == [1, 0, 0]
    assert {group[k] for k in ("mean_ns", "p50_ns", "p95_ns", "min_ns", "max_ns")} == {None}


def test_largest_first_and_equal_sums_by_name(tmp_path: Path) -> None:
    found = groups(tmp_path, kernel("b", 0, 5), kernel("c", 10, 9), kernel("a", 20, 5), kernel("B", 30, 5))
    assert [g["name"] for g in found] == ["c", "B", "a", "b"]


def test_shares_are_of_the_selected_sum_and_add_up_to_one(tmp_path: Path) -> None:
    events = [
        *steps(0, 100, dur=100),
        *launched("a", 10, 20, 30, 1),
        *launched("b", 20, 50, 10, 2),
        *launched("a", 110, 120, 60, 3),
    ]
    assert {g["name"]: g["share"] for g in groups(tmp_path, *events)} == {"a": 0.9, "b": 0.1}
    assert {g["name"]: g["share"] for g in groups(tmp_path, *events, steps=(0,))} == {"a": 0.75, "b": 0.25}


def test_overlapping_streams_do_not_push_shares_above_one(tmp_path: Path) -> None:
    found = groups(tmp_path, kernel("a", 0, 30), kernel("b", 0, 10, stream=20))
    assert [g["share"] for g in found] == [0.75, 0.25]


def test_without_any_time_shares_are_unknown(tmp_path: Path) -> None:
    (group,) = groups(tmp_path, kernel("k", 0, 0))
    assert (group["sum_ns"], group["share"]) == (0, None)


def test_calls_per_step_are_over_the_selected_steps_without_what_is_outside(tmp_path: Path) -> None:
    events = [
        *steps(0, 100, 200, dur=100),
        *launched("k", 10, 20, 5, 1),
        *launched("k", 20, 30, 5, 2),
        *launched("k", 110, 120, 5, 3),
        *launched("k", 900, 910, 5, 4),
    ]
    # 3 in 3 steps; 2 in the first; 1 in the last two. The fourth call is outside.
    whole, first, last = (groups(tmp_path, *events, **s)[0] for s in ({}, {"steps": (0,)}, {"steps": (1, 2)}))
    assert (whole["calls"], whole["calls_per_step"]) == (4, 1)
    assert (first["calls"], first["calls_per_step"]) == (2, 2)
    assert (last["calls"], last["calls_per_step"]) == (1, 0.5)


def test_one_name_of_two_kinds_is_two_groups(tmp_path: Path) -> None:
    found = groups(tmp_path, kernel("x", 0, 5), copy("x", 10, 4))
    assert [(g["name"], g["kind"], g["family"]) for g in found] == [
        ("x", "kernel", "other"),
        ("x", "memcpy", "memcpy"),
    ]


def test_names_are_told_apart_to_their_last_character(tmp_path: Path) -> None:
    long = "x" * 10_000
    found = groups(tmp_path, kernel(long + "a", 0, 5), kernel(long + "b", 10, 4))
    assert [g["name"][-1] for g in found] == ["a", "b"]
    assert len({g["short_name"] for g in found}) == 2


def test_kernels_without_a_name_are_a_group(tmp_path: Path) -> None:
    nameless = kernel("", 0, 5)
    del nameless["name"]
    found = groups(tmp_path, nameless, kernel("", 10, 4))
    assert [(g["name"], g["family"], g["sum_ns"]) for g in found] == [
        (None, "other", 5_000),
        ("", "other", 4_000),
    ]


# Variants.


def variants(folder: Path, *events: Event) -> int:
    (group,) = groups(folder, *events)
    return int(group["variants"])


def test_equal_launches_are_one_variant(tmp_path: Path) -> None:
    assert variants(tmp_path, kernel("k", 0, 5), kernel("k", 10, 6)) == 1


def test_another_grid_or_block_is_another_variant(tmp_path: Path) -> None:
    assert (
        variants(
            tmp_path,
            kernel("k", 0, 5, grid=(64, 1, 1)),
            kernel("k", 10, 5, grid=(512, 1, 1)),
            kernel("k", 20, 5, grid=(64, 1, 1), block=(256, 1, 1)),
            kernel("k", 30, 5, grid=None),
        )
        == 4
    )


def test_other_shapes_or_types_of_the_op_are_another_variant(tmp_path: Path) -> None:
    events = []
    for i, (dims, types) in enumerate(
        [([[8]], ["float"]), ([[9]], ["float"]), ([[8]], ["c10::Half"]), ([[8]], ["float"])]
    ):
        at = 100 * i
        events += [
            op("aten::x", at, 20, 50 + i, dims=dims, types=types),
            launch(at + 5, 1 + i, external=50 + i),
        ]
        events.append(kernel("k", at + 30, 5, 1 + i, external=50 + i))
    assert variants(tmp_path, *events) == 3


def test_a_launch_call_that_alone_knows_the_grid_lends_it(tmp_path: Path) -> None:
    # ROCm writes the grid on the call where the kernel has none.
    asked = session(
        tmp_path, launch(0, 1, name="hipLaunchKernel", grid=[8, 1, 1]), kernel("k", 10, 5, 1, grid=None)
    )
    assert asked.work["grid"].to_list() == [[8, 1, 1]]
