"""The note that a person takes away: what it holds, and that hostile names do it no harm."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, frame, kernel, launch, launched, op, session, steps
from traceview.selection import Selection
from traceview.units import cell_width

SMALL = [
    *steps(0, 100, dur=100),
    frame("nn.Module: Attention_3", 0, 90, 1),
    frame("attention.py(455): forward_decode", 1, 80, 2, 1),
    op("aten::copy_", 5, 40, 3, dims=[[8, 16], [8, 16], []], types=["c10::BFloat16", "float", "Scalar"]),
    launch(10, 1, external=3),
    kernel("copy_kernel", 20, 30, 1, external=3, grid=(557496, 1, 1)),
    *launched("gemm", 110, 120, 10, 2),
    *launched("gemm", 130, 150, 20, 3),
]


def section(page: str, title: str) -> str:
    """The text below the heading that starts with `title`."""
    _, found, rest = page.partition(f"## {title}")
    assert found, f"no section {title}"
    return rest.split("\n## ")[0]


def test_the_note_says_what_it_is_of_and_how_to_have_it_again(tmp_path: Path) -> None:
    page = session(tmp_path, *SMALL).report(Selection(steps=(1,)))
    assert page.startswith("# trace.json: where the GPU time goes\n")
    assert "- selected: step 1\n" in page
    assert f"```\ntraceview report {tmp_path}/trace.json --steps 1:2\n```" in page


def test_the_largest_kernels_come_as_chart_and_table(tmp_path: Path) -> None:
    where = section(session(tmp_path, *SMALL).report(), "Where the time goes")
    # 30 us of 60 each; over two steps 15 us a step; gemm runs once a step on average.
    assert where.count("50.0 %") == 4
    (row,) = (line for line in where.splitlines() if line.startswith("| gemm"))
    assert [cell.strip() for cell in row.split("|")[1:5]] == ["gemm", "50.0 %", "15.0 us", "1"]


def test_top_limits_the_kernels_and_not_the_totals(tmp_path: Path) -> None:
    page = session(tmp_path, *SMALL).report(top=1)
    assert "| gemm" not in page
    assert "sum 60.0 us" in page


def test_the_biggest_launch_has_its_shapes_op_module_and_line(tmp_path: Path) -> None:
    biggest = section(session(tmp_path, *SMALL).report(), "The biggest launch")
    for line in (
        "- duration: 30.0 us (30,000 ns), launch 0, step 0",
        "- grid x block: 557,496 x 128",
        "- shapes: [8, 16] [8, 16] []",
        "- op: aten::copy_",
        "- module: Attention_3",
        "- Python: attention.py(455): forward_decode",
        "- launched by: cudaLaunchKernel (correlation), delay 10.0 us",
    ):
        assert line in biggest.replace("\\", "")


def test_marked_rows_are_what_the_note_is_about(tmp_path: Path) -> None:
    asked = session(tmp_path, *SMALL)
    gemm = asked.groups().filter(name="gemm")["group"].to_list()
    page = asked.report(marked_groups=gemm, marked_launches=[0])
    assert "| gemm" in section(page, "Marked kernels")
    assert "| copy_kernel" not in section(page, "Marked kernels")
    assert "557,496" in section(page, "Marked launches")


def test_a_launch_of_a_graph_says_why_it_has_no_op(tmp_path: Path) -> None:
    page = session(tmp_path, launch(0, 5, name="cudaGraphLaunch"), kernel("node", 10, 5, 5)).report()
    assert "- op: - (inside a CUDA graph)" in page.replace("\\", "")


def test_notices_come_along(tmp_path: Path) -> None:
    page = session(tmp_path, kernel("k", 0, 0), kernel("k", 10, 5)).report()
    assert "1" in section(page, "What to know about this trace")


HOSTILE = [
    "[/red]",
    "a|b`c`<d>",
    "line\nfeed",
    "\x1b[31mred\x07",
    "核函数加法🙂",
    "x" * 10_000,
    "```\n# heading",
    "| --- | --- |",
    "<img src=x onerror=alert(1)>",
    "",
    "|" * 300,
]


def hostile(name: str) -> list[Event]:
    """A trace in which everything that has a name has this one."""
    return [
        frame(f"nn.Module: {name}", 0, 90),
        frame(name, 1, 80),
        op(name, 5, 40, dims=[[8]], types=[name]),
        launch(10, 1, name=name),
        kernel(name, 20, 30, 1),
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_the_note(tmp_path: Path, name: str) -> None:
    asked = session(tmp_path, *hostile(name), deviceProperties=[{"id": 0, "name": name, "numSms": 1}])
    page = asked.report(marked_groups=[0], marked_launches=[0])
    assert all(char == "\n" or char.isprintable() for char in page)
    prose, chart, rest, command, end = re.split(r"^```$", page, flags=re.MULTILINE)
    assert "traceview report" in command
    tables = [line for line in (prose + rest + end).splitlines() if line.startswith("|")]
    assert max(map(cell_width, tables)) < 100
    assert {line.replace("\\|", "").count("|") for line in tables} == {8}  # both have seven columns
    assert max(map(cell_width, chart.splitlines())) < 100
    # The title, what stands out and its one finding, kernels, launches, the biggest launch, the notices.
    assert sum(line.startswith("#") for line in page.splitlines()) == 7
    assert max(map(len, page.splitlines())) < 2_000


def test_a_nameless_launch_has_a_note(tmp_path: Path) -> None:
    bare: dict[str, Any] = {"ph": "X", "pid": 1, "tid": 1}
    page = session(
        tmp_path,
        {**bare, "cat": "python_function", "ts": 0, "dur": 90},
        {**bare, "cat": "cpu_op", "ts": 1, "dur": 50},
        {**bare, "cat": "cuda_runtime", "ts": 5, "dur": 5, "args": {"correlation": 1}},
        {**bare, "cat": "kernel", "ts": 20, "dur": 30, "args": {"correlation": 1}},
    ).report()
    assert "None" not in page
    assert "- duration: 30.0 us" in page


@pytest.mark.parametrize(
    "events", [[], [op("aten::mm", 0, 5)], [kernel("k", 0, 0)]], ids=["empty", "no work", "untimed"]
)
def test_a_trace_with_little_in_it_has_a_note(tmp_path: Path, events: list[Event]) -> None:
    page = session(tmp_path, *events).report()
    assert page.startswith("# trace.json")
    assert page.endswith("\n")


@pytest.mark.parametrize("width", [0, 20, 60, 96, 200])
def test_any_width_gives_a_note(tmp_path: Path, width: int) -> None:
    assert "| gemm" in session(tmp_path, *SMALL).report(width=width)
