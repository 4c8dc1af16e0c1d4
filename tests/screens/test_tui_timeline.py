"""The timeline: its lanes, where it opens, and what enter says of a launch, a slice and a gap."""

from pathlib import Path

import pytest

from tests.screens.driving import opened, place, press, seen
from tests.traces import Event, frame, kernel, launch, launched, marker, op, steps, write
from traceview.analysis.lanes import event_id
from traceview.tui.card import Card
from traceview.tui.facts import Facts
from traceview.tui.timeline import TimelineLevel
from traceview.widgets.detail import Detail
from traceview.widgets.timeline import Timeline

US = 1_000


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """a, 300 us in which the host computes, b; in the second step b again beside a collective."""
    events: list[Event] = [
        *steps(0, 1000, dur=900),
        marker("prepare", 1, 800),
        frame("model.py(3): forward", 0, 900, id=1),
        op("aten::mm", 2, 30),
        op("aten::slow", 150, 200),
        op("aten::inner", 160, 20),
        *launched("a", 10, 50, 50, 1),
        *launched("b", 390, 400, 100, 2),
        *launched("b", 1010, 1050, 100, 3),
        launch(1020, 4),
        kernel("ncclDevKernel_AllReduce_Sum_bf16", 1060, 200, 4, stream=20),
        kernel("lost", 0, 0, None),
    ]
    return write(tmp_path, *events)


def timeline(screen: object) -> Timeline:
    assert isinstance(screen, TimelineLevel)
    return screen.table()


async def test_lanes_are_streams_then_the_hosts_threads(trace: Path) -> None:
    async with opened(trace) as pilot:
        text = await press(pilot, "3")
        labels = [lane.label for lane in timeline(pilot.app.screen).drawing.labels]
        assert labels == [
            "GPU 0 stream 7",
            "GPU 0 stream 20 NCCL",
            "thread 1 annotations",
            "  annotations 2",
            "  ops",
            "  ops 2",
            "  calls",
        ]
        assert "C communication" in text
        assert "1 events without a time are not drawn" in text


async def test_it_opens_on_the_span_of_the_gpu_work(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "3")
        view = timeline(pilot.app.screen).view
        assert (view.begin, view.end) == (50 * US, 1260 * US)


async def test_the_brackets_go_from_step_to_step(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "3", "right_square_bracket")
        view = timeline(pilot.app.screen).view
        assert (view.begin, view.end) == (50 * US, 500 * US)
        assert place(pilot) == "step 0 > timeline"
        await press(pilot, "right_square_bracket")
        view = timeline(pilot.app.screen).view
        assert (view.begin, view.end) == (1050 * US, 1260 * US)


async def test_enter_on_a_launch_opens_its_card_and_escape_comes_back(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "3", "n", "w")
        before = timeline(pilot.app.screen).cursor_row_id
        await press(pilot, "enter")
        card = pilot.app.screen
        assert isinstance(card, Card)
        assert card.card["launch"]["name"] == "b"
        assert place(pilot) == "all 2 steps > timeline > b > launch 1 of 2"
        await press(pilot, "right_square_bracket")
        assert place(pilot).endswith("launch 2 of 2")
        await press(pilot, "escape")
        assert timeline(pilot.app.screen).cursor_row_id == before


async def test_enter_on_a_gap_says_what_the_host_did_in_it(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "3")
        screen = pilot.app.screen
        timeline(screen)._go(0, 300 * US)
        assert "idle 300 us" in await press(pilot)
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, Facts)
        assert "A gap on GPU 0 stream 7" in text
        assert "host was late" in text
        assert "aten::slow" in text
        assert "180 us, 1 call" in text  # without aten::inner
        assert "model.py(3): forward" in text
        await press(pilot, "escape")
        assert pilot.app.screen is screen


async def test_enter_on_a_slice_says_what_it_lies_in_and_launched(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "3")
        assert timeline(pilot.app.screen).select_row_id(event_id("ops", 0))
        text = await press(pilot, "enter")
        assert "aten::mm" in text
        assert "1   50.0 us of GPU work" in text
        assert "prepare" in text
        assert "ProfilerStep#0" in text


async def test_two_marks_measure_time_and_gpu_work(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "3", "comma", "w", "full_stop")
        assert "A to B 450 us: 2 launches, GPU busy 150 us" in seen(pilot)


async def test_python_frames_come_and_go(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "3")
        assert "  Python" not in seen(pilot)
        assert "  Python" in await press(pilot, "p")
        assert "  Python" not in await press(pilot, "p")


async def test_it_begins_with_the_launch_that_one_comes_from(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "enter", "enter", "enter")
        card = pilot.app.screen
        assert isinstance(card, Card)
        await press(pilot, "3")
        assert timeline(pilot.app.screen).cursor_row_id == event_id("gpu", card.launch_id)


async def test_what_is_under_the_cursor_stands_below_where_there_is_room(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "3")
        await pilot.pause(0.2)
        facts = pilot.app.screen.query_one("#here", Detail).sections
        assert [field.value for field in facts[0].fields][:2] == ["a", "50.0 us"]
        await pilot.resize_terminal(80, 24)
        assert not pilot.app.screen.query_one("#here", Detail).display


async def test_space_marks_the_launch(trace: Path) -> None:
    async with opened(trace) as pilot:
        assert "1 marked" in await press(pilot, "3", "space")
        assert "1 marked" not in await press(pilot, "space")
