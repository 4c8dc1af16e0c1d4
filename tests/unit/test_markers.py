"""What step markers say: one line for each framework's grammar, and the steps that they make."""

from pathlib import Path

import pytest

from tests.traces import launched, marker, session
from traceview.analysis.markers import MarkerFacts, marker_facts, repeated

# source, marker, phase, requests, tokens
GRAMMARS = [
    ("profiler-step", "ProfilerStep#7", None, None, None),
    ("vllm", "execute_context_2(256)_generation_0(0)", "prefill", 2, 256),
    ("vllm", "execute_context_0(0)_generation_2(2)", "decode", 2, 2),
    ("vllm", "execute_context_1(64)_generation_2(2)", "mixed", 3, 66),
    ("vllm", "execute_context_0(0)_generation_0(0)", "idle", 0, 0),
    # With options.detailed_trace_annotation: sums of query and key lengths, their squares and products.
    (
        "vllm",
        "execute_258_context_2(sq256sk256sqsq65536sqsk65536)_generation_2(sq2sk10sqsq2sqsk10)",
        "mixed",
        4,
        258,
    ),
    ("vllm", "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk10sqsq2sqsk10)", "decode", 2, 2),
    ("vllm", "execute_new_1_cached_0", "prefill", 1, None),
    ("vllm", "execute_new_0_cached_8", "decode", 8, None),
    ("vllm", "execute_new_1_cached_8", "mixed", 9, None),
    ("sglang", "step[DECODE bs=32]", "decode", 32, None),
    ("sglang", "step[EXTEND bs=4 toks=2048]", "prefill", 4, 2048),
    ("sglang", "step[MIXED bs=5 toks=900 more=x]", "mixed", 5, 900),
    ("sglang", "step[TARGET_VERIFY bs=2]", "decode", 2, None),
    ("sglang", "step[VERIFY bs=2]", "decode", 2, None),
    ("sglang", "step[DRAFT_EXTEND bs=2]", "decode", 2, None),
    ("sglang", "step[IDLE bs=0]", "idle", 0, None),
    ("sglang", "step[SOMETHING_NEW bs=3]", None, 3, None),
    ("annotation", "prefill[bs=3 tok=900 ctx=[300, 300, 300]]", "prefill", 3, 900),
    ("annotation", "decode[bs=117/128 tok=117 d=1]", "decode", 117, 117),
    ("annotation", "execute_diffusion_2_1024x768", None, None, None),
]


@pytest.mark.parametrize(("source", "name", "phase", "batch", "tokens"), GRAMMARS)
def test_a_marker_of_a_framework_makes_steps(
    tmp_path: Path, source: str, name: str, phase: str | None, batch: int | None, tokens: int | None
) -> None:
    found = session(
        tmp_path, marker(name, 0, 50), marker(name, 60, 50), *launched("k", 5, 10, 5, 1)
    ).found_steps
    assert (found.source, found.windows.height) == (source, 2)
    step = found.windows.row(0, named=True)
    assert (step["name"], step["phase"], step["batch"], step["tokens"]) == (name, phase, batch, tokens)
    assert step["phase_from"] == (None if phase is None else "marker")


@pytest.mark.parametrize(
    "name",
    [
        "ProfilerStep",
        "ProfilerStep#x",
        "MyProfilerStep#1",
        "Optimizer.step#AdamW.step",
        "Optimizer.zero_grad#AdamW.zero_grad",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        "nccl:all_reduce",
        "step [DECODE]",
        "gpu_model_runner: forward",
    ],
)
def test_other_annotations_are_no_steps(tmp_path: Path, name: str) -> None:
    found = session(tmp_path, marker(name, 0, 50), *launched("k", 5, 10, 5, 1)).found_steps
    assert (found.source, found.windows["name"].to_list()) == ("none", ["whole trace"])


def test_a_kernel_that_is_called_like_a_marker_is_no_step(tmp_path: Path) -> None:
    assert session(tmp_path, *launched("step[DECODE bs=64]", 5, 10, 5, 1)).found_steps.source == "none"


def test_the_profilers_own_steps_come_before_a_frameworks(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        marker("ProfilerStep#1", 0, 100),
        marker("execute_context_0(0)_generation_2(2)", 5, 40),
        marker("execute_context_0(0)_generation_3(3)", 50, 40),
        *launched("k", 10, 20, 5, 1),
    ).found_steps
    assert (found.source, found.windows["name"].to_list()) == ("profiler-step", ["ProfilerStep#1"])


@pytest.mark.parametrize("digits", [20, 5_000])
@pytest.mark.parametrize(
    "form",
    [
        "ProfilerStep#{}",
        "execute_context_{}(1)_generation_0(0)",
        "execute_context_1({})_generation_0(0)",
        "execute_context_0(0)_generation_1({})",
        "execute_new_{}_cached_0",
        "step[DECODE bs={} toks=1]",
        "decode[bs={} tok=1]",
    ],
)
def test_numbers_of_any_length_do_no_harm(tmp_path: Path, form: str, digits: int) -> None:
    name = form.format("9" * digits)
    found = session(tmp_path, marker(name, 0, 50), *launched("k", 5, 10, 5, 1)).found_steps
    assert found.windows["name"].to_list() == [name]


def test_text_of_any_kind_says_nothing() -> None:
    for name in ("", "step[", "execute_context_()_generation_()", "decode", "[]", "step[]"):
        assert marker_facts(name) == MarkerFacts()


def test_annotations_that_repeat_could_be_steps(tmp_path: Path) -> None:
    events = [
        *(marker(f"round {n} (of 9)", 100 * n, 90) for n in range(3)),
        *(marker("part", 100 * n + 10, dur) for n, dur in enumerate((10, 20))),
        marker("once", 500, 400),
        *launched("k", 5, 20, 30, 1),
    ]
    asked = session(tmp_path, *events)
    found = repeated(asked.trace.annotations)
    assert found.rows() == [
        ("round 0 (of 9)", 3, 90_000, r"^round\ \d+\ \(of\ \d+\)$"),
        ("part", 2, 15_000, "^part$"),
    ]
    # What is offered can be taken.
    for name, count, _, pattern in found.iter_rows():
        stepped = asked.with_steps(pattern)
        assert stepped.found_steps.windows["name"][0] == name
        assert stepped.step_count() == count
        assert stepped.links is asked.links


def test_other_steps_are_in_the_commands_that_give_the_same(tmp_path: Path) -> None:
    asked = session(tmp_path, marker("part", 0, 10), marker("part", 20, 10), *launched("k", 5, 20, 30, 1))
    assert "--step-marker" not in asked.report()
    assert "--step-marker '^part$'" in asked.with_steps("^part$").report()
