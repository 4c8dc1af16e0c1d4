"""What a file's events become: one small trace, one question, the expected rows."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from traceview import schema
from traceview.parsers import load, raw_event
from traceview.trace import Trace


def read(folder: Path, document: Any) -> Trace:
    """The trace of a document, or of a file's text."""
    path = folder / "trace.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return load(path, use_cache=False)


def x(cat: str, name: str, ts: Any = 1, dur: Any = 2, **more: Any) -> dict[str, Any]:
    """A slice on process 1, thread 2; what is no key of events becomes an argument."""
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 2, "ts": ts, "dur": dur, "args": more}


def test_each_category_has_its_frame(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        [
            x("kernel", "k"), x("gpu_memcpy", "Memcpy DtoH"), x("gpu_memset", "Memset"), x("cpu_op", "mm"),
            x("cuda_runtime", "cudaLaunchKernel"), x("cuda_driver", "cuLaunchKernel"),
            x("user_annotation", "step"), x("gpu_user_annotation", "step"),
            x("python_function", "f.py(1): f"), x("overhead", "Buffer Flush"),
            x("cuda_sync", "Stream Sync"), x("Trace", "PyTorch Profiler (0)"),
        ],
    )  # fmt: skip
    names = {
        frame: getattr(trace, frame)["name"].to_list()
        for frame in ("gpu", "ops", "runtime", "python", "slices")
    }
    assert names == {
        "gpu": ["k", "Memcpy DtoH", "Memset"],
        "ops": ["mm"],
        "runtime": ["cudaLaunchKernel", "cuLaunchKernel"],
        "python": ["f.py(1): f"],
        "slices": ["Buffer Flush", "Stream Sync", "PyTorch Profiler (0)"],
    }
    assert trace.gpu["kind"].to_list() == ["kernel", "memcpy", "memset"]
    assert trace.annotations["on_gpu"].to_list() == [False, True]
    for frame, declared in schema.FRAMES.items():
        assert getattr(trace, frame).schema == declared


def test_arguments_of_gpu_work(tmp_path: Path) -> None:
    kernel = x("kernel", "k", **{
        "External id": 5, "device": 3, "stream": 7, "correlation": 9, "registers per thread": 32,
        "shared memory": 1024, "grid": [2, 3, 4], "block": [128, 1, 1],
        "est. achieved occupancy %": 50, "graph id": 2,
        "graph node id": (2 << 32) | 6,
    })  # fmt: skip
    row = read(tmp_path, [kernel]).gpu.row(0, named=True)
    assert {key: row[key] for key in ("external_id", "device", "stream", "correlation", "grid", "block")} == {
        "external_id": 5, "device": 3, "stream": 7, "correlation": 9, "grid": [2, 3, 4], "block": [128, 1, 1],
    }  # fmt: skip
    assert (row["registers_per_thread"], row["shared_memory_bytes"], row["occupancy_pct"]) == (32, 1024, 50.0)
    assert (row["graph_id"], row["graph_node"]) == (2, 6)


def test_ids_of_zero_are_no_ids_and_eager_kernels_have_no_graph(tmp_path: Path) -> None:
    eager = {"External id": 0, "correlation": 0, "graph id": 0, "graph node id": 0}
    row = read(tmp_path, [x("kernel", "k", **eager)]).gpu.row(0, named=True)
    assert [row[c] for c in ("external_id", "correlation", "graph_id", "graph_node")] == [None] * 4


def test_device_and_stream_fall_back_to_the_row_of_the_event(tmp_path: Path) -> None:
    kernel = {**x("Kernel", "k"), "pid": "GPU 2", "tid": "stream 7"}
    assert read(tmp_path, [kernel]).gpu.select("device", "stream").row(0) == (2, 7)


def test_spellings_of_2021(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        [
            x("Operator", "aten::mm", **{"External id": "4", "Input dims": [[2, 3], []]}),
            x("Operator", "ProfilerStep#1"),
            x("Operator", "Optimizer.step#SGD.step"),
            x("Runtime", "cudaLaunchKernel", correlation=1, **{"external id": 4}),
            x("Memset", "Memset", correlation=1, **{"external id": "4"}),
        ],
    )
    assert trace.ops.select("name", "external_id", "input_dims").rows() == [("aten::mm", 4, "[[2,3],[]]")]
    assert trace.annotations["name"].to_list() == ["ProfilerStep#1", "Optimizer.step#SGD.step"]
    assert trace.runtime["external_id"].to_list() == trace.gpu["external_id"].to_list() == [4]


def test_shapes_have_one_spelling(tmp_path: Path) -> None:
    text = '[{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1, "args": {"Input Dims": %s}}%s]'
    first = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "b",
        "ts": 1,
        "dur": 1,
        "args": {"Input Dims": [[8, 16], []]},
    }
    trace = read(tmp_path, text % ("[ [8 ,16],\n[] ]", "," + json.dumps(first, separators=(",", ":"))))
    assert trace.ops["input_dims"].to_list() == ["[[8,16],[]]"] * 2


