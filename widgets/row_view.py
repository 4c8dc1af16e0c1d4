"""What the tables share: rows drawn by number, a cursor, marks, keys and the search."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.strip import Strip

from traceview.widgets.columns import Placed, gap
from traceview.widgets.lines import LineView, Piece

GUTTER = 3  # the cursor's marker, a row's mark, a blank


class RowView(LineView):
    """A view of rows that are made only when they are seen.

    Row numbers are places on the screen, 0 the first that scrolls; a pinned row is number -1. A subclass says
    how many rows there are, what a row's text is, and what a key on it means.
    """

    PREFIX = "row-view"
    DEFAULT_CSS = """
    RowView {
        & > .row-view--header { color: $text-muted; text-style: bold; }
        & > .row-view--muted { color: $text-muted; }
        & > .row-view--accent { color: $text-accent; }
        & > .row-view--pinned { text-style: bold; }
        & > .row-view--mark { color: $text-warning; text-style: bold; }
        & > .row-view--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
        }
        &:focus > .row-view--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row-view--header",
        "row-view--muted",
        "row-view--accent",
        "row-view--pinned",
        "row-view--mark",
        "row-view--cursor",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="rows.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="rows.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="rows.page_up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="rows.page_down"),
        Binding("home", "top", "Top", show=False, id="rows.top"),
        Binding("end,G,shift+g", "bottom", "Bottom", show=False, id="rows.bottom"),
        Binding("g", "first_of_two", "gg: top", show=False, id="rows.gg"),
        Binding("enter", "select", "Open", show=False, id="rows.open"),
        Binding("space", "mark", "Mark", show=False, id="rows.mark"),
        Binding("n", "match(1)", "Next match", show=False, id="rows.next_match"),
        Binding("N,shift+n", "match(-1)", "Previous match", show=False, id="rows.previous_match"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.search_text = ""
        self._matches: npt.NDArray[np.int64] | None = None
        self._placed: list[Placed] = []  # the columns that found room
        self._placed_for = -1  # the width that columns were placed in

    # --- what a subclass says ------------------------------------------------------------------------------

    @property
    @abstractmethod
    def row_count(self) -> int:
        """Rows that scroll."""

    @property
    def has_pinned_row(self) -> bool:
        """Whether a row -1 stands under the header and never scrolls."""
        return False

    @abstractmethod
    def header_pieces(self) -> Sequence[Piece]:
        """The titles."""

    @abstractmethod
    def row_pieces(self, row: int) -> Sequence[Piece]:
        """The text of one row."""

    @abstractmethod
    def is_marked(self, row: int) -> bool:
        """Whether the row carries a mark."""

    @abstractmethod
    def find_matches(self, text: str) -> npt.NDArray[np.int64]:
        """Ascending numbers of the rows that hold `text` in any case."""

    @abstractmethod
    def row_highlighted(self, row: int) -> None:
        """The cursor has come to this row."""

    @abstractmethod
    def row_selected(self, row: int) -> None:
        """The row was opened."""

    @abstractmethod
    def mark_toggled(self, row: int) -> None:
        """The row's mark was asked to change."""

    # --- drawing -------------------------------------------------------------------------------------------

    @property
    def header_height(self) -> int:
        """Lines at the top that do not scroll."""
        return 2 if self.has_pinned_row else 1

    @property
    def titles(self) -> list[str]:
        """The titles of the columns that found room."""
        return [placed.column.title for placed in self._placed]

    def body_width(self) -> int:
        """All placed columns and what is between them."""
        between = gap(self.room.width - GUTTER)
        return sum(placed.width + between for placed in self._placed) - between if self._placed else 0

    def rows_changed(self) -> None:
        """Call after rows, columns or their order changed: measures and draws anew."""
        self._matches = None
        self._measure()
        self.refresh()

    def _measure(self) -> None:
        width = self.body_width() + GUTTER
        # A row that fits asks for no width: it must not bring up a scrollbar when the other one appears.
        self.virtual_size = Size(width if width > self.room.width else 1, self.header_height + self.row_count)

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the header, the pinned row, or a row by its number."""
        width = self.room.width
        if width != self._placed_for:  # a first frame may come before the resize event
            self._place_columns()
        if y == 0:
            return self._line(" " * GUTTER, self.header_pieces(), "header", width)
        if y < self.header_height:
            return self._row_line(-1, width)
        row = y - self.header_height + round(self.scroll_y)
        if row >= self.row_count:
            return Strip.blank(width, self.rich_style)
        return self._row_line(row, width)

    def _row_line(self, row: int, width: int) -> Strip:
        here = row == self.cursor
        marked = self.is_marked(row)
        state = "cursor" if here else "pinned" if row < 0 else "mark" if marked else ""
        gutter = f"{'▸' if here else ' '}{'●' if marked else ' '} "
        return self._line(gutter, self.row_pieces(row), state, width)

    def _line(self, gutter: str, pieces: Sequence[Piece], state: str, width: int) -> Strip:
        segments = [Segment(text, self.toned.style(tone, state)) for text, tone in pieces]
        left, room = round(self.scroll_x), max(0, width - GUTTER)
        base = self.toned.style("", state)
        body = Strip(segments).crop_extend(left, left + room, base)
        return Strip([Segment(gutter, base), *body], GUTTER + room).crop(0, width)

    def on_focus(self) -> None:
        """The cursor is drawn stronger."""
        self.toned.clear()
        self.refresh()

    def on_blur(self) -> None:
        """The cursor is drawn weaker."""
        self.toned.clear()
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Columns are placed anew; the cursor stays on its row and in sight."""
        self._place_columns()
        self._measure()
        self._show_cursor()
        self.refresh()

    def _place_columns(self) -> None:
        self._placed_for = self.room.width
        self.columns_resized()

    def columns_resized(self) -> None:
        """The width may have changed: place columns anew, in `_placed`."""

    # --- the cursor ----------------------------------------------------------------------------------------

    @property
    def first_row(self) -> int:
        """-1 where a row is pinned, else 0."""
        return -1 if self.has_pinned_row else 0

    @property
    def page_rows(self) -> int:
        """Rows that are seen at once."""
        return max(1, self.room.height - self.header_height)

    def validate_cursor(self, row: int) -> int:
        """The cursor stays on a row that is there."""
        return max(self.first_row, min(row, self.row_count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Draws the two lines that change and brings the new one into sight."""
        for row in (old, new):
            y = row + self.header_height - round(self.scroll_y) if row >= 0 else 1
            if self.is_attached and 0 <= y < self.room.height:
                self.refresh(Region(0, y, self.room.width, 1))
        self._show_cursor()
        self.announce()

    def announce(self) -> None:
        """Tells which row the cursor is on; call also when another row has come under it."""
        if self.is_attached and self._on_a_row:
            self.row_highlighted(self.cursor)

    def _show_cursor(self) -> None:
        if not self.room.height or self.cursor < 0:  # before the first layout nothing can be in sight
            return
        top = round(self.scroll_y)
        if self.cursor < top:
            self._jump(self.cursor)
        elif self.cursor >= top + self.page_rows:
            self._jump(self.cursor - self.page_rows + 1)

    def _jump(self, y: int) -> None:
        self.scroll_to(y=y, animate=False, immediate=True, force=True)

    def action_move(self, rows: int) -> None:
        """Cursor up or down."""
        self.cursor += rows

    def action_page(self, pages: int) -> None:
        """Cursor up or down by what is seen at once."""
        self.cursor += pages * max(1, self.page_rows - 1)

    def action_top(self) -> None:
        """Cursor to the first row."""
        self.cursor = self.first_row
        if self.room.height:
            self._jump(0)

    def action_bottom(self) -> None:
        """Cursor to the last row."""
        self.cursor = self.row_count - 1

    def action_select(self) -> None:
        """Open the row under the cursor."""
        if self._on_a_row:
            self.row_selected(self.cursor)

    def action_mark(self) -> None:
        """Mark or unmark the row under the cursor."""
        if self._on_a_row:
            self.mark_toggled(self.cursor)
            self.refresh()

    @property
    def _on_a_row(self) -> bool:
        return self.first_row <= self.cursor < self.row_count

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, one on the cursor's row opens it."""
        if event.y < 1:
            return
        row = -1 if event.y < self.header_height else event.y - self.header_height + round(self.scroll_y)
        if row >= self.row_count:
            return
        if row == self.cursor:
            self.action_select()
        else:
            self.cursor = row

    # --- search --------------------------------------------------------------------------------------------

    def search(self, text: str) -> int:
        """Looks for `text`, moves to the first match at or after the cursor; returns how many there are."""
        self.search_text = text
        self._matches = None
        matches = self._found()
        if len(matches):
            self.cursor = int(matches[np.searchsorted(matches, self.cursor) % len(matches)])
        return len(matches)

    def action_match(self, step: int) -> None:
        """To the next or the previous match, around the end."""
        matches = self._found()
        if not len(matches):
            self.app.bell()
            return
        if step > 0:
            place = np.searchsorted(matches, self.cursor, side="right")
        else:
            place = np.searchsorted(matches, self.cursor) - 1
        self.cursor = int(matches[place % len(matches)])

    def _found(self) -> npt.NDArray[np.int64]:
        if self._matches is None:
            self._matches = self.find_matches(self.search_text) if self.search_text else np.empty(0, np.int64)
        return self._matches
