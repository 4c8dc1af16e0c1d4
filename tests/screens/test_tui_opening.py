"""Before there is a trace, and traces that lack something: always a plain screen, never a blank one."""

import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.screens.driving import loaded, opened, press, seen
from tests.traces import kernel, launched, op, steps, write
from traceview import api, parsers
from traceview.errors import Cancelled, TraceError
from traceview.trace import Trace
from traceview.tui.app import TraceApp, paths_of
from traceview.tui.opening import Loading, Picker, Problem


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A reading that goes on until it is cancelled; the event says that it was."""
    stopped = threading.Event()

    def read(path: Path, progress: Callable[[api.Progress], None], cancelled: Callable[[], bool]) -> Any:
        while not cancelled():
            progress(api.Progress(50, 100, 7, {"kernel": 7}))
            threading.Event().wait(0.01)
        stopped.set()
        raise Cancelled

    monkeypatch.setattr(api, "open_session", read)
    return stopped


async def test_progress_shows_while_reading_and_every_key_works(
    tmp_path: Path, endless: threading.Event
) -> None:
    async with TraceApp([write(tmp_path)]).run_test(size=(120, 40)) as pilot:
        await pilot.pause(0.1)
        assert "50.0 %" in seen(pilot)
        assert "7 events" in seen(pilot)
        await pilot.press("question_mark")
        assert "What the keys do here" in seen(pilot)


@pytest.fixture
def halfway(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A reading of the whole file that then waits; set, it comes to its end."""
    goes_on = threading.Event()
    read = parsers.load

    def load(path: Path, progress: Any, cancelled: Callable[[], bool], use_cache: bool) -> Trace:
        trace = read(path, use_cache=False)
        progress(api.Progress(50, 100, 7, {"kernel": 7}, lambda: replace(trace, complete=False)))
        while not goes_on.wait(0.01):
            if cancelled():
                raise Cancelled
        return trace

    monkeypatch.setattr(parsers, "load", load)
    return goes_on


async def test_kernels_and_steps_show_while_reading(tmp_path: Path, halfway: threading.Event) -> None:
    events = [*steps(0, 100, dur=100), *launched("gemm", 1, 10, 30, 1), *launched("add", 101, 110, 10, 2)]
    async with TraceApp([write(tmp_path, *events)]).run_test(size=(120, 40)) as pilot:
        while "so far" not in seen(pilot):
            await pilot.pause(0.01)
        assert isinstance(pilot.app.screen, Loading)
        assert "so far: 2 steps, 2 pieces of GPU work, 40.0 us in all" in seen(pilot)
        assert re.search(r"gemm +75.0 % .* 30.0 us", seen(pilot))
        halfway.set()
        await loaded(pilot)
        looked_at = seen(pilot)
    async with opened(tmp_path / "trace.json") as pilot:
        assert seen(pilot) == looked_at


async def test_escape_while_reading_opens_what_has_come(tmp_path: Path, halfway: threading.Event) -> None:
    async with TraceApp([write(tmp_path, *launched("alone", 0, 10, 5, 1))]).run_test(size=(120, 40)) as pilot:
        while "so far" not in seen(pilot):
            await pilot.pause(0.01)
        await pilot.press("escape")
        await loaded(pilot)
        said = "reading was stopped after 50.0 % of the file"
        assert said in " ".join(note.message for note in pilot.app._notifications)
        assert "trace.json (incomplete)" in seen(pilot)
        assert said in await press(pilot, "5")
        assert "alone" in await press(pilot, "2")


@pytest.mark.parametrize("key", ["q", "escape"])
async def test_reading_can_be_left_at_once(tmp_path: Path, endless: threading.Event, key: str) -> None:
    async with TraceApp([write(tmp_path)]).run_test() as pilot:
        await pilot.press(key)
    assert pilot.app.return_value == 0
    assert endless.wait(5)


