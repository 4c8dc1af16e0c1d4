"""The lines around a screen's body: which screens there are, what the numbers are, which keys do what."""

from collections.abc import Sequence

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from traceview.tui.commands import Command
from traceview.units import cell_width, shorten


class KeyBar(Widget):
    """The footer: as many commands as find room, the most useful first; help and quit always."""

    DEFAULT_CSS = """
    KeyBar { height: 1; dock: bottom; color: $text-muted; background: $panel; padding: 0 1; }
    """
    ALWAYS = 2  # the last commands of the list, which always show

    def __init__(self, commands: Sequence[Command]) -> None:
        super().__init__()
        self._commands = [c for c in commands if c.label]

    @property
    def shown(self) -> list[Command]:
        """The commands that find room."""
        kept = self._commands[-self.ALWAYS :]
        room = self.content_size.width - sum(map(_length, kept))
        first = []
        for command in self._commands[: -self.ALWAYS]:
            room -= _length(command)
            if room < 0:
                break
            first.append(command)
        return [*first, *kept]

    def render(self) -> RenderResult:
        """`enter kernels  / filter  ...  ? help  q quit`."""
        parts = (((c.key_text, "bold $text-accent"), f" {c.label}  ") for c in self.shown)
        return Content.assemble(*(part for pair in parts for part in pair))

    async def on_click(self, event: events.Click) -> None:
        """A click on a command is its key."""
        left = 1
        for command in self.shown:
            left += _length(command)
            if event.x < left:
                await self.screen.run_action(command.action)
                return


def _length(command: Command) -> int:
    return cell_width(command.key_text) + 1 + cell_width(command.label) + 2


LEAST_NAME = 10  # cells in which a file's name still says something


class Tabs(Widget):
    """The screens that a number key leads to, the present one set apart, and the trace's name."""

    DEFAULT_CSS = """
    Tabs { height: 1; dock: top; color: $text-muted; background: $panel; padding: 0 1; }
    """

    def __init__(self, here: int, names: dict[int, str], trace: str) -> None:
        super().__init__()
        self._here = here
        self._names = names
        self._trace = trace

    @property
    def _texts(self) -> dict[int, str]:
        return {number: f" {number} {name} " for number, name in self._names.items()}

    def render(self) -> RenderResult:
        """`1 Steps  2 Kernels  5 Trust        trace.json`."""
        room = self.content_size.width - sum(map(len, self._texts.values()))
        trace = shorten(self._trace, room - 2) if room >= LEAST_NAME else ""
        return Content.assemble(
            *((text, "bold reverse" if n == self._here else "") for n, text in self._texts.items()),
            " " * max(0, room - cell_width(trace)) + trace,
        )

    async def on_click(self, event: events.Click) -> None:
        """A click on a screen's name is its number."""
        left = 1
        for number, text in self._texts.items():
            left += len(text)
            if event.x < left:
                await self.screen.run_action(f"go({number})")
                return


class Line(Widget):
    """One line of text that says what the numbers are; parts that do not fit are left out from the end."""

    DEFAULT_CSS = """
    Line { height: 1; color: $text-muted; padding: 0 1; }
    """
    BETWEEN = "  ·  "

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.parts: tuple[str, ...] = ()

    def show(self, *parts: str) -> None:
        """Show these parts, the most important first; empty ones are skipped."""
        self.parts = tuple(part for part in parts if part)
        self.refresh()

    def render(self) -> RenderResult:
        """As many parts as fit."""
        room = self.content_size.width
        text = ""
        for part in self.parts:
            longer = text + (self.BETWEEN if text else "") + part
            if text and cell_width(longer) > room:
                continue
            text = longer
        return Content(shorten(text, room))


class TooSmall(Widget):
    """Stands in for everything where the terminal is too small for a table."""

    DEFAULT_CSS = """
    TooSmall { display: none; height: 1; }
    """

    def render(self) -> RenderResult:
        """One line."""
        width, height = self.app.size
        return Content(shorten(f"{width}x{height} is too small: 60x15 or more", width))
