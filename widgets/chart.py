"""A chart on the screen: drawn text turned into strips, again only when size, theme or data change."""

import re
from collections.abc import Callable
from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import RenderResult
from textual.strip import Strip
from textual.widget import Widget

from traceview.units import cell_width, shorten
from traceview.widgets.look import chart_look

Draw = Callable[[int, int, str, bool], str]  # width, height, theme, color -> text with or without SGR escapes

FEWEST_FOR_NOTE = 6  # lines of a chart that is large enough to give one up

_SGR = re.compile(r"\x1b\[([0-9;]*)m")


@lru_cache(maxsize=1024)
def _applied(style: Style, codes: str) -> Style:
    """`style` after an SGR sequence (ECMA-48; 38/48 with 5 or 2 as xterm has them)."""
    numbers = [int(code or 0) for code in codes.split(";")]
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            style = Style()
        elif code == 1:
            style += Style(bold=True)
        elif code in (38, 48) and numbers:
            kind = numbers.pop(0)
            taken = 3 if kind == 2 else 1
            values, numbers = numbers[:taken], numbers[taken:]
            color = Color.from_rgb(*values) if kind == 2 else Color.from_ansi(*values)
            style += Style(color=color) if code == 38 else Style(bgcolor=color)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style += Style(color=Color.from_ansi(code - 30 if code < 90 else code - 82))
    return style


def strips(text: str, base: Style) -> list[Strip]:
    """Text with SGR escapes as one strip a line, over the style `base`. Knows no other escapes.

    Much quicker than `rich.text.Text.from_ansi` for the many small runs of a chart.
    """
    lines = []
    style = Style()
    for line in text.split("\n"):
        segments = []
        parts = _SGR.split(line)
        for number, part in enumerate(parts):
            if number % 2:
                style = _applied(style, part)
            elif part:
                segments.append(Segment(part, base + style))
        lines.append(Strip(segments))
    return lines


class Chart(Widget):
    """Shows what `draw` returns for the size and theme at hand, under a title and over a note."""

    DEFAULT_CSS = """
    Chart {
        height: 1fr;
        & > .chart--title { color: $text-muted; text-style: bold; }
        & > .chart--note { color: $text-muted; }
    }
    """
    COMPONENT_CLASSES = {"chart--title", "chart--note"}  # noqa: RUF012  (Textual reads it from the class)

    def __init__(
        self,
        draw: Draw | None = None,
        title: str = "",
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._draw = draw
        self._title = title
        self._note = ""
        self._version = 0
        self._kept: tuple[object, list[Strip]] = (None, [])

    def show(self, draw: Draw | None, title: str | None = None, note: str = "") -> None:
        """Other data: a new drawing function, a new title unless it is None, and words to stand below."""
        self._draw = draw
        self._note = note
        self._title = self._title if title is None else title
        self._version += 1
        self.refresh()

    def render(self) -> RenderResult:
        """Lines come from `render_line`; this is only for whoever asks for the whole."""
        return "\n".join(strip.text for strip in self._strips())

    def render_line(self, y: int) -> Strip:
        """One kept line, filled up to the width."""
        lines = self._strips()
        line = lines[y] if y < len(lines) else Strip([])
        return line.adjust_cell_length(self.size.width, self.rich_style)

    def _strips(self) -> list[Strip]:
        theme, color = chart_look(self.app)
        key = (self.size, theme, color, self.app.theme, self.rich_style, self._version)
        if key != self._kept[0]:
            self._kept = (key, self._drawn(theme, color))
        return self._kept[1]

    def _drawn(self, theme: str, color: bool) -> list[Strip]:
        width, height = self.size
        noted = bool(self._note) and height > FEWEST_FOR_NOTE
        lines = [self._said(self._title, "chart--title")] if self._title and height > 1 else []
        room = height - len(lines) - noted
        if self._draw is not None and width > 0 and room > 0:
            drawn = strips(self._draw(width, room, theme, color), self.rich_style)
            lines += [*drawn, *[Strip([])] * (room - len(drawn))] if noted else drawn
        return [*lines, self._said(self._note, "chart--note")] if noted else lines

    def _said(self, text: str, component: str) -> Strip:
        text = shorten(text, self.size.width)
        style = self.rich_style + self.get_component_rich_style(component)
        return Strip([Segment(text, style)], cell_width(text))
