"""Tables as files, and smaller traces that say the same. Tiny traces; times are microseconds unless `_ns`."""

import gzip
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.traces import (
    Event,
    fill,
    frame,
    gpu_marker,
    kernel,
    launch,
    launched,
    marker,
    op,
    session,
    steps,
)
from traceview.analysis.ncu import ncu_command
from traceview.api import Session, open_session
from traceview.cli import main
from traceview.errors import TraceError
from traceview.selection import Selection

REAL = Path(__file__).resolve().parents[3] / "shared" / "traces"
# What must not change between a trace and a part of it, for the GPU work that is in both.
SAME = (
    "name", "kind", "begin_ns", "dur_ns", "timed", "device", "stream", "correlation", "grid", "block",
    "launched_by", "launch_begin_ns", "launch_delay_ns", "launch_link", "op", "op_link", "input_dims",
    "module", "call_site", "annotation",
)  # fmt: skip
STEP = ("name", "wall_ns", "events", "sum_ns", "busy_ns", "idle_ns", "sum_by_clock_ns", "straddling")


def launches(asked: Session, ids: pl.Series | None = None) -> list[tuple[Any, ...]]:
    table = asked.table("kernels")
    chosen = table if ids is None else table.filter(pl.col("id").is_in(ids.implode()))
    return sorted(chosen.select(SAME).rows(), key=repr)


def cut(asked: Session, folder: Path, **part: Any) -> tuple[Session, list[Event], pl.Series]:
    """A part of it, opened again; its events as JSON; the ids of its GPU work in the whole trace."""
    chosen = asked.part(**part)
    path = folder / "part.json"
    asked.write_part(path, chosen)
    document = json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(word))
    events = document if isinstance(document, list) else document["traceEvents"]
    return open_session(path), events, chosen.events.filter(pl.col("kind") == "gpu")["id"]


def names(events: list[Event], ph: str = "X") -> list[str]:
    return sorted(e["name"] for e in events if e["ph"] == ph)


def rich(folder: Path) -> Session:
    """Three steps of 100, each with Python frames, ops, a copy on the GPU, and work that lags by one."""
    events: list[Event] = []
    for i in range(3):
        at, number = 100 * i, 10 * i
        events += [
            marker(f"ProfilerStep#{i}", at, 100, external=i + 1),
            gpu_marker(f"ProfilerStep#{i}", at + 60, 100, external=i + 1),
            frame("nn.Module: Layer_0", at + 1, 90, 2 * i + 1),
            frame("model.py(3): forward", at + 2, 80, 2 * i + 2, 2 * i + 1),
            op("aten::linear", at + 5, 40, 1000 + i, dims=[[2, i + 1]], types=["float"]),
            op("aten::mm", at + 6, 20, 2000 + i, dims=[[2, i + 1]], types=["float"]),
            launch(at + 7, number + 1, external=2000 + i),
            kernel("gemm", at + 70, 40, number + 1, external=2000 + i),  # runs on into the next step
            *launched("late", at + 90, at + 120, 20, number + 2),
        ]
    return session(
        folder, *events, deviceProperties=[{"id": 0, "name": "NVIDIA A100"}], baseTimeNanoseconds=7
    )


# A step.


def test_a_step_alone_has_the_same_numbers_and_links(tmp_path: Path) -> None:
    whole = rich(tmp_path)
    again, _, ids = cut(whole, tmp_path, selection=Selection(steps=(1,)))
    assert again.steps().select(STEP).rows() == whole.steps(Selection(steps=(1,))).select(STEP).rows()
    assert launches(again) == launches(whole, ids)
    assert (
        again.table("kernels")["op"].to_list().count("aten::mm") == 2
    )  # one of step 0, which runs in step 1


def test_it_holds_what_overlaps_its_window_and_what_it_launched(tmp_path: Path) -> None:
    _, events, _ = cut(rich(tmp_path), tmp_path, selection=Selection(steps=(1,)))
    # gemm and late of step 0 run into the window; late of step 1 runs after it. No marker but step 1's.
    assert names([e for e in events if e["cat"] == "kernel"]) == ["gemm", "gemm", "late", "late"]
    assert names([e for e in events if "annotation" in e["cat"]]) == ["ProfilerStep#1", "ProfilerStep#1"]


