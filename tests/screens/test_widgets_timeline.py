"""The timeline: where the cursor is, what keys say, and what the cells show."""

import polars as pl
import pytest
from textual.app import App, ComposeResult
from textual.message import Message

from tests.screens.driving import of_kind
from traceview.units import cell_width
from traceview.widgets.lanes import LaneLabel, prepare
from traceview.widgets.time_axis import position, tick_distance
from traceview.widgets.timeline import Timeline

pytestmark = pytest.mark.usefixtures("full_colour")

MS = 1_000_000
START = 1_700_000_000_000  # times are on the trace's clock, the axis counts from the first event
SIZE = (123, 10)  # 100 columns beside the labels: one is a millisecond
FAMILIES = ["gemm", "copy-cast"]
LABELS = [LaneLabel(7, "stream 7 [/red]"), LaneLabel(20, "stream 20 \x1b[31m核")]
FRAME = pl.DataFrame(
    [
        (7, START, 10 * MS, 0, 100, 1, "sgemm"),
        (7, START + 20 * MS, 40 * MS, 1, 101, 2, "[/red] 核函数 \x1b[31m"),
        (20, START + 30 * MS, 10 * MS, 0, 102, 1, "sgemm"),
        (7, START + 90 * MS, 10 * MS, 0, 103, 1, "sgemm"),
        (20, START + 95 * MS, None, 0, 104, 1, "no duration"),
    ],
    schema=["lane", "begin_ns", "dur_ns", "colour", "row_id", "key", "name"],
    orient="row",
)


class TimelineApp(App[None]):
    def __init__(self, frame: pl.DataFrame = FRAME, labels: list[LaneLabel] = LABELS) -> None:
        super().__init__()
        self.timeline = Timeline(prepare(labels, frame, FAMILIES))
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.timeline

    def on_mount(self) -> None:
        self.timeline.focus()

    def on_timeline_event_highlighted(self, message: Timeline.EventHighlighted) -> None:
        self.told.append(message)

    def on_timeline_event_selected(self, message: Timeline.EventSelected) -> None:
        self.told.append(message)

    def on_timeline_gap_selected(self, message: Timeline.GapSelected) -> None:
        self.told.append(message)

    def on_timeline_span_measured(self, message: Timeline.SpanMeasured) -> None:
        self.told.append(message)


def seen(timeline: Timeline) -> list[str]:
    return [timeline.render_line(y).text for y in range(timeline.size.height)]


async def test_lines_are_ticks_axis_lanes_and_what_is_under_the_cursor() -> None:
    async with TimelineApp().run_test(size=SIZE) as pilot:
        lines = seen(pilot.app.query_one(Timeline))
        assert {cell_width(line) for line in lines} == {123}
        assert lines[0].split() == ["0", "ms", "20", "ms", "40", "ms", "60", "ms", "80", "ms"]
        assert lines[1].strip().startswith("▼")
        assert lines[2].startswith("▸ stream 7 [/red]")
        assert r"[/red] 核函数 \x1b[31m" in lines[2]  # a wide event carries its name
        assert lines[4].startswith(r"  stream 20 \x1b[31m核")
        assert lines[-1].startswith("sgemm   10.0 ms   at 0 ms   100 ms in view")


async def test_busy_cells_are_where_the_events_are() -> None:
    frame = FRAME.with_columns(name=pl.lit(""))
    async with TimelineApp(frame).run_test(size=SIZE) as pilot:
        timeline = pilot.app.query_one(Timeline)
        plain = timeline.rich_style.bgcolor
        cells = [style for text, style, _ in timeline.render_line(2) for _ in text][-100:]
        busy = [number for number, style in enumerate(cells) if style and style.bgcolor != plain]
        assert busy == [*range(10), *range(20, 60), *range(90, 100)]


async def test_enter_opens_the_event_or_the_gap() -> None:
    app = TimelineApp()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("enter", "w", "enter", "home")
        for _ in range(12):
            app.timeline.action_step(1)
        await pilot.press("enter")
        assert [m.row_id for m in of_kind(app.told, Timeline.EventSelected)] == [100, 101]
        (gap,) = of_kind(app.told, Timeline.GapSelected)
        assert (gap.lane, gap.begin_ns - START, gap.end_ns - START) == (7, 10 * MS, 20 * MS)


async def test_n_goes_through_the_launches_of_one_kernel_on_all_lanes() -> None:
    app = TimelineApp()
    async with app.run_test(size=SIZE) as pilot:
        ids = [app.timeline.cursor_row_id]
        for key in ("n", "n", "n", "N", "N"):
            await pilot.press(key)
            ids.append(app.timeline.cursor_row_id)
        assert ids == [100, 102, 103, 103, 102, 100]
        assert of_kind(app.told, Timeline.EventHighlighted)[-1].row_id == 100


