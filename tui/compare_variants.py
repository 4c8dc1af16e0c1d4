"""One kernel in two traces: its variants, and then the cards of two launches, side by side."""

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal

from traceview.api import Session
from traceview.report.compare import change, signed
from traceview.report.tables import Column as Title
from traceview.tui import commands
from traceview.tui.card_sections import sections
from traceview.tui.command_line import launch_command
from traceview.tui.commands import Command
from traceview.tui.compare_rows import VARIANT_COLUMNS, variant_rows
from traceview.tui.level import COMMON, Level
from traceview.tui.state import State
from traceview.tui.steps import frame_cells
from traceview.units import fmt_ns
from traceview.widgets.detail import Detail, Field, Section
from traceview.widgets.frame_table import FrameTable

Sides = tuple[Session, Session]  # before and after
_STILL = (commands.COPY, commands.HEADLESS, *commands.GO)


class Variants(Level):
    """The variants of a kernel in both traces; enter shows the longest launch of each."""

    PLACE = 6
    HAS = (
        Command("open", "The longest launch of each side, card beside card", "", "enter", "cards"),
        commands.SORT,
        commands.BACK,
        *(c for c in COMMON if c in _STILL),
    )
    BINDINGS = commands.bindings(HAS)

    def __init__(self, state: State, group: dict[str, Any], sides: Sides) -> None:
        """`group` is one of the groups of Session.compare with variants."""
        super().__init__(state)
        self.group = group
        self.sides = sides

    def body(self) -> ComposeResult:
        """One row a pair."""
        yield FrameTable(VARIANT_COLUMNS, id_column="id", search_column="shapes", id="table")

    def table(self) -> FrameTable:
        """The pairs."""
        return self.query_one("#table", FrameTable)

    @property
    def wanted(self) -> object:
        """The comparison that it was opened from."""
        return "variants"

    def load(self) -> None:
        """All pairs."""
        self.table().set_frame(variant_rows(self.group))

    def crumb(self) -> list[str]:
        """The kernel."""
        return [str(self.group["short_name"])]

    def numbers(self) -> Sequence[str]:
        """The kernel's own difference."""
        group = self.group
        return (
            f"{group['status']}: {fmt_ns(group['before_ns'])} -> {fmt_ns(group['after_ns'])} a step, "
            f"{signed(group['delta_ns'])} ({change(group['before_ns'], group['after_ns'])})",
            f"noise ± {fmt_ns(group['noise_ns'])}",
            "variants paired by shape, then by grid",
        )

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """The pair's line."""
        here = self.table().cursor_row_id
        return None if here is None else frame_cells(VARIANT_COLUMNS, self.table().frame[[here]])

    def command_line(self) -> list[str]:
        """The comparison with its variants."""
        paths = [side.trace.path for side in self.sides]
        return ["compare", *paths, *self.state.options, "--variants"]

    def on_frame_table_row_selected(self, message: FrameTable.RowSelected) -> None:
        """Two cards."""
        message.stop()
        if message.row_id is not None:
            row = self.table().frame.row(message.row_id, named=True)
            launches = row["launch_before"], row["launch_after"]
            self.app.push_screen(TwoCards(self.state, self.sides, launches))

    def on_frame_table_row_marked(self, message: FrameTable.RowMarked) -> None:
        """Nothing here is marked."""
        message.stop()
        self.table().set_marks(())


class TwoCards(Level):
    """The card of a launch of each trace."""

    PLACE = 6
    HAS = (
        Command("app.focus_next", "To the other card", "", "tab", "other card"),
        Command("open", "Show long texts whole, or fold them", "", "enter", "long texts"),
        commands.BACK,
        *(c for c in COMMON if c in _STILL and c != commands.COPY),
    )
    BINDINGS = commands.bindings(HAS)
    DEFAULT_CSS = """
    TwoCards Detail { width: 1fr; padding: 0 1; margin: 0; }
    TwoCards #after { border-left: solid $panel; }
    """

    def __init__(self, state: State, sides: Sides, launches: tuple[int | None, int | None]) -> None:
        super().__init__(state)
        self.sides = sides
        self.launches = launches

    def body(self) -> ComposeResult:
        """Before and after."""
        with Horizontal():
            yield Detail(id="before")
            yield Detail(id="after")

    def table(self) -> Detail:
        """The card that has the keys."""
        after = self.query_one("#after", Detail)
        return after if after.has_focus else self.query_one("#before", Detail)

    @property
    def wanted(self) -> object:
        """The launches."""
        return self.launches

    def load(self) -> None:
        """Everything about both."""
        rows = sum(side.trace.ops.height + side.trace.python.height for side in self.sides)
        self.ask("cards", self.answer, self.fill, rows=rows)

    def answer(self) -> list[list[Section]]:
        """The sections of each side."""
        found = []
        for word, side, launch in zip(("before", "after"), self.sides, self.launches, strict=True):
            head = Section(word.capitalize(), [Field("file", side.trace.path)])
            missing = [Section("", [Field("", "this variant is not there")])]
            found.append([head, *(missing if launch is None else sections(side.card(launch)))])
        return found

    def fill(self, found: list[list[Section]]) -> None:
        """The cards."""
        for name, shown in zip(("before", "after"), found, strict=True):
            self.query_one(f"#{name}", Detail).show(shown)

    def crumb(self) -> list[str]:
        """Which launches."""
        ids = ["none" if launch is None else str(launch) for launch in self.launches]
        return [f"launch {ids[0]} beside {ids[1]}"]

    def numbers(self) -> Sequence[str]:
        """What they are."""
        return ("the longest launch of the variant on each side",)

    def command_line(self) -> list[str]:
        """The launch before, or the one after where there is none."""
        before, after = self.launches
        if before is None:
            return launch_command(self.sides[1].trace.path, after or 0)
        return launch_command(self.sides[0].trace.path, before)

    def action_open(self) -> None:
        """Long texts of the card that has the keys."""
        self.table().action_fold()
