"""What changed between two traces. Small decode-like traces; times are microseconds unless named `_ns`."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.traces import Event, copy, kernel, launch, launched, marker, op, write
from traceview.analysis.spread import whole
from traceview.api import Session, open_session
from traceview.cli import main
from traceview.report import compare as report
from traceview.report.waterfall import waterfall
from traceview.selection import Selection

GOLDEN = Path(__file__).resolve().parent.parent / "golden"

# name, duration, op, shapes: in the order in which a step launches them
Kernels = Sequence[tuple[str, float, str | None, Any]]
USUAL: Kernels = (
    ("norm", 5, "aten::rms_norm", [[1, 64]]),
    ("cast", 40, "aten::copy_", [[512, 576], [512, 576]]),
    ("gemm", 20, "aten::mm", [[1, 64], [64, 64]]),
)


def decode(kernels: Kernels = USUAL, walls: Sequence[float] = (100, 100, 100)) -> list[Event]:
    """Steps one after another; each launches the kernels in order, and the GPU runs them back to back."""
    events: list[Event] = []
    begin, number = 0.0, 0
    for index, wall in enumerate(walls):
        events.append(marker(f"ProfilerStep#{index}", begin, wall))
        at = begin + 10
        for place, (name, dur, called, dims) in enumerate(kernels):
            number += 1
            call = begin + 2 * place
            if called:
                events.append(op(called, call, 1.5, number, dims=dims, types=["float"] * len(dims)))
            events.append(launch(call + 0.5, number, dur=0.5, external=number if called else None))
            events.append(kernel(name, at, dur, number, external=number if called else None))
            at += dur
        begin += wall
    return events


def compared(folder: Path, before: list[Event], after: list[Event], **more: Any) -> dict[str, Any]:
    first = open_session(write(folder, *before, name="before.json"))
    return first.compare(open_session(write(folder, *after, name="after.json")), **more)


def rows(document: dict[str, Any], *keys: str) -> list[tuple[Any, ...]]:
    return [tuple(group[key] for key in keys) for group in document["groups"]]


def unaccounted_ns(document: dict[str, Any]) -> int:
    """What the contract's sum leaves of the step's difference: 0."""
    parts = sum(g["delta_ns"] for g in document["groups"]) + document["idle_ns"]["delta_ns"]
    assert document["unexplained_ns"] == sum(document["unexplained"].values())
    return int(document["step_ns"]["delta_ns"] - parts - document["unexplained_ns"])


def with_kernel(name: str, **changes: Any) -> Kernels:
    """USUAL with one kernel's duration or name changed."""
    return [
        (changes.get("name", n), changes.get("dur", d), o, s) if n == name else (n, d, o, s)
        for n, d, o, s in USUAL
    ]


# What changed.


def test_a_trace_against_itself_is_the_same(tmp_path: Path) -> None:
    document = compared(tmp_path, decode(), decode())
    assert document["step_ns"]["verdict"] == "same"
    assert {g["status"] for g in document["groups"]} == {"same"}
    assert [g["delta_ns"] for g in document["groups"]] == [0, 0, 0]
    assert (document["step_ns"]["delta_ns"], document["idle_ns"]["delta_ns"], document["unexplained_ns"]) == (
        0,
        0,
        0,
    )


def test_one_kernel_of_half_the_time_makes_the_step_that_much_faster(tmp_path: Path) -> None:
    document = compared(tmp_path, decode(), decode(with_kernel("cast", dur=20), walls=(80, 80, 80)))
    assert rows(document, "key", "status", "before_ns", "after_ns", "delta_ns", "calls_before") == [
        ("cast", "changed", 40_000, 20_000, -20_000, 1.0),
        ("gemm", "same", 20_000, 20_000, 0, 1.0),
        ("norm", "same", 5_000, 5_000, 0, 1.0),
    ]
    step = document["step_ns"]
    assert (step["before"], step["after"], step["ratio"], step["verdict"]) == (100_000, 80_000, 0.8, "faster")
    assert (document["idle_ns"]["delta_ns"], document["unexplained_ns"]) == (0, 0)


