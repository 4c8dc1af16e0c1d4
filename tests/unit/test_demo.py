"""The demo trace holds what its facts say, and nothing in it contradicts itself."""

import gzip
import io
import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from traceview.demo import DemoFacts, DemoOptions, demo_path, save_demo, write_demo
from traceview.errors import TraceError
from traceview.parsers import load

SMALL = DemoOptions(steps=3, layers=4)
GPU_WORK = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}


def written(**options: Any) -> tuple[str, DemoFacts]:
    out = io.StringIO()
    facts = write_demo(out, **options)
    return out.getvalue(), facts


def ns(value: float) -> int:
    return round(value * 1000)


def begin_and_end(event: dict[str, Any]) -> tuple[int, int]:
    return ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])


@pytest.fixture(scope="module")
def small() -> tuple[list[dict[str, Any]], DemoFacts]:
    text, facts = written(**SMALL)
    return json.loads(text)["traceEvents"], facts


def of(events: list[dict[str, Any]], *categories: str) -> list[dict[str, Any]]:
    return [event for event in events if event["ph"] == "X" and event.get("cat") in categories]


def test_counts_and_sums_are_those_of_the_facts(small: tuple[list[dict[str, Any]], DemoFacts]) -> None:
    events, facts = small
    work = of(events, *GPU_WORK)
    kinds = Counter(event["cat"] for event in work)
    assert (kinds["kernel"], kinds["gpu_memcpy"], kinds["gpu_memset"]) == (
        facts.kernels,
        facts.copies,
        facts.sets,
    )
    assert (len(events), len(of(events, "cpu_op"))) == (facts.events, facts.cpu_ops)
    assert len(of(events, "python_function")) == facts.python_frames

    times = defaultdict(list)
    for event in work:
        times[event["name"]].append(ns(event["dur"]))
    assert {name: (len(durs), sum(durs), min(durs), max(durs)) for name, durs in times.items()} == {
        name: (group.calls, group.sum_ns, group.min_ns, group.max_ns) for name, group in facts.groups.items()
    }
    assert sum(sum(durs) for durs in times.values()) == facts.sum_ns


def test_steps_hold_the_work_that_was_called_in_them(small: tuple[list[dict[str, Any]], DemoFacts]) -> None:
    events, facts = small
    calls = {
        event["args"]["correlation"]: ns(event["ts"]) for event in of(events, "cuda_runtime", "cuda_driver")
    }
    markers = of(events, "user_annotation")
    assert [(m["name"], ns(m["ts"]), ns(m["dur"])) for m in markers] == [
        (step.name, step.begin_ns, step.wall_ns) for step in facts.steps
    ]
    for step in facts.steps:
        end = step.begin_ns + step.wall_ns
        durs = [
            ns(event["dur"])
            for event in of(events, *GPU_WORK)
            if step.begin_ns <= calls[event["args"]["correlation"]] < end
        ]
        assert (len(durs), sum(durs)) == (step.events, step.sum_ns)


def test_work_of_a_stream_never_overlaps_and_follows_its_call(
    small: tuple[list[dict[str, Any]], DemoFacts],
) -> None:
    events, facts = small
    work = of(events, *GPU_WORK)
    calls = {event["args"]["correlation"]: event for event in of(events, "cuda_runtime", "cuda_driver")}
    streams = defaultdict(list)
    for event in work:
        assert event["ts"] > calls[event["args"]["correlation"]]["ts"]
        assert event["args"]["External id"] == calls[event["args"]["correlation"]]["args"]["External id"]
        streams[event["args"]["stream"]].append(begin_and_end(event))
    assert len(streams) == 2
    for spans in streams.values():
        spans.sort()
        assert all(before[1] < after[0] for before, after in pairwise(spans))

    # The union by another way than the facts': the time in which at least one piece of work is under way.
    edges = sorted(edge for begin, end in map(begin_and_end, work) for edge in ((begin, 1), (end, -1)))
    busy = running = 0
    for (at, change), (then, _) in pairwise(edges):
        running += change
        busy += (then - at) * (running > 0)
    assert busy == facts.busy_ns < facts.sum_ns  # the streams do overlap each other
    assert edges[-1][0] - edges[0][0] == facts.span_ns


