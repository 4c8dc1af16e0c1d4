"""The launch card: everything that is known about one launch."""

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.worker import get_current_worker

from traceview.analysis.assumed import Assumption, parse_assumption
from traceview.api import Session
from traceview.errors import TraceError
from traceview.report.tables import Column as Title
from traceview.tui import commands
from traceview.tui.among import Among
from traceview.tui.card_sections import RAW_TITLE, profile_section, raw_section, sections, unread_section
from traceview.tui.command_line import launch_command
from traceview.tui.commands import Command
from traceview.tui.level import COMMON, Answered, Level
from traceview.tui.prompt import Prompt
from traceview.tui.state import State
from traceview.units import fmt_count, fmt_ns
from traceview.widgets.detail import Detail, Section


class Card(Level):
    """One launch; `[` and `]` go along the list it came from, left and right along its stream."""

    PLACE = 2
    SIGN = "assume"
    HINT = "dims=[[8,128],[128]]  types=bf16,bf16  cached=4096  op=aten::mm; empty takes it back"
    HAS = (
        Command("along(-1)", "The launch before it in the list", "left_square_bracket", "["),
        Command("along(1)", "The launch after it in the list", "right_square_bracket", "[ ]", "list"),
        Command("stream('previous')", "The launch before it on its stream", "left,h", "←"),
        Command("stream('next')", "The launch after it on its stream", "right,l", "← →", "stream"),
        commands.EXPORT,
        commands.BACK,
        Command("mark", "Mark or unmark this launch", "space", label="mark", first=True),
        Command("raw", "The file's own events behind this launch", "r", label="raw"),
        Command("assume", "Type in a shape, type or token count that is missing", "a", label="assume"),
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

    def answer(self, launch_id: int) -> tuple[dict[str, Any], list[Section]]:
        """The launch, and how to profile it where it is a kernel."""
        session = self.state.session
        card = session.card(launch_id)
        if card["launch"]["kind"] != "kernel":
            return card, []
        return card, [profile_section(session.ncu_command(launch_id))]

    def fill(self, found: tuple[dict[str, Any], list[Section]]) -> None:
        """The sections; the file's own events come when they are asked for."""
        self.card, profile = found
        self.table().show([*sections(self.card), *profile, unread_section()])
        self.show_lines()

    def action_raw(self) -> None:
        """Read the file's own events in a thread, and go to them."""
        launch_id, session = self.launch_id, self.state.session

        def work() -> None:
            try:
                section = raw_section(session.raw(launch_id))
            except TraceError as error:
                section = raw_section(error.message)
            if not get_current_worker().is_cancelled:
                self.post_message(Answered(lambda: self.show_raw(launch_id, section)))

        self.run_worker(work, thread=True, exclusive=True, group="raw", description="read events back")

    def show_raw(self, launch_id: int, section: Section) -> None:
        """The file's own events in their place."""
        if launch_id == self.launch_id:
            table = self.table()
            table.show([*(s for s in table.sections if s.title != RAW_TITLE), section])
            table.go_to(section.title)

    # --- what is assumed -----------------------------------------------------------------------------------

    def action_assume(self) -> None:
        """Open the prompt."""
        if self.card:
            self.query_one(Prompt).open()

    def typing(self, text: str) -> None:
        """Say at once what is wrong."""
        self.query_one(Prompt).say(self.assumption(text)[1])

    def typed(self, kept: bool) -> None:
        """Reckon anew with what was typed in."""
        prompt = self.query_one(Prompt)
        text = prompt.text.strip()
        prompt.clear()
        if not kept:
            return
        assumption, problem = self.assumption(text)
        if problem:
            self.tell(problem, problem=True)
        else:
            session, variant = self.state.session, self.card["variant"]
            self.ask("assume", lambda: _reckoned(session.assume(variant, assumption)), self.take)

    def assumption(self, text: str) -> tuple[Assumption | None, str]:
        """What the text assumes (nothing: None), and what is wrong with it."""
        if not text.strip():
            return None, ""
        launch = self.card["launch"]
        try:
            found = parse_assumption(text)
        except ValueError as error:
            return None, str(error)
        given = ("op", "op", found.op), ("dims", "input_dims", found.input_dims)
        for word, key, value in (*given, ("types", "input_types", found.input_types)):
            if value is not None and launch[key] and "" not in launch[key]:
                return None, f"{word}: the file has them, nothing to assume"
        return found, ""

    def take(self, session: Session) -> None:
        """All screens reckon with it from now on."""
        self.state.take(session)
        self.reload()

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
            "≈ rests on what was typed in" if self.card["variant"] in self.state.session.assumed else "",
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


def _reckoned(session: Session) -> Session:
    """The session with its sizes worked out, which takes time in a large trace."""
    session.work  # noqa: B018
    return session
