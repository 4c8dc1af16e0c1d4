"""Facts about a trace as a whole, out of the header's keys, the file's name and the rows that are there."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, frame, kernel, launched, op, session, write
from traceview.analysis import header
from traceview.api import open_session
from traceview.trace import Trace

WORK = launched("k", 0, 10, 5, 1)


def trace(folder: Path, *events: Event, **top: Any) -> Trace:
    return session(folder, *(events or WORK), **top).trace


def gpu(id: int, name: str = "NVIDIA H100", processors: int = 132) -> dict[str, Any]:
    return {"id": id, "name": name, "numSms": processors}


# Rank.


def test_the_rank_is_the_headers(tmp_path: Path) -> None:
    found = trace(tmp_path, distributedInfo={"backend": "nccl", "rank": 3, "world_size": 8})
    assert (header.rank(found), header.world_size(found)) == (3, 8)


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank5.json", 5),
        ("worker_rank_12.pt.trace.json", 12),
        ("1771-TP-3.trace.json", 3),
        ("1771-TP-0-DP-1.trace.json", 0),
        ("decode.json", None),
        ("host_4242.1771.pt.trace.json", None),
    ],
)
def test_else_it_is_in_the_files_name(tmp_path: Path, name: str, rank: int | None) -> None:
    assert header.rank(open_session(write(tmp_path, *WORK, name=name)).trace) == rank


def test_the_headers_rank_comes_before_the_names(tmp_path: Path) -> None:
    path = write(tmp_path, *WORK, name="rank5.json", distributedInfo={"rank": 0})
    assert header.rank(open_session(path).trace) == 0


# Devices.


def test_devices_are_those_that_gpu_work_names_with_what_the_header_says_of_them(tmp_path: Path) -> None:
    found = trace(tmp_path, kernel("k", 0, 5, device=1), deviceProperties=[gpu(0, "A"), gpu(1, "B", 108)])
    assert header.devices(found) == [{"id": 1, "name": "B", "multiprocessors": 108}]


def test_without_gpu_work_they_are_the_headers(tmp_path: Path) -> None:
    found = trace(tmp_path, op("aten::mm", 0, 5), deviceProperties=[gpu(0), gpu(1)])
    assert [device["id"] for device in header.devices(found)] == [0, 1]


def test_a_device_that_the_header_does_not_list_is_unknown(tmp_path: Path) -> None:
    found = trace(tmp_path, kernel("k", 0, 5, device=1), deviceProperties=[gpu(0)])
    assert header.devices(found) == [{"id": 1, "name": None, "multiprocessors": None}]


def test_rocm_counts_by_agent_so_only_equal_devices_speak_for_it(tmp_path: Path) -> None:
    rocm = {"hip_runtime_version": "6.2"}
    alike = [gpu(0, "MI300X", 304), gpu(1, "MI300X", 304)]
    found = trace(tmp_path, kernel("k", 0, 5, device=2), deviceProperties=alike, **rocm)
    assert header.devices(found) == [{"id": 2, "name": "MI300X", "multiprocessors": 304}]
    mixed = trace(tmp_path, kernel("k", 0, 5, device=1), deviceProperties=[gpu(0, "A"), gpu(1, "B")], **rocm)
    assert header.devices(mixed) == [{"id": 1, "name": None, "multiprocessors": None}]


# What else stands in the header.


def test_the_clocks_base_is_read_and_added_to_nothing(tmp_path: Path) -> None:
    found = session(tmp_path, *WORK, baseTimeNanoseconds=1_771_000_000_000_000_000)
    assert header.clock_base_ns(found.trace) == 1_771_000_000_000_000_000
    assert found.work["begin_ns"].to_list() == [10_000]


@pytest.mark.parametrize(
    "odd",
    [
        {"distributedInfo": [1]},
        {"distributedInfo": {"rank": True, "world_size": "8"}},
        {"distributedInfo": {"rank": {}, "world_size": []}},
        {"baseTimeNanoseconds": "soon"},
        {"baseTimeNanoseconds": [1]},
        {"deviceProperties": {"0": {}}},
        {"deviceProperties": [None, 5, "x", {}, {"id": "0"}, {"id": [0]}]},
        {"deviceProperties": [{"id": 0, "name": 5, "numSms": "132"}, {"id": 1, "name": "B", "numSms": [1]}]},
        {"deviceProperties": [{"id": 0, "name": {"a": 1}, "numSms": True}]},
    ],
)
def test_facts_of_another_type_are_unknown(tmp_path: Path, odd: dict[str, Any]) -> None:
    asked = session(tmp_path, *WORK, **odd)
    found = asked.summary()["trace"]
    assert (found["rank"], found["world_size"], found["clock_base_ns"]) == (None, None, None)
    assert [(d["id"], d["name"], d["multiprocessors"]) for d in found["devices"]] == [(0, None, None)]
    assert asked.card(0)["waves"] is None
    assert "unknown GPU" in asked.report()


@pytest.mark.parametrize(
    ("event", "top", "recorded"),
    [
        (op("aten::mm", 0, 5), {}, {"shapes": False, "stacks": False, "memory": False}),
        (op("aten::mm", 0, 5, dims=[[8]]), {}, {"shapes": True, "stacks": False, "memory": False}),
        (frame("f", 0, 5), {}, {"shapes": False, "stacks": True, "memory": False}),
        (
            {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "ts": 1, "args": {"Bytes": 64}},
            {},
            {"shapes": False, "stacks": False, "memory": True},
        ),
        (
            op("aten::mm", 0, 5),
            {"record_shapes": 1, "with_stack": 1, "profile_memory": 1},
            {"shapes": True, "stacks": True, "memory": True},
        ),
        (
            op("aten::mm", 0, 5),
            {"record_shapes": 0, "with_stack": 0, "profile_memory": 0},
            {"shapes": False, "stacks": False, "memory": False},
        ),
    ],
)
def test_what_was_recorded_shows_in_rows_or_in_the_headers_word(
    tmp_path: Path, event: Event, top: dict[str, Any], recorded: dict[str, bool]
) -> None:
    assert header.recorded(trace(tmp_path, event, **top)) == recorded


def test_a_foreign_trace_has_no_known_producer(tmp_path: Path) -> None:
    assert header.producer(trace(tmp_path)) == "PyTorch profiler"
    path = tmp_path / "chrome.json"
    path.write_text('[{"ph": "X", "cat": "v8", "name": "f", "pid": 1, "tid": 1, "ts": 0, "dur": 5}]')
    assert header.producer(open_session(path).trace) is None