@pytest.mark.parametrize(
    ("ts", "ns"),
    [
        ("1772366400000000.123", 1772366400000000123),  # 19 digits
        ("6435112234123.457", 6435112234123457),  # 16 digits, just what a double tells apart
        ("8796093022207.999", 8796093022207999),
        ("1772366400000000", 1772366400000000000),
        ('"1606911006433250.5"', 1606911006433250500),  # as text
        ("0.0005", 0),  # half to even
        ("0.0015", 2),
        ("4000000000000.0005", 4000000000000000),
        ("12.3456", 12346),
        ("1e3", 1000000),
    ],
)
def test_times_are_those_of_the_decimal_text(tmp_path: Path, ts: str, ns: int) -> None:
    event = '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %s, "dur": 0.001}'
    trace = read(tmp_path, f"[{event % 1}, {event % ts}]")
    assert trace.gpu.select("begin_ns", "dur_ns").row(1) == (ns, 1)
    assert trace.events.repaired == 0


def test_gpu_work_without_a_usable_time(tmp_path: Path) -> None:
    kernels = [
        x("kernel", n, ts, dur) for n, ts, dur in (("good", 5, 1), ("none", 0, 0), ("negative", 9, -1))
    ]
    no_dur = {"ph": "X", "cat": "kernel", "name": "no dur", "ts": 4, "pid": 0, "tid": 7}
    trace = read(tmp_path, [*kernels, no_dur])
    assert trace.gpu["timed"].to_list() == [True, False, False, False]
    (notice,) = [n for n in trace.notices if n.code == "untimed-events"]
    assert notice.count == 3


@pytest.mark.parametrize(
    ("ts", "dur"),
    [
        (-(2**63), 1),
        (4 * 10**15 + 1, 1),
        (-9e15, 1),
        (1, 5 * 10**15),
        (1, 2_592_000_000_001),  # 30 days and a microsecond
        (1, 2**63 - 1),
    ],
)
def test_an_absurd_time_is_lost_and_counted(tmp_path: Path, ts: float, dur: float) -> None:
    trace = read(tmp_path, [x("kernel", "good"), x("kernel", "absurd", ts, dur)])
    assert trace.gpu["timed"].to_list() == [True, False]
    assert trace.events.repaired == 1


def test_an_end_absurdly_late_ends_nothing(tmp_path: Path) -> None:
    begin = {"ph": "B", "name": "a", "pid": 1, "tid": 2, "ts": -3e15}
    trace = read(tmp_path, [begin, {**begin, "ph": "E", "ts": 3e15}])
    assert trace.slices["dur_ns"].to_list() == [None]


def test_zero_is_a_time_where_nothing_else_has_one(tmp_path: Path) -> None:
    trace = read(tmp_path, [x("kernel", "k", 0, 0)])
    assert trace.gpu["timed"].to_list() == [True]


def test_unfinished_ops_have_no_duration(tmp_path: Path) -> None:
    trace = read(
        tmp_path, [x("cpu_op", "a", 1, -1), x("cpu_op", "b", 1, 3, finished=False), x("cpu_op", "c")]
    )
    assert trace.ops.select("dur_ns", "finished").rows() == [(None, False), (3000, False), (2000, None)]
    assert [n.count for n in trace.notices if n.code == "unfinished-ops"] == [2]


def test_memory_events_of_both_exporters(tmp_path: Path) -> None:
    args = {
        "Bytes": -512,
        "Device Type": 1,
        "Device Id": 0,
        "Addr": 1 << 46,
        "Total Allocated": 7,
        "Total Reserved": 9,
    }
    instant = {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "ts": 5,
        "pid": 1,
        "tid": 2,
        "args": args,
    }
    slice_ = {**instant, "ph": "X", "dur": 99}
    other = {**slice_, "name": "[OutOfMemory]"}
    trace = read(tmp_path, [instant, slice_, other])
    assert (
        trace.memory.select("begin_ns", "device_type", "device", "address", "bytes").rows()
        == [(5000, 1, 0, 1 << 46, -512)] * 2
    )
    assert trace.instants["name"].to_list() == ["[OutOfMemory]"]
    assert len(trace.slices) == 0


def test_begin_and_end_become_a_slice_and_count_as_two(tmp_path: Path) -> None:
    def e(ph: str, name: str | None, ts: int, tid: int = 0) -> dict[str, Any]:
        return {"ph": ph, "pid": 0, "tid": tid, "ts": ts, **({"name": name} if name else {})}

    trace = read(
        tmp_path,
        [
            e("B", "outer", 0), e("B", "inner", 1), e("E", "inner", 3), e("B", "inner", 4),
            e("E", "inner", 5),
            e("E", "outer", 9), e("E", "never begun", 10), e("B", "never ended", 11),
            e("B", "nameless end", 20, tid=1), e("E", None, 22, tid=1),
        ],
    )  # fmt: skip
    assert trace.slices.select("name", "begin_ns", "dur_ns").rows() == [
        ("outer", 0, 9000), ("inner", 1000, 2000), ("inner", 4000, 1000), ("never ended", 11000, None),
        ("nameless end", 20000, 2000),
    ]  # fmt: skip
    assert trace.events.loaded == 10


