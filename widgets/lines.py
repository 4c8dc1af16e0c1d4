"""Lines of toned text: what the widgets without rows of a table are drawn from."""

from collections.abc import Sequence
from time import monotonic

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from traceview.palette import family_mark
from traceview.units import cell_width, safe_text
from traceview.widgets.look import chart_look, foreground

TWICE = 1.0  # seconds within which a second g counts as `gg`
Piece = tuple[str, str]  # text, tone: "", a component class without its prefix, or "family:NAME"


class Toned:
    """The styles of a widget's tones, kept until `clear`: component classes, and the families' colours.

    A line may also have a state, which is a component class as well; in the state "cursor" tones give way, so
    that the line is of one colour and reads in any theme.
    """

    def __init__(self, widget: Widget, prefix: str) -> None:
        self._widget = widget
        self._prefix = prefix
        self._styles: dict[tuple[str, str], Style] = {}

    def clear(self) -> None:
        """Call when theme, focus or stylesheet changed."""
        self._styles.clear()

    def style(self, tone: str, state: str = "") -> Style:
        """The style of a tone in a line of this state, over the widget's own."""
        found = self._styles.get((tone, state))
        if found is None:
            found = self._made("" if state == "cursor" else tone, state)
            self._styles[tone, state] = found
        return found

    def _made(self, tone: str, state: str) -> Style:
        style = self._widget.rich_style
        theme, color = chart_look(self._widget.app)
        if tone.startswith("family:"):
            style += foreground(family_mark(tone[7:], theme).colour) if color else Style()
        elif tone:
            style += self._widget.get_component_rich_style(f"{self._prefix}--{tone}")
        if state:
            style += self._widget.get_component_rich_style(f"{self._prefix}--{state}")
        if state == "cursor" and not color:
            style += Style(reverse=True)
        return style

    def strip(self, pieces: Sequence[Piece], width: int) -> Strip:
        """One line of exactly `width` cells."""
        segments = [Segment(text, self.style(tone)) for text, tone in pieces if text]
        return Strip(segments).adjust_cell_length(width, self.style(""))


class LineView(ScrollView, can_focus=True):
    """A scrolling view that draws its own lines, with quiet scrollbars that never shift what is drawn."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LineView {
        height: 1fr;
        scrollbar-size: 1 1;
        scrollbar-gutter: stable;
        scrollbar-color: $foreground 25%;
        scrollbar-color-hover: $foreground 40%;
        scrollbar-color-active: $foreground 40%;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-corner-color: $background;
    }
    """
    PREFIX = ""  # of the component classes

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.toned = Toned(self, self.PREFIX)
        self._last_g = -TWICE

    @property
    def room(self) -> Size:
        """The cells to draw in: `size` counts the scrollbars too."""
        return self.scrollable_content_region.size

    def notify_style_update(self) -> None:
        """Themes change the styles that are kept."""
        self.toned.clear()
        super().notify_style_update()

    def action_top(self) -> None:
        """To the first line."""
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_first_of_two(self) -> None:
        """`gg` goes to the top."""
        now = monotonic()
        if now - self._last_g < TWICE:
            self.action_top()
            now -= TWICE
        self._last_g = now


def wrapped(text: str, width: int) -> list[str]:
    """`text`, safe, in lines of at most `width` cells; its own line breaks hold, and blanks are broken at."""
    width = max(2, width)
    return [part for line in safe_text(text, newline="\n").split("\n") for part in _wrapped_line(line, width)]


def _wrapped_line(line: str, width: int) -> list[str]:
    parts = []
    start, end, taken, blank = 0, 0, 0, -1
    while end < len(line):
        if line.isascii():  # a long name is cut by whole lines, not character by character
            if len(line) - start <= width:
                break
            end = start + width
            blank = line.rfind(" ", start + width // 2, end)
        else:
            taken += cell_width(line[end])
            blank = end if line[end] == " " and taken > width // 2 else blank
            if taken <= width:
                end += 1
                continue
        cut = blank + 1 if blank > start else end
        parts.append(line[start:cut].rstrip())
        start, end, taken, blank = cut, cut, 0, -1
    parts.append(line[start:])
    return parts
