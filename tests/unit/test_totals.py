"""The totals of a trace: sum, busy, span, idle, communication, and what the host did. Times: microseconds."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import (
    Event,
    copy,
    fill,
    frame,
    gpu_marker,
    kernel,
    launch,
    launched,
    op,
    session,
    steps,
)
from traceview.selection import Selection

NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def gpu(folder: Path, *events: Event, **selected: Any) -> dict[str, Any]:
    """The `gpu` object, times in microseconds."""
    found = session(folder, *events).gpu(Selection(**selected))
    return {k.removesuffix("_ns"): v / 1000 if k.endswith("_ns") else v for k, v in found.items()}


def test_sum_counts_every_stream_and_busy_the_union(tmp_path: Path) -> None:
    # [0,400) + [450,800) on stream 7, [300,600) + [850,950) on stream 20:
    # sum 400 + 350 + 300 + 100, busy [0,800) + [850,950), span 950.
    found = gpu(
        tmp_path,
        kernel("a", 0, 400),
        kernel("a", 450, 350),
        kernel("b", 300, 300, stream=20),
        kernel("b", 850, 100, stream=20),
    )
    assert [found[k] for k in ("sum", "busy", "span", "idle")] == [1150, 900, 950, 50]


def test_devices_are_added_up_and_each_has_a_span_of_its_own(tmp_path: Path) -> None:
    # Device 0: [0,10) and [20,30): busy 20, span 30, idle 10. Device 1, much later: [1000,1005).
    found = gpu(tmp_path, kernel("k", 0, 10), kernel("k", 20, 10), kernel("k", 1000, 5, device=1))
    assert [found[k] for k in ("sum", "busy", "span", "idle")] == [25, 25, 35, 10]
    assert [(d["id"], d["busy_ns"], d["idle_ns"]) for d in found["devices"]] == [
        (0, 20_000, 10_000),
        (1, 5_000, 0),
    ]


def test_one_stream_number_on_two_devices_is_two_streams(tmp_path: Path) -> None:
    found = gpu(tmp_path, kernel("k", 0, 10), kernel("k", 0, 10, device=1), kernel("k", 5, 10, stream=8))
    assert [
        (device["id"], [(s["stream"], s["events"], s["busy_ns"]) for s in device["streams"]])
        for device in found["devices"]
    ] == [(0, [(7, 1, 10_000), (8, 1, 10_000)]), (1, [(7, 1, 10_000)])]


def test_kernels_copies_and_sets_are_work_and_nothing_else_is(tmp_path: Path) -> None:
    found = gpu(
        tmp_path,
        kernel("k", 0, 10),
        copy("Memcpy HtoD (Pinned -> Device)", 20, 5),
        fill(30, 2),
        gpu_marker("ProfilerStep#1", 0, 900),
        {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 7, "ts": 0, "dur": 500},
        {"ph": "X", "cat": "cuda_event", "name": "Event", "pid": 0, "tid": 7, "ts": 0, "dur": 500},
        {"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0, "ts": 0, "dur": 5000},
        {
            "ph": "X",
            "cat": "Trace",
            "name": "PyTorch Profiler (0)",
            "pid": "Spans",
            "tid": 0,
            "ts": 0,
            "dur": 9000,
        },
    )
    assert [found[k] for k in ("kernels", "copies", "sets")] == [1, 1, 1]
    assert [found[k] for k in ("sum", "kernel_sum", "span")] == [17, 10, 32]


@pytest.mark.parametrize(("cat", "kind"), [("Kernel", "kernels"), ("Memcpy", "copies"), ("Memset", "sets")])
def test_the_categories_of_2021_count_alike(tmp_path: Path, cat: str, kind: str) -> None:
    assert gpu(tmp_path, kernel("x", 0, 10, cat=cat))[kind] == 1


def test_communication_and_what_of_it_nothing_hides(tmp_path: Path) -> None:
    # compute [0,400) and [450,800); NCCL [300,600) and [850,950): exposed [400,450) and [850,950).
    found = gpu(
        tmp_path,
        kernel("gemm", 0, 400),
        kernel("gemm", 450, 350),
        kernel(NCCL, 300, 300, stream=20),
        kernel(NCCL, 850, 100, stream=20),
    )
    assert (found["communication"], found["communication_exposed"]) == (400, 150)


def test_communication_is_exposed_per_device(tmp_path: Path) -> None:
    # What another device computes hides nothing here.
    found = gpu(tmp_path, kernel(NCCL, 0, 100), kernel("gemm", 0, 100, device=1))
    assert found["communication_exposed"] == 100


def test_untimed_work_counts_and_adds_no_time(tmp_path: Path) -> None:
    # One without any time (0, 0), one that never ended (-3).
    found = gpu(tmp_path, kernel("k", 50, 10), kernel("k", 0, 0), kernel("k", 60, -3))
    assert [found[k] for k in ("kernels", "untimed", "sum", "busy", "span", "idle")] == [3, 2, 10, 10, 10, 0]


def test_a_kernel_at_time_zero_has_a_time_where_nothing_has_another(tmp_path: Path) -> None:
    assert gpu(tmp_path, kernel("k", 0, 0))["untimed"] == 0


def test_a_kernel_of_no_length_is_timed(tmp_path: Path) -> None:
    found = gpu(tmp_path, kernel("k", 5, 0), kernel("k", 7, 1))
    assert [found[k] for k in ("untimed", "sum", "span")] == [0, 1, 3]


def test_nothing_is_null_or_nan_without_gpu_work(tmp_path: Path) -> None:
    found = gpu(tmp_path, op("aten::mm", 0, 10))
    assert found.pop("devices") == []
    assert set(found.values()) == {0}


def test_a_selection_has_totals_of_its_own(tmp_path: Path) -> None:
    events = [
        *steps(0, 100, dur=100),
        *launched("k", 10, 20, 30, 1),
        *launched("k", 110, 120, 50, 2, device=1),
        *launched("k", 210, 220, 7, 3),
    ]
    assert gpu(tmp_path, *events)["sum"] == 87
    assert gpu(tmp_path, *events, steps=(0,))["sum"] == 30
    assert gpu(tmp_path, *events, device=1)["sum"] == 50
    assert gpu(tmp_path, *events, steps=(0,), device=1)["sum"] == 0


# The host.


def test_copies_add_up_by_direction(tmp_path: Path) -> None:
    host = session(
        tmp_path,
        copy("Memcpy HtoD (Pageable -> Device)", 0, 0, bytes=200),
        copy("Memcpy HtoD (Pinned -> Device)", 10, 200, bytes=4_194_304),
        copy("Memcpy DtoH (Device -> Pageable)", 300, 5),
        copy("Memcpy PtoP (Device -> Device)", 400, 5, bytes=64),
        kernel("k", 500, 5),
    ).host()
    # A copy whose size the file does not say is of unknown size, not of none.
    assert host["copied_bytes"] == {"HtoD": 4_194_504, "DtoH": None, "PtoP": 64}
    assert host["copied_ns"] == {"HtoD": 200_000, "DtoH": 5_000, "PtoP": 5_000}


def test_a_copy_whose_name_tells_no_direction_is_kept_apart(tmp_path: Path) -> None:
    host = session(tmp_path, copy("Memcpy", 0, 5, bytes=8)).host()
    assert (host["copied_bytes"], host["copied_ns"]) == ({"other": 8}, {"other": 5_000})


def test_the_host_of_selected_steps_is_what_it_did_in_them(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        *steps(0, 100, dur=100),
        op("aten::mm", 10, 20),
        op("aten::add", 110, 20),
        op("aten::add", 120, 5),
        launch(12, 1, dur=4),
        launch(112, 2, dur=6),
        kernel("k", 50, 5, 1),
        kernel("k", 150, 5, 2),
    )
    whole, second = asked.host(), asked.host(Selection(steps=(1,)))
    assert [whole[k] for k in ("cpu_ops", "launches", "launch_ns")] == [3, 2, 10_000]
    assert [second[k] for k in ("cpu_ops", "launches", "launch_ns")] == [2, 1, 6_000]


def test_unfinished_calls_take_no_negative_time(tmp_path: Path) -> None:
    host = session(
        tmp_path, launch(0, 1, dur=-1), launch(5, 2, dur=4), kernel("k", 10, 5, 1), kernel("k", 20, 5, 2)
    ).host()
    assert (host["launches"], host["launch_ns"]) == (2, 4_000)


def test_without_gpu_work_cpu_slices_are_grouped_instead(tmp_path: Path) -> None:
    # Slices of one thread count in each other: mm 30 in all, linear 40.
    document = session(
        tmp_path,
        op("aten::linear", 0, 40),
        op("aten::mm", 5, 10),
        op("aten::mm", 20, 20),
        frame("f.py(1): f", 0, 50),
    ).summary()
    assert document["groups"] == []
    assert [(g["name"], g["kind"], g["calls"], g["sum_ns"]) for g in document["host_groups"]] == [
        ("f.py(1): f", "host", 1, 50_000),
        ("aten::linear", "host", 1, 40_000),
        ("aten::mm", "host", 2, 30_000),
    ]
    assert sum(g["share"] for g in document["host_groups"]) == pytest.approx(1)


def test_with_gpu_work_there_are_no_host_groups(tmp_path: Path) -> None:
    assert session(tmp_path, op("aten::mm", 0, 9), kernel("k", 1, 2)).summary()["host_groups"] == []
