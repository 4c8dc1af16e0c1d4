"""Windows over a screen: what the keys do, and the headless command."""

from collections.abc import Iterable, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from traceview.tui.commands import EVERYWHERE, Command
from traceview.units import cell_width

CLOSE: list[BindingType] = [
    Binding("escape,backspace,q,enter,question_mark,x", "dismiss", "Close", show=False)
]
_KEY_NAMES = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "question_mark": "?",
    "slash": "/",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
}
_INHERITED = ("scroll_", "page_")  # actions of every scrolling widget, on keys that nobody needs

WORDS = (
    ("sum", "durations added up, over streams and devices"),
    ("busy", "time in which a device had any work: the union, devices added"),
    ("idle", "wall time of a step in which its device had no work"),
    ("first, cut off", "steps that count in sums, but not in p50, p95 and what is slow"),
    ("share", "a row's sum / the sum of all selected GPU work"),
    ("launched-in", "GPU work belongs to the step in which it was launched"),
    ("straddling", "of the step, but not wholly inside its window"),
    ("delay", "GPU start minus the launch call's start"),
    ("self, total", "of an op: its own launches; with those of the ops inside it"),
    ("saves \N{LESS-THAN OR EQUAL TO}", "what a step could shrink by at most if this work were gone"),
    ("\N{ALMOST EQUAL TO}", "rests on something assumed; the launch card says on what"),
    ("?", "above the peak: the model or the peak is wrong, or a cache helped"),
    ("*", "leans on something that the trace lacks or is not sure of; 5 Trust says on what"),
    ("variant", "one grid, block, shapes and types of a kernel"),
)


class Window(ModalScreen[None]):
    """A titled box around a widget that any closing key removes."""

    BINDINGS = CLOSE

    def __init__(self, title: str, inside: Widget, subtitle: str = "esc closes") -> None:
        super().__init__()
        self._title = title
        self._inside = inside
        self._subtitle = subtitle

    def compose(self) -> ComposeResult:
        """The box."""
        with Vertical(classes="window") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(self._subtitle)
            yield self._inside


class Words(Window):
    """A few words to read or to copy."""

    BINDINGS = [Binding("y", "copy", "Copy", show=False)]  # noqa: RUF012

    def __init__(self, title: str, text: str) -> None:
        copying = "y sends it to the terminal's clipboard"
        super().__init__(title, _page(Content.assemble((text, "bold"), "\n\n", (copying, "$text-muted"))))
        self._text = text

    def action_copy(self) -> None:
        """To the clipboard."""
        self.app.copy_to_clipboard(self._text)
        self.notify("Sent to the terminal's clipboard", markup=False)


class Help(Window):
    """The keys of a screen, of the widget in it, everywhere; and what the words on the screen mean."""

    def __init__(self, screen: Screen[Any], has: Sequence[Command]) -> None:
        parts = [
            ("On this screen", [(c.key_text or "ctrl+p", c.title) for c in has]),
            ("In the table", _widget_keys(screen)),
            ("Everywhere", [(c.key_text, c.title) for c in EVERYWHERE]),
            ("Words", WORDS),
        ]
        super().__init__("Help", _page(_sections(parts)))


def _page(text: Content) -> Widget:
    """The text, scrolling where it is higher than the screen."""
    return VerticalScroll(Static(text, markup=False))


def _sections(parts: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> Content:
    """Sections of key and title."""
    widest = max(cell_width(key) for _, rows in parts for key, _ in rows)
    made: list[tuple[str, str] | str] = []
    for title, rows in parts:
        made.append((f"{title}\n", "bold $text-accent"))
        for key, text in rows:
            made += [(f"  {key}{' ' * (widest - cell_width(key))}  ", "bold"), f"{text}\n"]
        made.append("\n")
    return Content.assemble(*made)


def _widget_keys(screen: Screen[Any]) -> list[tuple[str, str]]:
    """The keys of the widget that has them, those of one action in one row."""
    found: dict[str, tuple[list[str], str]] = {}
    for key, active in screen.active_bindings.items():
        binding = active.binding
        if active.node is screen.focused and not binding.action.startswith(_INHERITED):
            found.setdefault(binding.action, ([], binding.description))[0].append(_KEY_NAMES.get(key, key))
    return [(" ".join(_shortest(keys)), title) for keys, title in found.values()]


def _shortest(keys: Iterable[str]) -> list[str]:
    kept = [key for key in keys if not key.startswith("shift+")]
    return [{"upper_g": "G", "upper_n": "N", "upper_s": "S"}.get(key, key) for key in kept]
