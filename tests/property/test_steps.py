"""Whatever the trace: every piece of GPU work has one place, and the steps lose nothing."""

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.traces import Event, gpu_marker, kernel, launch, marker, opened
from traceview.selection import Selection

# (begin, length) of markers; (launch or None, begin, length, device, correlation) of work.
WINDOWS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15)), max_size=4)
WORK = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 50)),
        st.integers(0, 60),
        st.integers(-1, 12),
        st.integers(0, 1),
        st.integers(0, 4),
    ),
    max_size=10,
)


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Markers on host and GPU, launches (graphs among them, ids that repeat) and their work."""
    found: list[Event] = []
    for i, (begin, length) in enumerate(draw(WINDOWS)):
        found.append(marker(f"ProfilerStep#{i}", begin, length))
        if draw(st.booleans()):
            found.append(gpu_marker(f"ProfilerStep#{i}", begin + draw(st.integers(-2, 10)), length))
    for at, begin, length, device, correlation in draw(WORK):
        if at is not None:
            name = draw(st.sampled_from(["cudaLaunchKernel", "cudaGraphLaunch"]))
            found.append(launch(at, correlation, name=name))
        name = draw(st.sampled_from(["gemm", "ncclDevKernel_AllReduce", "other"]))
        found.append(kernel(name, begin, length, correlation, device=device))
    return found


def ns_values(value: Any, key: str = "") -> list[Any]:
    if isinstance(value, dict):
        return [v for k, part in value.items() for v in ns_values(part, k)]
    if isinstance(value, list):
        return [v for part in value for v in ns_values(part, key)]
    return [value] if key.endswith("_ns") else []


@given(events())
def test_steps_and_what_is_outside_add_up_to_the_whole_in_whole_ns(found: list[Event]) -> None:
    asked = opened(found)
    document = asked.summary()
    assert all(value is None or type(value) is int for value in ns_values(document))
    items, outside = document["steps"]["items"], document["steps"]["outside"]
    assert sum(item["sum_ns"] for item in items) + outside["sum_ns"] == document["gpu"]["sum_ns"]
    assert sum(item["events"] for item in items) + outside["events"] == asked.work.height


@given(events())
def test_every_piece_of_work_is_in_one_step_that_holds_its_launch_or_outside(found: list[Event]) -> None:
    asked = opened(found)
    assert asked.work["id"].to_list() == list(range(asked.trace.gpu.height))
    if asked.found_steps.source != "profiler-step":
        return
    windows = asked.found_steps.windows.select(
        "index", "begin_ns", end=pl.col("begin_ns") + pl.col("wall_ns")
    )
    launched = asked.work.filter(pl.col("launch_begin_ns").is_not_null())
    for at, step in launched.select("launch_begin_ns", "step").iter_rows():
        holding = [index for index, begin, end in windows.iter_rows() if begin <= at < end]
        assert (step in holding) if holding else step is None


@given(events())
def test_busy_and_clipped_times_stay_within_what_there_is(found: list[Event]) -> None:
    asked = opened(found)
    gpu = asked.gpu()
    assert 0 <= gpu["busy_ns"] <= min(gpu["sum_ns"], gpu["span_ns"])
    assert gpu["idle_ns"] == gpu["span_ns"] - gpu["busy_ns"]
    assert 0 <= gpu["communication_exposed_ns"] <= gpu["communication_ns"] <= gpu["sum_ns"]
    for step in asked.steps().iter_rows(named=True):
        assert 0 <= step["busy_ns"] <= step["sum_ns"]
        assert step["straddling"] <= step["events"]
        assert 0 <= step["sum_by_clock_ns"] <= gpu["sum_ns"]
        assert step["idle_ns"] >= 0


@given(events())
def test_single_steps_add_up_to_all_of_them(found: list[Event]) -> None:
    asked = opened(found)
    each = [asked.gpu(Selection(steps=(i,))) for i in range(asked.step_count())]
    for key in ("kernels", "sum_ns", "communication_ns"):
        everything = asked.gpu(Selection(steps=tuple(range(asked.step_count()))))
        assert sum(part[key] for part in each) == everything[key]