def test_a_kernel_that_is_only_in_one_trace_is_added_or_removed(tmp_path: Path) -> None:
    document = compared(tmp_path, decode(USUAL[:2]), decode([USUAL[1], USUAL[2], USUAL[2]]))
    assert rows(document, "key", "status", "matched_by", "before_ns", "after_ns", "calls_after") == [
        ("gemm", "added", None, 0, 40_000, 2.0),
        ("norm", "removed", None, 5_000, 0, 0.0),
        ("cast", "same", "name", 40_000, 40_000, 1.0),
    ]


def test_more_calls_are_a_change_though_the_time_is_the_same(tmp_path: Path) -> None:
    halves = [("gemm", 10, "aten::mm", [[1, 64]])] * 2
    document = compared(tmp_path, decode(USUAL[2:]), decode(halves))
    assert rows(document, "status", "delta_ns", "calls_before", "calls_after") == [("changed", 0, 1.0, 2.0)]


def test_times_are_per_step_so_that_the_numbers_of_steps_may_differ(tmp_path: Path) -> None:
    document = compared(tmp_path, decode(walls=[100] * 2), decode(walls=[100] * 5))
    assert {g["status"] for g in document["groups"]} == {"same"}
    assert (
        "different numbers of steps, each side is divided by its own: 2 before, 5 after"
        in document["comparable"]
    )


# Which kernel is which.


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        (r"run\a\k.cu", "run/a/k.cu", "slashes"),
        ("_GLOBAL__N__8c_4_k_cu_1::k(int)", "_GLOBAL__N__a_4_k_cu_9::k(int)", "an anonymous namespace"),
        ("(anonymous namespace)::k(int)", "_GLOBAL__N__a_4_k_cu_9::k(int)", "an anonymous namespace"),
        ("triton_poi_fused_add_3", "triton_poi_fused_add_11", "a running number"),
        ("f<g<int> >(int)", "f<g<int>>(int)", "blanks"),
    ],
)  # fmt: skip
def test_names_that_differ_in_what_means_nothing_are_one_kernel(
    tmp_path: Path, before: str, after: str, differs: str
) -> None:
    document = compared(tmp_path, decode([(before, 5, None, None)]), decode([(after, 5, None, None)]))
    assert rows(document, "name_before", "name_after", "status", "matched_by", "names_differ_in") == [
        (before, after, "renamed", "name", differs)
    ]


def test_other_numbers_in_a_name_are_no_running_number(tmp_path: Path) -> None:
    document = compared(tmp_path, decode([("tile_64", 5, None, None)]), decode([("tile_128", 5, None, None)]))
    assert sorted(rows(document, "key", "status")) == [("tile_128", "added"), ("tile_64", "removed")]


def test_a_renamed_kernel_is_found_by_its_op_and_shapes(tmp_path: Path) -> None:
    # It also stands in another place of the step now.
    after = [USUAL[2], ("new_cast", 30, *USUAL[1][2:]), USUAL[0]]
    document = compared(tmp_path, decode(), decode(after))
    assert rows(document, "name_before", "name_after", "status", "matched_by", "delta_ns")[0] == (
        "cast", "new_cast", "renamed", "op-and-shape", -10_000,
    )  # fmt: skip


def test_of_two_kernels_with_one_op_the_shapes_decide(tmp_path: Path) -> None:
    small, large = [[1, 64], [64, 64]], [[1, 64], [64, 4096]]
    before = [("a", 5, "aten::mm", small), ("b", 9, "aten::mm", large)]
    after = [("x", 9, "aten::mm", large), ("y", 5, "aten::mm", small)]
    document = compared(tmp_path, decode(before), decode(after))
    assert sorted(rows(document, "name_before", "name_after")) == [("a", "y"), ("b", "x")]


def test_without_an_op_the_place_between_the_same_neighbours_tells(tmp_path: Path) -> None:
    before = [("first", 5, None, None), ("old", 7, None, None), ("last", 5, None, None)]
    after = [("first", 5, None, None), ("new", 6, None, None), ("last", 5, None, None)]
    document = compared(tmp_path, decode(before), decode(after))
    assert rows(document, "name_before", "name_after", "status", "matched_by")[0] == (
        "old", "new", "renamed", "position",
    )  # fmt: skip


