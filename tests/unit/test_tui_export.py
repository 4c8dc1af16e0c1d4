"""Where notes go, and what the headless command is."""

from pathlib import Path

import polars as pl
import pytest

from traceview.errors import TraceError
from traceview.selection import Selection
from traceview.tui.command_line import exact, kernel_command
from traceview.tui.export import note_stem, write_note


@pytest.mark.parametrize(
    ("trace", "stem"),
    [
        ("decode.pt.trace.json.gz", "traceview-decode"),
        ("run 1/../x.json", "traceview-run_1_.._x"),
        ("\x1b[31m.json", "traceview-31m"),
        (".json", "traceview-trace"),
        ("n" * 300, "traceview-" + "n" * 60),
    ],
)
def test_a_notes_name_is_made_of_harmless_letters(trace: str, stem: str) -> None:
    assert note_stem(trace) == stem


def test_no_note_takes_the_place_of_another(tmp_path: Path) -> None:
    first, second = (write_note(tmp_path, "decode.json", text) for text in ("one", "two"))
    assert [first.name, second.name] == ["traceview-decode-1.md", "traceview-decode-2.md"]
    assert (first.read_text(), second.read_text()) == ("one", "two")


def test_a_folder_that_cannot_be_written_is_a_plain_line(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be written: No such file or directory"):
        write_note(tmp_path / "gone", "decode.json", "")


@pytest.mark.parametrize("name", ["void f<int, 3>(float*)::{lambda()#1}", "a|b$c^d[e]\\f", "核.*", "\x1bx"])
def test_an_exact_pattern_finds_its_name_and_no_other(name: str) -> None:
    found = pl.Series([name, name + "x", "x" + name, "other"]).str.contains(exact(name))
    assert found.to_list() == [True, False, False, False]


def test_the_command_gives_what_the_row_stands_for() -> None:
    row = {"level": "family", "key": "gemm", "name": None}
    words = kernel_command("t.json", Selection(steps=(3,)).options(), row)
    assert words == ["launches", "t.json", "--steps", "3:4", "--family", "gemm", "--limit", "0"]
    stream = {"level": "place", "key": "GPU 0 stream 7", "name": None}
    assert kernel_command("t.json", [], stream) == ["summary", "t.json"]
