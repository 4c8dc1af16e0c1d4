"""Commands: one definition each, no key twice, none that a terminal multiplexer takes."""

import re
from pathlib import Path

import pytest

from tests.screens.driving import opened, place, press, seen, settled
from tests.traces import Event, launched, marker, steps, write
from traceview.errors import TraceError
from traceview.tui.app import TraceApp
from traceview.tui.bars import KeyBar
from traceview.tui.card import Card
from traceview.tui.chart_screen import ChartScreen
from traceview.tui.commands import EVERYWHERE
from traceview.tui.host import Host
from traceview.tui.kernels import Kernels
from traceview.tui.launches import Launches
from traceview.tui.level import Level
from traceview.tui.loader import Wish
from traceview.tui.opening import Problem
from traceview.tui.steps import Steps
from traceview.tui.trust import Trust

LEVELS = [Steps, Kernels, Launches, Card, Trust, Host]
TAKEN = {"ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+m"}


@pytest.fixture
def phases(tmp_path: Path) -> Path:
    """A prefill and two decode steps, the middle one with a kernel of its own."""
    names = ["step[EXTEND bs=1 toks=64]", "step[DECODE bs=8]", "step[DECODE bs=8]"]
    events: list[Event] = []
    for number, name in enumerate(names):
        at = 100 * number
        events += [marker(name, at, 100), *launched("common", at + 1, at + 10, 50, number + 1)]
    events += launched("decoder", 102, 170, 5, 9, device=1)
    return write(tmp_path, *events)


@pytest.mark.parametrize("level", LEVELS)
def test_no_key_means_two_things_and_none_is_a_multiplexers(level: type[Level]) -> None:
    keys = [key for command in (*level.HAS, *EVERYWHERE) for key in command.keys.split(",") if key]
    assert len(keys) == len(set(keys))
    assert not TAKEN & set(keys)
    assert not any("alt+" in key for key in keys)


@pytest.mark.parametrize("level", LEVELS)
def test_every_command_has_an_action(level: type[Level]) -> None:
    for command in level.HAS:
        assert hasattr(level, "action_" + re.split(r"\(", command.action)[0]), command
    for command in EVERYWHERE:
        assert hasattr(TraceApp, "action_" + command.action.removeprefix("app.")), command


@pytest.mark.parametrize("width", [60, 80, 200])
async def test_the_footer_fits_and_always_knows_help_and_quit(phases: Path, width: int) -> None:
    async with opened(phases, (width, 24)) as pilot:
        for key in ("enter", "enter", "enter"):
            bar = str(pilot.app.screen.query_one(KeyBar).render())
            assert bar.rstrip().endswith("? help  q quit")
            assert len(bar.rstrip()) <= width - 2
            await press(pilot, key)


async def test_phases_are_gone_through_and_hold_below(phases: Path) -> None:
    async with opened(phases) as pilot:
        places = []
        for _ in range(3):
            await press(pilot, "f")
            places.append(place(pilot))
        assert places == ["1 prefill steps", "2 decode steps", "all 3 steps"]
        await press(pilot, "f", "enter")
        assert "decoder" not in seen(pilot)


async def test_devices_are_gone_through(phases: Path) -> None:
    async with opened(phases) as pilot:
        await pilot.app.screen.run_action("device")
        await pilot.app.screen.run_action("device")
        await settled(pilot)
        assert place(pilot) == "all 3 steps, GPU 1"


async def test_the_row_goes_to_the_clipboard_as_a_table(phases: Path) -> None:
    async with opened(phases) as pilot:
        await press(pilot, "enter", "y")
        lines = pilot.app.clipboard.splitlines()
        assert len(lines) == 3
        assert lines[0].startswith("| name")
        assert "common" in lines[2]


async def test_the_chart_on_the_whole_screen_and_back(phases: Path) -> None:
    async with opened(phases) as pilot:
        text = await press(pilot, "c")
        assert isinstance(pilot.app.screen, ChartScreen)
        assert "GPU time of each step by family" in text
        assert "where an average step goes" in await press(pilot, "c")
        await press(pilot, "c")
        assert isinstance(pilot.app.screen, Steps)