def test_host_events_nest(small: tuple[list[dict[str, Any]], DemoFacts]) -> None:
    events, _ = small
    host = of(events, "cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver")
    spans = sorted(map(begin_and_end, host), key=lambda span: (span[0], -span[1]))
    open_ends: list[int] = []
    for begin, end in spans:
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1]
        open_ends.append(end)


def test_python_parents_and_modules(small: tuple[list[dict[str, Any]], DemoFacts]) -> None:
    events, facts = small
    frames = {event["args"]["Python id"]: event for event in of(events, "python_function")}
    for frame in frames.values():
        parent = frame["args"]["Python parent id"]
        if parent is not None:
            (outer_begin, outer_end), (begin, end) = map(begin_and_end, (frames[parent], frame))
            assert outer_begin <= begin <= end <= outer_end
    modules = {
        frame["name"]: frame["args"]["Python module id"]
        for frame in frames.values()
        if "Module" in frame["name"]
    }
    assert modules["nn.Module: DemoDecoderLayer_3"] == 3
    assert modules["nn.Module: RMSNorm_7"] == 7  # two in each of four layers: 0 to 7
    assert facts.cast.python in {frame["name"] for frame in frames.values()}


def test_the_cast_is_what_the_facts_say(small: tuple[list[dict[str, Any]], DemoFacts]) -> None:
    events, facts = small
    cast = facts.cast
    ops = {event["args"]["External id"]: event for event in of(events, "cpu_op")}
    casts = [event for event in of(events, "kernel") if event["name"] == cast.name]
    assert len(casts) == 3 * cast.calls_per_step == 3 * 4
    op = ops[casts[0]["args"]["External id"]]
    around = [
        other for other in ops.values() if begin_and_end(other)[0] <= ns(op["ts"]) <= begin_and_end(other)[1]
    ]
    around.sort(key=lambda other: other["dur"])
    assert (
        tuple(other["name"] for other in around)
        == cast.op_stack
        == ("aten::copy_", "aten::_to_copy", "aten::to")
    )
    assert op["args"]["Input Dims"] == [list(dims) for dims in cast.input_dims]
    assert op["args"]["Input type"] == list(cast.input_types)
    assert casts[0]["args"]["grid"] == list(cast.grid)
    tokens, one, latent = cast.input_dims[0]
    assert cast.elements == tokens * one * latent
    assert (cast.grid[0] - 1) * 512 < cast.elements <= cast.grid[0] * 512
    assert cast.share == facts.groups[cast.name].sum_ns / facts.sum_ns


def test_collectives_carry_their_arguments_on_op_and_kernel(
    small: tuple[list[dict[str, Any]], DemoFacts],
) -> None:
    events, _ = small
    ops = {event["args"]["External id"]: event for event in of(events, "cpu_op")}
    kernels = [event for event in of(events, "kernel") if event["name"].startswith("nccl")]
    keys = (
        "Collective name",
        "In msg nelems",
        "Out msg nelems",
        "dtype",
        "Group size",
        "Process Group Name",
        "Seq",
    )
    for kernel in kernels:
        op = ops[kernel["args"]["External id"]]
        assert op["name"] == "record_param_comms"
        assert [kernel["args"][key] for key in keys] == [op["args"][key] for key in keys]
    assert [kernel["args"]["Seq"] for kernel in kernels] == list(range(1, 3 * (2 * 4 + 1) + 1))


