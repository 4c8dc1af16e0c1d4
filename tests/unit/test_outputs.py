"""Files that are written: whole or not at all, never over the trace, under any name."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from traceview.errors import TraceError
from traceview.outputs import output


def written(path: Path, text: bytes, trace: str | None = None) -> None:
    with output(path, trace) as file:
        file.write(text)


def test_nothing_is_left_behind_where_it_fails(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"before")
    with pytest.raises(TypeError), output(tmp_path / "x") as file:
        file.writelines([b"half", None])  # type: ignore[list-item]
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"x": b"before"}


def test_no_other_file_is_touched(tmp_path: Path) -> None:
    (tmp_path / "x.part").write_bytes(b"the trace")
    written(tmp_path / "x", b"new")
    assert (tmp_path / "x.part").read_bytes() == b"the trace"


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "opened").write_bytes(b"")
    written(tmp_path / "x", b"")
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "opened").stat().st_mode


def test_a_file_that_is_written_anew_keeps_its_mode(tmp_path: Path) -> None:
    written(tmp_path / "x", b"")
    (tmp_path / "x").chmod(0o640)
    written(tmp_path / "x", b"new")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("x")
    for text in (b"first", b"second"):
        written(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "x").read_bytes() == text


@pytest.mark.parametrize("link", [os.link, os.symlink])
@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json", "x.json.gz", "x.md"])
def test_the_trace_is_not_overwritten_under_another_name(
    run: Any, small: Path, tmp_path: Path, name: str, link: Any
) -> None:
    before = small.read_bytes()
    link(small, tmp_path / name)
    done = run("report" if name.endswith(".md") else "export", small, "-o", tmp_path / name)
    assert (done.code, "is the trace itself" in done.err) == (2, True)
    assert small.read_bytes() == before


def test_nor_where_it_is_standard_input(small: Path) -> None:
    kept = os.dup(0)
    try:
        with small.open() as file:
            os.dup2(file.fileno(), 0)
        with pytest.raises(TraceError, match="is the trace itself"):
            written(small, b"", "-")
    finally:
        os.dup2(kept, 0)
        os.close(kept)


@pytest.mark.parametrize("name", ["f.csv", "f.json", "f.md"])
def test_a_pipe_that_nothing_reads_is_refused_and_stays(
    run: Any, small: Path, tmp_path: Path, name: str
) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    assert run("report" if name.endswith(".md") else "export", small, "-o", pipe).code == 2
    assert pipe.is_fifo()


def test_a_pipe_that_is_read_is_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    handle = os.open(tmp_path / "f", os.O_RDONLY | os.O_NONBLOCK)
    written(tmp_path / "f", b"text")
    assert os.read(handle, 10) == b"text"
    os.close(handle)


@pytest.mark.parametrize(
    "name", ["bad\udcff.csv", "bad\udcff.parquet", "bad\udcff.json", "n" * 250 + ".json"]
)
def test_any_name_that_a_file_can_have_will_do(run: Any, small: Path, tmp_path: Path, name: str) -> None:
    done = run("export", small, "-o", tmp_path / name)
    assert done.code == 0
    assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("name", ["", "no/x.json", "."])
def test_a_demo_that_cannot_be_written_is_wrong_usage(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("demo", "--write", name, "--steps", 1, "--layers", 1)
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_a_name_cannot_reach_the_terminal(run: Any, tmp_path: Path) -> None:
    done = run("demo", "--write", tmp_path / "\x1b[31m.json", "--steps", 1, "--layers", 1)
    assert (done.code, "\x1b" in done.out) == (0, False)
