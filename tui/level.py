"""What all screens of a trace share: the lines around the body, the way up, selection, filter, export."""

import shlex
from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import get_current_worker

from traceview.errors import TraceError
from traceview.report.tables import Column, markdown_table
from traceview.selection import Selection
from traceview.tui import commands
from traceview.tui.bars import KeyBar, Line, Tabs, TooSmall
from traceview.tui.commands import EVERYWHERE, Command
from traceview.tui.export import write_note
from traceview.tui.prompt import Prompt
from traceview.tui.state import HEAVY, State
from traceview.units import safe_text
from traceview.widgets.breadcrumb import Breadcrumb
from traceview.widgets.chart import Chart, Draw

if TYPE_CHECKING:
    from traceview.tui.app import TraceApp

Answer = TypeVar("Answer")

SETTLED = 0.05  # seconds on a row before its charts are drawn
PLACES = {1: "Steps", 2: "Kernels", 3: "Timeline", 4: "Findings", 5: "Trust", 6: "Compare"}


class Answered(Message):
    """A thread has found an answer; what to do with it runs here."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self.then = then


class Level(Screen[None]):
    """One screen of an open trace.

    A subclass says which PLACE it is, which commands it HAS, what its `body` is, how to fill it for the
    selection (`load`), and which widget has the keys (`table`).
    """

    PLACE: ClassVar[int] = 1
    HAS: ClassVar[tuple[Command, ...]] = ()
    HINT: ClassVar[str] = "text"
    SIGN: ClassVar[str] = "/"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-home"), (160, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (15, "-low"), (28, "-mid"), (36, "-tall"), (46, "-high")]  # noqa: RUF012

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state
        self.plots: dict[str, tuple[str, Draw, str]] = {}
        self._loaded_for: object = None
        self._settling: Timer | None = None

    # --- what a screen says --------------------------------------------------------------------------------

    @abstractmethod
    def body(self) -> ComposeResult:
        """The widgets between the lines at the top and the footer."""

    @abstractmethod
    def load(self) -> None:
        """Fill the body for the selection."""

    def crumb(self) -> list[str]:
        """What this level adds to the breadcrumb."""
        return []

    def numbers(self) -> Sequence[str]:
        """Which numbers are shown: the most important words first."""
        return ()

    @abstractmethod
    def table(self) -> Widget:
        """The widget that has the keys."""

    def first_focus(self) -> Widget:
        """The widget that has the keys when the screen opens."""
        return self.table()

    def apply_filter(self, text: str) -> None:
        """Show only the rows that `text` means. Raises FilterError where it means nothing."""

    def row_cells(self) -> tuple[Sequence[Column], Sequence[str]] | None:
        """Titles and cells of the row under the cursor, for the clipboard."""
        return None

    def command_line(self) -> list[str]:
        """The words of the command that prints the same numbers."""
        return ["summary", self.state.session.trace.path, *self.state.options]

    def marked(self) -> tuple[Sequence[int], Sequence[int]]:
        """What to export: groups and launches; both empty means the whole selection."""
        return self.state.marked_groups, sorted(self.state.marked_launches)

    def exported(self) -> Selection:
        """The selection that an export is of."""
        return self.state.selection

    # --- the frame around the body -------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Tabs, breadcrumb, numbers, body, prompt, footer."""
        yield Tabs(self.PLACE, PLACES, self.state.heading)
        yield Breadcrumb(id="crumbs")
        yield Line(id="numbers")
        with Vertical(id="body"):
            yield from self.body()
        yield KeyBar([*self.HAS, *EVERYWHERE])
        yield Prompt(self.HINT, self.SIGN)
        yield TooSmall()

    def on_mount(self) -> None:
        """First answers."""
        self.reload()
        self.first_focus().focus()

    def on_screen_resume(self) -> None:
        """Back from another screen, on which the selection may have changed."""
        if self._loaded_for not in (None, (self.state.version, self.wanted)):
            self.reload()
        elif self._loaded_for is not None:
            self.show_lines()

    @property
    def wanted(self) -> object:
        """What the body depends on; another value means to load anew."""
        return self.state.selection

    def reload(self) -> None:
        """Load for the selection as it is now."""
        self._loaded_for = self.state.version, self.wanted
        self.load()
        self.show_lines()

    @property
    def is_lowest(self) -> bool:
        """True where no other level of the way down lies over this one."""
        return self.owner.levels[-1] is self

    def show_lines(self) -> None:
        """Breadcrumb and numbers."""
        parts = [self.state.selection_text, *(part for level in self.owner.levels for part in level.crumb())]
        self.query_one(Breadcrumb).show(parts)
        prompt = self.query_one(Prompt)
        filtered = f"filter: {prompt.text}" if prompt.text else ""
        self.query_one("#numbers", Line).show(self.state.marks_text, filtered, *self.numbers())

    def plot(self, name: str, title: str, draw: Draw, note: str = "") -> None:
        """Draw into the chart with this id, and remember the drawing for the whole screen."""
        self.plots[name] = (title, draw, note)
        self.query_one(f"#{name}", Chart).show(draw, title, note)

    def when_settled(self, draw: Callable[[], None]) -> None:
        """Draw when the cursor has come to rest, so that a held key runs freely."""
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLED, draw)

    def ask(
        self, subject: str, question: Callable[[], Answer], then: Callable[[Answer], None], rows: int = 0
    ) -> None:
        """Answer a question about all GPU work, or about `rows`: at once, or for many from a thread.

        A newer question on the same subject takes the place of an older one.
        """
        if max(rows, self.state.session.work.height) < HEAVY:
            then(question())
            return

        def work() -> None:
            found = question()
            if not get_current_worker().is_cancelled:
                self.post_message(Answered(lambda: then(found)))

        self.run_worker(work, thread=True, exclusive=True, group=subject, description=subject)

    def on_answered(self, message: Answered) -> None:
        """The thread's answer."""
        message.then()

    # --- commands ------------------------------------------------------------------------------------------

    @property
    def owner(self) -> "TraceApp":
        """The app, by its own type."""
        from traceview.tui.app import TraceApp

        assert isinstance(self.app, TraceApp)
        return self.app

    def action_back(self) -> None:
        """Close the innermost thing, else up one level."""
        prompt = self.query_one(Prompt)
        if prompt.text:
            prompt.clear()
            self.apply_filter("")
            self.show_lines()
        else:
            self.up()

    def up(self) -> None:
        """One level up."""
        self.app.pop_screen()

    def action_go(self, place: int) -> None:
        """To the screen with this number."""
        self.owner.go(place)

    def action_open(self) -> None:
        """What enter does on the row."""
        self.call_table("select")

    def action_mark(self) -> None:
        """What space does on the row."""
        self.call_table("mark")

    def action_sort(self) -> None:
        """What s does in the table."""
        self.call_table("sort")

    def call_table(self, action: str) -> None:
        """Run an action of the table."""
        getattr(self.table(), f"action_{action}")()

    def action_chart(self) -> None:
        """The charts, one after the other, on the whole screen."""
        from traceview.tui.chart_screen import ChartScreen

        if self.plots:
            self.app.push_screen(ChartScreen(list(self.plots.values())))
        else:
            self.tell("There is no chart here")

    def action_filter(self) -> None:
        """Open the prompt."""
        self.query_one(Prompt).open()

    def on_prompt_changed(self, message: Prompt.Changed) -> None:
        """Each key counts."""
        self.typing(message.text)

    def typing(self, text: str) -> None:
        """Filter while typing."""
        from traceview.tui.filters import FilterError

        prompt = self.query_one(Prompt)
        try:
            self.apply_filter(text)
        except FilterError as error:
            self.apply_filter("")
            prompt.say(str(error))
        else:
            prompt.say("")
        self.show_lines()

    def on_prompt_closed(self, message: Prompt.Closed) -> None:
        """Back to the table."""
        self.typed(message.kept)
        self.table().focus()

    def typed(self, kept: bool) -> None:
        """With the filter, or without."""
        if not kept:
            self.apply_filter("")
        self.show_lines()

    # --- selection -----------------------------------------------------------------------------------------

    def select(self, **changes: object) -> None:
        """Narrow or widen the selection, for this and all other screens."""
        self.state.narrow(**changes)
        self.reload()

    def action_step(self, by: int) -> None:
        """The next or the previous step."""
        step = self.state.moved_step(by)
        if step is None:
            self.app.bell()
        else:
            self.select(steps=(step,))

    def action_all_steps(self) -> None:
        """All steps."""
        self.select(steps=None)

    def action_not_first(self) -> None:
        """All steps but the first."""
        rest = tuple(self.state.positions[1:])
        if rest:
            self.select(steps=rest)
        else:
            self.tell("There is only one step")

    def action_phase(self) -> None:
        """The next phase that the trace has, and after the last one all."""
        phases = self.state.session.found_steps.windows["phase"].drop_nulls().unique().sort().to_list()
        if not phases:
            self.tell("The steps of this trace carry no phase")
            return
        self.select(phase=_after(self.state.selection.phase, phases), steps=None)

    def action_device(self) -> None:
        """The next device that has GPU work, and after the last one all."""
        devices = self.state.session.work["device"].drop_nulls().unique().sort().to_list()
        if len(devices) < 2:
            self.tell("All GPU work is on one device")
            return
        self.select(device=_after(self.state.selection.device, devices))

    def action_no_marks(self) -> None:
        """Remove all marks."""
        self.state.marked_rows.clear()
        self.state.marked_launches.clear()
        self.reload()

    # --- taking things away --------------------------------------------------------------------------------

    def tell(self, text: str, problem: bool = False) -> None:
        """A short message that goes away by itself."""
        self.notify(text, severity="warning" if problem else "information", timeout=6, markup=False)

    def action_export(self) -> None:
        """Write the marked rows, or else the screen, as markdown."""
        groups, launches = self.marked()
        selection = self.exported()
        self.write(lambda: self.state.session.report(selection, groups, launches))

    def write(self, note: Callable[[], str]) -> None:
        """Make a note in a thread, write it beside the others, and say where it is."""

        def work() -> None:
            try:
                path = write_note(Path(), self.state.file_name, note()).resolve()
            except TraceError as error:
                problem = error.message
                self.post_message(Answered(lambda: self.tell(problem, problem=True)))
            else:
                self.post_message(Answered(lambda: self.tell(f"Written: {path}")))

        self.run_worker(work, thread=True, group="export", description="write a note")

    def action_copy(self) -> None:
        """The row as a markdown table, to the terminal's clipboard."""
        row = self.row_cells()
        if row is None:
            self.app.bell()
            return
        titles, cells = row
        self.app.copy_to_clipboard(markdown_table(titles, [cells], width=100_000))
        self.tell("Row sent to the terminal's clipboard (e writes a file)")

    def action_headless(self) -> None:
        """Show the command that prints the same."""
        from traceview.tui.help import Words

        words = ["traceview", *self.command_line()]
        self.app.push_screen(Words("The same without the terminal UI", safe_text(shlex.join(words))))


def _after(value: Answer | None, values: Sequence[Answer]) -> Answer | None:
    """The one after `value`; None stands before the first and after the last."""
    cycle: list[Answer | None] = [None, *values]
    return cycle[(cycle.index(value) + 1) % len(cycle)] if value in cycle else None


COMMON = (
    commands.EXPORT,
    commands.COPY,
    commands.HEADLESS,
    commands.PHASE,
    commands.DEVICE,
    commands.ALL_STEPS,
    commands.NOT_FIRST,
    commands.NO_MARKS,
    *commands.GO,
)
