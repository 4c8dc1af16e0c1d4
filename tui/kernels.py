"""Kernels: which kernel takes the time of the selected steps, as a tree with figures."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from textual.app import ComposeResult
from textual.containers import Horizontal

from traceview import charts
from traceview.analysis.distribution import spread_words
from traceview.analysis.groups import GROUPINGS
from traceview.report.tables import Column as Title
from traceview.tui import commands
from traceview.tui.commands import Command
from traceview.tui.kernel_rows import LEVEL_NAMES, ORDERS, KernelRows, columns
from traceview.tui.leaning import MARK, SAID
from traceview.tui.level import COMMON, Level
from traceview.units import fmt_count, fmt_ns, fmt_percent, shorten
from traceview.widgets.breadcrumb import BETWEEN
from traceview.widgets.chart import Chart
from traceview.widgets.columns import Column
from traceview.widgets.tree_table import Path, TreeRow, TreeTable


class Kernels(Level):
    """Family, kernel, variant (or by op, by stream); enter on a kernel leads to its launches."""

    PLACE = 2
    HINT = "part of a name"
    HAS = (
        Command("open", "Launches of this kernel or variant; a family unfolds", "", "enter", "launches"),
        commands.FILTER,
        Command(
            "grouping", "Group by kernel, op, module, Python line, annotation, stream", "o", label="group"
        ),
        commands.EXPORT,
        commands.BACK,
        commands.MARK,
        Command("sort", "Sort each level by the next figure", "s", label="sort"),
        commands.STEP_ON,
        commands.CHART,
        Command("unfold", "Unfold; left folds", "", "← →", "fold"),
        Command("launches", "Launches of this row, a whole family too"),
        commands.STEP_BACK,
        *(c for c in COMMON if c != commands.EXPORT),
    )
    BINDINGS = commands.bindings(HAS)

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.rows = self.new_rows()
        self._drawn: object = None

    def new_rows(self) -> KernelRows:
        """No row is known yet."""
        state = self.state
        return KernelRows(state.tree, state.op_totals, lambda: state.session.step_count(state.selection))

    def body(self) -> ComposeResult:
        """Charts over the tree."""
        with Horizontal(id="charts"):
            yield Chart(id="shares")
            yield Chart(id="spread")
            yield Chart(id="course")
        yield TreeTable((), id="table", label_width=31)

    def table(self) -> TreeTable:
        """The tree."""
        return self.query_one("#table", TreeTable)

    @property
    def wanted(self) -> object:
        """Another grouping is another tree."""
        return self.state.selection, self.state.grouping

    # --- filling -------------------------------------------------------------------------------------------

    def load(self) -> None:
        """The tree, the largest row of the first level unfolded."""
        self._drawn = None

        def question() -> pl.DataFrame:
            top = self.state.tree(())
            if top.height and top["expandable"][0]:
                self.state.tree((top["key"][0],))
            if self.by_op:
                self.state.op_totals()
            return top

        self.ask("tree", question, self.fill)

    def fill(self, top: pl.DataFrame) -> None:
        """Rows; where the cursor's row is no longer there, it goes to the largest kernel."""
        table = self.table()
        known = table.cursor_path if table.row_count else None
        label = BETWEEN.join(self._words)
        table.reload(self.rows_under, self.columns, label)
        if (known is None or table.cursor_path != known) and top.height:
            first = self.rows.path_of([top["key"][0]])
            below = table.rows_under(first)
            table.select_path(below[0].path if below else first)
        self.set_marks()
        self.show_lines()
        self.when_settled(self.draw)

    @property
    def columns(self) -> tuple[Column, ...]:
        """What there is room for."""
        steps = self.state.session.step_count(self.state.selection)
        return columns(steps, self.size.width, self.rows.order, self.by_op, self.state.leaning)

    @property
    def by_op(self) -> bool:
        """Whether the first level are ops."""
        return self._levels[0] == "op_name"

    def rows_under(self, path: Path) -> list[TreeRow]:
        """The rows under a row."""
        return self.rows.children(path, self.columns)

    def on_resize(self) -> None:
        """More or fewer columns."""
        table = self.table()
        if table.columns and len(table.columns) != len(self.columns):
            table.reload(columns=self.columns)

    @property
    def _levels(self) -> tuple[str, ...]:
        return GROUPINGS[self.state.grouping]

    @property
    def _words(self) -> list[str]:
        return [LEVEL_NAMES[column][0] for column in self._levels]

    # --- charts --------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Shares of the level under the cursor, and how the row's durations are spread."""
        path = self.table().cursor_path
        if path is None or (self.wanted, path) == self._drawn:
            return
        self._drawn = (self.wanted, path)
        self.draw_shares(path)
        keys = self.rows.keys(path)
        if keys is not None:
            self.ask(
                "spread", lambda: self.state.durations(keys), lambda found: self.draw_spread(path, found)
            )

    def draw_shares(self, path: Path) -> None:
        """The rows beside the one under the cursor."""
        beside = self.table().rows_under(path[:-1])
        labels = [row.label for row in beside]
        shares = [row.share for row in beside]
        texts = [f"{self.rows.cells(row.path)[0]:>8} {fmt_percent(row.share):>7}" for row in beside]
        kinds = [row.family or "other" for row in beside]
        level = LEVEL_NAMES[self._levels[len(path) - 1]][1]
        of = f" of {shorten(self.label(path[:-1]), 40)}" if len(path) > 1 else ""

        def bars(width: int, height: int, theme: str, color: bool) -> str:
            return charts.share_bars(labels, shares, texts, width, height, theme, color, families=kinds)

        self.plot("shares", f"{level}{of}: share of all GPU time", bars)

    def draw_spread(self, path: Path, values: NDArray[np.int64]) -> None:
        """The row's durations: how often each, and one after the other."""
        name = shorten(self.label(path), 44)

        def spread(width: int, height: int, theme: str, color: bool) -> str:
            return charts.histogram(values, width, height, theme, color)

        def course(width: int, height: int, theme: str, color: bool) -> str:
            return charts.line(values, width, height, theme, color)

        self.plot("spread", f"durations of {name}", spread, ", ".join(spread_words(values)))
        self.plot("course", "in time order", course)

    def label(self, path: Path) -> str:
        """A row's name."""
        return str(self.rows.row(path)["label"])

    # --- what it says --------------------------------------------------------------------------------------

    def numbers(self) -> Sequence[str]:
        """What the shares are of."""
        if not self.table().row_count:
            return ()
        steps = self.state.session.step_count(self.state.selection)
        total = self.state.kept(("total", self.state.selection), self._total)
        per = f" = {fmt_ns(total / steps)} a step" if steps > 1 else ""
        order = self.rows.order
        return (
            f"shares of the GPU sum {fmt_ns(total)}{per}",
            f"sorted by {ORDERS[order]}" if order != "sum_ns" else "",
            f"by {self._words[0]}",
            "self: of its own launches; total: its inner ops' too" if self.by_op else "",
            f"{fmt_count(steps)} steps, work where it was launched" if steps > 1 else "",
            SAID if any(MARK in title for title in self.table().titles) else "",
        )

    def _total(self) -> int:
        return int(self.state.tree(())["sum_ns"].sum())

    def crumb(self) -> list[str]:
        """While this is the last level, its name; below it the kernel's path says more."""
        return ["kernels"] if self.is_lowest else []

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """Name, share and figures."""
        row = self.table().cursor_row
        if row is None:
            return None
        titles = [Title("name", number=False), Title("share")]
        titles += [Title(c.title, c.align == "right") for c in self.table().columns]
        return titles, [row.label, fmt_percent(row.share), *self.rows.cells(row.path)]

    def command_line(self) -> list[str]:
        """The groups that the tree unfolds."""
        return ["groups", self.state.session.trace.path, "--by", self.state.grouping, *self.state.options]

    def apply_filter(self, text: str) -> None:
        """Rows whose name holds the text, and what leads to them."""
        self.table().search_text = text
        self.table().set_filter(text)

    # --- what happens --------------------------------------------------------------------------------------

    def on_tree_table_row_highlighted(self, message: TreeTable.RowHighlighted) -> None:
        """The charts follow."""
        message.stop()
        self.when_settled(self.draw)

    def on_tree_table_row_selected(self, message: TreeTable.RowSelected) -> None:
        """Launches of a kernel or a variant; other rows unfold and lead to their first child."""
        message.stop()
        row = self.rows.row(message.path)
        if row["level"] in ("group", "variant"):
            self.action_launches()
        elif row["expandable"]:
            depth = len(message.path)
            table = self.table()
            table.action_unfold()
            if table.cursor_path == message.path and table.rows_under(message.path):
                table.action_unfold()
            assert len(table.cursor_path or ()) >= depth
        else:
            self.tell("This row adds up the smallest ones; a filter (/) finds them")

    def on_tree_table_row_marked(self, message: TreeTable.RowMarked) -> None:
        """Marks hold over groupings and selections: they name kernels."""
        message.stop()
        keys = self.rows.keys(message.path)
        if keys is None:  # the row for all the rest
            self.set_marks()
            return
        mark = (self.state.grouping, keys)
        if message.marked:
            self.state.marked_rows[mark] = self.state.groups_below(keys)
        else:
            self.state.marked_rows.pop(mark, None)
        self.show_lines()

    def action_launches(self) -> None:
        """Launches of the row under the cursor."""
        path = self.table().cursor_path
        keys = None if path is None else self.rows.keys(path)
        if path is None or keys is None:
            self.app.bell()
            return
        names = [self.label(path[: depth + 1]) for depth in range(len(path))]
        self.owner.show_launches(keys, names, self.rows.row(path))

    def action_unfold(self) -> None:
        """What the right arrow does."""
        self.table().action_unfold()

    def action_grouping(self) -> None:
        """The next grouping."""
        ways = [*GROUPINGS]
        self.state.grouping = ways[(ways.index(self.state.grouping) + 1) % len(ways)]
        order, self.rows = self.rows.order, self.new_rows()
        self.rows.order = order
        self.reload()

    def action_sort(self) -> None:
        """The next figure to sort each level by."""
        keys = [*ORDERS]
        self.rows.order = keys[(keys.index(self.rows.order) + 1) % len(keys)]
        self.table().reload(columns=self.columns)
        self.show_lines()

    def set_marks(self) -> None:
        """The marks of this grouping."""
        grouping = self.state.grouping
        self.table().set_marks(
            self.rows.path_of(keys) for way, keys in self.state.marked_rows if way == grouping
        )

    def action_no_marks(self) -> None:
        """Marks are drawn by the tree."""
        super().action_no_marks()
        self.set_marks()
