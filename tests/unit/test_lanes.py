"""Lanes of all that lasts, and what the host did in a gap, in a span and in a slice."""

from pathlib import Path

import numpy as np

from tests.traces import copy, fill, frame, gpu_marker, kernel, launch, launched, marker, op, session
from traceview.analysis.lanes import KINDS, depths, event_id, event_of
from traceview.palette import FAMILIES, family_mark

US = 1_000


def test_depth_counts_the_enclosing_slices() -> None:
    assert depths(np.array([-1, 0, 1, 0, -1])).tolist() == [0, 1, 2, 1, 0]
    assert depths(np.empty(0, np.int64)).tolist() == []


def test_an_event_is_known_by_kind_and_row() -> None:
    for kind in ("gpu", "annotations", "ops", "runtime", "python"):
        assert event_of(event_id(kind, 12)) == (kind, 12)


def test_every_timed_event_has_a_lane_and_the_others_are_counted(tmp_path: Path) -> None:
    trace = session(
        tmp_path,
        op("outer", 0, 100),
        op("inner", 10, 20),
        op("unfinished", 200, -5),
        *launched("a", 12, 50, 10, 1),
        copy("Memcpy HtoD", 70, 5, stream=9),
        fill(90, 5),
        kernel("no time", 0, 0, None),
        gpu_marker("mark", 40, 50),
        marker("mark", 0, 100),
        frame("f.py(1): f", 0, 100, id=1),
    )
    found = trace.lanes()
    labels = [lane.label for lane in found.lanes]
    assert labels == [
        "GPU 0 stream 7",
        "GPU 0 stream 9",
        "thread 1 annotations",
        "  ops",
        "  ops 2",
        "  calls",
    ]
    drawn = {labels[lane]: names for lane, names in found.events.group_by("lane").agg("name").iter_rows()}
    assert {label: sorted(names) for label, names in drawn.items()} == {
        "GPU 0 stream 7": ["Memset (Device)", "a"],
        "GPU 0 stream 9": ["Memcpy HtoD"],
        "thread 1 annotations": ["mark"],
        "  ops": ["outer"],
        "  ops 2": ["inner"],
        "  calls": ["cudaLaunchKernel"],
    }
    assert found.untimed == 2
    assert trace.lanes(python=True).lanes[-1].label == "  Python"


def test_the_thread_that_launches_most_stands_first(tmp_path: Path) -> None:
    trace = session(
        tmp_path,
        *(op(f"op{n}", 10 * n, 5, tid=5) for n in range(4)),
        launch(0, 1, tid=8),
        kernel("a", 50, 10, 1),
    )
    assert [lane.label for lane in trace.lanes().lanes] == [
        "GPU 0 stream 7",
        "thread 8 calls",
        "thread 5 ops",
    ]


def test_a_gap_says_its_cause_and_the_hosts_self_time(tmp_path: Path) -> None:
    trace = session(
        tmp_path,
        *launched("a", 0, 10, 40, 1),
        op("outer", 60, 100),
        op("inner", 70, 30),
        op("inner", 110, 30),
        op("elsewhere", 60, 100, tid=9),
        *launched("b", 180, 200, 10, 2),
    )
    gap = trace.gap(0, 7, 50 * US, 200 * US)
    assert (gap["dur_ns"], gap["idle_ns"], gap["cause"]) == (150 * US, 150 * US, "host was late")
    assert (gap["previous"], gap["next"]) == (0, 1)
    assert gap["next_call"]["begin_ns"] == 180 * US
    assert gap["doing"]["ops"] == [
        {"name": "inner", "self_ns": 60 * US, "calls": 2},
        {"name": "outer", "self_ns": 40 * US, "calls": 1},
    ]
    assert gap["doing"]["runtime"] == [{"name": "cudaLaunchKernel", "self_ns": 5 * US, "calls": 1}]


def test_a_stream_without_work_is_no_idle_device(tmp_path: Path) -> None:
    trace = session(
        tmp_path,
        *launched("a", 0, 10, 10, 1),
        *launched("b", 1, 10, 200, 2, stream=9),
        *launched("a", 2, 100, 10, 3),
    )
    gap = trace.gap(0, 7, 20 * US, 100 * US)
    assert (gap["idle_ns"], gap["cause"]) == (0, None)


def test_at_the_edge_of_the_recording_idle_time_is_unknown(tmp_path: Path) -> None:
    gap = session(tmp_path, *launched("a", 0, 10, 10, 1)).gap(0, 7, 20 * US, 90 * US)
    assert (gap["idle_ns"], gap["next"], gap["previous"]) == (None, None, 0)


def test_a_span_counts_the_work_that_runs_in_it(tmp_path: Path) -> None:
    trace = session(tmp_path, kernel("a", 0, 50), kernel("b", 40, 60, stream=9), kernel("c", 200, 10))
    assert trace.span(20 * US, 120 * US) == {"dur_ns": 100 * US, "launches": 2, "busy_ns": 80 * US}


def test_a_slice_says_what_it_lies_in_and_what_it_launched(tmp_path: Path) -> None:
    trace = session(
        tmp_path,
        frame("f.py(1): f", 0, 200, id=1),
        marker("step", 0, 150),
        op("outer", 10, 100, dims=[[2, 3]], types=["float"]),
        op("inner", 20, 50),
        *launched("a", 30, 90, 7, 1),
        *launched("b", 120, 130, 7, 2),
    )
    inner = trace.host_slice("ops", 1)
    assert inner["around"] == {
        "annotations": ["step"],
        "ops": ["outer"],
        "runtime": [],
        "python": ["f.py(1): f"],
    }
    assert (inner["launches"], inner["gpu_ns"]) == (1, 7 * US)
    assert trace.host_slice("ops", 0)["input_dims"] == "[[2,3]]"
    assert trace.host_slice("runtime", 0)["around"]["ops"] == ["inner", "outer"]


def test_what_the_host_does_has_marks_that_no_family_has() -> None:
    families = {family_mark(family).letter for family in FAMILIES}
    kinds = [family_mark(family) for family in KINDS.values() if family]
    assert len({mark.letter for mark in kinds} - families) == len(kinds)
    assert len({mark.colour for mark in kinds}) == len(kinds)
