"""The timeline on the screen: a lane for each stream and each depth of a thread, zoomed by keys."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import RenderResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from traceview.units import cell_width, fmt_count, fmt_ns, shorten
from traceview.widgets import viewport
from traceview.widgets.columns import fit
from traceview.widgets.lane_cells import Paint, lane_segments
from traceview.widgets.lanes import Drawing
from traceview.widgets.lines import Piece, Toned
from traceview.widgets.look import chart_look
from traceview.widgets.time_axis import axis, position, tick_labels
from traceview.widgets.viewport import Ints, Lane

ABOVE = 2  # lines over the lanes: the ticks' labels and the axis
BELOW = 1  # the line that says what is under the cursor


class Timeline(Widget, can_focus=True):
    """Draws a `Drawing`. The cursor is a lane and a time; enter opens the event there, or the gap."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Timeline {
        height: 1fr;
        & > .timeline--axis { color: $text-muted; }
        & > .timeline--label { color: $text-muted; }
        & > .timeline--here { text-style: bold; }
        & > .timeline--mark { color: $text-warning; text-style: bold; }
        & > .timeline--cursor { background: $foreground; color: $background; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "timeline--axis",
        "timeline--label",
        "timeline--here",
        "timeline--mark",
        "timeline--cursor",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Left", show=False, id="timeline.left"),
        Binding("right,l", "step(1)", "Right", show=False, id="timeline.right"),
        Binding("up,k", "lane(-1)", "Lane up", show=False, id="timeline.up"),
        Binding("down,j", "lane(1)", "Lane down", show=False, id="timeline.down"),
        Binding("pageup,H,shift+left", "pan(-0.5)", "Pan left", show=False, id="timeline.pan_left"),
        Binding("pagedown,L,shift+right", "pan(0.5)", "Pan right", show=False, id="timeline.pan_right"),
        Binding("home", "edge(-1)", "Begin", show=False, id="timeline.begin"),
        Binding("end", "edge(1)", "End", show=False, id="timeline.end"),
        Binding("plus,equals_sign", "zoom(0.5)", "Zoom in", show=False, id="timeline.zoom_in"),
        Binding("minus", "zoom(2.0)", "Zoom out", show=False, id="timeline.zoom_out"),
        Binding("0", "zoom(0.0)", "All", show=False, id="timeline.zoom_all"),
        Binding("w", "event(1)", "Next event", show=False, id="timeline.next"),
        Binding("b", "event(-1)", "Previous event", show=False, id="timeline.previous"),
        Binding("n", "same(1)", "Next of this kernel", id="timeline.next_same"),
        Binding("N,shift+n", "same(-1)", "Previous of this kernel", show=False, id="timeline.previous_same"),
        Binding("comma", "mark(0)", "First mark", show=False, id="timeline.mark_first"),
        Binding("full_stop", "mark(1)", "Second mark", show=False, id="timeline.mark_second"),
        Binding("enter", "open", "Open", show=False, id="timeline.open"),
    ]

    class _OfTimeline(Message):
        def __init__(self, timeline: "Timeline") -> None:
            super().__init__()
            self.timeline = timeline

        @property
        def control(self) -> "Timeline":
            """The timeline it comes from."""
            return self.timeline

    class EventHighlighted(_OfTimeline):
        """The cursor is on this event; None where the lane is idle."""

        def __init__(self, timeline: "Timeline", row_id: int | None) -> None:
            super().__init__(timeline)
            self.row_id = row_id

    class EventSelected(_OfTimeline):
        """The event was opened."""

        def __init__(self, timeline: "Timeline", row_id: int) -> None:
            super().__init__(timeline)
            self.row_id = row_id

    class GapSelected(_OfTimeline):
        """An idle span of the lane `lane` (a label's key) was opened."""

        def __init__(self, timeline: "Timeline", lane: int, begin_ns: int, end_ns: int) -> None:
            super().__init__(timeline)
            self.lane = lane
            self.begin_ns = begin_ns
            self.end_ns = end_ns

    class SpanMeasured(_OfTimeline):
        """Both marks are set."""

        def __init__(self, timeline: "Timeline", begin_ns: int, end_ns: int) -> None:
            super().__init__(timeline)
            self.begin_ns = begin_ns
            self.end_ns = end_ns

    def __init__(
        self,
        drawing: Drawing | None = None,
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.toned = Toned(self, "timeline")
        self.drawing = Drawing()
        self.view = viewport.whole(0, 1)
        self.time = 0
        self.lane_number = 0
        self.marks: list[int | None] = [None, None]
        self._boundaries: Ints = np.empty(0, np.int64)
        self._top = 0  # the first lane in sight
        self._gutter = 0  # cells of the labels at the left
        self._painted: tuple[object, Paint] | None = None
        if drawing is not None:
            self.show(drawing)

    # --- data and place ------------------------------------------------------------------------------------

    def show(
        self, drawing: Drawing, span: tuple[int, int] | None = None, boundaries: Sequence[int] = ()
    ) -> None:
        """Other events, seen whole.

        `span` is the axis, by default from the first begin to the last end; `boundaries` are times to tick on
        it, such as where steps begin.
        """
        self.drawing = drawing
        self.view = viewport.whole(*(span or drawing.extent()))
        self.time, self.lane_number, self._top = self.view.begin, 0, 0
        self.marks = [None, None]
        self._boundaries = np.array(boundaries, dtype=np.int64)
        self._moved()

    def show_span(self, begin_ns: int, end_ns: int) -> None:
        """Zooms to a span, such as a step, with the cursor at its begin."""
        self.view = viewport.moved_to(self.view, begin_ns, end_ns - begin_ns)
        self.time = max(self.view.begin, min(begin_ns, self.view.end - 1))
        self._moved()

    def select_row_id(self, row_id: int) -> bool:
        """Puts the cursor on the event with this id, close enough to see it; False if it is not drawn."""
        found = self.drawing.find(row_id)
        if found is None:
            return False
        number, event = found
        lane = self.drawing.lanes[number]
        begin, length = int(lane.begin[event]), int(lane.end[event] - lane.begin[event])
        if length * 20 < self.view.span:
            self.view = viewport.moved_to(self.view, begin - length * 10, length * 20)
        self._go(number, begin)
        return True

    @property
    def cursor_row_id(self) -> int | None:
        """The id of the event under the cursor; None where the lane is idle."""
        event = self._event()
        return None if event is None else int(self.drawing.ids[self._lane().row[event]])

    def _lane(self) -> Lane:
        return self.drawing.lanes[self.lane_number]

    def _event(self) -> int | None:
        if not self.drawing.lanes:
            return None
        return viewport.event_at(self._lane(), self.time, slack=self.view.span // (2 * self._columns()))

    def _go(self, lane_number: int, time: int) -> None:
        self.lane_number = lane_number
        self.time = max(self.view.low, min(time, self.view.high - 1))
        self.view = viewport.shown(self.view, self.time)
        self._moved()

    def _room(self) -> int:
        return max(1, self.size.height - ABOVE - BELOW)

    def _lane_on(self, y: int) -> int | None:
        """The lane drawn on a line; where there is room, every other line is blank to keep lanes apart."""
        apart = 2 if 2 * len(self.drawing.lanes) <= self._room() else 1
        number, between = divmod(y - ABOVE, apart)
        number += self._top
        return number if not between and 0 <= number < len(self.drawing.lanes) and y >= ABOVE else None

    def _moved(self) -> None:
        longest = max((cell_width(shorten(label.label, 40)) for label in self.drawing.labels), default=0)
        self._gutter = min(longest + 3, max(3, self.size.width // 3))
        room = self._room()
        self._top = max(self.lane_number - room + 1, min(self._top, self.lane_number))
        self.refresh()
        if self.is_attached:
            self.post_message(self.EventHighlighted(self, self.cursor_row_id))

    # --- drawing -------------------------------------------------------------------------------------------

    def _columns(self) -> int:
        return max(1, self.size.width - self._gutter)

    def render(self) -> RenderResult:
        """Lines come from `render_line`; this is only for whoever asks for the whole."""
        return "\n".join(self.render_line(y).text for y in range(self.size.height))

    def render_line(self, y: int) -> Strip:
        """Ticks, axis, one lane, or what is under the cursor."""
        width, height = self.size
        if y == height - BELOW and height > ABOVE + BELOW:
            return self.toned.strip([(shorten(self._caption(), width), "here")], width)
        if y < ABOVE:
            return self.toned.strip([(" " * self._gutter, ""), *self._axis_line(y)], width)
        number = self._lane_on(y)
        if number is None:
            return Strip.blank(width, self.toned.style(""))
        here = number == self.lane_number
        gutter = self._gutter
        label = ("▸ " if here else "  ") + fit(self.drawing.labels[number].label, gutter - 3) + " "
        lane = self.drawing.lanes[number]
        cells = lane_segments(
            lane,
            self.view,
            self._columns(),
            self._paint(),
            self.toned.style(""),
            partial(self.drawing.name, lane),
        )
        if here:
            cells = _with_cursor(cells, self._cursor_column(), self.toned.style("", "cursor"))
        head = Segment(label, self.toned.style("here" if here else "label"))
        return Strip([head, *cells]).adjust_cell_length(width, self.toned.style(""))

    def _cursor_column(self) -> int:
        return max(0, min(viewport.column_of(self.view, self.time, self._columns()), self._columns() - 1))

    def _axis_line(self, y: int) -> list[Piece]:
        columns = self._columns()
        if y == 0:
            return [(tick_labels(self.view, columns), "axis")]
        return axis(self.view, columns, self._boundaries, self.marks, self._cursor_column())

    def _paint(self) -> Paint:
        # Kept, and so one and the same object for a whole frame: the cells' styles are looked up by it.
        look = (*chart_look(self.app), self.background_colors[1], self.drawing)
        if self._painted is None or self._painted[0] != look:
            theme, color, background, drawing = look
            shades = background.rgb if color and theme != "ansi" else None
            self._painted = look, Paint(theme, color, shades, drawing.families)
        return self._painted[1]

    def _caption(self) -> str:
        view = self.view
        parts = []
        event = self._event()
        if event is not None:
            lane = self._lane()
            name = shorten(self.drawing.name(lane, event), 60)
            parts += [*([name] if name else []), fmt_ns(int(lane.end[event] - lane.begin[event]))]
        elif self.drawing.lanes:
            begin, end = viewport.gap_at(self._lane(), self.time, view)
            parts.append(f"idle {fmt_ns(end - begin)}")
        begin_mark, end_mark = self.marks
        if begin_mark is not None and end_mark is not None:
            parts.append(f"A to B {fmt_ns(abs(end_mark - begin_mark))}")
        at = position(self.time - view.low, max(1, view.span // self._columns()), view.high - view.low)
        parts += [f"at {at}", f"{fmt_ns(view.span)} in view"]
        if len(self.drawing.lanes) > self._room():
            parts.append(f"lane {fmt_count(self.lane_number + 1)} of {fmt_count(len(self.drawing.lanes))}")
        return "   ".join(parts)

    def notify_style_update(self) -> None:
        """Themes change the styles that are kept."""
        self.toned.clear()
        super().notify_style_update()

    def on_resize(self, event: events.Resize) -> None:
        """The cursor's lane stays in sight."""
        self._moved()

    # --- keys ----------------------------------------------------------------------------------------------

    def action_step(self, cells: int) -> None:
        """Cursor by cells; the view follows at its edges."""
        column = viewport.column_of(self.view, self.time, self._columns()) + cells
        time = viewport.time_of(self.view, column, self._columns())
        if time == self.time:  # closer than a nanosecond a cell
            time += cells
        self._go(self.lane_number, time)

    def action_lane(self, lanes: int) -> None:
        """Cursor to another lane."""
        last = len(self.drawing.lanes) - 1
        self._go(max(0, min(self.lane_number + lanes, last)), self.time)

    def action_pan(self, views: float) -> None:
        """The view and the cursor by a part of what is seen."""
        moved = viewport.panned(self.view, round(self.view.span * views))
        time = self.time + moved.begin - self.view.begin
        if moved == self.view:  # at the end: only the cursor can still go on
            time = self.view.end - 1 if views > 0 else self.view.begin
        self.view = moved
        self._go(self.lane_number, time)

    def action_edge(self, side: int) -> None:
        """To the begin or the end of the axis."""
        self._go(self.lane_number, self.view.low if side < 0 else self.view.high - 1)

    def action_zoom(self, factor: float) -> None:
        """Closer or farther around the cursor; 0 shows everything."""
        if factor:
            self.view = viewport.zoomed(self.view, factor, self.time)
        else:
            self.view = viewport.whole(self.view.low, self.view.high)
        self._go(self.lane_number, self.time)

    def action_event(self, direction: int) -> None:
        """To the next or the previous event of the lane."""
        if not self.drawing.lanes:
            return
        begin = self._lane().begin
        event = self._event()
        now = self.time if event is None else int(begin[event])
        place = (
            np.searchsorted(begin, now, side="right") if direction > 0 else np.searchsorted(begin, now) - 1
        )
        if 0 <= place < len(begin):
            self._go(self.lane_number, int(begin[place]))
        else:
            self.app.bell()

    def action_same(self, direction: int) -> None:
        """To the next or the previous event of the same kernel, on whatever lane."""
        event = self._event()
        if event is None:
            self.action_event(direction)
            return
        lane = self._lane()
        found = self.drawing.next_of_kernel(int(lane.key[event]), int(lane.begin[event]), direction)
        if found is None:
            self.app.bell()
        else:
            time, number = found
            self._go(number, time)

    def action_mark(self, which: int) -> None:
        """Sets one of the two marks at the cursor; an event's own begin or end counts, not the cell."""
        time = self.time
        event = self._event()
        if event is not None:
            time = int((self._lane().end if which else self._lane().begin)[event])
        self.marks[which] = time
        self.refresh()
        first, second = self.marks
        if first is not None and second is not None:
            self.post_message(self.SpanMeasured(self, min(first, second), max(first, second)))

    def action_open(self) -> None:
        """Opens the event, or the gap, under the cursor."""
        row_id = self.cursor_row_id
        if row_id is not None:
            self.post_message(self.EventSelected(self, row_id))
        elif self.drawing.lanes:
            begin, end = viewport.gap_at(self._lane(), self.time, self.view)
            key = self.drawing.labels[self.lane_number].key
            self.post_message(self.GapSelected(self, key, begin, end))

    def on_click(self, event: events.Click) -> None:
        """The cursor goes where the click is; a second one there opens."""
        number = self._lane_on(event.y)
        column = event.x - self._gutter
        if number is None or column < 0:
            return
        if number == self.lane_number and column == self._cursor_column():
            self.action_open()
        else:
            self._go(number, viewport.time_of(self.view, column, self._columns()))


def _with_cursor(cells: list[Segment], column: int, style: Style) -> list[Segment]:
    before, here, after = Strip(cells).divide([column, column + 1, Strip(cells).cell_length])
    text = here.text or " "
    return [*before, Segment(text, style), *after]
