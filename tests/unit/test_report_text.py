"""The command line's answers as text: facts, selection, what is left out. Times: microseconds in."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, kernel, launched, op, session, steps
from traceview.analysis.launches import Query
from traceview.report import text
from traceview.selection import EVERYTHING, Selection
from traceview.units import cell_width

H100 = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]
SMALL = [*steps(0, 100, dur=100), *launched("gemm", 10, 20, 30, 1), *launched("copy", 110, 120, 10, 2)]


def summary(folder: Path, *events: Event, selection: Selection = EVERYTHING, **header: Any) -> dict[str, Any]:
    return session(folder, *events, **header).summary(selection)


def facts(folder: Path, *events: Event, **header: Any) -> dict[str, str]:
    lines = text.facts_lines(summary(folder, *events, **header))
    return {line.split()[0]: line.split(" ", 1)[1].strip() for line in lines}


def test_the_facts_name_the_trace_its_events_its_gpu_and_its_times(tmp_path: Path) -> None:
    found = facts(tmp_path, *SMALL, deviceProperties=H100, distributedInfo={"rank": 0, "world_size": 8})
    assert found["trace"].startswith(f"{tmp_path}/trace.json  (")
    assert found["trace"].endswith("kineto, rank 0 of 8)")
    assert found["events"] == "6 in the file, 6 loaded, 0 set aside, 0 repaired"
    assert found["GPU"] == "NVIDIA H100 80GB HBM3; 2 kernels, 0 copies, 0 sets"
    assert found["time"] == "sum 40.0 us, busy 40.0 us of a span of 110 us, idle 70.0 us"
    assert found["steps"] == "2 (from profiler-step), wall p50 100 us, p95 100 us"


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({}, "kineto)"),
        ({"rank": 3}, "rank 3)"),
        ({"world_size": 8}, "kineto of 8)"),
        ({"rank": 3, "world_size": 8}, "rank 3 of 8)"),
    ],
)
def test_a_rank_is_said_as_far_as_it_is_known(tmp_path: Path, info: dict[str, int], words: str) -> None:
    assert facts(tmp_path, *SMALL, distributedInfo=info)["trace"].endswith(words)


def test_without_markers_it_says_so(tmp_path: Path) -> None:
    assert "the whole trace is one step" in facts(tmp_path, kernel("k", 0, 5))["steps"]


@pytest.mark.parametrize(
    ("selection", "line"),
    [
        (EVERYTHING, "selected  all"),
        (Selection(steps=(1,)), "selected  step 1"),
        (Selection(steps=tuple(range(3, 10_000)), device=0), "selected  steps 3:10000, device 0"),
        (Selection(phase="decode"), "selected  phase decode"),
    ],
)
def test_the_selection_is_one_short_line(selection: Selection, line: str) -> None:
    assert text.selection_line(selection.as_dict()) == line


def test_what_a_list_leaves_out_is_counted_with_its_share(tmp_path: Path) -> None:
    events = [*steps(*range(0, 500, 100), dur=100), *(kernel(f"k{i}", 10 * i + 1, 5) for i in range(5))]
    shown = text.summary_tables(summary(tmp_path, *events), "table", 100, limit=3)
    assert "... and 2 steps more" in shown
    assert "... and 2 groups more, 40.0 % together" in shown


def test_work_outside_of_steps_is_said(tmp_path: Path) -> None:
    shown = text.summary_tables(summary(tmp_path, *SMALL, *launched("late", 900, 910, 4, 9)), "table", 100)
    assert "outside of any step: 1 events, 4.00 us" in shown


def test_an_empty_selection_is_not_a_file_without_gpu_work(tmp_path: Path) -> None:
    shown = text.summary_tables(summary(tmp_path, *SMALL, selection=Selection(device=5)), "table", 100)
    assert "No GPU work in this selection." in shown
    shown = text.summary_tables(summary(tmp_path, op("aten::mm", 0, 5)), "table", 100)
    assert "No GPU work in this file." in shown
    assert "aten::mm" in shown


@pytest.mark.parametrize("style", ["table", "markdown"])
@pytest.mark.parametrize("width", [80, 100, 120])
def test_tables_fit(tmp_path: Path, style: text.Style, width: int) -> None:
    names = [f"void at::native::elementwise_kernel<{i}, lambda(int)|{'x' * 200}>" for i in range(9)]
    events = [*steps(*range(0, 900, 100), dur=100)]
    for i, name in enumerate(names):
        at = 100 * i
        events += [op(f"aten::some_long_op_name_{i}", at, 50, dims=[[8, 4096, 7168], [1024, 16, 1, 576]])]
        events += launched(name, at + 5, at + 20, 70.123, i + 1, grid=(65_535, 65_535, 1), block=(32, 8, 4))
    asked = session(tmp_path, *events)
    tables = [
        text.summary_tables(asked.summary(), style, width),
        text.launches_table(asked.launches_document(EVERYTHING, Query()), style, width),
    ]
    for table in tables:
        rows = [line for line in table.splitlines() if "trace" not in line]
        assert max(map(cell_width, rows)) <= width


def test_starts_count_from_the_first_launch_that_has_a_time(tmp_path: Path) -> None:
    asked = session(tmp_path, kernel("untimed", 0, 0), kernel("a", 100, 5), kernel("b", 130, 7))
    table = text.launches_table(asked.launches_document(EVERYTHING, Query()), "table", 120)
    starts = {row.split()[-1]: row.split()[2:4] for row in table.splitlines()[3:]}
    assert starts["a"] == ["0", "ns"]
    assert starts["b"] == ["30.0", "us"]
    assert starts["untimed"] == ["-", "-"]


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ([557496, 1, 1], "557,496"),
        ([8, 2, 1], "8 x 2 x 1"),
        ([4], "4"),
        (None, "-"),
        ([], "-"),
        ([0, 1, 1], "0"),
    ],
)
def test_grids_in_words(grid: list[int] | None, words: str) -> None:
    assert text.fmt_grid(grid) == words


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ([[495552, 1, 576], []], "[495552, 1, 576] []"),
        ([[[2, 3], [4]], []], "[[2, 3], [4]] []"),
        (None, "-"),
        ("x", "x"),
    ],
)
def test_shapes_in_words(dims: Any, words: str) -> None:
    assert text.fmt_dims(dims) == words


@pytest.mark.parametrize(("calls", "words"), [(78.0, "78"), (0.5, "0.5"), (1234.0, "1,234"), (None, "-")])
def test_calls_per_step_in_words(calls: float | None, words: str) -> None:
    assert text.fmt_per_step(calls) == words


def test_csv_has_every_key_of_the_json_and_exact_values(tmp_path: Path) -> None:
    document = summary(tmp_path, *SMALL)
    head, first, *_ = text.groups_csv(document).splitlines()
    assert head.split(",") == list(document["groups"][0])
    assert first.startswith("gemm,gemm,kernel,gemm,1,0.5,30000,0.75,30000,")


def test_csv_of_launches_holds_lists_as_json(tmp_path: Path) -> None:
    asked = session(tmp_path, kernel("k", 1, 5, grid=(8, 2, 1)))
    table = text.launches_csv(asked.launches_document(EVERYTHING, Query()))
    assert '"[8, 2, 1]"' in table


def test_csv_of_nothing_is_its_head(tmp_path: Path) -> None:
    asked = session(tmp_path, {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}})
    assert text.groups_csv(asked.summary()).count("\n") == 1
    assert text.launches_csv(asked.launches_document(EVERYTHING, Query())).count("\n") == 1


def test_a_line_below_a_markdown_table_is_no_row_of_it(tmp_path: Path) -> None:
    events = [*steps(*range(0, 500, 100), dur=100), *(kernel(f"k{i}", 10 * i + 1, 5) for i in range(5))]
    document = summary(tmp_path, *events, kernel("late", 900, 5))
    lines = text.summary_tables(document, "markdown", 100, limit=3).splitlines()
    for line in ("... and 2 steps more", "... and 3 groups more, 50.0 % together"):
        assert lines[lines.index(line) - 1] == ""
