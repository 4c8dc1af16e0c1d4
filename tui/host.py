"""What stands in for the steps where a file holds no GPU work: the CPU's slices by name."""

from collections.abc import Sequence

import polars as pl
from textual.app import ComposeResult

from traceview.report.tables import Column as Title
from traceview.tui import cells, commands
from traceview.tui.commands import Command
from traceview.tui.filters import Field, parse
from traceview.tui.level import Level
from traceview.tui.steps import frame_cells
from traceview.units import fmt_count
from traceview.widgets.columns import Column
from traceview.widgets.frame_table import FrameTable

COLUMNS = (
    Column("name", "CPU slice", 40, "left", cells.names, grow=True),
    Column("share", "share", 8, "right", cells.shares),
    Column("sum_ns", "sum", 9, "right", cells.times),
    Column("calls", "calls", 9, "right", cells.counts),
    Column("mean_ns", "mean", 9, "right", cells.times, priority=1),
    Column("p50_ns", "p50", 9, "right", cells.times, priority=2),
    Column("p95_ns", "p95", 9, "right", cells.times, priority=2),
    Column("max_ns", "max", 9, "right", cells.times, priority=1),
)
FIELDS = {
    "calls": Field(pl.col("calls")),
    "sum": Field(pl.col("sum_ns"), "time"),
    "mean": Field(pl.col("mean_ns"), "time"),
    "max": Field(pl.col("max_ns"), "time"),
}
_SCHEMA = {
    "name": pl.String,
    "share": pl.Float64,
    **dict.fromkeys(("sum_ns", "calls", "mean_ns", "p50_ns", "p95_ns", "max_ns"), pl.Int64),
}


class Host(Level):
    """One table, and a plain line that says what is missing."""

    PLACE = 1
    HINT = "text, or sum>1ms"
    HAS = (
        commands.FILTER,
        commands.SORT,
        Command("go(5)", "Trust: what this trace can and cannot tell", "5", label="trust"),
        commands.EXPORT,
        commands.COPY,
        commands.HEADLESS,
        *(c for c in commands.GO if c.action not in ("go(1)", "go(5)")),
        Command("back", "Close the filter", "escape,backspace", "esc"),
    )
    BINDINGS = commands.bindings(HAS)

    def body(self) -> ComposeResult:
        """The slices by name."""
        yield FrameTable(COLUMNS, search_column="name", id="table")

    def table(self) -> FrameTable:
        """The slices."""
        return self.query_one("#table", FrameTable)

    def load(self) -> None:
        """CPU slices by name, the largest sum first."""
        session = self.state.session
        trace = session.trace
        self.ask(
            "host",
            lambda: pl.DataFrame(session.summary()["host_groups"], schema=_SCHEMA, strict=False),
            self.fill,
            rows=sum(frame.height for frame in (trace.ops, trace.python, trace.runtime, trace.slices)),
        )

    def fill(self, groups: pl.DataFrame) -> None:
        """The table."""
        self.table().set_frame(groups)
        self.show_lines()

    def numbers(self) -> Sequence[str]:
        """What is missing, and why the shares are as they are."""
        launches = self.state.session.calls.height
        why = (
            f"{fmt_count(launches)} launch calls but no kernels: the GPU was not recorded"
            if launches
            else "another rank or process may have it"
        )
        return (
            "No GPU work in this file",
            why,
            "CPU slices by name (sums; nested ones count in each other)",
        )

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """The slice's figures."""
        here = self.table().cursor_row_id
        return None if here is None else frame_cells(COLUMNS, self.table().frame.slice(here, 1))

    def apply_filter(self, text: str) -> None:
        """Slices whose name holds the words and which meet the comparisons."""
        found = parse(text, FIELDS, self.table().frame, ["name"])
        self.table().search_text = found.words
        self.table().set_filter(found.predicate)

    def up(self) -> None:
        """There is nothing above."""
        self.tell("q quits")