def test_instants_counters_and_tracks(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        [
            {"ph": "C", "name": "SM Active", "pid": "GPU 0 Counters", "ts": 1, "args": {"": 3}},
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "stream 7 "}},
            {"ph": "M", "name": "process_sort_index", "pid": 1, "args": {"sort_index": 5000000}},
        ],
    )
    assert trace.instants.select("ph", "name", "pid", "tid", "args").rows() == [
        ("C", "SM Active", "GPU 0 Counters", None, '{"":3}')
    ]
    assert trace.tracks.rows() == [
        ("thread_name", "1", "2", "stream 7 "),
        ("process_sort_index", "1", None, "5000000"),
    ]


def test_flows_are_counted_and_not_kept(tmp_path: Path) -> None:
    flows = [{"ph": ph, "id": 1, "pid": 1, "tid": 2, "ts": 1, "cat": "ac2g", "name": "ac2g"} for ph in "sf"]
    trace = read(tmp_path, [x("cpu_op", "a"), *flows])
    assert trace.events.loaded == 3
    assert set(trace.kinds.rows()) == {("X", "cpu_op", 1), ("s", "ac2g", 1), ("f", "ac2g", 1)}


def test_collectives_keep_their_arguments(tmp_path: Path) -> None:
    args = {"Collective name": "allreduce", "In msg nelems": 6144, "dtype": "BFloat16", "stream": 7}
    trace = read(tmp_path, [x("kernel", "ncclDevKernel", **args), x("kernel", "other")])
    assert trace.gpu["collective"].to_list() == [
        '{"Collective name":"allreduce","In msg nelems":6144,"dtype":"BFloat16"}', None,
    ]  # fmt: skip


def test_rocm_launch_calls_carry_kernel_and_shape(tmp_path: Path) -> None:
    trace = read(
        tmp_path, [x("cuda_runtime", "hipLaunchKernel", kernel="k", grid=[8, 1, 1], block=[64, 1, 1])]
    )
    assert trace.runtime.select("kernel", "grid", "block").row(0) == ("k", [8, 1, 1], [64, 1, 1])


def test_header_facts_stand_before_and_behind_the_events(tmp_path: Path) -> None:
    trace = read(
        tmp_path, {"schemaVersion": 1, "traceEvents": [], "baseTimeNanoseconds": 17, "traceName": "a]}"}
    )
    assert trace.header == {"schemaVersion": 1, "baseTimeNanoseconds": 17, "traceName": "a]}"}
    assert (trace.layout, trace.events.in_file, trace.complete) == ("kineto", 0, True)


@pytest.mark.parametrize(
    ("document", "layout"),
    [([], "array"), ({"traceEvents": []}, "object"), ({"schemaVersion": 1, "traceEvents": []}, "kineto")],
)
def test_layout(tmp_path: Path, document: Any, layout: str) -> None:
    assert read(tmp_path, document).layout == layout


def test_notices_on_what_was_not_recorded(tmp_path: Path) -> None:
    codes = {n.code for n in read(tmp_path, [x("cpu_op", "a")]).notices}
    assert codes == {"no-gpu-work", "no-shapes", "no-stacks"}


def test_an_empty_object_is_let_pass_and_one_without_phase_set_aside(tmp_path: Path) -> None:
    trace = read(tmp_path, "[{}, " + json.dumps(x("cpu_op", "a")) + ', {"name": "no phase"}, {"a": 1}]')
    assert (trace.events.in_file, trace.events.loaded, trace.events.set_aside) == (4, 2, 2)


def test_places_are_those_of_the_events_whatever_looks_like_the_space_between_two(tmp_path: Path) -> None:
    """Of five events, as many false spaces stand in names and lists as true ones are spelled otherwise."""
    events = [x("kernel", f"k{i}") for i in range(5)]
    events[1]["name"] = "foo<a}, {"
    events[2]["args"] = {"list": [{"a": 1}, {"b": 2}]}
    lines = [json.dumps(event) for event in events]
    trace = read(tmp_path, "[" + f"{lines[0]}, {lines[1]},\n{lines[2]},\n{lines[3]}, {lines[4]}" + "]")
    places = trace.gpu.select("offset", "length").rows()
    assert [raw_event(trace, *place) for place in places] == events


def test_rows_stand_in_file_order_with_their_place(tmp_path: Path) -> None:
    trace = read(tmp_path, [x("kernel", "late", 9), x("cpu_op", "between"), x("kernel", "early", 1)])
    assert trace.gpu.select("id", "name").rows() == [(0, "late"), (1, "early")]
    text = (tmp_path / "trace.json").read_bytes()
    cut = [text[o : o + n] for o, n in trace.gpu.select("offset", "length").rows()]
    assert [json.loads(c)["name"] for c in cut] == ["late", "early"]
    assert trace.gpu["offset"].dtype == pl.Int64
