"""Which colours a widget may use on this terminal: one answer for charts, trees and the timeline."""

from typing import Any

from rich.color import Color
from rich.style import Style
from textual.app import App

from traceview.palette import Colour


def chart_look(app: App[Any]) -> tuple[str, bool]:
    """The theme ("dark", "light" or "ansi") and whether there is colour at all (not under NO_COLOR)."""
    colors = app.console.color_system
    if app.no_color or (colors is None and not app.is_headless):
        return ("dark" if app.current_theme.dark else "light"), False
    if app.native_ansi_color or colors == "standard":
        return "ansi", True
    return ("dark" if app.current_theme.dark else "light"), True


def rich_color(colour: Colour) -> Color:
    """The palette's colour as the terminal library has it."""
    return Color.from_ansi(colour) if isinstance(colour, int) else Color.from_rgb(*colour)


def foreground(colour: Colour) -> Style:
    """A style with only this colour."""
    return Style(color=rich_color(colour))
