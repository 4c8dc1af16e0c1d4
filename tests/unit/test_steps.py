"""In which step each kernel is, and what a step adds up to. Small traces; times are microseconds."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, gpu_marker, kernel, launch, launched, marker, session, steps
from traceview.api import Session
from traceview.selection import Selection


def step_of(asked: Session) -> dict[str, int | None]:
    """Kernel name -> the step that it belongs to."""
    names = asked.work["name"].cast(str)
    return dict(zip(names, asked.work["step"], strict=True))


def table(asked: Session, *columns: str) -> list[tuple[Any, ...]]:
    """One row a step; times in microseconds."""
    rows = asked.steps().select(columns).rows()
    return [
        tuple(
            v // 1000 if c.endswith("_ns") and v is not None else v for c, v in zip(columns, row, strict=True)
        )
        for row in rows
    ]


# Which step.


def test_work_belongs_to_the_step_that_launched_it_though_it_runs_in_the_next(tmp_path: Path) -> None:
    #  step 0 [0,100)        step 1 [100,200)
    #  launch at 90  ------> runs [120,150)
    asked = session(tmp_path, *steps(0, 100, dur=100), *launched("late", 90, 120, 30, 1))
    assert step_of(asked) == {"late": 0}


def test_a_step_holds_its_begin_and_not_its_end(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        *steps(0, 100, dur=100),
        *launched("first", 0, 10, 5, 1),
        *launched("border", 100, 110, 5, 2),
        *launched("after", 200, 210, 5, 3),
    )
    assert step_of(asked) == {"first": 0, "border": 1, "after": None}


def test_work_launched_between_two_steps_or_before_all_is_outside(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        *steps(100, 300, dur=100),
        *launched("before", 50, 120, 5, 1),  # though it runs in step 0
        *launched("between", 250, 310, 5, 2),
    )
    assert step_of(asked) == {"before": None, "between": None}
    assert asked.outside() == {"events": 2, "sum_ns": 10_000}


def test_without_a_launch_the_cpu_window_that_holds_its_start_decides(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        *steps(0, 100, dur=100),
        kernel("in", 120, 30, 7),
        kernel("out", 200, 5, 8),
        kernel("no id", 50, 5),
    )
    assert step_of(asked) == {"in": 1, "out": None, "no id": 0}


def test_without_a_launch_a_gpu_annotation_comes_before_the_cpu_window(tmp_path: Path) -> None:
    # The GPU lags: its step 0 runs [50,150). A kernel at 120 stands in the CPU window of step 1.
    asked = session(
        tmp_path,
        *steps(0, 100, dur=100),
        gpu_marker("ProfilerStep#0", 50, 100),
        gpu_marker("ProfilerStep#1", 150, 100),
        kernel("lagging", 120, 5, 7),
        kernel("next", 160, 5, 8),
        kernel("between the two", 20, 5, 9),
    )
    assert step_of(asked) == {"lagging": 0, "next": 1, "between the two": 0}


def test_a_gpu_annotation_speaks_for_its_own_device_only(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        *steps(0, 100, dur=100),
        gpu_marker("ProfilerStep#0", 50, 100, device=0),
        gpu_marker("ProfilerStep#1", 150, 100, device=0),
        kernel("here", 120, 5, 7, device=0),
        kernel("there", 120, 5, 8, device=1),
    )
    assert step_of(asked) == {"here": 0, "there": 1}


def test_a_gpu_annotation_never_overrules_a_launch(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        *steps(0, 100, dur=100),
        gpu_marker("ProfilerStep#0", 0, 50),
        gpu_marker("ProfilerStep#1", 50, 150),
        *launched("k", 10, 60, 5, 1),
    )
    assert step_of(asked) == {"k": 0}


def test_equal_names_of_gpu_annotations_are_told_apart_by_their_external_ids(tmp_path: Path) -> None:
    # Decode steps of vLLM are all called alike, and the GPU runs a whole step behind.
    name = "execute_context_0(0)_generation_4(4)"
    asked = session(
        tmp_path,
        marker(name, 0, 100, external=11),
        marker(name, 100, 100, external=12),
        gpu_marker(name, 110, 80, external=11),
        gpu_marker(name, 210, 80, external=12),
        kernel("of the first", 120, 60, 7),
        kernel("of the second", 220, 60, 8),
    )
    assert step_of(asked) == {"of the first": 0, "of the second": 1}


def test_gpu_annotations_of_one_step_on_two_streams_are_one_window(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        *steps(0, 100, dur=100),
        gpu_marker("ProfilerStep#0", 20, 10, stream=7),
        gpu_marker("ProfilerStep#0", 105, 10, stream=20),
        kernel("between the streams' parts", 101, 2, 7),
    )
    assert step_of(asked) == {"between the streams' parts": 0}


def test_kernels_of_a_graph_are_in_the_step_of_the_one_call(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        *steps(0, 100, dur=100),
        launch(90, 5, name="cudaGraphLaunch"),
        *(kernel(f"node {i}", 95 + 10 * i, 5, 5) for i in range(3)),
    )
    assert step_of(asked) == {"node 0": 0, "node 1": 0, "node 2": 0}


def test_of_overlapping_steps_the_first_holds_what_both_could(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        marker("ProfilerStep#0", 0, 110),
        marker("ProfilerStep#1", 100, 100),
        *launched("in both", 105, 120, 5, 1),
        *launched("in the second", 115, 130, 5, 2),
    )
    assert step_of(asked) == {"in both": 0, "in the second": 1}


def test_a_marker_inside_another_is_no_step_of_its_own(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        marker("ProfilerStep#0", 0, 100),
        marker("ProfilerStep#1", 20, 30),
        *launched("k", 25, 30, 5, 1),
    )
    assert table(asked, "index", "name") == [(0, "ProfilerStep#0")]
    assert step_of(asked) == {"k": 0}


def test_a_number_may_come_twice(tmp_path: Path) -> None:
    # Older PyTorch gave the first step the number of the one before it.
    asked = session(
        tmp_path,
        marker("ProfilerStep#1", 0, 100),
        marker("ProfilerStep#1", 100, 100),
        *launched("a", 10, 20, 5, 1),
        *launched("b", 110, 120, 5, 2),
    )
    assert step_of(asked) == {"a": 0, "b": 1}


def test_copies_of_a_marker_on_the_gpu_are_no_second_steps(tmp_path: Path) -> None:
    asked = session(
        tmp_path, *steps(0, dur=100), gpu_marker("ProfilerStep#0", 300, 100), *launched("k", 25, 30, 5, 1)
    )
    assert table(asked, "name", "begin_ns", "wall_ns") == [("ProfilerStep#0", 0, 100)]


def test_where_only_gpu_copies_are_in_the_file_they_are_the_steps(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        gpu_marker("ProfilerStep#4", 0, 100),
        gpu_marker("ProfilerStep#5", 100, 100),
        kernel("a", 10, 5),
        kernel("b", 150, 5),
    )
    assert step_of(asked) == {"a": 0, "b": 1}


def test_steps_stand_in_the_order_of_time(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        marker("ProfilerStep#2", 100, 50),
        marker("ProfilerStep#1", 0, 50),
        *launched("k", 10, 20, 5, 1),
    )
    assert table(asked, "index", "name") == [(0, "ProfilerStep#1"), (1, "ProfilerStep#2")]


# What a step adds up to.


def behind(folder: Path) -> Session:
    """The GPU lags: A and B are launched in step 0, C in step 1; B and C straddle a border.

    CPU  |  step 0: [0,100)  |  step 1: [100,200)  |
    GPU     A [20,90)  B [90,140)   C [140,230)
    """
    return session(
        folder,
        *steps(0, 100, dur=100),
        *launched("A", 10, 20, 70, 1),
        *launched("B", 80, 90, 50, 2),
        *launched("C", 110, 140, 90, 3),
    )


def test_sums_are_by_launch_and_by_clock_side_by_side(tmp_path: Path) -> None:
    # by launch: 70 + 50, 90. By clock: 70 + 10 of B, 40 of B + 60 of C; 30 of C lie after the last step.
    assert table(behind(tmp_path), "sum_ns", "sum_by_clock_ns", "straddling") == [
        (70 + 50, 70 + 10, 1),
        (90, 40 + 60, 1),
    ]


def test_idle_is_the_window_without_any_work_whoever_launched_it(tmp_path: Path) -> None:
    # Step 0: 100 - [20,100) = 20. Step 1: all busy.
    assert table(behind(tmp_path), "idle_ns") == [(20,), (0,)]


def test_work_that_ends_with_its_step_does_not_straddle(tmp_path: Path) -> None:
    asked = session(
        tmp_path, *steps(0, 100, dur=100), *launched("k", 10, 20, 80, 1), *launched("j", 105, 110, 91, 2)
    )
    assert table(asked, "straddling") == [(0,), (1,)]


def test_busy_is_the_union_of_the_steps_own_work(tmp_path: Path) -> None:
    # [10,60) and [40,80) on two streams: 50 + 40 = 90 in sum, [10,80) = 70 busy, 100 - 70 = 30 idle.
    asked = session(
        tmp_path, *steps(0, dur=100), *launched("a", 1, 10, 50, 1), *launched("b", 2, 40, 40, 2, stream=20)
    )
    assert table(asked, "sum_ns", "busy_ns", "idle_ns") == [(90, 70, 30)]


def test_two_devices_have_two_windows_of_idle_time(tmp_path: Path) -> None:
    # Device 0 busy 50 of 100, device 1 busy 20 of 100: idle 50 + 80.
    asked = session(
        tmp_path, *steps(0, dur=100), *launched("a", 1, 10, 50, 1), *launched("b", 2, 10, 20, 2, device=1)
    )
    assert table(asked, "busy_ns", "idle_ns") == [(70, 130)]


def test_a_step_without_gpu_work_stays(tmp_path: Path) -> None:
    asked = session(
        tmp_path, *steps(0, 100, 200, dur=100), *launched("a", 1, 10, 5, 1), *launched("b", 201, 210, 5, 2)
    )
    assert table(asked, "index", "events", "sum_ns", "busy_ns", "idle_ns") == [
        (0, 1, 5, 5, 95),
        (1, 0, 0, 0, 100),
        (2, 1, 5, 5, 95),
    ]


def test_untimed_work_counts_as_an_event_and_adds_no_time(tmp_path: Path) -> None:
    asked = session(tmp_path, *steps(0, dur=100), *launched("k", 1, 10, 5, 1), *launched("k", 20, 0, 0, 2))
    assert table(asked, "events", "sum_ns", "sum_by_clock_ns", "straddling") == [(2, 5, 5, 0)]


def test_the_period_runs_to_the_next_steps_begin_and_is_unknown_for_the_last(tmp_path: Path) -> None:
    asked = session(tmp_path, *steps(0, 130, 300, dur=100), *launched("k", 1, 10, 5, 1))
    assert table(asked, "wall_ns", "period_ns") == [(100, 130), (100, 170), (100, None)]


# No markers.


def test_without_markers_the_whole_trace_is_one_step(tmp_path: Path) -> None:
    # The extent of the GPU work; the launches before it are outside of nothing.
    asked = session(tmp_path, *launched("a", 0, 10, 5, 1), *launched("b", 20, 30, 10, 2))
    assert asked.found_steps.source == "none"
    assert table(asked, "name", "begin_ns", "wall_ns", "sum_ns", "idle_ns") == [
        ("whole trace", 10, 30, 15, 15)
    ]
    assert step_of(asked) == {"a": 0, "b": 0}
    assert asked.outside() == {"events": 0, "sum_ns": 0}


def test_a_trace_of_nothing_has_one_step_of_unknown_length(tmp_path: Path) -> None:
    asked = session(tmp_path, {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}})
    assert table(asked, "begin_ns", "wall_ns", "events") == [(None, None, 0)]


# Percentiles.


def walls(folder: Path, *lengths: float, **header: Any) -> dict[str, Any]:
    """The `steps` of the summary for steps of these lengths, 1000 us apart."""
    marks: list[Event] = [marker(f"ProfilerStep#{i}", 1000 * i, length) for i, length in enumerate(lengths)]
    found: dict[str, Any] = session(folder, *marks, *launched("k", 1, 10, 5, 1), **header).summary()["steps"]
    return found


def test_percentiles_of_steps_leave_out_the_first(tmp_path: Path) -> None:
    # 100 and 200 remain: the median is their mean; p95 lies 95 % of the way up.
    found = walls(tmp_path, 900, 100, 200)
    assert (found["wall_p50_ns"], found["wall_p95_ns"]) == (150_000, 195_000)


def test_a_single_step_is_its_own_median(tmp_path: Path) -> None:
    assert walls(tmp_path, 900)["wall_p50_ns"] == 900_000


def test_the_first_step_of_a_selection_is_not_the_first_of_the_trace(tmp_path: Path) -> None:
    marks = [marker(f"ProfilerStep#{i}", 1000 * i, length) for i, length in enumerate((900, 100, 300))]
    asked = session(tmp_path, *marks, *launched("k", 1, 10, 5, 1))
    assert asked.summary(Selection(steps=(1, 2)))["steps"]["wall_p50_ns"] == 200_000
    assert asked.summary(Selection(steps=(0, 1)))["steps"]["wall_p50_ns"] == 100_000


@pytest.mark.parametrize(
    ("lengths", "median"), [((0.001, 0.002), 2), ((0.002, 0.003), 2), ((0.003, 0.004), 4)]
)
def test_half_a_nanosecond_is_rounded_to_the_even_one(
    tmp_path: Path, lengths: tuple[float, float], median: int
) -> None:
    # The middle of 1 and 2 ns is 1.5, of 2 and 3 is 2.5, of 3 and 4 is 3.5.
    assert walls(tmp_path, 900, *lengths)["wall_p50_ns"] == median


def cut_file(folder: Path, *lengths: float) -> Session:
    """A file that ends in the middle of an event: its last step may have lost its end."""
    from traceview.api import open_session

    marks = [marker(f"ProfilerStep#{i}", 1000 * i, length) for i, length in enumerate(lengths)]
    path = session(folder, *marks, *launched("k", 1, 10, 5, 1)).trace.path
    text = Path(path).read_text("utf-8")
    Path(path).write_text(text[: text.rindex("]")] + ', {"ph": "X", "na', encoding="utf-8")
    return open_session(path)


def test_a_cut_off_last_step_is_marked_and_left_out_of_percentiles_only(tmp_path: Path) -> None:
    asked = cut_file(tmp_path, 900, 100, 10)
    found = asked.summary()["steps"]
    assert [item["cut_off"] for item in found["items"]] == [False, False, True]
    assert (found["count"], found["wall_p50_ns"]) == (3, 100_000)
