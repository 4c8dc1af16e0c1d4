"""Timeline: what ran when, on each stream and each thread, with the idle gaps in between."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from textual.app import ComposeResult
from textual.timer import Timer

from traceview.analysis import intervals
from traceview.analysis.lanes import Lanes, event_id, event_of
from traceview.report.tables import Column as Title
from traceview.tui import commands
from traceview.tui.among import SameKernel
from traceview.tui.card import Card
from traceview.tui.card_trail import trail
from traceview.tui.commands import Command
from traceview.tui.facts import Facts
from traceview.tui.lane_drawing import Legend, drawing_of, families_of
from traceview.tui.launches import Launches
from traceview.tui.level import COMMON, Level
from traceview.tui.moment_sections import gap_sections, launch_sections, slice_sections
from traceview.tui.state import State
from traceview.units import fmt_count, fmt_ns
from traceview.widgets.detail import Detail, Field, Section
from traceview.widgets.lanes import Drawing
from traceview.widgets.timeline import Timeline

SETTLED = 0.06  # seconds on an event before its facts are looked up, so that a held key runs freely
_IDLE = [Section("Idle", [Field("", "no work on this lane here: enter says what the host did meanwhile")])]


class TimelineLevel(Level):
    """Lanes of streams and threads, over the facts of what is under the cursor."""

    PLACE = 3
    HAS = (
        Command(
            "open", "The launch's card, what a slice lies in, what the host did in a gap", "", "enter", "open"
        ),
        Command("zoom", "Closer; - farther, 0 everything", "", "+ - 0", "zoom"),
        Command("same", "The next launch of this kernel, N the previous one", "", "n N", "same kernel"),
        Command("measure", "Set the first time mark; . sets the second", "", ", .", "measure"),
        commands.STEP_ON,
        commands.BACK,
        Command("python", "Lanes of Python frames too, or not", "p", label="Python"),
        Command("mark", "Mark or unmark the launch", "space", label="mark"),
        commands.EXPORT,
        commands.COPY,
        Command("next", "The next event of the lane, b the previous one", "", "w b"),
        commands.STEP_BACK,
        *(c for c in COMMON if c not in (commands.EXPORT, commands.COPY)),
    )
    BINDINGS = commands.bindings(HAS)
    DEFAULT_CSS = """
    TimelineLevel #table { margin: 0 1; }
    TimelineLevel.-empty #table { display: none; }
    TimelineLevel #here { display: none; height: 10; border-top: solid $panel; margin: 0; padding: 0 1; }
    TimelineLevel.-tall #here, TimelineLevel.-high #here { display: block; }
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.lanes = Lanes((), pl.DataFrame(), 0)
        self.python = False
        self.measured = ""
        self.preparing = True
        self.add_class("-empty")
        self._timer: Timer | None = None
        self._start: int | None = None  # the launch to begin with

    def body(self) -> ComposeResult:
        """The lanes, what their colours mean, what is under the cursor."""
        yield Timeline(id="table")
        yield Legend(id="legend")
        yield Detail(id="here")

    def table(self) -> Timeline:
        """The lanes."""
        return self.query_one("#table", Timeline)

    def on_mount(self) -> None:
        """From a launch, begin with it."""
        below = self.owner.levels[-2] if len(self.owner.levels) > 1 else None
        if isinstance(below, Card):
            self._start = below.launch_id
        elif isinstance(below, Launches):
            self._start = below.table().cursor_row_id

    # --- filling -------------------------------------------------------------------------------------------

    def load(self) -> None:
        """The lanes, which are the whole trace's, and in them the selected steps."""
        session, device, python = self.state.session, self.state.selection.device, self.python

        def question() -> tuple[Lanes, Drawing]:
            lanes = session.lanes(python)
            return lanes, drawing_of(lanes, device)

        trace = session.trace
        self.preparing = True
        self.ask(
            "lanes",
            lambda: self.state.kept(("lanes", python, device), question),
            self.fill,
            rows=trace.ops.height + trace.runtime.height + python * trace.python.height,
        )

    def fill(self, found: tuple[Lanes, Drawing]) -> None:
        """Draw them, and go to the selection or to the launch that one came from."""
        self.preparing = False
        self.remove_class("-empty")
        lanes, drawing = found
        timeline = self.table()
        if drawing is not timeline.drawing:
            self.lanes = lanes
            timeline.show(drawing, boundaries=self.boundaries())
            self.query_one(Legend).show(families_of(lanes))
        span = self.selected_span()
        if span is not None:
            timeline.show_span(*span)
        if self._start is not None:
            timeline.select_row_id(event_id("gpu", self._start))
            self._start = None
        self.show_lines()

    def boundaries(self) -> list[int]:
        """Where steps begin and end."""
        steps = self.state.session.found_steps
        if steps.whole_trace:
            return []
        windows = steps.windows.filter(pl.col("begin_ns").is_not_null(), pl.col("wall_ns").is_not_null())
        begins, walls = windows["begin_ns"], windows["wall_ns"]
        return pl.concat([begins, begins + walls]).unique().sort().to_list()

    def selected_span(self) -> tuple[int, int] | None:
        """From the first begin to the last end of the selected GPU work."""
        work = self.state.session.selected(self.state.selection).filter("timed")
        if not work.height:
            return None
        return work.select(pl.col("begin_ns").min(), end=intervals.END.max()).row(0)

    # --- what it says --------------------------------------------------------------------------------------

    def crumb(self) -> list[str]:
        """The screen's name, and what was opened from it."""
        return trail(self, "timeline")

    def numbers(self) -> Sequence[str]:
        """What is drawn and what cannot be, or what was measured."""
        if self.preparing:
            return ("preparing the lanes ...",)
        untimed = self.lanes.untimed
        streams = sum(lane.kind == "gpu" for lane in self.lanes.lanes)
        on = "1 stream" if streams == 1 else f"{streams} streams"
        return (
            self.measured,
            f"{fmt_count(untimed)} events without a time are not drawn" if untimed else "",
            f"{fmt_count(self.lanes.events.height)} events on {on}, over the host's threads",
            "┃ steps" if self.boundaries() else "",
        )

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """The launch's line."""
        launch = self.launch_here
        if launch is None:
            return None
        among = SameKernel(self.state)
        among.place(launch)
        return among.row_cells()

    def command_line(self) -> list[str]:
        """The gaps of the lanes; the launches have a command of their own."""
        return ["gaps", self.state.session.trace.path, *self.state.options]

    @property
    def launch_here(self) -> int | None:
        """The launch under the cursor."""
        row_id = self.table().cursor_row_id
        kind, row = ("", 0) if row_id is None else event_of(row_id)
        return row if kind == "gpu" else None

    # --- what happens --------------------------------------------------------------------------------------

    def on_timeline_event_highlighted(self, message: Timeline.EventHighlighted) -> None:
        """The facts follow when the cursor has come to rest."""
        message.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SETTLED, self.show_here)

    def show_here(self) -> None:
        """The facts of what is under the cursor, where there is room for them."""
        here = self.query_one("#here", Detail)
        row_id = self.table().cursor_row_id
        if not here.display:
            return
        if row_id is None:
            here.show(_IDLE if self.table().drawing.lanes else [])
        else:
            self.ask(
                "here", lambda: self.sections(row_id), here.show, rows=self.state.session.trace.ops.height
            )

    def sections(self, row_id: int) -> list[Section]:
        """What is known of an event, in short."""
        session = self.state.session
        kind, row = event_of(row_id)
        if kind != "gpu":
            return slice_sections(session.host_slice(kind, row))
        facts: dict[str, Any] = session.work.row(row, named=True)
        step = None if facts["step"] is None else session.step_names[facts["step"]]
        return launch_sections(facts, SameKernel(self.state).name(row), step)

    def on_timeline_event_selected(self, message: Timeline.EventSelected) -> None:
        """A launch has a card, a slice of the host a few facts."""
        message.stop()
        kind, row = event_of(message.row_id)
        if kind == "gpu":
            self.app.push_screen(Card(self.state, row, SameKernel(self.state)))
            return
        self.ask(
            "open",
            lambda: self.sections(message.row_id),
            lambda sections: self.show_facts("What the host did", sections),
            rows=self.state.session.trace.ops.height,
        )

    def on_timeline_gap_selected(self, message: Timeline.GapSelected) -> None:
        """What the host did while a stream was idle."""
        message.stop()
        lane = self.lanes.lanes[message.lane]
        if lane.kind != "gpu":
            self.tell(f"{fmt_ns(message.end_ns - message.begin_ns)} with nothing recorded on this lane")
            return
        session, among = self.state.session, SameKernel(self.state)
        self.ask(
            "open",
            lambda: session.gap(lane.device, lane.stream, message.begin_ns, message.end_ns),
            lambda gap: self.show_facts(f"A gap on {lane.label}", gap_sections(gap, among.name)),
            rows=session.trace.ops.height + session.trace.python.height,
        )

    def show_facts(self, title: str, sections: Sequence[Section]) -> None:
        """A window over the lanes."""
        self.app.push_screen(Facts(title, sections))

    def on_timeline_span_measured(self, message: Timeline.SpanMeasured) -> None:
        """How much GPU work lies between the marks."""
        message.stop()
        found = self.state.session.span(message.begin_ns, message.end_ns)
        self.measured = (
            f"A to B {fmt_ns(found['dur_ns'])}: {fmt_count(found['launches'])} launches, "
            f"GPU busy {fmt_ns(found['busy_ns'])}"
        )
        self.show_lines()

    def action_mark(self) -> None:
        """Mark or unmark the launch under the cursor."""
        launch = self.launch_here
        if launch is None:
            self.app.bell()
            return
        self.state.marked_launches ^= {launch}
        self.show_lines()

    def action_python(self) -> None:
        """With the Python frames, or without."""
        if self.state.session.trace.python.height:
            self.python = not self.python
            self.reload()
        else:
            self.tell("No Python frames in this trace: with_stack=True records them")

    def action_open(self) -> None:
        """What enter does."""
        self.table().action_open()

    def action_zoom(self) -> None:
        """What + does."""
        self.table().action_zoom(0.5)

    def action_same(self) -> None:
        """What n does."""
        self.table().action_same(1)

    def action_next(self) -> None:
        """What w does."""
        self.table().action_event(1)

    def action_measure(self) -> None:
        """What the comma does."""
        self.table().action_mark(0)
