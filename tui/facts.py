"""A window of facts over a screen."""

from collections.abc import Sequence

from traceview.tui.help import Window
from traceview.widgets.detail import Detail, Section


class Facts(Window):
    """Sections of facts; enter shows long texts whole, escape closes."""

    DEFAULT_CSS = "Facts > .window { height: 80%; & > Detail { height: 1fr; margin: 0; } }"

    def __init__(self, title: str, sections: Sequence[Section]) -> None:
        super().__init__(title, Detail(sections), "esc closes, enter shows long texts")