def test_a_place_says_nothing_where_calls_differ_or_no_neighbour_is_the_same(tmp_path: Path) -> None:
    first, last = ("first", 5, None, None), ("last", 5, None, None)
    twice = decode([first, ("new", 6, None, None), ("new", 6, None, None), last])
    document = compared(tmp_path, decode([first, ("old", 7, None, None), last]), twice)
    assert sorted(g["status"] for g in document["groups"]) == ["added", "removed", "same", "same"]
    alone = compared(tmp_path, decode([("old", 7, None, None)]), decode([("new", 6, None, None)]))
    assert sorted(g["status"] for g in alone["groups"]) == ["added", "removed"]


def test_of_two_kernels_with_one_op_and_shape_the_nearer_place_decides(tmp_path: Path) -> None:
    shapes = [[1, 64], [64, 64]]
    between = ("other", 5, "aten::add", [[8]])
    before = [("z", 5, "aten::mm", shapes), between, ("b", 9, "aten::mm", shapes)]
    after = [("q", 5, "aten::mm", shapes), between, ("r", 9, "aten::mm", shapes)]
    document = compared(tmp_path, decode(before), decode(after))
    assert sorted(rows(document, "name_before", "name_after"))[0::2] == [("b", "r"), ("z", "q")]


def test_an_ops_copy_is_never_taken_for_its_kernel(tmp_path: Path) -> None:
    def by(work: Event) -> list[Event]:
        called = op("aten::copy_", 0, 5, 7, dims=[[8, 8]], types=["float"])
        return [marker("ProfilerStep#0", 0, 100), called, launch(1, 1, external=7), work]

    before, after = copy("Memcpy DtoD", 10, 5, 1, external=7), kernel("cast", 10, 5, 1, external=7)
    document = compared(tmp_path, by(before), by(after))
    assert sorted(rows(document, "key", "status")) == [("Memcpy DtoD", "removed"), ("cast", "added")]


def test_a_copy_is_never_taken_for_a_kernel_of_its_name(tmp_path: Path) -> None:
    step = marker("ProfilerStep#0", 0, 100)
    before = [step, launch(1, 1), copy("k", 10, 5, 1)]
    document = compared(tmp_path, before, [step, *launched("k", 1, 10, 5, 1)])
    assert sorted(rows(document, "kind", "status")) == [("kernel", "added"), ("memcpy", "removed")]


def test_variants_stand_side_by_side_with_their_longest_launch(tmp_path: Path) -> None:
    def cast(rows_: int, grid: int) -> list[Event]:
        return [
            marker("ProfilerStep#0", 0, 100),
            op("aten::copy_", 1, 5, 7, dims=[[rows_, 4]], types=["float"]),
            launch(2, 1, external=7),
            kernel("cast", 10, 20, 1, grid=(grid, 1, 1), external=7),
        ]

    document = compared(tmp_path, cast(512, 64), cast(256, 32), variants=True)
    (pair,) = document["groups"][0]["variants"]
    assert [(s["grid"], s["input_dims"], s["launch"]) for s in (pair["before"], pair["after"])] == [
        ([64, 1, 1], [[512, 4]], 0),
        ([32, 1, 1], [[256, 4]], 0),
    ]


# Noise and verdict.


def test_noise_is_half_of_welchs_interval(tmp_path: Path) -> None:
    # Each side: mean 100, variance (0 + 4 + 4 + 0) / 3. sqrt(2 * 8/3 / 4) = 1.1547; t of 6 degrees: 2.447.
    walls = (100, 102, 98, 100)
    step = compared(tmp_path, decode(walls=walls), decode(walls=walls))["step_ns"]
    assert step["noise_ns"] == pytest.approx(2.447 * 1154.7, abs=1)


def test_a_difference_within_the_spread_of_the_steps_is_none(tmp_path: Path) -> None:
    before = decode(walls=(100, 120, 80, 110))
    assert compared(tmp_path, before, decode(walls=(98, 118, 78, 108)))["step_ns"]["verdict"] == "same"
    assert compared(tmp_path, before, decode(walls=(198, 218, 178, 208)))["step_ns"]["verdict"] == "slower"


