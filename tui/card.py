"""The launch card: everything that is known about one launch."""

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult

from traceview.report.tables import Column as Title
from traceview.tui import commands
from traceview.tui.among import Among
from traceview.tui.card_sections import sections
from traceview.tui.command_line import launch_command
from traceview.tui.commands import Command
from traceview.tui.level import COMMON, Level
from traceview.tui.state import State
from traceview.units import fmt_count, fmt_ns
from traceview.widgets.detail import Detail


class Card(Level):
    """One launch; `[` and `]` go along the list it came from, left and right along its stream."""

    PLACE = 2
    HAS = (
        Command("along(-1)", "The launch before it in the list", "left_square_bracket", "["),
        Command("along(1)", "The launch after it in the list", "right_square_bracket", "[ ]", "list"),
        Command("stream('previous')", "The launch before it on its stream", "left,h", "←"),
        Command("stream('next')", "The launch after it on its stream", "right,l", "← →", "stream"),
        commands.EXPORT,
        commands.BACK,
        Command("mark", "Mark or unmark this launch", "space", label="mark", first=True),
        Command("open", "Show long texts whole, or fold them", "", "enter", "long texts"),
        commands.COPY,
        *(c for c in COMMON if c not in (commands.EXPORT, commands.COPY, commands.PHASE, commands.DEVICE)),
    )
    BINDINGS = commands.bindings(HAS)

    def __init__(self, state: State, launch_id: int, among: Among) -> None:
        """`among` is the list that the launch stands in."""
        super().__init__(state)
        self.launch_id = launch_id
        self.among = among
        self.card: dict[str, Any] = {}

    def body(self) -> ComposeResult:
        """Sections of facts."""
        yield Detail(id="table")

    def table(self) -> Detail:
        """The card."""
        return self.query_one("#table", Detail)

    @property
    def wanted(self) -> object:
        """The launch itself; the selection does not change what is known of it."""
        return self.launch_id

    def load(self) -> None:
        """Everything about the launch."""
        launch_id = self.launch_id
        trace = self.state.session.trace
        self.ask(
            "card",
            lambda: self.answer(launch_id),
            self.fill,
            rows=trace.ops.height + trace.python.height,
        )

    def answer(self, launch_id: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The launch, and the tensors that have as many elements."""
        session = self.state.session
        card = session.card(launch_id)
        return card, session.same_size(card["launch"]["elements"])

    def fill(self, found: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
        """The sections."""
        self.card, same_size = found
        self.table().show(sections(self.card, same_size))
        self.show_lines()

    # --- what it says --------------------------------------------------------------------------------------

    def crumb(self) -> list[str]:
        """`launch 4 of 2,340`."""
        place, count = self.among.place(self.launch_id)
        return [f"launch {fmt_count(place)} of {fmt_count(count)}"]

    def numbers(self) -> Sequence[str]:
        """Which launch, and its duration."""
        launch = self.card.get("launch")
        if launch is None:
            return ()
        marked = "● marked" if self.launch_id in self.state.marked_launches else ""
        return (
            marked,
            f"launch id {launch['id']}: one launch, {fmt_ns(launch['dur_ns'])}",
            self.card["step_name"] or "outside of any step",
        )

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """What the list says of the launch."""
        return self.among.row_cells()

    def command_line(self) -> list[str]:
        """The launch as JSON."""
        return launch_command(self.state.session.trace.path, self.launch_id)

    def marked(self) -> tuple[Sequence[int], Sequence[int]]:
        """The marks; without any this launch."""
        groups, launches = super().marked()
        return (groups, launches) if groups or launches else ([], [self.launch_id])

    # --- what happens --------------------------------------------------------------------------------------

    def go_to(self, launch_id: int | None) -> None:
        """Another launch in the same place."""
        if launch_id is None:
            self.app.bell()
            return
        self.launch_id = launch_id
        self.reload()

    def action_along(self, by: int) -> None:
        """The one beside it in the list."""
        self.go_to(self.among.beside(self.launch_id, by))

    def action_stream(self, side: str) -> None:
        """The one beside it on its stream."""
        neighbour = self.card.get("neighbours", {}).get(side)
        self.go_to(None if neighbour is None else neighbour["id"])

    def action_mark(self) -> None:
        """Mark or unmark it."""
        self.state.marked_launches ^= {self.launch_id}
        self.show_lines()

    def action_open(self) -> None:
        """Long texts."""
        self.table().action_fold()