async def test_marks_of_launches_hold_and_can_be_removed(phases: Path) -> None:
    async with opened(phases) as pilot:
        await press(pilot, "enter", "enter", "space", "down", "space")
        assert "2 marked" in seen(pilot)
        await press(pilot, "enter", "space")
        assert "1 marked" in seen(pilot)
        await press(pilot, "5")
        assert "1 marked" in seen(pilot)
        await press(pilot, "escape", "escape")
        await pilot.app.screen.run_action("no_marks")
        await settled(pilot)
        assert "marked" not in seen(pilot)


async def test_the_command_lines_selection_is_where_one_starts(phases: Path) -> None:
    async with TraceApp([phases], Wish(steps="1:")).run_test() as pilot:
        while not isinstance(pilot.app.screen, Steps):
            await pilot.pause(0.01)
        await settled(pilot)
        assert place(pilot) == "steps 1:3"


async def test_steps_that_are_not_there_are_a_plain_line_of_wrong_usage(phases: Path) -> None:
    async with TraceApp([phases], Wish(steps="7")).run_test() as pilot:
        while not isinstance(pilot.app.screen, Problem):
            await pilot.pause(0.01)
        await pilot.pause()
        assert "no such step" in seen(pilot)
        await pilot.press("q")
    assert pilot.app.return_value == TraceError("", exit_code=2).exit_code


async def test_steps_can_be_taken_from_another_annotation(tmp_path: Path) -> None:
    events: list[Event] = [marker("[/red] outer", 0, 1000)]
    for number in range(4):
        at = 100 * number
        events += [*steps(at, dur=100, first=number), marker(f"half {number}", at, 40)]
        events += [marker(f"half {number} b", at + 50, 40), *launched("k", at + 60, at + 70, 20, number + 1)]
    async with opened(write(tmp_path, *events), (180, 40)) as pilot:
        assert place(pilot) == "all 4 steps"
        await press(pilot, "down", "enter", "escape")
        await pilot.app.screen.run_action("markers")
        await settled(pilot)
        text = seen(pilot)
        assert re.search(r"ProfilerStep#0 +4 times +100 us each", text)
        assert re.search(r"half 0 b +4 times +40.0 us each", text)
        assert "outer" not in text
        await press(pilot, "down", "down", "enter")
        assert place(pilot) == "all 4 steps"
        assert "steps from annotation" in seen(pilot)
        assert "half 0" in seen(pilot)
        assert "--step-marker" in await press(pilot, "x")
        await press(pilot, "escape")
        # And back to what the program finds.
        await pilot.app.screen.run_action("markers")
        await press(pilot, "home", "enter")
        assert "steps from profiler-step" in seen(pilot)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_first_a_slow_and_a_cut_off_step_are_marked(tmp_path: Path, size: tuple[int, int]) -> None:
    events: list[Event] = []
    for number, dur in enumerate((90, 50, 50, 80, 50, 50, 50, 50)):
        at = 100 * number
        events += [*steps(at, dur=dur, first=number), *launched("k", at + 1, at + 5, 20, number + 1)]
    path = write(tmp_path, *events)
    path.write_text(path.read_text().removesuffix("]}"))
    async with opened(path, size) as pilot:
        lines = {
            n: line for line in seen(pilot).splitlines() for n in range(8) if f"ProfilerStep#{n} " in line
        }
        assert lines[0].endswith(" first")
        assert lines[3].endswith("▲ 1.6x p50")
        assert lines[7].endswith(" cut off")
        assert lines[1].endswith(" 1")


async def test_the_mouse_reaches_tabs_and_footer(phases: Path) -> None:
    async with opened(phases, (120, 40)) as pilot:
        tab = seen(pilot).splitlines()[0].index("2 Kernels")
        await pilot.click("Tabs", offset=(tab, 0))
        await settled(pilot)
        assert isinstance(pilot.app.screen, Kernels)
        back = seen(pilot).splitlines()[-1].index("esc back")
        await pilot.click("KeyBar", offset=(back, 0))
        await settled(pilot)
        assert isinstance(pilot.app.screen, Steps)
