"""The command line: exit codes, options, formats, and that nothing ends in a traceback."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, kernel, launch, launched, op, steps, write

# Exit codes: 0 done, 1 asked for and found, 2 wrong usage, 3 cannot be read.


@pytest.mark.parametrize("command", ["summary", "launches", "report", "open"])
def test_a_command_that_did_its_work_ends_with_0(run: Any, small: Path, command: str) -> None:
    done = run(command, small)
    assert (done.code, done.out != "") == (0, True)


def test_without_a_command_options_may_stand_before_the_trace(run: Any, small: Path) -> None:
    before, behind = run("--no-cache", "--steps", "0", small), run(small, "--no-cache", "--steps", "0")
    assert (before.code, before.out) == (0, behind.out)
    assert before.out != ""


UNREADABLE = {
    "missing.json": None,
    "empty.json": b"",
    "text.json": b"hello\n",
    "other.json": b'{"a": 1}',
    "number.json": b"5",
    "binary.json": bytes(range(256)),
    "half.json.gz": gzip.compress(b'{"traceEvents": []}')[:12],
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_ends_with_3_and_one_line_that_names_it(
    run: Any, tmp_path: Path, name: str
) -> None:
    path, content = tmp_path / name, UNREADABLE[name]
    if content is not None:
        path.write_bytes(content)
    for command in ("summary", "launches", "report", "open"):
        done = run(command, path)
        assert (done.code, done.out) == (3, "")
        (line,) = done.err.splitlines()
        assert line.startswith("traceview: ")
        assert name in line


def test_a_name_that_no_file_can_have_gets_one_line(run: Any) -> None:
    done = run("summary", "a" * 5_000)
    assert (done.code, done.err.count("\n")) == (3, 1)


@pytest.mark.parametrize(
    "words",
    [
        ["--no-such-option"],
        ["--format", "yaml"],
        ["--phase", "lunch"],
        ["--device", "x"],
        ["--steps", "1-2"],
        ["--steps", "3"],
        ["--steps", "#9"],
        ["--steps", "9" * 5_000],
        ["--kernel", "("],
        ["--op", "("],
        ["--family", "gems"],
        ["--sort", "name"],
        ["--limit", "-1"],
        ["--limit", "x"],
        ["--limit", "9" * 30],
        ["--id", "-1"],
        ["--id", "9" * 30],
        ["--device", "9" * 30],
        ["--tp", "0"],
    ],
)
def test_wrong_usage_ends_with_2_and_says_why(run: Any, small: Path, words: list[str]) -> None:
    done = run("launches", small, *words)
    assert (done.code, done.out) == (2, "")
    last = done.err.splitlines()[-1]
    assert words[0] in last or words[-1] in last


def test_wrong_words_cannot_reach_the_terminal(run: Any, small: Path) -> None:
    for words in (["--\x1b[31m"], ["summary", small, "--\x1b[31m"]):
        done = run(*words)
        assert (done.code, "\x1b" in done.err) == (2, False)


def test_a_command_without_a_trace_is_wrong_usage(run: Any) -> None:
    assert run("summary").code == 2


def test_without_any_word_it_says_what_there_is(run: Any) -> None:
    done = run()
    assert done.code == 0
    assert all(word in done.out for word in ("summary", "launches", "report", "demo"))


def test_version(run: Any) -> None:
    done = run("--version")
    assert (done.code, done.out.split()[0]) == (0, "traceview")


CUT = b'{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2}, {"ph": "X", "ca'


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, 0),
        (json.dumps([kernel("k", 1, 2), kernel("untimed", 0, 0)]).encode(), 1),
        (b'[{"ph": "X", "cat": "kernel", "name": "a "b"", "ts": 1, "dur": 2}]', 1),
        (CUT, 1),
    ],
    ids=["sound", "untimed", "repaired", "cut"],
)
def test_strict_ends_with_1_where_something_was_not_as_it_should_be(
    run: Any, small: Path, content: bytes | None, code: int
) -> None:
    if content is not None:
        small.write_bytes(content)
    for command in ("summary", "launches", "report"):
        assert run(command, small).code == 0
        assert run(command, small, "--strict").code == code


# The selection.


@pytest.mark.parametrize(
    ("steps_", "names"),
    [
        ("0", ["ProfilerStep#10"]),
        ("1:", ["ProfilerStep#11", "ProfilerStep#12"]),
        (":2", ["ProfilerStep#10", "ProfilerStep#11"]),
        ("0,2", ["ProfilerStep#10", "ProfilerStep#12"]),
        ("#12", ["ProfilerStep#12"]),
    ],
)
def test_steps_are_selected_everywhere(run: Any, small: Path, steps_: str, names: list[str]) -> None:
    summary = run("summary", small, "--steps", steps_, "--format", "json").json()
    assert [item["name"] for item in summary["steps"]["items"]] == names
    positions = summary["selection"]["steps"]
    launches = run("launches", small, "--steps", steps_, "--format", "json").json()
    assert [row["step"] for row in launches["rows"]] == positions == launches["selection"]["steps"]
    assert run("report", small, "--steps", steps_, "--format", "json").json() == summary


def test_a_phase_and_a_device_select_too(run: Any, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {**steps(0, dur=100)[0], "name": "step[EXTEND bs=1 toks=9]"},
        {**steps(100, dur=100)[0], "name": "step[DECODE bs=1]"},
        *launched("a", 10, 20, 30, 1),
        *launched("b", 110, 120, 10, 2, device=1),
    )
    decode = run("summary", path, "--phase", "decode", "--format", "json").json()
    assert [group["name"] for group in decode["groups"]] == ["b"]
    first = run("summary", path, "--device", "0", "--format", "json").json()
    assert [group["name"] for group in first["groups"]] == ["a"]
    nothing = run("summary", path, "--phase", "decode", "--device", "0", "--format", "json").json()
    assert (nothing["groups"], nothing["gpu"]["sum_ns"]) == ([], 0)


# Formats.


def test_json_is_one_document_and_the_only_thing_on_standard_output(run: Any, small: Path) -> None:
    done = run("summary", small, "--format", "json")
    assert done.json()["schema"] == "traceview.summary/1"
    assert run("launches", small, "--format", "json").json()["schema"] == "traceview.launches/1"
    assert "note:" in done.err  # no shapes were recorded


def test_json_of_any_name_is_ascii(run: Any, tmp_path: Path) -> None:
    name = "核\x1b[31m\ud800\u2028"
    done = run("summary", write(tmp_path, kernel(name, 0, 5)), "--format", "json")
    assert done.out.isascii()
    assert done.json()["groups"][0]["name"].startswith("核\x1b[31m")


def test_csv_is_one_table(run: Any, small: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("summary", small, "--format", "csv").out)))
    assert [(row["name"], row["sum_ns"], row["calls"]) for row in rows] == [
        ("copy", "30000", "2"),
        ("gemm", "30000", "1"),
    ]
    rows = list(csv.DictReader(io.StringIO(run("launches", small, "--format", "csv").out)))
    assert [(row["id"], row["begin_ns"], row["grid"]) for row in rows[:1]] == [("0", "20000", "[1, 1, 1]")]


def test_markdown_tables_are_tables(run: Any, small: Path) -> None:
    for command in ("summary", "launches", "report"):
        lines = [
            line
            for line in run(command, small, "--format", "markdown").out.splitlines()
            if line.startswith("|")
        ]
        assert any(set(line) <= set("|-: ") for line in lines)


def test_launches_are_limited_to_20_unless_told(run: Any, tmp_path: Path) -> None:
    path = write(tmp_path, *(kernel("k", 10 * i, 5) for i in range(30)))
    for limit, count in (([], 20), (["--limit", "0"], 30), (["--limit", "3"], 3)):
        document = run("launches", path, *limit, "--format", "json").json()
        assert (document["total"], len(document["rows"])) == (30, count)


def ns_values(value: Any, key: str = "") -> list[tuple[str, Any]]:
    """All values below keys that end in _ns."""
    if isinstance(value, dict):
        return [pair for k, v in value.items() for pair in ns_values(v, key if key.endswith("_ns") else k)]
    if isinstance(value, list):
        return [pair for v in value for pair in ns_values(v, key)]
    return [(key, value)] if key.endswith("_ns") else []


ODD: dict[str, list[Event]] = {
    "nothing": [],
    "metadata": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}],
    "flows": [{"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 5}],
    "annotations": steps(0, 100, dur=100),
    "launch calls": [launch(0, 1), launch(10, 2)],
    "cpu": [op("aten::mm", 0, 10), op("aten::add", 20, -1)],
    "kernels": [kernel("k", 0.0005, 0.0015), kernel("k", 1, 2.3333333)],
    "untimed": [kernel("k", 0, 0), kernel("k", 5, -2)],
    "bare": [
        {"ph": "X", "cat": cat}
        for cat in ("kernel", "cpu_op", "cuda_runtime", "python_function", "user_annotation")
    ],
    "null": [
        {
            "ph": "X",
            "cat": "kernel",
            "name": None,
            "pid": None,
            "tid": None,
            "ts": None,
            "dur": None,
            "args": None,
        }
    ],
    "wild": [
        kernel("k", 9e15, 9e15),
        kernel("k", -9e15, 1),
        kernel("k", 1e300, 1e300),
        op("aten::mm", 1e18, 5),
    ],
}


@pytest.mark.parametrize("name", ODD)
def test_every_command_answers_any_trace_in_every_format(run: Any, tmp_path: Path, name: str) -> None:
    path = write(tmp_path, *ODD[name])
    for command, formats in (
        ("summary", ["table", "json", "csv", "markdown"]),
        ("launches", ["table", "json", "csv", "markdown"]),
        ("report", ["markdown", "json"]),
    ):
        for form in formats:
            done = run(command, path, "--format", form)
            assert (done.code, done.out != "") == (0, True)
            if form == "json":
                assert all(v is None or type(v) is int for _, v in ns_values(done.json()))
    assert run("open", path).code == 0