def test_a_kernel_within_its_own_spread_is_the_same(tmp_path: Path) -> None:
    def jumping(*durations: float) -> list[Event]:
        return [
            event
            for i, dur in enumerate(durations)
            for event in (
                marker(f"ProfilerStep#{i}", 100 * i, 100),
                *launched("k", 100 * i + 1, 100 * i + 5, dur, i + 1),
            )
        ]

    # The mean goes from 20 to 21, which is 5 %, where the steps differ by up to 16.
    document = compared(tmp_path, jumping(12, 28, 20, 20), jumping(13, 29, 21, 21))
    assert rows(document, "status", "delta_ns") == [("same", 1_000)]
    steady = compared(tmp_path, jumping(20, 20, 20, 20), jumping(21, 21, 21, 21))
    assert rows(steady, "status", "delta_ns") == [("changed", 1_000)]


@pytest.mark.parametrize(
    ("total", "count", "mean"), [(5, 2, 2), (7, 2, 4), (-5, 2, -2), (8, 3, 3), (7, 3, 2), (9, 0, 9)]
)
def test_means_are_rounded_half_to_even(total: int, count: int, mean: int) -> None:
    assert whole(total, count) == mean


def test_one_slow_step_is_noise_and_no_verdict(tmp_path: Path) -> None:
    step = compared(tmp_path, decode(walls=[100] * 6), decode(walls=[100, 100, 100, 400, 100, 100]))[
        "step_ns"
    ]
    assert (step["delta_ns"], step["verdict"]) == (50_000, "same")


def test_single_steps_have_no_noise_and_the_document_says_so(tmp_path: Path) -> None:
    document = compared(tmp_path, decode(walls=[100]), decode(walls=[150]))
    assert (document["step_ns"]["noise_ns"], document["step_ns"]["verdict"]) == (None, "slower")
    assert "before: 1 step, so no spread to tell noise by" in document["comparable"]
    nearly = compared(tmp_path, decode(walls=[100]), decode(walls=[100.5]))
    assert nearly["step_ns"]["verdict"] == "same"


# Which steps.


def test_a_first_step_unlike_the_others_is_left_out_and_named(tmp_path: Path) -> None:
    document = compared(tmp_path, decode(walls=[900, 100, 100, 100]), decode(walls=[500, 100, 100, 100]))
    assert (document["step_ns"]["before"], document["step_ns"]["verdict"]) == (100_000, "same")
    assert document["before"]["steps_left_out"] == [0]
    assert "before: step 0 left out: first and unlike the others, or cut off" in document["comparable"]


def test_steps_that_were_chosen_are_all_compared(tmp_path: Path) -> None:
    both = decode(walls=[900, 100, 100, 100])
    document = compared(
        tmp_path, both, both, selection=Selection(steps=(0, 1)), after_selection=Selection(steps=(1, 2))
    )
    assert (document["step_ns"]["before"], document["step_ns"]["after"]) == (500_000, 100_000)


def phased(*phases: str) -> list[Event]:
    """Steps of SGLang's marker, 300 for a prefill and 100 for a decode."""
    events: list[Event] = []
    at = 0
    for phase in phases:
        wall = 300 if phase == "EXTEND" else 100
        events += [
            marker(f"step[{phase} bs=1 toks=1]", at, wall),
            launch(at + 1, at + 1),
            kernel("k", at + 5, 50, at + 1),
        ]
        at += wall
    return events


def test_phases_are_kept_apart(tmp_path: Path) -> None:
    before = phased("EXTEND", "DECODE", "DECODE")
    after = phased("EXTEND", "EXTEND", "DECODE")
    document = compared(tmp_path, before, after)
    assert [(p["phase"], p["steps_before"], p["steps_after"]) for p in document["phases"]] == [
        ("decode", 2, 1),
        ("prefill", 1, 2),
    ]
    assert [p["step_ns"]["verdict"] for p in document["phases"]] == ["same", "same"]
    mixed = "phases are mixed: 2 decode, 1 prefill before, 1 decode, 2 prefill after; --phase takes one alone"
    assert mixed in document["comparable"]
    alone = compared(tmp_path, before, after, selection=Selection(phase="decode"))
    assert (alone["step_ns"]["delta_ns"], alone["phases"]) == (0, [])


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    def on(gpu: str, world: int, *events: Event) -> Session:
        devices = [{"id": 0, "name": gpu}]
        group = {"rank": 0, "world_size": world}
        name = f"{world}.json"
        return open_session(
            write(tmp_path, *events, name=name, deviceProperties=devices, distributedInfo=group)
        )

    document = on("NVIDIA A100", 4, *decode()).compare(on("NVIDIA H100", 8, *launched("k", 0, 5, 10, 1)))
    assert document["comparable"][:4] == [
        "different GPUs: NVIDIA A100 before, NVIDIA H100 after",
        "different numbers of ranks: 4 before, 8 after",
        "steps found in different ways: profiler-step before, none after",
        "different numbers of steps, each side is divided by its own: 3 before, 1 after",
    ]


