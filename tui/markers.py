"""Which annotation marks the steps: a list of those that repeat."""

from dataclasses import dataclass

import polars as pl
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from traceview.units import fmt_count, fmt_ns, safe_text
from traceview.widgets.columns import fit

_NAMES = 48  # cells of a name


@dataclass(frozen=True)
class Marker:
    """A way to find steps: the annotations that match a pattern; None: as the program finds them."""

    pattern: str | None


class Markers(ModalScreen[Marker | None]):
    """A window over the screen; enter chooses, escape leaves all as it is."""

    BINDINGS = [Binding("escape,backspace,q", "dismiss(None)", "Close", show=False)]  # noqa: RUF012
    DEFAULT_CSS = """
    Markers { align: center middle; background: $background 60%; }
    Markers OptionList, Markers OptionList:focus {
        height: auto;
        max-height: 100%;
        border: none;
        background: $surface;
        padding: 0;
    }
    """

    def __init__(self, found: pl.DataFrame, present: str | None) -> None:
        """found: markers.repeated; present: the pattern that is in use."""
        super().__init__()
        self._ways = [Marker(None), *(Marker(pattern) for pattern in found["pattern"])]
        self._lines = ["as the program finds them", *map(_line, found.iter_rows())]
        self._present = Marker(present)

    def compose(self) -> ComposeResult:
        """The list."""
        with Vertical(classes="window") as box:
            box.border_title = Content("Steps from which annotation?")
            box.border_subtitle = Content("enter chooses, esc closes")
            yield OptionList(*(Option(line) for line in self._lines), markup=False)

    def on_mount(self) -> None:
        """The cursor on what is in use."""
        if self._present in self._ways:
            self.query_one(OptionList).highlighted = self._ways.index(self._present)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """This one."""
        event.stop()
        self.dismiss(self._ways[event.option_index])


def _line(row: tuple[str, int, int, str]) -> str:
    name, count, median_ns, _ = row
    return f"{fit(safe_text(name), _NAMES)}  {fmt_count(count):>9} times  {fmt_ns(median_ns):>8} each"
