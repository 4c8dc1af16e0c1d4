"""Steps: where a step's time goes, and which step is not like the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl
from textual.app import ComposeResult
from textual.containers import Horizontal

from traceview import charts
from traceview.analysis.markers import repeated
from traceview.analysis.pace import Pace, pace
from traceview.api import Session
from traceview.errors import TraceError
from traceview.report.tables import Column as Title
from traceview.selection import Selection
from traceview.tui import cells, commands
from traceview.tui.commands import Command
from traceview.tui.filters import Field, parse
from traceview.tui.leaning import MARK, SAID
from traceview.tui.level import COMMON, Level
from traceview.tui.markers import Marker, Markers
from traceview.units import fmt_count, fmt_ns, fmt_percent
from traceview.widgets.chart import Chart
from traceview.widgets.columns import Column
from traceview.widgets.frame_table import FrameTable

COLUMNS = (
    Column("index", "step", 6, "right", cells.plain),
    Column("name", "name", 24, "left", cells.names, priority=2, grow=True),
    Column("phase", "phase", 8, "left", cells.names, priority=3),
    Column("batch", "batch", 6, "right", cells.counts, priority=5),
    Column("tokens", "tokens", 7, "right", cells.counts, priority=5),
    Column("wall_ns", "wall", 9, "right", cells.times),
    Column("busy_ns", "GPU busy", 9, "right", cells.times),
    Column("sum_ns", "GPU sum", 9, "right", cells.times, priority=4),
    Column("idle_ns", "GPU idle", 9, "right", cells.times, priority=1),
    Column("events", "events", 9, "right", cells.counts, priority=2),
    Column("sum_by_clock_ns", "by clock", 9, "right", cells.times, priority=6),
    Column("straddling", "straddling", 10, "right", cells.counts, priority=6),
    Column("remark", "", 10, "left", cells.names, priority=1),
)
FIELDS = {
    "step": Field(pl.col("index")),
    "wall": Field(pl.col("wall_ns"), "time"),
    "busy": Field(pl.col("busy_ns"), "time"),
    "sum": Field(pl.col("sum_ns"), "time"),
    "idle": Field(pl.col("idle_ns"), "time"),
    "events": Field(pl.col("events")),
    "batch": Field(pl.col("batch")),
    "tokens": Field(pl.col("tokens")),
}
_MAY_BE_EMPTY = ("phase", "batch", "tokens", "straddling")


class Steps(Level):
    """All steps of the phase; enter on one selects it for all screens and leads to its kernels."""

    PLACE = 1
    HINT = "text, or wall>95ms  idle>1ms  step>=10"
    HAS = (
        Command("open", "Kernels of this step, or of all marked ones", "", "enter", "kernels"),
        commands.FILTER,
        commands.EXPORT,
        commands.PHASE,
        commands.MARK,
        commands.SORT,
        commands.CHART,
        commands.COPY,
        *(c for c in COMMON if c not in (commands.PHASE, commands.EXPORT, commands.COPY)),
        Command("markers", "Steps from another annotation"),
        Command("back", "Close the filter, the marks, or the selection", "escape,backspace", "esc"),
    )
    BINDINGS = commands.bindings(HAS)

    def body(self) -> ComposeResult:
        """Two charts over a table."""
        with Horizontal(id="charts"):
            yield Chart(id="time")
            yield Chart(id="shares")
        yield FrameTable(COLUMNS, id_column="index", search_column="name", pinned={}, id="table")

    def table(self) -> FrameTable:
        """The steps."""
        return self.query_one("#table", FrameTable)

    @property
    def shown(self) -> Selection:
        """All steps of the phase and device: this screen is where single ones are chosen."""
        return replace(self.state.selection, steps=None)

    @property
    def wanted(self) -> object:
        """Only phase and device matter here."""
        return self.shown

    # --- filling -------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Steps and families of the phase and device."""
        selection, session = self.shown, self.state.session
        self.ask(
            "steps",
            lambda: self.state.kept(("steps", selection), lambda: session.steps(selection)),
            self.fill,
        )
        self.ask(
            "families",
            lambda: self.state.kept(
                ("families", selection),
                lambda: (session.step_families(selection), session.families(selection)),
            ),
            self.draw,
        )

    def fill(self, steps: pl.DataFrame) -> None:
        """The table, its row for all steps on top, the cursor on what is selected."""
        self.steps = steps
        self.pace: Pace = pace(steps)
        frame = steps.with_columns(
            remark=remarks(steps, self.pace, self.state.session.found_steps.whole_trace)
        )
        unknown = [c for c in _MAY_BE_EMPTY if not frame[c].cast(pl.String).fill_null("0").ne("0").any()]
        if steps["sum_by_clock_ns"].equals(steps["sum_ns"]):
            unknown.append("sum_by_clock_ns")
        table = self.table()
        table.set_columns([c for c in COLUMNS if c.key not in unknown])
        table.set_frame(frame, self.pinned(steps))
        chosen = self.state.selection.steps
        if chosen is not None and len(chosen) == 1:
            table.select_row_id(chosen[0])
        elif chosen is not None:
            table.set_marks(chosen)
        self.show_lines()

    def pinned(self, steps: pl.DataFrame) -> Mapping[str, str]:
        """The row for all steps: their sums."""
        of_phase = f" {self.shown.phase}" if self.shown.phase else ""
        name = f"all {fmt_count(steps.height)}{of_phase} steps"
        if steps.height == 1:
            whole = self.state.session.found_steps.whole_trace
            name = "the whole trace" if whole else "the only step"
        times = ("wall_ns", "busy_ns", "sum_ns", "idle_ns", "sum_by_clock_ns")
        sums = {c: fmt_ns(int(steps[c].sum())) for c in times}
        return {
            "index": "all",
            "name": name,
            **sums,
            "events": fmt_count(int(steps["events"].sum())),
            "straddling": fmt_count(int(steps["straddling"].sum())),
        }

    def draw(self, found: tuple[pl.DataFrame, pl.DataFrame]) -> None:
        """Time per step stacked by family, and where an average step goes."""
        by_step, families = found
        steps = max(1, self.state.session.step_count(self.shown))
        labels = [str(name) for name in families["family"]]
        shares = families["share"].to_list()
        texts = [
            f"{fmt_ns(total / steps):>8} {fmt_percent(share):>7}"
            for total, share in zip(families["sum_ns"], shares, strict=True)
        ]
        title = "where the time goes" if steps == 1 else "where an average step goes"

        def bars(width: int, height: int, theme: str, color: bool) -> str:
            return charts.share_bars(labels, shares, texts, width, height, theme, color, families=labels)

        # One step has nothing to be compared with: the shares take all the room.
        self.query_one("#time").display = steps > 1
        if steps > 1:
            self.stack(by_step)
            self.draw_steps()
        else:
            self.plots.pop("time", None)
        self.plot("shares", f"{title} (GPU sum)", bars)

    def stack(self, by_step: pl.DataFrame) -> None:
        """Time of each step and family, ready to be drawn with any step pointed at."""
        indices = self.state.positions
        families = [str(f) for f in by_step["family"].unique(maintain_order=True)]
        wide = by_step.with_columns(pl.col("family").cast(pl.String)).pivot(
            "family", index="step", values="sum_ns"
        )
        rows = pl.DataFrame({"step": indices}, schema={"step": pl.Int64}).join(wide, on="step", how="left")
        matrix = (rows.select(families).fill_null(0) / 1e6).rows()
        self._stack = indices, families, matrix

    def draw_steps(self) -> None:
        """The stack, with the step under the cursor pointed at."""
        indices, families, matrix = self._stack
        here = self.table().cursor_row_id
        mark = indices.index(here) if here in indices else None
        labels = [str(i) for i in indices]

        def stack(width: int, height: int, theme: str, color: bool) -> str:
            return charts.stacked_steps(labels, families, matrix, width, height, theme, color, mark=mark)

        self.plot("time", "GPU time of each step by family (sum)", stack)

    # --- what it says --------------------------------------------------------------------------------------

    def numbers(self) -> Sequence[str]:
        """Percentiles, how steps were found, what lies outside of them."""
        session = self.state.session
        if not hasattr(self, "pace"):
            return ()
        outside = self.state.kept(("outside", self.shown), lambda: session.outside(self.shown))
        if session.found_steps.whole_trace:
            how = "no step markers: the whole trace is one step"
        else:
            mark = MARK if self.state.leaning.steps else ""
            how = f"steps from {session.found_steps.source}{mark}, GPU work where it was launched"
        rate = self.pace.tokens_per_second
        slow = len(self.pace.slow)
        return (
            f"wall p50 {fmt_ns(self.pace.wall_p50_ns)} p95 {fmt_ns(self.pace.wall_p95_ns)}",
            f"{fmt_count(rate)} tokens/s" if rate else "",
            f"{fmt_count(slow)} slow (▲)" if slow else "",
            f"{fmt_count(outside['events'])} events ({fmt_ns(outside['sum_ns'])}) outside of any step"
            if outside["events"]
            else "",
            how,
            SAID if self.state.leaning.steps else "",
        )

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """The step's figures."""
        table = self.table()
        here = table.cursor_row_id
        if here is None:
            pinned = table.pinned or {}
            return [Title(c.title or "remark") for c in table.columns], [
                pinned.get(c.key, "") for c in table.columns
            ]
        row = table.frame.filter(pl.col("index") == here)
        return frame_cells(table.columns, row)

    def command_line(self) -> list[str]:
        """The summary of what is under the cursor."""
        here = self.table().cursor_row_id
        selection = self.shown if here is None else replace(self.shown, steps=(here,))
        return ["summary", self.state.session.trace.path, *self.state.session.options(selection)]

    def exported(self) -> Selection:
        """The marked steps; without any, what is selected."""
        marks = self.table().marks
        return replace(self.shown, steps=tuple(sorted(marks))) if marks else self.state.selection

    def apply_filter(self, text: str) -> None:
        """Steps of which name and phase hold the words, and which meet the comparisons."""
        table = self.table()
        found = parse(text, FIELDS, table.frame, ["name", "phase"])
        table.search_text = found.words
        table.set_filter(found.predicate)

    # --- what happens --------------------------------------------------------------------------------------

    def on_frame_table_row_highlighted(self, message: FrameTable.RowHighlighted) -> None:
        """The chart points at the step."""
        message.stop()
        if "time" in self.plots:
            self.when_settled(self.draw_steps)

    def on_frame_table_row_selected(self, message: FrameTable.RowSelected) -> None:
        """Down, with the marked steps, else with this one."""
        message.stop()
        marks = self.table().marks
        if marks:
            self.state.narrow(steps=tuple(sorted(marks)))
        else:
            self.state.narrow(steps=None if message.row_id is None else (message.row_id,))
        self.owner.go(2, fresh=True)

    def on_frame_table_row_marked(self, message: FrameTable.RowMarked) -> None:
        """The footer's words change with the marks."""
        message.stop()
        self.show_lines()

    def up(self) -> None:
        """There is nothing above: marks go first, then the selection."""
        if self.table().marks:
            self.table().set_marks(())
        elif not self.state.selection.everything:
            self.select(steps=None, phase=None, device=None)
        else:
            self.tell("q quits")
        self.show_lines()

    def action_markers(self) -> None:
        """Ask which annotation marks the steps, and see the trace by these."""
        session = self.state.session
        self.app.push_screen(Markers(repeated(session.trace.annotations), session.step_marker), self.mark_by)

    def mark_by(self, chosen: Marker | None) -> None:
        """Find these steps, in a thread where there is much work."""
        session = self.state.session
        if chosen is None or chosen.pattern == session.step_marker:
            return
        self.ask("markers", lambda: _stepped(session.with_steps(chosen.pattern)), self.take)

    def take(self, session: Session | str) -> None:
        """All screens go by these steps from now on; a text says why they cannot."""
        if isinstance(session, str):
            self.tell(session, problem=True)
            return
        self.table().set_marks(())
        self.state.take(session)
        self.select(steps=None, phase=None)

    def action_all_steps(self) -> None:
        """All steps, none of them marked."""
        self.table().set_marks(())
        super().action_all_steps()

    def action_no_marks(self) -> None:
        """Steps have marks of their own."""
        self.table().set_marks(())
        super().action_no_marks()


def remarks(steps: pl.DataFrame, pace: Pace, whole_trace: bool) -> pl.Series:
    """What sets a step apart: slow, cut off, or the first, which warms up and counts in no percentile."""
    slow = {step: f"▲ {ratio:.2g}x p50" for step, ratio in pace.slow.items()}
    first = (pl.col("index") == 0) & pl.lit(not whole_trace and steps.height > 1)
    return steps.select(
        remark=pl.when("cut_off")
        .then(pl.lit("cut off"))
        .when(first)
        .then(pl.lit("first"))
        .otherwise(pl.col("index").replace_strict(slow, default="", return_dtype=pl.String))
    ).to_series()


def frame_cells(columns: Sequence[Column], row: pl.DataFrame) -> tuple[list[Title], list[str]]:
    """Titles and cells of a frame's only row."""
    titles = [Title(c.title or "remark", c.align == "right") for c in columns]
    texts = [c.format(row[c.key])[0] if c.format else str(row[c.key][0]) for c in columns]
    return titles, texts


def _stepped(session: Session) -> Session | str:
    """The session with its steps found, which takes time in a large trace; or why they cannot be."""
    try:
        session.steps()
    except TraceError as error:
        return error.message
    return session