async def test_what_cannot_be_read_is_one_line_and_exit_code_3(tmp_path: Path) -> None:
    path = tmp_path / "broken[b].json"
    path.write_text("no JSON")
    async with TraceApp([path]).run_test(size=(120, 40)) as pilot:
        await loaded(pilot)
        assert isinstance(pilot.app.screen, Problem)
        assert "broken[b].json" in seen(pilot)
        await pilot.press("q")
    assert pilot.app.return_value == 3


async def test_a_failure_of_our_own_is_a_plain_screen_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise ValueError("odd")

    monkeypatch.setattr(api, "open_session", fails)
    async with TraceApp([write(tmp_path)]).run_test(size=(120, 40)) as pilot:
        await loaded(pilot)
        assert "cannot be shown (ValueError: odd)" in " ".join(seen(pilot).split())


def test_a_path_that_is_not_there_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no such file") as caught:
        paths_of(tmp_path / "gone.json")
    assert caught.value.exit_code == 3
    with pytest.raises(TraceError, match="a folder without a trace"):
        paths_of(tmp_path)


async def test_a_folder_with_one_trace_opens_it(tmp_path: Path) -> None:
    write(tmp_path, *launched("alone", 0, 10, 5, 1))
    async with opened(tmp_path) as pilot:
        assert "trace.json" in seen(pilot)


async def test_a_folder_with_several_lets_one_choose_and_come_back(
    tmp_path: Path, endless: threading.Event
) -> None:
    for rank in range(11):
        write(tmp_path, name=f"rank{rank}.json")
    async with TraceApp(paths_of(tmp_path)).run_test(size=(100, 30)) as pilot:
        assert isinstance(pilot.app.screen, Picker)
        listed = [line.split()[0] for line in seen(pilot).splitlines() if "rank" in line and ".json" in line]
        assert listed == [f"rank{rank}.json" for rank in range(11)]
        await pilot.press("down", "enter")
        assert isinstance(pilot.app.screen, Loading)
        assert "rank1.json" in seen(pilot)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, Picker)
        await pilot.press("escape")
    assert pilot.app.return_value == 0


async def test_without_gpu_work_the_cpus_slices_stand_in(tmp_path: Path) -> None:
    async with opened(write(tmp_path, op("aten::mm", 0, 80), op("aten::add", 100, 20))) as pilot:
        text = seen(pilot)
        assert "No GPU work in this file" in text
        assert "aten::mm" in text
        assert "80.0 %" in text
        await press(pilot, "2")
        assert "aten::mm" in seen(pilot)


async def test_an_empty_trace_is_not_a_blank_screen(tmp_path: Path) -> None:
    async with opened(write(tmp_path)) as pilot:
        assert "No GPU work in this file" in seen(pilot)


async def test_without_steps_and_shapes_the_way_down_is_the_same(tmp_path: Path) -> None:
    async with opened(write(tmp_path, *launched("alone", 0, 10, 5, 1))) as pilot:
        assert "no step markers: the whole trace is one step" in seen(pilot)
        card = await press(pilot, "enter", "enter", "enter")
        assert "alone" in card
        assert "no op was recorded for it" in card


async def test_work_without_a_time_counts_and_shows_as_unknown(tmp_path: Path) -> None:
    events = [*launched("timed", 0, 10, 5, 1), kernel("untimed", 0, 0, 2)]
    async with opened(write(tmp_path, *events)) as pilot:
        await press(pilot, "enter", "slash", *"untimed", "enter")
        row = next(line for line in seen(pilot).splitlines() if "▸" in line and "untimed" in line)
        assert row.endswith(" -")


@pytest.mark.parametrize(("size", "small"), [((59, 20), True), ((80, 14), True), ((60, 15), False)])
async def test_under_60x15_one_line_says_so(tmp_path: Path, size: tuple[int, int], small: bool) -> None:
    async with opened(write(tmp_path, *launched("alone", 0, 10, 5, 1)), size) as pilot:
        assert ("is too small: 60x15 or more" in seen(pilot)) is small
        assert ("GPU" in seen(pilot)) is not small
