"""Launches: every single launch of one kernel, variant, op or stream, in time order."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from textual.app import ComposeResult
from textual.containers import Horizontal

from traceview import charts
from traceview.analysis.distribution import spread_words
from traceview.report.tables import Column as Title
from traceview.tui import cells, commands
from traceview.tui.command_line import kernel_command
from traceview.tui.commands import Command
from traceview.tui.filters import Field, parse
from traceview.tui.leaning import MARK, NOT_LEANING, SAID, Leaning
from traceview.tui.level import COMMON, Level
from traceview.tui.state import State, TreePath
from traceview.tui.steps import frame_cells
from traceview.units import fmt_count, fmt_ns
from traceview.widgets.chart import Chart
from traceview.widgets.columns import Column
from traceview.widgets.frame_table import FrameTable

TEXTS = ("op_name", "input_dims", "name")
SHOWN = (
    "id",
    "step",
    "begin_ns",
    "dur_ns",
    "timed",
    "launch_delay_ns",
    "device",
    "stream",
    "floor_ns",
    "bytes_from",
    "grid",
    "block",
    "registers_per_thread",
    "shared_memory_bytes",
    "op_name",
    "name",
    "group",
    "input_dims",
)
ROOMY = 130  # cells from which there is room for the floor
FIELDS = {
    "id": Field(pl.col("id")),
    "step": Field(pl.col("step")),
    "dur": Field(pl.col("dur_ns"), "time"),
    "delay": Field(pl.col("launch_delay_ns"), "time"),
    "device": Field(pl.col("device")),
    "stream": Field(pl.col("stream")),
    "blocks": Field(pl.col("grid").list.agg(pl.element().product())),
    "threads": Field(pl.col("block").list.agg(pl.element().product())),
    "floor": Field(pl.col("floor_ns"), "time"),
    "regs": Field(pl.col("registers_per_thread")),
    "smem": Field(pl.col("shared_memory_bytes")),
}


def columns(
    origin_ns: int,
    several_devices: bool,
    several_names: bool,
    roomy: bool,
    assumed: bool = False,
    leans: Leaning = NOT_LEANING,
) -> tuple[Column, ...]:
    """What one line says of a launch; `start` counts from `origin_ns`, `assumed` marks the floors."""
    floors = cells.assumed_times if assumed else cells.times
    return (
        Column("id", "id", 7, "right", cells.plain, priority=3),
        Column("step", "step", 5, "right", cells.plain),
        Column("begin_ns", "start ms", 12, "right", cells.since(origin_ns)),
        Column("dur_ns", "duration", 8, "right", cells.times),
        Column("launch_delay_ns", "delay", 8, "right", cells.times, priority=2),
        *([Column("device", "GPU", 4, "right", cells.plain, priority=3)] if several_devices else []),
        Column("stream", "stream", 6, "right", cells.plain, priority=2),
        *([Column("floor_ns", leans.floor_title("floor"), 8, "right", floors, priority=4)] if roomy else []),
        Column("grid", "grid", 11, "right", cells.sizes, priority=1, sortable=False),
        Column("block", "block", 8, "right", cells.sizes, priority=2, sortable=False),
        Column("registers_per_thread", "regs", 5, "right", cells.counts, priority=5),
        Column("shared_memory_bytes", "smem B", 8, "right", cells.counts, priority=5),
        Column("op_name", leans.ops_title(), 18, "left", cells.names, priority=4),
        *([Column("name", "kernel", 24, "left", cells.names, grow=True)] if several_names else []),
        Column("input_dims", "shapes", 24, "left", cells.shapes, priority=1, grow=True, muted=True),
    )


class Launches(Level):
    """A virtual table of the launches below one row of the kernel tree."""

    PLACE = 2
    HINT = "text, or dur>800us  step=3  stream=7  blocks>1000"
    HAS = (
        Command("open", "Everything about this launch", "", "enter", "card"),
        commands.FILTER,
        commands.SORT,
        commands.EXPORT,
        commands.BACK,
        commands.MARK,
        commands.STEP_ON,
        commands.CHART,
        commands.COPY,
        Command("wide", "All columns, or only those that fit", "", "w", "columns"),
        commands.STEP_BACK,
        *(c for c in COMMON if c not in (commands.EXPORT, commands.COPY)),
    )
    BINDINGS = commands.bindings(HAS)

    def __init__(
        self, state: State, grouping: str, keys: TreePath, names: Sequence[str], row: dict[str, Any]
    ) -> None:
        """`keys` lead to a row of the kernel tree by `grouping`; `names` are what its path is called."""
        super().__init__(state)
        self.grouping = grouping
        self.keys = keys
        self.names = names
        self.row = row
        self.work = pl.DataFrame()
        self.several = False, False
        self.spread: list[str] = []

    def body(self) -> ComposeResult:
        """Charts over a table."""
        with Horizontal(id="charts"):
            yield Chart(id="course")
            yield Chart(id="spread")
        yield FrameTable((), id_column="id", search_column="op_name", id="table")

    def table(self) -> FrameTable:
        """The launches."""
        return self.query_one("#table", FrameTable)

    # --- filling -------------------------------------------------------------------------------------------

    def load(self) -> None:
        """The launches of the selection."""
        selection, session = self.state.selection, self.state.session
        self.ask(
            "launches",
            lambda: session.path_work(selection, self.grouping, self.keys).select(SHOWN),
            self.fill,
        )

    def fill(self, work: pl.DataFrame) -> None:
        """Table and charts."""
        self.work = work
        table = self.table()
        self.several = work["device"].n_unique() > 1, work["name"].n_unique() > 1
        table.set_columns(self.columns)
        table.set_frame(work)
        table.set_marks(self.state.marked_launches)
        values = work.filter("timed")["dur_ns"].to_numpy()
        self.spread = spread_words(values)

        def course(width: int, height: int, theme: str, color: bool) -> str:
            return charts.line(values, width, height, theme, color)

        def spread(width: int, height: int, theme: str, color: bool) -> str:
            return charts.histogram(values, width, height, theme, color)

        self.plot("course", "durations in time order", course)
        self.plot("spread", "how the durations are spread", spread)
        self.show_lines()

    @property
    def columns(self) -> tuple[Column, ...]:
        """What there is room for."""
        assumed = bool((self.work["bytes_from"] == "assumed").any())
        return columns(
            self.origin_ns,
            *self.several,
            roomy=self.size.width >= ROOMY,
            assumed=assumed,
            leans=self.state.leaning,
        )

    def on_resize(self) -> None:
        """More or fewer columns."""
        table = self.table()
        if table.columns and len(table.columns) != len(self.columns):
            table.set_columns(self.columns)

    @property
    def origin_ns(self) -> int:
        """What `start` counts from: the selected step, else the first step or GPU work of the trace."""
        windows = self.state.session.found_steps.windows
        steps = self.state.selection.steps
        first = windows.filter(pl.col("index") == steps[0]) if steps and len(steps) == 1 else windows
        return int(first["begin_ns"].min() or 0)  # type: ignore[arg-type]

    def on_screen_resume(self) -> None:
        """Back from a card, on which the launch may have been marked."""
        super().on_screen_resume()
        self.table().set_marks(self.state.marked_launches)

    # --- what it says --------------------------------------------------------------------------------------

    def crumb(self) -> list[str]:
        """Family and kernel, or what else the path is made of."""
        return [*self.names]

    def numbers(self) -> Sequence[str]:
        """How many, and their sum."""
        work = self.work
        if not work.height:
            return ("no launch of this kernel in the selected steps: [ ] go to others, esc back",)
        shown = self.table().row_count
        untimed = work.height - int(work["timed"].sum())
        steps = self.state.selection.steps
        origin = "the step" if steps and len(steps) == 1 else "the trace's first step"
        key = self.table().sort_key
        title = next((c.title for c in self.table().columns if c.key == key), "")
        return (
            f"{fmt_count(shown)} of {fmt_count(work.height)} launches"
            if shown != work.height
            else f"{fmt_count(shown)} launches",
            f"sum {fmt_ns(int(work.filter('timed')['dur_ns'].sum()))}",
            f"by {title}" if title else "in time order",
            *self.spread,
            f"{fmt_count(untimed)} without a time" if untimed else "",
            f"start counts from {origin}",
            SAID if any(MARK in title for title in self.table().titles) else "",
        )

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """The launch's line."""
        table = self.table()
        here = table.cursor_row_id
        return None if here is None else frame_cells(table.columns, self.work.filter(pl.col("id") == here))

    def command_line(self) -> list[str]:
        """The same launches."""
        words = kernel_command(self.state.session.trace.path, self.state.options, self.row)
        order = {"dur_ns": "dur", "launch_delay_ns": "delay"}.get(self.table().sort_key or "")
        return [*words, "--sort", order] if order and words[0] == "launches" else words

    def apply_filter(self, text: str) -> None:
        """Launches that hold the words and meet the comparisons."""
        found = parse(text, FIELDS, self.work, TEXTS)
        self.table().search_text = found.words
        self.table().set_filter(found.predicate)

    def place(self, launch_id: int) -> tuple[int, int]:
        """Which one of how many in the table, from 1."""
        table = self.table()
        table.select_row_id(launch_id)
        return table.cursor + 1, table.row_count

    def beside(self, launch_id: int, by: int) -> int | None:
        """The launch before or after in the table as it is sorted and filtered."""
        table = self.table()
        table.select_row_id(launch_id)
        return table.row_id(table.cursor + by)

    # --- what happens --------------------------------------------------------------------------------------

    def on_frame_table_order_changed(self, message: FrameTable.OrderChanged) -> None:
        """Sorted or filtered."""
        message.stop()
        self.show_lines()

    def on_frame_table_row_selected(self, message: FrameTable.RowSelected) -> None:
        """Down to the card."""
        message.stop()
        if message.row_id is not None:
            self.owner.show_card(message.row_id, self)

    def on_frame_table_row_marked(self, message: FrameTable.RowMarked) -> None:
        """Launch marks hold everywhere."""
        message.stop()
        if message.marked:
            self.state.marked_launches.add(message.row_id)
        else:
            self.state.marked_launches.discard(message.row_id)
        self.show_lines()

    def marked(self) -> tuple[Sequence[int], Sequence[int]]:
        """The marks; without any the kernels that these launches are of."""
        groups, launches = super().marked()
        if groups or launches or not self.work.height:
            return groups, launches
        return self.work["group"].unique().sort().to_list(), []

    def action_wide(self) -> None:
        """What w does in the table."""
        self.table().action_wide()

    def action_no_marks(self) -> None:
        """Marks are drawn by the table."""
        super().action_no_marks()
        self.table().set_marks(())