async def test_zoom_stays_around_the_cursor_and_0_shows_all() -> None:
    app = TimelineApp()
    async with app.run_test(size=SIZE) as pilot:
        timeline = app.timeline
        await pilot.press("w", "plus", "plus")
        assert timeline.view.span == 25 * MS
        assert timeline.view.begin <= timeline.time < timeline.view.end
        assert timeline.cursor_row_id == 101
        await pilot.press("minus")
        assert timeline.view.span == 50 * MS
        await pilot.press("0")
        assert (timeline.view.begin, timeline.view.end) == (START, START + 100 * MS)
        for _ in range(40):
            timeline.action_zoom(0.5)
        assert timeline.view.span == 20
        await pilot.press("right")
        assert timeline.time > START + 20 * MS  # a cell is less than a nanosecond, yet keys move


async def test_the_view_follows_the_cursor_to_both_ends() -> None:
    app = TimelineApp()
    async with app.run_test(size=SIZE) as pilot:
        timeline = app.timeline
        await pilot.press("plus", "plus", "plus", "end")
        assert timeline.view.end == START + 100 * MS
        assert timeline.cursor_row_id == 103
        await pilot.press("pageup")
        assert timeline.view.end < START + 100 * MS
        for _ in range(30):
            timeline.action_pan(0.5)
        await pilot.press("L", "l")
        assert timeline.time == START + 100 * MS - 1
        await pilot.press("home")
        assert timeline.view.begin == START


async def test_two_marks_measure_from_begin_to_end() -> None:
    app = TimelineApp()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("comma", "w", "full_stop")
        (span,) = of_kind(app.told, Timeline.SpanMeasured)
        assert (span.begin_ns - START, span.end_ns - START) == (0, 60 * MS)
        lines = seen(app.timeline)
        assert "A to B 60.0 ms" in lines[-1]
        assert "━" in lines[1]
        assert "B" in lines[1]


async def test_an_event_is_found_by_its_id_and_a_step_by_its_span() -> None:
    app = TimelineApp()
    async with app.run_test(size=SIZE):
        timeline = app.timeline
        assert timeline.select_row_id(102)
        assert timeline.cursor_row_id == 102
        assert not timeline.select_row_id(104)  # an event without duration is not drawn
        timeline.show_span(START + 20 * MS, START + 60 * MS)
        assert (timeline.view.begin - START, timeline.view.end - START) == (20 * MS, 60 * MS)


async def test_many_lanes_scroll_with_the_cursor_and_resizing_keeps_it() -> None:
    labels = [LaneLabel(key, f"lane {key}") for key in range(40)]
    frame = pl.DataFrame(
        {
            "lane": range(40),
            "begin_ns": [0] * 40,
            "dur_ns": [5] * 40,
            "colour": [0] * 40,
            "row_id": range(40),
        }
    )
    app = TimelineApp(frame, labels)
    async with app.run_test(size=(80, 12)) as pilot:
        for _ in range(30):
            app.timeline.action_lane(1)
        assert app.timeline.cursor_row_id == 30
        for size in ((80, 8), (40, 20), (30, 4)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert app.timeline.cursor_row_id == 30
            assert any(line.startswith("▸") for line in seen(app.timeline))
        for _ in range(40):
            app.timeline.action_lane(-1)
        assert app.timeline.cursor_row_id == 0


@pytest.mark.parametrize("labels", [[], LABELS])
async def test_a_timeline_may_be_empty(labels: list[LaneLabel]) -> None:
    app = TimelineApp(FRAME.clear(), labels)
    async with app.run_test(size=(40, 8)) as pilot:
        keys = "plus minus 0 left right up down home end n N w b comma full_stop enter pageup pagedown"
        await pilot.press(*keys.split())
        await pilot.resize_terminal(1, 1)
        await pilot.pause()
        assert app.timeline.cursor_row_id is None


async def test_without_colour_letters_tell_the_families() -> None:
    app = TimelineApp(FRAME.drop("name"))
    app.no_color = True
    async with app.run_test(size=SIZE):
        assert seen(app.timeline)[2].count("G") >= 19
        assert "TTTTTTTT" in seen(app.timeline)[2]


def test_ticks_are_round_and_far_enough_apart() -> None:
    assert tick_distance(100 * MS, 100) == 20 * MS
    assert tick_distance(7, 100) == 1
    assert tick_distance(10**15, 1) == 20 * 10**15


def test_positions_have_the_digits_that_a_tick_needs() -> None:
    assert position(20 * MS, 20 * MS, 100 * MS) == "20 ms"
    assert position(1_234_500_000, 500_000, 2_000_000_000) == "1,234.5 ms"
    assert position(1_500_000_000, 500 * MS, 2_000_000_000) == "1.5 s"
    assert position(17, 1, 500) == "17 ns"
