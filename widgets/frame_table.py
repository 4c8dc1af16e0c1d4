"""A table over a frame of any length: only the rows that are seen are ever turned into text."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.worker import get_current_worker

from traceview.widgets.columns import Column, fit, gap, place
from traceview.widgets.lines import Piece
from traceview.widgets.row_view import GUTTER, RowView

PAGE = 128  # rows that are formatted at once
PAGES_KEPT = 16
IN_BACKGROUND = 1_000_000  # rows beyond which sorting and filtering leave the interface's thread


def row_order(
    frame: pl.DataFrame, predicate: pl.Expr | None, key: str | None, descending: bool
) -> pl.Series | None:
    """Numbers of the rows that `predicate` keeps, ordered by column `key`, unknown values last.

    Equal values keep the frame's order. None is the frame as it stands.
    """
    rows = None if predicate is None else frame.select(pl.arg_where(predicate)).to_series()
    if key is None:
        return rows
    column = frame.get_column(key) if rows is None else frame.get_column(key).gather(rows)
    in_order = pl.arg_sort_by(key, descending=descending, nulls_last=True, maintain_order=True)
    order = column.to_frame().select(in_order).to_series()
    return order if rows is None else rows.gather(order)


class FrameTable(RowView):
    """Rows of a polars frame. A row is known by its value in `id_column`, or else by its number in the frame.

    Sort and filter keep a series of row numbers; the frame is never copied.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "sideways(-8)", "Left", show=False, id="table.left"),
        Binding("right,l", "sideways(8)", "Right", show=False, id="table.right"),
        Binding("s", "sort", "Sort", id="table.sort"),
        Binding("S,shift+s", "reverse", "Reverse", show=False, id="table.reverse"),
        Binding("w", "wide", "All columns", show=False, id="table.wide"),
    ]

    class _OfTable(Message):
        def __init__(self, table: "FrameTable") -> None:
            super().__init__()
            self.table = table

        @property
        def control(self) -> "FrameTable":
            """The table it comes from."""
            return self.table

    class RowHighlighted(_OfTable):
        """The cursor is on this row; None is the pinned one."""

        def __init__(self, table: "FrameTable", row_id: int | None) -> None:
            super().__init__(table)
            self.row_id = row_id

    class RowSelected(_OfTable):
        """The row was opened; None is the pinned one."""

        def __init__(self, table: "FrameTable", row_id: int | None) -> None:
            super().__init__(table)
            self.row_id = row_id

    class RowMarked(_OfTable):
        """The row was marked or unmarked."""

        def __init__(self, table: "FrameTable", row_id: int, marked: bool) -> None:
            super().__init__(table)
            self.row_id = row_id
            self.marked = marked

    class OrderChanged(_OfTable):
        """Rows were sorted or filtered; `shown` of the frame's rows are left."""

        def __init__(self, table: "FrameTable", key: str | None, descending: bool, shown: int) -> None:
            super().__init__(table)
            self.key = key
            self.descending = descending
            self.shown = shown

    class _Ordered(Message):
        def __init__(self, order: pl.Series | None, request: int) -> None:
            super().__init__()
            self.order = order
            self.request = request

    def __init__(
        self,
        columns: Sequence[Column],
        frame: pl.DataFrame | None = None,
        *,
        id_column: str | None = None,
        search_column: str | None = None,
        pinned: Mapping[str, str] | None = None,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`pinned` is the text (column key -> text) of a row that stays on top, such as "all steps"."""
        super().__init__(name=name, id=id, classes=classes)
        self.columns = tuple(columns)
        self.frame = pl.DataFrame() if frame is None else frame
        self.id_column = id_column
        self.search_column = search_column
        self.pinned = pinned
        self.marks: set[int] = set()
        self.sort_key: str | None = None
        self.descending = True
        self.predicate: pl.Expr | None = None
        self.show_all_columns = False
        self._order: pl.Series | None = None
        self._request = 0
        self._keep: int | None = None  # the id that the cursor stays on
        self._pages: OrderedDict[int, list[tuple[str, ...]]] = OrderedDict()
        if pinned is not None:
            self.set_reactive(FrameTable.cursor, -1)

    # --- data ----------------------------------------------------------------------------------------------

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Other columns over the same rows."""
        self.columns = tuple(columns)
        self.columns_resized()
        self.rows_changed()

    def set_frame(self, frame: pl.DataFrame, pinned: Mapping[str, str] | None = None) -> None:
        """Other rows. Sort, filter and marks hold; the cursor stays on the row of the same id."""
        here = self.cursor_row_id
        self.frame, self.pinned = frame, pinned
        self._reorder(here)

    def sort_by(self, key: str | None, descending: bool = True) -> None:
        """Sort by a column, None being the frame's own order, and go to the top."""
        self.sort_key, self.descending = key, descending
        self._reorder(None)

    def set_filter(self, predicate: pl.Expr | None) -> None:
        """Show only the rows that `predicate` holds for; None shows all.

        Raises `polars.exceptions.PolarsError`, and changes nothing, if the frame cannot take the expression.
        """
        if predicate is not None:
            row_order(self.frame.clear(), predicate, None, descending=False)
        self.predicate = predicate
        self._reorder(self.cursor_row_id)

    def set_marks(self, row_ids: Iterable[int]) -> None:
        """Mark these rows and no others."""
        self.marks = set(row_ids)
        self.refresh()

    def _reorder(self, keep: int | None) -> None:
        self._request += 1
        self._keep = keep
        request, frame = self._request, self.frame
        arguments = (self.predicate, self.sort_key, self.descending)
        if frame.height <= IN_BACKGROUND or arguments[:2] == (None, None):
            self._apply(row_order(frame, *arguments))
            return

        def work() -> None:
            order = row_order(frame, *arguments)
            if not get_current_worker().is_cancelled:
                self.post_message(self._Ordered(order, request))

        self.run_worker(work, thread=True, exclusive=True, group="order", description="sort and filter")

    def on_frame_table__ordered(self, message: _Ordered) -> None:
        """A worker's order, unless another was asked for meanwhile."""
        message.stop()
        if message.request == self._request:
            self._apply(message.order)

    def _apply(self, order: pl.Series | None) -> None:
        self._order = order
        self._pages.clear()
        self.rows_changed()
        if self._keep is None or not self.select_row_id(self._keep):
            self.action_top()
        self.announce()
        if self.is_attached:
            self.post_message(self.OrderChanged(self, self.sort_key, self.descending, self.row_count))

    # --- rows and their ids --------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Rows after the filter."""
        return self.frame.height if self._order is None else len(self._order)

    @property
    def has_pinned_row(self) -> bool:
        """Whether there is a row -1."""
        return self.pinned is not None

    def row_number(self, row: int) -> int:
        """The frame's row that stands at this place."""
        return row if self._order is None else int(self._order[row])

    def row_id(self, row: int) -> int | None:
        """The id of the row at this place; None for the pinned row and where there is none."""
        if not 0 <= row < self.row_count:
            return None
        number = self.row_number(row)
        return number if self.id_column is None else int(self.frame.get_column(self.id_column)[number])

    @property
    def cursor_row_id(self) -> int | None:
        """The id of the row under the cursor; None on the pinned row and in an empty table."""
        return self.row_id(self.cursor)

    def select_row_id(self, row_id: int | None) -> bool:
        """Puts the cursor on the row with this id (None: the pinned one); False if it is not shown."""
        if row_id is None:
            if self.has_pinned_row:
                self.cursor = -1
            return self.has_pinned_row
        number: int | None = row_id
        if self.id_column is not None:
            number = self.frame.get_column(self.id_column).index_of(row_id)
        if self._order is not None and number is not None:
            number = self._order.index_of(number)
        if number is None or not 0 <= number < self.row_count:
            return False
        self.cursor = number
        return True

    # --- drawing -------------------------------------------------------------------------------------------

    def columns_resized(self) -> None:
        """Place the columns in the width there is; formatted rows hold for the columns they were made for."""
        self._placed = place(self.columns, self.room.width - GUTTER, self.show_all_columns)
        self._pages.clear()

    def header_pieces(self) -> Sequence[Piece]:
        """Titles; the column that is sorted by has an arrow."""
        arrow = "▾" if self.descending else "▴"
        return self._pieces(
            tuple(
                f"{placed.column.title}{arrow}" if placed.column.key == self.sort_key else placed.column.title
                for placed in self._placed
            )
        )

    def row_pieces(self, row: int) -> Sequence[Piece]:
        """The formatted cells of one row."""
        if row < 0:
            pinned = self.pinned or {}
            return self._pieces(tuple(pinned.get(placed.column.key, "") for placed in self._placed))
        return self._pieces(self._page(row // PAGE)[row % PAGE])

    def _pieces(self, cells: tuple[str, ...]) -> list[Piece]:
        blank = " " * gap(self.room.width - GUTTER)
        return [
            (
                ("" if number == 0 else blank) + fit(cell, placed.width, placed.column.align),
                "muted" if placed.column.muted else "",
            )
            for number, (cell, placed) in enumerate(zip(cells, self._placed, strict=True))
        ]

    def _page(self, page: int) -> list[tuple[str, ...]]:
        if page in self._pages:
            self._pages.move_to_end(page)
            return self._pages[page]
        start = page * PAGE
        if self._order is None:
            part = self.frame.slice(start, PAGE)
        else:
            part = self.frame[self._order.slice(start, PAGE)]
        texts = [_texts(part.get_column(placed.column.key), placed.column) for placed in self._placed]
        rows: list[tuple[str, ...]] = [*zip(*texts, strict=True)] if texts else [()] * part.height
        self._pages[page] = rows
        if len(self._pages) > PAGES_KEPT:
            self._pages.popitem(last=False)
        return rows

    # --- marks, search, keys -------------------------------------------------------------------------------

    def is_marked(self, row: int) -> bool:
        """Whether the row's id is among the marks."""
        return bool(self.marks) and self.row_id(row) in self.marks

    def find_matches(self, text: str) -> npt.NDArray[np.int64]:
        """Rows whose `search_column` holds `text` in any case."""
        if self.search_column is None:
            return np.empty(0, np.int64)
        column = self.frame.get_column(self.search_column)
        # Once for each distinct text: names repeat many thousand times.
        distinct = column.unique().drop_nulls()
        holds = distinct.cast(pl.String).str.to_lowercase().str.contains(text.lower(), literal=True)
        found = column.is_in(distinct.filter(holds).implode()).fill_null(False)
        if self._order is not None:
            found = found.gather(self._order)
        return found.arg_true().to_numpy().astype(np.int64)

    def row_highlighted(self, row: int) -> None:
        """Tells where the cursor is."""
        self.post_message(self.RowHighlighted(self, self.row_id(row)))

    def row_selected(self, row: int) -> None:
        """Tells which row was opened."""
        self.post_message(self.RowSelected(self, self.row_id(row)))

    def mark_toggled(self, row: int) -> None:
        """Marks or unmarks; the pinned row has no mark."""
        row_id = self.row_id(row)
        if row_id is not None:
            self.marks ^= {row_id}
            self.post_message(self.RowMarked(self, row_id, row_id in self.marks))

    def action_sort(self) -> None:
        """Sort by the next column that is shown, and after the last in the frame's own order."""
        keys = [placed.column.key for placed in self._placed if placed.column.sortable]
        cycle: list[str | None] = [None, *keys]
        place_now = cycle.index(self.sort_key) if self.sort_key in cycle else 0
        key = cycle[(place_now + 1) % len(cycle)]
        numeric = key is not None and self.frame.schema[key].is_numeric()
        self.sort_by(key, descending=numeric)

    def action_reverse(self) -> None:
        """The other direction of the same sort."""
        if self.sort_key is not None:
            self.sort_by(self.sort_key, not self.descending)

    def action_wide(self) -> None:
        """Show all columns, scrolling sideways, or only those that fit."""
        self.show_all_columns = not self.show_all_columns
        self.columns_resized()
        self.rows_changed()

    def action_sideways(self, cells: int) -> None:
        """Scroll sideways where the row is wider than the screen."""
        self.scroll_to(x=self.scroll_x + cells, animate=False, immediate=True)


def _texts(values: pl.Series, column: Column) -> list[str]:
    if column.format is not None:
        return column.format(values)
    return values.cast(pl.String).fill_null("-").to_list()
