"""The command line and the world around it: files and folders, pipes, locales, terminals."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.traces import kernel, launched, write
from traceview.api import open_session


def process(*words: object, **more: Any) -> "subprocess.CompletedProcess[str]":
    """The program in a process of its own, without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "traceview", *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        errors="strict",
        stdin=more.pop("stdin", subprocess.DEVNULL),
        env={**os.environ, **more.pop("env", {})},
        timeout=60,
        **more,
    )
    assert "Traceback" not in done.stderr
    return done


# Where the trace is, and where the answer goes.


def test_a_folder_with_one_trace_opens_it(run: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a trace")
    path = write(tmp_path, kernel("k", 0, 5))
    assert run("summary", tmp_path, "--format", "json").json()["trace"]["path"] == str(path)


def test_a_folder_without_a_trace_cannot_be_read(run: Any, tmp_path: Path) -> None:
    done = run("summary", tmp_path)
    assert (done.code, done.out) == (3, "")
    assert "a folder without a trace" in done.err


def test_a_folder_with_several_lists_them_in_the_order_of_their_ranks(run: Any, tmp_path: Path) -> None:
    for name in ("rank10.json", "rank2.json", "²rank.json"):
        write(tmp_path, kernel("k", 0, 5), name=name)
    done = run("summary", tmp_path)
    assert done.code == 2
    assert done.err.index("rank2.json") < done.err.index("rank10.json")


def test_a_name_in_a_folder_cannot_reach_the_terminal(run: Any, tmp_path: Path) -> None:
    for name in ("\x1b[31m.json", "line\nfeed.json"):
        write(tmp_path, kernel("k", 0, 5), name=name)
    done = run("summary", tmp_path)
    assert "\x1b" not in done.err
    assert done.err.count("\n") == 1


def test_standard_input_is_read_too(small: Path) -> None:
    with small.open("rb") as file:
        done = process("summary", "-", "--format", "json", stdin=file)
    assert json.loads(done.stdout)["gpu"]["kernels"] == 3


def test_a_command_word_wins_over_a_file_of_that_name(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, kernel("k", 0, 5), name="summary")
    assert run("summary").code == 2
    assert run("./summary").code == 0


def test_a_report_goes_to_a_file(run: Any, small: Path, tmp_path: Path) -> None:
    page = tmp_path / "note.md"
    done = run("report", small, "-o", page)
    assert (done.code, done.out) == (0, "")
    assert page.read_text("utf-8") == run("report", small).out


@pytest.mark.parametrize("place", ["no/such/folder/note.md", "."])
def test_a_report_that_cannot_be_written_is_wrong_usage(
    run: Any, small: Path, tmp_path: Path, place: str
) -> None:
    done = run("report", small, "-o", tmp_path / place)
    assert done.code == 2
    assert "cannot be written" in done.err


def test_a_report_never_overwrites_its_trace(run: Any, small: Path, tmp_path: Path) -> None:
    before = small.read_bytes()
    link = tmp_path / "link.md"
    link.symlink_to(small)
    for place in (small, link):
        done = run("report", small, "-o", place)
        assert (done.code, "is the trace itself" in done.err) == (2, True)
    assert small.read_bytes() == before


def test_a_report_has_the_size_that_was_asked_for(run: Any, small: Path) -> None:
    page = run("report", small, "--top", "1", "--width", "70").out
    assert "| gemm" in page
    assert "| copy" not in page


def test_demo_writes_a_trace_that_can_be_opened(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "demo.json.gz"
    assert run("demo", "--write", path, "--steps", "2", "--layers", "3").code == 0
    assert run("summary", path, "--format", "json").json()["steps"]["count"] == 2


def test_demo_that_cannot_be_written_gets_a_line(run: Any, tmp_path: Path) -> None:
    done = run("demo", "--write", tmp_path / "no" / "demo.json", "--steps", "1", "--layers", "1")
    assert done.code in (2, 3)
    assert done.err.count("\n") == 1


# Terminals, pipes and locales.


def test_without_a_terminal_a_trace_is_summed_up_with_a_chart_and_how_to_open_it(small: Path) -> None:
    done = process(small)
    assert done.returncode == 0
    assert "50.0 %" in done.stdout
    assert "█" in done.stdout
    assert f"traceview {small}" in done.stdout.splitlines()[-1]


ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_an_ascii_locale_gets_plain_counterparts(tmp_path: Path) -> None:
    path = write(tmp_path, *launched("核函数" + "x" * 200, 0, 10, 5, 1))
    done = process(path, env=ASCII)
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "#####" in done.stdout
    assert "?" not in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    path = write(tmp_path, *(kernel(f"k{i}", 10 * i, 5) for i in range(2_000)))
    for words in (["summary", path], ["launches", path, "--limit", "0", "--format", "json"]):
        read, wrote = os.pipe()
        os.close(read)
        done = subprocess.run(
            [sys.executable, "-m", "traceview", *map(str, words)],
            stdout=wrote,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        os.close(wrote)
        assert done.returncode == 0
        assert b"rror" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_finds_no_room_gets_one_line(small: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "traceview", "summary", str(small)],
            stdout=full,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == "traceview: No space left on device"


UNWRITABLE = ["2>&-"] + ["2>/dev/full"] * Path("/dev/full").exists()


def closed(redirected: str, *words: object) -> "subprocess.CompletedProcess[str]":
    """The program under a shell that redirects or closes a standard stream."""
    script = f'exec "$@" {redirected}'
    command = [sys.executable, "-m", "traceview", *map(str, words)]
    done = subprocess.run(
        ["sh", "-c", script, "sh", *command], capture_output=True, encoding="utf-8", timeout=60
    )
    assert "Traceback" not in done.stderr
    return done


def test_without_standard_input_a_trace_is_summed_up(small: Path) -> None:
    assert "50.0 %" in closed("<&-", small).stdout


def test_a_standard_input_that_is_closed_cannot_be_read() -> None:
    done = closed("<&-", "summary", "-")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)


@pytest.mark.parametrize("redirected", UNWRITABLE)
def test_a_notice_that_cannot_be_written_does_not_cost_the_answer(small: Path, redirected: str) -> None:
    done = closed(redirected, "summary", small, "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["gpu"]["kernels"]) == (0, 3)


@pytest.mark.parametrize("redirected", UNWRITABLE)
def test_nor_does_an_error_change_the_exit_code(redirected: str) -> None:
    assert closed(redirected, "summary", "none.json").returncode == 3


@pytest.mark.parametrize("columns", [20, 80, 120])
def test_tables_fit_the_terminal(
    run: Any, small: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in ("summary", "launches"):
        table = run(command, small).out.split("\n\n", 1)[1]
        assert max(map(len, table.splitlines())) <= max(columns, 60)


def test_the_same_answer_as_from_python(run: Any, small: Path) -> None:
    assert run("summary", small, "--format", "json").json() == open_session(small).summary()