# It adds up.

Launch = tuple[int, int, int, int, int]  # step, offset in it, duration, stream, device


def anything(launches: list[Launch], walls: list[int]) -> list[Event]:
    events: list[Event] = []
    begins = [sum(walls[:i]) for i in range(len(walls))]
    events += [marker(f"ProfilerStep#{i}", b, w) for i, (b, w) in enumerate(zip(begins, walls, strict=True))]
    for number, (step, offset, dur, stream, device) in enumerate(launches, 1):
        begin = begins[step % len(walls)]
        events += [launch(begin, number, dur=0.1)]
        events += [kernel(f"k{dur % 3}", begin + offset, dur / 1000, number, stream=stream, device=device)]
    return events


LAUNCHES = st.tuples(*(st.integers(*limits) for limits in ((0, 3), (0, 300), (0, 90_000), (7, 8), (0, 1))))
SIDES = st.tuples(st.lists(LAUNCHES, max_size=8), st.lists(st.integers(1, 200), min_size=1, max_size=4))


@given(before=SIDES, after=SIDES)
@settings(max_examples=40)
def test_groups_idle_and_unexplained_are_the_step_to_the_nanosecond(
    tmp_path_factory: pytest.TempPathFactory, before: Any, after: Any
) -> None:
    # Streams that overlap, work that runs into later steps, devices side by side, steps of unequal length.
    document = compared(tmp_path_factory.mktemp("t"), anything(*before), anything(*after))
    assert unaccounted_ns(document) == 0
    assert abs(document["unexplained"]["rounding_ns"]) <= len(document["groups"]) + 5


def test_streams_that_overlap_are_a_part_of_their_own(tmp_path: Path) -> None:
    def two(second: float) -> list[Event]:
        return [
            marker("ProfilerStep#0", 0, 100),
            *launched("a", 1, 10, 50, 1),
            *launched("b", 2, second, 20, 2, stream=20),
        ]

    # b moves from behind a to under it: no group changes, 20 become idle, 20 overlap.
    document = compared(tmp_path, two(60), two(20))
    assert (document["step_ns"]["delta_ns"], document["idle_ns"]["delta_ns"]) == (0, 20_000)
    assert document["unexplained"] == {
        "overlap_ns": -20_000,
        "elsewhere_ns": 0,
        "devices_ns": 0,
        "rounding_ns": 0,
    }


# What is printed.


def pair(folder: Path) -> tuple[str, str]:
    before = write(folder, *decode(walls=(101, 99, 100)), name="before.json")
    after = write(folder, *decode(with_kernel("cast", dur=20), walls=(80, 81, 79)), name="after.json")
    return str(before), str(after)


def test_the_gate_fails_only_where_the_step_got_slower_by_more(tmp_path: Path, capsys: Any) -> None:
    before, after = pair(tmp_path)
    assert main(["compare", before, after, "--fail-above", "3%"]) == 0
    assert main(["compare", after, before, "--fail-above", "3%"]) == 1
    assert main(["compare", after, before, "--fail-above", "30"]) == 0
    assert main(["compare", after, before]) == 0
    with pytest.raises(SystemExit) as stop:
        main(["compare", after, before, "--fail-above", "-1%"])
    assert stop.value.code == 2
    assert main(["compare", "-", "-"]) == 2
    assert "name the other" in capsys.readouterr().err