def test_events_are_byte_for_byte_the_files_own(tmp_path: Path) -> None:
    whole = rich(tmp_path)
    _, _, _ = cut(whole, tmp_path, selection=Selection(steps=(1,)))
    before, after = Path(whole.trace.path).read_text(), (tmp_path / "part.json").read_text()
    for event in whole.part(Selection(steps=(1,))).events.iter_rows(named=True):
        assert before[event["offset"] : event["offset"] + event["length"]] in after


def test_the_header_is_kept_and_says_what_was_cut(tmp_path: Path) -> None:
    again, _, _ = cut(rich(tmp_path), tmp_path, selection=Selection(steps=(0, 2)))
    again.write_part(tmp_path / "smaller.json", again.part(Selection(steps=(0,))))
    assert (tmp_path / "smaller.json").read_text().count("traceview_cut") == 1
    note = again.trace.header.pop("traceview_cut")
    assert again.trace.header == {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100"}],
        "baseTimeNanoseconds": 7,
    }
    assert (note["of"], note["windows_ns"]) == ("trace.json", [[0, 100_000], [200_000, 300_000]])


def test_copies_of_other_steps_markers_are_not_taken_for_its_own(tmp_path: Path) -> None:
    # vLLM's steps are all called alike, and the GPU runs behind: step 0's copy lies in the window of step 1.
    name = "execute_context_0(0)_generation_4(4)"
    whole = session(
        tmp_path,
        marker(name, 0, 100),
        marker(name, 100, 100),
        gpu_marker(name, 60, 90),
        gpu_marker(name, 160, 90),
        kernel("of the first", 120, 20),
        kernel("of the second", 170, 20),
    )
    again, events, _ = cut(whole, tmp_path, selection=Selection(steps=(1,)))
    assert [e["ts"] for e in events if e["cat"] == "gpu_user_annotation"] == [160]
    assert again.steps()["sum_ns"].to_list() == whole.steps(Selection(steps=(1,)))["sum_ns"].to_list()


def test_work_without_a_launch_that_runs_over_from_an_earlier_step_stays(tmp_path: Path) -> None:
    whole = session(tmp_path, *steps(0, 100, dur=100), kernel("over", 90, 30), kernel("own", 150, 20))
    again, events, _ = cut(whole, tmp_path, selection=Selection(steps=(1,)))
    assert names(events) == ["ProfilerStep#1", "over", "own"]
    assert again.steps().select(STEP).rows() == whole.steps(Selection(steps=(1,))).select(STEP).rows()


# A window.


def test_a_window_takes_launch_calls_with_all_their_work_and_work_with_its_call(tmp_path: Path) -> None:
    whole = session(
        tmp_path,
        *launched("launched in it", 100, 500, 5, 1),
        *launched("runs in it", 10, 105, 5, 2),
        launch(101, 3, name="cudaGraphLaunch"),
        *(kernel(f"node {i}", 300 + 10 * i, 5, 3) for i in range(2)),
        *launched("elsewhere", 20, 30, 5, 4),
    )
    again, events, ids = cut(whole, tmp_path, window=(100_000, 110_000))
    assert names(events) == [
        "cudaGraphLaunch",
        "cudaLaunchKernel",
        "cudaLaunchKernel",
        "launched in it",
        "node 0",
        "node 1",
        "runs in it",
    ]
    assert launches(again) == launches(whole, ids)


def test_touching_a_window_is_not_being_in_it(tmp_path: Path) -> None:
    whole = session(
        tmp_path,
        kernel("before", 90, 10),
        kernel("in", 99, 2),
        kernel("at its begin", 100, 0),
        kernel("after", 110, 5),
    )
    _, events, _ = cut(whole, tmp_path, window=(100_000, 110_000))
    assert names(events) == ["at its begin", "in"]


def test_the_context_of_earlier_launches_comes_along(tmp_path: Path) -> None:
    whole = session(
        tmp_path,
        frame("a.py(1): outer", 0, 50, 1),
        frame("a.py(2): inner", 1, 40, 2, 1),
        frame("b.py(1): unrelated", 60, 10, 3),
        op("aten::linear", 2, 30, 5),
        op("aten::mm", 3, 20, 6),
        op("aten::unrelated", 60, 5, 7),
        marker("attention", 2, 30),
        launch(4, 1, external=6),
        kernel("gemm", 500, 10, 1, external=6),
    )
    again, events, ids = cut(whole, tmp_path, window=(500_000, 501_000))
    assert launches(again) == launches(whole, ids)
    assert names(events) == [
        "a.py(1): outer",
        "a.py(2): inner",
        "aten::linear",
        "aten::mm",
        "attention",
        "cudaLaunchKernel",
        "gemm",
    ]


