"""A window of facts over a screen."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from traceview.tui.help import Window
from traceview.widgets.detail import Detail, Section


class Facts(Window):
    """Sections of facts; enter shows long texts whole, escape closes."""

    DEFAULT_CSS = "Facts > .window { height: 80%; & > Detail { height: 1fr; margin: 0; } }"

    def __init__(self, title: str, sections: Sequence[Section]) -> None:
        super().__init__(title)
        self._sections = sections

    def compose(self) -> ComposeResult:
        """The box."""
        with Vertical(classes="window") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("esc closes, enter shows long texts")
            yield Detail(self._sections)
