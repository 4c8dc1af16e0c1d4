"""The line in which a query is typed, with the earlier ones behind the arrow keys."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from traceview.tui.history import History


class SqlInput(Input):
    """An input with a history: up goes back, down forward to what was being typed."""

    DEFAULT_CSS = """
    SqlInput, SqlInput:focus { border: none; height: 1; padding: 0; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "older", "Earlier query", show=False),
        Binding("down", "newer", "Later query", show=False),
    ]

    def __init__(self, history: History, id: str | None = None) -> None:
        super().__init__(placeholder="SELECT short_name, dur_ns FROM kernels", select_on_focus=False, id=id)
        self.history = history
        self._place = 0  # how many queries back
        self._typed = ""

    def action_older(self) -> None:
        """The query before."""
        self._go(self._place + 1)

    def action_newer(self) -> None:
        """The query after."""
        self._go(self._place - 1)

    def _go(self, place: int) -> None:
        if not 0 <= place <= len(self.history.entries):
            self.app.bell()
            return
        if self._place == 0:
            self._typed = self.value
        self._place = place
        self.value = self.history.entries[-place] if place else self._typed
        self.cursor_position = len(self.value)

    def asked(self) -> str:
        """The query, which is now the newest one of the history."""
        sql = self.value.strip()
        if sql:
            self.history.add(sql)
        self._place = 0
        return sql
