"""A chart on the whole screen."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.screen import Screen

from traceview.tui.bars import KeyBar
from traceview.tui.commands import EVERYWHERE, Command, bindings
from traceview.widgets.chart import Chart, Draw


class ChartScreen(Screen[None]):
    """One of the charts of the screen below; `c` goes on to the next one, and after the last one back."""

    HAS = (
        Command("next", "The next chart, after the last one back to the screen", "c", label="next chart"),
        Command("dismiss", "Back to the screen", "escape,backspace", "esc", "back"),
    )
    BINDINGS = bindings(HAS)

    def __init__(self, plots: Sequence[tuple[str, Draw, str]]) -> None:
        super().__init__()
        self._plots = plots
        self._number = 0

    def compose(self) -> ComposeResult:
        """The chart and the keys."""
        yield Chart()
        yield KeyBar([*self.HAS, *EVERYWHERE])

    def on_mount(self) -> None:
        """The first chart."""
        self.show()

    def show(self) -> None:
        """The chart whose turn it is."""
        title, draw, note = self._plots[self._number]
        self.query_one(Chart).show(draw, title, note)

    def action_next(self) -> None:
        """The next chart."""
        self._number += 1
        if self._number == len(self._plots):
            self.dismiss()
        else:
            self.show()