def test_backward_work_keeps_the_call_site_of_its_forward_op(tmp_path: Path) -> None:
    whole = session(
        tmp_path,
        frame("model.py(9): forward", 0, 50, 1),
        op("aten::mul", 5, 20, 1, **{"Sequence number": 4, "Fwd thread id": 0}),
        op("MulBackward0", 200, 20, 2, tid=2, **{"Sequence number": 4, "Fwd thread id": 1}),
        launch(205, 1, external=2, tid=2),
        kernel("mul backward", 210, 5, 1, external=2),
    )
    again, events, ids = cut(whole, tmp_path, window=(205_000, 220_000))
    assert launches(again) == launches(whole, ids)
    assert again.table("kernels")["call_site"].to_list() == ["model.py(9): forward"]
    assert "aten::mul" in names(events)


def test_a_call_with_the_same_correlation_comes_along_so_that_doubt_stays_doubt(tmp_path: Path) -> None:
    whole = session(tmp_path, launch(1, 7, pid=100), launch(90, 7, pid=200), kernel("k", 95, 2, 7))
    again, _, _ = cut(whole, tmp_path, window=(94_000, 98_000))
    assert again.work["launch_link"].to_list() == whole.work["launch_link"].to_list() == ["ambiguous"]


def test_without_steps_or_a_window_it_is_all_of_the_trace(tmp_path: Path) -> None:
    outside, untimed = kernel("outside of all steps", 900, 5), kernel("untimed", 0, 0)
    whole = session(tmp_path, *steps(0, dur=100), *launched("k", 1, 10, 5, 1), outside, untimed)
    again, events, _ = cut(whole, tmp_path)
    assert names(events) == ["ProfilerStep#0", "cudaLaunchKernel", "k", "outside of all steps", "untimed"]
    assert launches(again) == launches(whole)


# How it is written.


def test_arrows_go_from_each_launch_call_to_all_its_work(tmp_path: Path) -> None:
    whole = session(
        tmp_path, *launched("k", 1, 10, 5, 9), launch(2.5, 8, name="cudaGraphLaunch"),
        *(kernel("node", at, 5, 8, stream=20) for at in (20, 30)), kernel("alone", 40, 5, 77),
    )  # fmt: skip
    _, events, _ = cut(whole, tmp_path, window=(0, 100_000))
    flows = [(e["ph"], e["id"], e["pid"], e["tid"], e["ts"], e.get("bp")) for e in events if e["ph"] in "sf"]
    assert sorted(flows) == [
        ("f", 8, 0, 20, 20, "e"),
        ("f", 8, 0, 20, 30, "e"),
        ("f", 9, 0, 7, 10, "e"),
        ("s", 8, 100, 1, 2.5, None),
        ("s", 9, 100, 1, 1, None),
    ]


def test_a_number_that_two_processes_use_makes_no_arrow(tmp_path: Path) -> None:
    # Each device is served by one process, which tells whose 7 it is; an arrow's id could not.
    whole = session(
        tmp_path,
        *(launch(1, number, pid=pid) for pid, number in ((100, 1), (100, 7), (200, 2), (200, 7))),
        *(
            kernel("k", 10 * i, 5, n, device=d)
            for i, (n, d) in enumerate(((1, 0), (7, 0), (2, 1), (7, 1)), 1)
        ),
    )
    again, events, ids = cut(whole, tmp_path)
    assert whole.work["launch_link"].to_list() == ["correlation"] * 4
    assert {e["id"] for e in events if e["ph"] in "sf"} == {1, 2}
    assert launches(again) == launches(whole, ids)


def test_what_perfetto_wants_of_every_event_is_there(tmp_path: Path) -> None:
    _, events, _ = cut(rich(tmp_path), tmp_path, selection=Selection(steps=(1,)))
    slices = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    for event in events:
        assert {"ph", "ts", "pid", "tid", "name"} <= set(event)
        assert event["ph"] != "X" or event["dur"] >= 0
        # An arrow binds to the slice that begins where it does, on the same thread.
        assert event["ph"] not in "sf" or (event["pid"], event["tid"], event["ts"]) in slices
    starts, ends = ({e["id"] for e in events if e["ph"] == ph} for ph in "sf")
    assert starts == ends