@pytest.mark.parametrize("style", ["table", "markdown"])
def test_the_page_is_as_it_was(tmp_path: Path, style: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    others = [("norm|x", 6, *USUAL[0][2:]), *with_kernel("cast", dur=20)[1:], ("new", 1, None, None)]
    document = compared(Path(), decode(walls=(101, 99, 100)), decode(others, walls=(80, 81, 79)))
    text = report.text(document, style, 100)
    golden = GOLDEN / f"compare_page.{'md' if style == 'markdown' else 'txt'}"
    if os.environ.get("TRACEVIEW_GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_hostile_names_stay_text_on_the_page(tmp_path: Path) -> None:
    document = compared(tmp_path, decode([("\x1b[31m|`x`", 5, None, None)]), decode([("ok", 9, None, None)]))
    for style in ("table", "markdown"):
        assert "\x1b" not in report.text(document, style, 100)  # type: ignore[arg-type]
    assert "\\|\\`x\\`" in report.text(document, "markdown", 100)


def test_csv_has_a_row_for_each_group_and_for_the_step(tmp_path: Path, capsys: Any) -> None:
    before, after = pair(tmp_path)
    assert main(["compare", before, after, "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "key",
        "cast",
        "gemm",
        "norm",
        "idle",
        "unexplained",
        "step",
    ]


def test_json_is_one_document_without_nan(tmp_path: Path, capsys: Any) -> None:
    before, after = pair(tmp_path)
    assert main(["compare", before, after, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(word))
    assert (document["schema"], document["per"]) == ("traceview.compare/1", "step")
    assert unaccounted_ns(document) == 0


def test_the_waterfall_falls_from_before_to_after(tmp_path: Path) -> None:
    document = compared(tmp_path, decode(), decode(with_kernel("cast", dur=5), walls=(65, 65, 65)))
    assert waterfall(document, 60).splitlines() == [
        "step before  " + "█" * 37 + "    100 us",
        "cast         " + " " * 24 + "█" * 13 + "  -35.0 us",
        "step after   " + "█" * 24 + " " * 13 + "   65.0 us",
    ]


def test_the_waterfall_of_a_small_change_starts_above_zero_and_says_so(tmp_path: Path) -> None:
    document = compared(tmp_path, decode(), decode(with_kernel("cast", dur=39), walls=(99, 99, 99)))
    lines = waterfall(document, 60).splitlines()
    assert lines[-1] == "(the bars start at 98.0 us)"
    assert [line.count("█") for line in lines[:-1]] == [37, 19, 18]


def test_files_without_gpu_work_or_steps_are_compared_as_far_as_they_go(tmp_path: Path) -> None:
    document = compared(tmp_path, [op("a", 0, 100)], [op("a", 0, 150)])
    assert document["groups"] == []
    assert "before: no GPU work in the compared steps" in document["comparable"]
    assert unaccounted_ns(document) == 0
    nothing = compared(tmp_path, [], [])
    assert (nothing["step_ns"]["before"], nothing["step_ns"]["verdict"]) == (None, "same")
    assert "no verdict" in report.text(nothing, "table", 80)


# The published decode trace with half of its KV cache.

TOOL = Path(__file__).resolve().parents[3] / "shared" / "tools" / "glm5_trace.py"


@pytest.mark.skipif(not TOOL.exists(), reason="the trace generator is not here")
def test_half_of_the_kv_cache_halves_the_cast_and_nothing_else(tmp_path: Path) -> None:
    small = ("--steps", "5", "--layers", "6", "--cpu-ops", "2")
    for name, tokens in (("before", "495552"), ("after", "247776")):
        words = [sys.executable, str(TOOL), str(tmp_path / f"{name}.json"), *small, "--kv-tokens", tokens]
        subprocess.run(words, check=True, capture_output=True)
    before, after = (open_session(tmp_path / f"{name}.json") for name in ("before", "after"))
    document = before.compare(after)
    first, *others = document["groups"]
    assert (first["status"], first["family"], first["calls_before"]) == ("changed", "copy-cast", 6.0)
    assert first["after_ns"] * 2 == first["before_ns"]
    assert {g["status"] for g in others} == {"same"}
    assert (document["step_ns"]["verdict"], unaccounted_ns(document)) == ("faster", 0)
