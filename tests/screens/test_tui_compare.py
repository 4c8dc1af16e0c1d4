"""Comparing: choosing the other trace, the table that adds up, variants, two cards, the note."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.screens.driving import opened, place, press, seen, settled
from tests.traces import launched, op, steps, write
from traceview.report.text import fmt_per_step
from traceview.tui.choose import Chooser, listed, split
from traceview.tui.compare import Compare
from traceview.tui.compare_rows import draw_waterfall, two
from traceview.tui.compare_variants import TwoCards, Variants


def recording(folder: Path, name: str, dur: float, *more: str) -> Path:
    """Two steps; `cast` takes `dur` in each, `same` always 20, and each of `more` 5."""
    events = [*steps(0, 1000, dur=500)]
    number = 0
    for begin in (0, 1000):
        at = begin + 10.0
        for kernel, length in [("cast", dur), ("same", 20.0), *((other, 5.0) for other in more)]:
            number += 1
            events.append(op(f"aten::{kernel}", at - 1, 4, dims=[[8, 8]], types=["float"]))
            events += launched(kernel, at, at + 5, length, number)
            at += length + 6
    return write(folder, *events, name=name)


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The trace that is open; `after.json` lies beside it."""
    recording(tmp_path, "after.json", 40, "[/red]fresh")
    return recording(tmp_path, "before.json", 100)


async def compared(pilot: Pilot[int]) -> Compare:
    """The screen with the other trace read."""
    await press(pilot, "6")
    screen = pilot.app.screen
    assert isinstance(screen, Compare)
    await press(pilot, "o", "enter")
    await read(pilot, screen)
    return screen


async def read(pilot: Pilot[int], screen: Compare) -> None:
    """Waits until the reading of the other trace is over, well or not."""
    while screen.is_reading:
        await pilot.pause(0.01)
    await settled(pilot)


async def test_without_another_trace_it_says_how_to_choose_one(before: Path) -> None:
    async with opened(before) as pilot:
        text = await press(pilot, "6")
        assert "o chooses one" in text
        assert isinstance((await press(pilot, "enter"), pilot.app.screen)[1], Chooser)
        text = seen(pilot)
        assert "after.json" in text
        assert "before.json  " not in text.split("Compare with")[1]


async def test_the_rows_add_up_to_the_steps_difference(before: Path) -> None:
    async with opened(before) as pilot:
        screen = await compared(pilot)
        assert place(pilot) == "all 2 steps > compare with after.json"
        table = screen.table().frame
        assert table["name"].to_list()[:3] == ["cast", "[/red]fresh", "same"]
        assert table["status"].to_list()[:3] == ["changed", "added", "same"]
        assert screen.document is not None
        assert table["delta_ns"].sum() == screen.document["step_ns"]["delta_ns"]
        text = seen(pilot)
        assert "-60.0 us" in text
        assert "the whole step" in text
        assert "step before" in text


async def test_swapping_turns_it_round(before: Path) -> None:
    async with opened(before) as pilot:
        screen = await compared(pilot)
        await press(pilot, "b")
        assert screen.table().frame["delta_ns"][0] == 60_000
        assert "removed" in seen(pilot)
        text = " ".join((await press(pilot, "x")).replace("│", " ").split())
        assert text.index("after.json") < text.rindex("before.json")


async def test_enter_leads_to_the_variants_and_two_cards_and_escape_back(before: Path) -> None:
    async with opened(before) as pilot:
        screen = await compared(pilot)
        assert screen.table().cursor_row_id == 0
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, Variants)
        assert place(pilot).endswith("after.json > cast")
        assert "changed: 100 us -> 40.0 us a step, -60.0 us (-60.0 %)" in text
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, TwoCards)
        assert "100,000 ns" in text
        assert "40,000 ns" in text
        await press(pilot, "escape", "escape")
        assert pilot.app.screen is screen
        assert screen.table().cursor_row_id == 0


async def test_a_kernel_of_one_side_has_one_card(before: Path) -> None:
    async with opened(before) as pilot:
        await compared(pilot)
        text = await press(pilot, "down", "enter", "enter")
        assert "this variant is not there" in text
        assert "5,000 ns" in text


async def test_the_other_trace_stays_for_the_next_visit(before: Path) -> None:
    async with opened(before) as pilot:
        await compared(pilot)
        text = await press(pilot, "escape", "6")
        assert "cast" in text


async def test_a_file_that_is_no_trace_is_said_and_changes_nothing(before: Path) -> None:
    (before.parent / "broken.json").write_text("no trace at all")
    async with opened(before) as pilot:
        screen = await compared(pilot)
        await press(pilot, "o", *"broken", "enter")
        await read(pilot, screen)
        assert any("broken.json" in str(note.message) for note in pilot.app._notifications)
        assert "cast" in seen(pilot)


async def test_the_note_is_the_comparison(
    before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(before) as pilot:
        await compared(pilot)
        await press(pilot, "e")
    note = (tmp_path / "traceview-before-1.md").read_text()
    assert note.startswith("# before.json against after.json\n")
    assert "| cast" in note
    assert f"traceview compare {before} {before.with_name('after.json')} --variants" in note


async def test_about_says_what_is_compared(before: Path) -> None:
    async with opened(before) as pilot:
        await compared(pilot)
        text = await press(pilot, "i")
        assert "What to know" in text
        assert "Welch" in text


async def test_a_filter_finds_the_groups_that_got_slower(before: Path) -> None:
    async with opened(before) as pilot:
        screen = await compared(pilot)
        await press(pilot, "slash", *"delta>1us", "enter")
        assert screen.table().row_count >= 1
        assert "added" in seen(pilot)
        assert "changed" not in "".join(line for line in seen(pilot).splitlines() if "cast" in line)


def test_a_typed_path_leads_to_a_folder_and_a_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for name in ("b.json", "a.json.gz", "notes.md", ".hidden.json"):
        (tmp_path / name).write_text("")
    assert split(tmp_path, "runs/ra") == (tmp_path / "runs", "ra")
    assert split(tmp_path / "runs", "../b") == (tmp_path, "b")
    assert split(tmp_path, "/x") == (Path("/"), "x")
    assert [path.name for path in listed(tmp_path, "")] == ["a.json.gz", "b.json", "runs"]
    assert [path.name for path in listed(tmp_path, "B.J")] == ["b.json"]


async def test_the_chooser_walks_folders(before: Path) -> None:
    inner = before.parent / "[b]inner\x1b"
    inner.mkdir()
    recording(inner, "deep.json", 10)
    async with opened(before) as pilot:
        await press(pilot, "6", "o", *"inner", "tab")
        assert "deep.json" in seen(pilot)
        assert r"[b]inner\x1b" in seen(pilot)
        assert "nothing of that name" in await press(pilot, *"zzz")
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, Compare)


def test_one_text_where_both_sides_say_the_same() -> None:
    assert two(fmt_per_step(4.0), fmt_per_step(4)) == "4"
    assert two("4", "6") == "4 -> 6"


def test_a_step_of_unknown_length_has_no_waterfall() -> None:
    document = {"step_ns": {"delta_ns": None}}
    assert "nothing to add up" in draw_waterfall(document, 40, 5, "dark", color=True)