def test_times_beyond_a_doubles_digits_stay_exact(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    lane = '"tid":1,"args":{"correlation":1}'
    call = '{"ph":"X","cat":"cuda_runtime","name":"c","ts":1783632000123456.789,"dur":1.001,"pid":1,'
    work = '{"ph":"X","cat":"kernel","name":"k","ts":1783632000123460.001,"dur":5,"pid":0,'
    path.write_text(f'{{"traceEvents": [{call}{lane}}}, {work}{lane}}}]}}')
    open_session(path).write_part(tmp_path / "part.json", open_session(path).part())
    text = (tmp_path / "part.json").read_text()
    assert text.count('"ts":1783632000123456.789') == 1
    assert text.count('"ts": 1783632000123456.789') == 1
    assert text.count('"ts": 1783632000123460.001') == 1


def test_names_of_processes_and_threads_that_are_in_it(tmp_path: Path) -> None:
    def named(what: str, pid: Any, tid: Any, **args: Any) -> Event:
        return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": args}

    whole = session(
        tmp_path,
        *launched("k", 1, 10, 5, 1),
        named("process_name", 0, 0, name="python"),
        named("process_labels", 0, 0, labels="GPU 0"),
        named("process_sort_index", 0, 0, sort_index=5_000_000),
        named("thread_name", 0, 7, name="stream 7"),
        named("thread_name", 0, 9, name="stream 9"),
        named("process_name", 3, 0, name="another"),
    )
    _, events, _ = cut(whole, tmp_path, window=(0, 100_000))
    assert [(e["name"], e["pid"], e["tid"], e["args"]) for e in events if e["ph"] == "M"] == [
        ("process_name", 0, 0, {"name": "python"}),
        ("process_labels", 0, 0, {"labels": "GPU 0"}),
        ("process_sort_index", 0, 0, {"sort_index": 5_000_000}),
        ("thread_name", 0, 7, {"name": "stream 7"}),
    ]


def test_begin_and_end_become_one_slice_and_instants_stay(tmp_path: Path) -> None:
    def lone(ph: str, ts: float, **more: Any) -> Event:
        return {"ph": ph, "name": "span", "cat": "x", "pid": 100, "tid": 1, "ts": ts, **more}

    whole = session(
        tmp_path,
        lone("B", 10),
        lone("E", 30.5),
        lone("i", 20, s="t"),
        lone("C", 21, args={"v": 1}),
        lone("i", 90),
    )
    again, events, _ = cut(whole, tmp_path, window=(15_000, 50_000))
    assert [(e["ph"], e["ts"], e.get("dur")) for e in events] == [
        ("X", 10, 20.5),
        ("i", 20, None),
        ("C", 21, None),
    ]
    assert again.trace.slices["dur_ns"].to_list() == [20_500]


def test_what_is_damaged_comes_out_as_valid_json(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(
        '{"schemaVersion": 1, "traceEvents": [\n'
        '{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":5,"args":{"correlation":1,"x":NaN}},\n'
        '{"ph":"X","cat":"kernel","name":"say "hi"","pid":0,"tid":7,"ts":10,"dur":5,"args":{}}\n]}'
    )
    whole = open_session(path)
    again, events, ids = cut(whole, tmp_path)
    assert names(events) == ["a", 'say "hi"']
    assert (again.trace.events.repaired, again.trace.complete) == (0, True)
    assert launches(again) == launches(whole, ids)


def test_an_array_stays_an_array(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(launched("k", 1, 10, 5, 1)))
    again, events, _ = cut(open_session(path), tmp_path)
    assert (again.trace.layout, names(events)) == ("array", ["cudaLaunchKernel", "k"])


def test_kinds_that_cannot_be_carried_over_are_counted(tmp_path: Path) -> None:
    flow = {"cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 1, "ts": 1, "id": 1}
    whole = session(
        tmp_path,
        *launched("k", 1, 10, 5, 1),
        {"ph": "s", **flow},
        {"ph": "f", **flow},
        {"ph": "b", **flow, "cat": "x"},
    )
    assert whole.part().left_out == {"s fwdbwd": 1, "f fwdbwd": 1, "b x": 1}


def test_gzip_and_back_from_gzip(tmp_path: Path) -> None:
    whole = rich(tmp_path)
    packed = tmp_path / "whole.json.gz"
    packed.write_bytes(gzip.compress(Path(whole.trace.path).read_bytes()))
    asked = open_session(packed)
    part = asked.part(Selection(steps=(2,)))
    for name in ("part.json", "part.json.gz", "again.json.gz"):
        asked.write_part(tmp_path / name, part)
    assert gzip.decompress((tmp_path / "part.json.gz").read_bytes()) == (tmp_path / "part.json").read_bytes()
    assert (tmp_path / "part.json.gz").read_bytes() == (tmp_path / "again.json.gz").read_bytes()


def test_nothing_is_left_behind_and_the_trace_is_never_overwritten(tmp_path: Path) -> None:
    asked = session(tmp_path, *launched("k", 1, 10, 5, 1))
    before = Path(asked.trace.path).read_bytes()
    with pytest.raises(TraceError, match="is the trace itself"):
        asked.write_part(asked.trace.path, asked.part())
    with pytest.raises(TraceError, match="cannot be written"):
        asked.write_part(tmp_path / "no" / "part.json", asked.part())
    part = asked.part()
    Path(asked.trace.path).write_text("[]")
    with pytest.raises(TraceError, match="has changed since it was opened"):
        asked.write_part(tmp_path / "part.json", part)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["trace.json"]
    assert before != b"[]"


@pytest.mark.skipif(not REAL.exists(), reason="the real traces are not here")
@pytest.mark.parametrize(
    "name",
    [
        "a100_5steps_graphs_nccl",
        "h100_qwen1.5-0.5b",
        "mi300_sglang_decode_hipgraph",
        "mi300_resnet_ddp_3steps",
    ],
)
def test_a_step_of_a_real_trace_says_the_same(tmp_path: Path, name: str) -> None:
    whole = open_session(REAL / f"{name}.json.gz")
    middle = whole.step_count() // 2
    again, _, ids = cut(whole, tmp_path, selection=Selection(steps=(middle,)))
    assert again.steps().select(STEP).rows() == whole.steps(Selection(steps=(middle,))).select(STEP).rows()
    assert launches(again) == launches(whole, ids)


# Tables.


def test_a_table_as_parquet_keeps_its_types(tmp_path: Path) -> None:
    asked = session(tmp_path, *steps(0, 100, dur=100), *launched("k", 1, 10, 5, 1), fill(120, 5))
    assert asked.write_table(tmp_path / "k.parquet", "kernels") == 2
    table = pl.read_parquet(tmp_path / "k.parquet")
    assert table.select("name", "kind", "step", "dur_ns", "grid").rows() == [
        ("k", "kernel", 0, 5_000, [1, 1, 1]),
        ("Memset (Device)", "memset", 1, 5_000, None),
    ]
    assert table.columns == asked.table("kernels").columns


def test_a_table_as_csv_writes_lists_as_text_and_no_formula(tmp_path: Path) -> None:
    asked = session(tmp_path, *launched("=1+1\x1b[31m", 1, 10, 5, 1))
    asked.write_table(tmp_path / "k.csv", "kernels")
    table = pl.read_csv(tmp_path / "k.csv")
    assert table.select("name", "grid", "dur_ns").rows() == [("'=1+1\\x1b[31m", "[1, 1, 1]", 5_000)]


def test_tables_hold_what_is_selected(tmp_path: Path) -> None:
    asked = rich(tmp_path)
    for table, rows in (("kernels", 2), ("steps", 1), ("ops", 2), ("groups", 2)):
        assert asked.write_table(tmp_path / "t.csv", table, Selection(steps=(1,))) == rows


def test_wrong_names_are_one_line(tmp_path: Path) -> None:
    asked = rich(tmp_path)
    tries: list[tuple[Callable[[], Any], str]] = [
        (lambda: asked.write_table(tmp_path / "t.xlsx", "kernels"), "must end in one of .parquet, .csv"),
        (lambda: asked.write_table(tmp_path / "t.csv", "nope"), "no such table; there are kernels, steps"),
        (lambda: asked.write_table(tmp_path / "no" / "t.csv", "kernels"), "cannot be written"),
        (lambda: asked.window_around(99, 1), "no launch 99"),
    ]
    for attempt, message in tries:
        with pytest.raises(TraceError, match=message) as refused:
            attempt()
        assert (refused.value.exit_code, "\n" in refused.value.message) == (2, False)


# The command.


def test_the_command_writes_by_suffix_and_says_what(tmp_path: Path, capsys: Any) -> None:
    trace = rich(tmp_path).trace.path

    def export(*words: str) -> tuple[int, str]:
        code = main(["export", trace, *words])
        return code, capsys.readouterr().out.replace(f"{tmp_path}/", "")

    out = [str(tmp_path / name) for name in ("k.parquet", "s.csv", "p.json", "w.json.gz")]
    assert export("-o", out[0]) == (0, "k.parquet: 6 rows of kernels\n")
    assert export("-o", out[1], "--table", "steps", "--steps", "1:") == (0, "s.csv: 2 rows of steps\n")
    assert export("-o", out[2], "--steps", "1") == (
        0, "p.json: 18 events: 4 GPU, 4 runtime calls, 4 ops, 4 Python frames\n"
    )  # fmt: skip
    assert export("-o", out[3], "--around", "0", "--context", "10us")[0] == 0
    assert open_session(out[3]).trace.gpu.height == 3  # gemm, and what is launched before it ends
    assert export("-o", out[3], "--from", "0.2")[0] == 0
    assert open_session(out[3]).found_steps.windows["name"].to_list() == ["ProfilerStep#2"]


@pytest.mark.parametrize(
    "words",
    [
        ["-o", "x.parquet", "--around", "1"], ["-o", "x.json", "--around", "1", "--to", "5"],
        ["-o", "x.json", "--steps", "1", "--from", "0"], ["-o", "x.json", "--from", "5", "--to", "1"],
        ["-o", "x.json", "--from", "5000"], ["-o", "x.json", "--device", "0"], ["-o", "x.txt"],
    ],
)  # fmt: skip
def test_wrong_use_of_the_command_is_exit_code_2(tmp_path: Path, words: list[str], monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", rich(tmp_path).trace.path, *words]) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json"]


# Nsight Compute.


def test_ncu_skips_the_launches_of_the_same_function_before_it(tmp_path: Path) -> None:
    casts = ("void at::cast<float>(int)", "void at::cast<half>(int)", "other", "void at::cast<float>(int)")
    asked = session(
        tmp_path,
        *(e for i, name in enumerate(casts) for e in launched(name, i, 100 - i, 1, i + 1)),  # runs in reverse
        kernel("void at::cast<float>(int)", 200, 1, 9, device=1),
    )
    found = asked.ncu_command(3)
    assert (
        found["command"] == "ncu --set full --kernel-name 'regex:^cast$' --launch-skip 2 --launch-count 1 ..."
    )
    assert "how many came before the recording began is not in the file" in found["caveats"][0]
    assert "2 kernels share this function name" in found["caveats"][1]
    assert [ncu_command(asked.work, i)["skip"] for i in range(5)] == [0, 1, 0, 2, 0]


def test_ncu_quotes_what_a_name_holds(tmp_path: Path) -> None:
    asked = session(tmp_path, *launched("k'; rm -rf $HOME #.*", 1, 10, 5, 1), fill(50, 5))
    command = asked.ncu_command(0)["command"]
    assert shlex.split(command)[4].startswith("regex:^k'")
    for wrong in (1, 77):
        with pytest.raises(TraceError):
            asked.ncu_command(wrong)


@pytest.mark.parametrize(
    "words",
    [
        ["--around", "0", "--context", "1e300s"],
        ["--around", "0", "--context", "1e308s"],
        ["--around", "9" * 30],
        ["--from", "nan"],
        ["--from", "inf"],
        ["--from", "1e308"],
        ["--from", "1e300", "--to", "1e301"],
    ],
)
def test_a_window_that_no_trace_can_have_is_wrong_usage(
    run: Any, small: Path, tmp_path: Path, words: list[str]
) -> None:
    assert run("export", small, "-o", tmp_path / "part.json", *words).code == 2


def test_work_without_a_time_gets_no_arrow(tmp_path: Path) -> None:
    untimed = kernel("k", 0, 5, 1)
    del untimed["ts"]
    _, events, _ = cut(session(tmp_path, launch(1, 1), untimed, *launched("k", 10, 20, 5, 2)), tmp_path)
    assert [e["id"] for e in events if e["ph"] in "sf"] == [2, 2]