def test_the_default_tells_the_story() -> None:
    _, facts = written()
    assert (len(facts.steps), facts.cast.calls_per_step) == (8, 78)
    assert 0.6 < facts.cast.share < 0.7
    walls = [step.wall_ns for step in facts.steps]
    assert walls[facts.slow_step] - sorted(walls)[4] > 3_500_000
    assert facts.outlier.step != facts.slow_step
    group = facts.groups[facts.outlier.name]
    assert facts.outlier.dur_ns == group.max_ns > 50 * group.min_ns


def test_same_options_give_the_same_bytes() -> None:
    assert written(**SMALL) == written(**SMALL)
    assert written(**SMALL, seed=8)[1].sum_ns != written(**SMALL)[1].sum_ns


def test_what_is_recorded_changes_no_time() -> None:
    def times(facts: DemoFacts) -> object:
        return facts.groups, facts.steps, facts.busy_ns, facts.span_ns

    text, facts = written(**SMALL)
    bare, without_stacks = written(**SMALL, stacks=False)
    full, with_more = written(**SMALL, cpu_ops=5)
    one, in_one_line = written(**SMALL, one_line=True)
    assert times(facts) == times(without_stacks) == times(with_more) == times(in_one_line)
    assert without_stacks.python_frames == bare.count("python_function") == 0
    assert with_more.events == facts.events + 5 * facts.launches == len(json.loads(full)["traceEvents"])
    assert "\n" not in one
    assert json.loads(one) == json.loads(text)


def test_the_parser_finds_the_facts(tmp_path: Path) -> None:
    facts = save_demo(tmp_path / "demo.json", **SMALL)
    trace = load(tmp_path / "demo.json")
    assert (trace.layout, trace.complete, trace.events.loaded) == ("kineto", True, facts.events)
    assert trace.gpu["name"].n_unique() == len(facts.groups)
    for name, group in facts.groups.items():
        durs = trace.gpu.filter(pl.col("name") == name)["dur_ns"]
        found = (len(durs), durs.sum(), durs.min(), durs.max())
        assert found == (group.calls, group.sum_ns, group.min_ns, group.max_ns)
    markers = trace.annotations.filter(~pl.col("on_gpu"))
    assert markers.select("name", "begin_ns", "dur_ns").rows() == [
        (step.name, step.begin_ns, step.wall_ns) for step in facts.steps
    ]
    assert (trace.ops.height, trace.python.height) == (facts.cpu_ops, facts.python_frames)


def test_a_gzipped_demo_holds_the_same_text_and_no_time(tmp_path: Path) -> None:
    save_demo(tmp_path / "a.json.gz", **SMALL)
    save_demo(tmp_path / "b.json.gz", **SMALL)
    packed = (tmp_path / "a.json.gz").read_bytes()
    assert packed == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress(packed).decode() == written(**SMALL)[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json.gz", "b.json.gz"]


@pytest.mark.parametrize("options", [{"steps": 0}, {"layers": 0}, {"cpu_ops": -1}, {"cpu_ops": 1_001}])
def test_sizes_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(TraceError, match="at least 1 step") as refusal:
        written(**options)
    assert refusal.value.exit_code == 2


def test_the_smallest_and_the_fullest_are_still_traces() -> None:
    text, facts = written(steps=1, layers=1, cpu_ops=1_000)
    assert len(json.loads(text)["traceEvents"]) == facts.events


def test_a_place_that_cannot_be_written_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"none/demo\.json: cannot be written: No such file"):
        save_demo(tmp_path / "none" / "demo.json", **SMALL)


def test_the_cached_demo_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: tmp_path / "cache")
    path = demo_path(**SMALL)
    assert path.read_text() == written(**SMALL)[0]
    path.write_text("still here")
    assert demo_path(**SMALL, seed=7) == path  # the seed is 7 when left alone
    assert path.read_text() == "still here"
    assert demo_path(**SMALL, seed=8) != path


def test_a_cache_folder_that_cannot_be_made_is_a_plain_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: tmp_path / "file")
    with pytest.raises(TraceError, match="no place for the demo trace: Not a directory; name a file with"):
        demo_path(**SMALL)
