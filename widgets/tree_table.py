"""A tree whose rows have aligned figures: groups, kernels and variants with their shares."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from textual.binding import Binding, BindingType
from textual.message import Message

from traceview.palette import family_mark
from traceview.units import cell_width, fmt_percent, shorten
from traceview.widgets.columns import Column, bar, fit, gap, place
from traceview.widgets.lines import Piece
from traceview.widgets.row_view import GUTTER, RowView

Path = tuple[str, ...]
ROOT: Path = ()
PERCENT = 7  # cells of the number beside a share's bar
LEVELS_FILTERED = 2  # by their labels, whether they are open or not


@dataclass(frozen=True)
class TreeRow:
    """One row as it shows. `path` names it for good: its parent's path and one word of its own.

    `cells` are one text for each of the table's columns, or a function that gives them while the row is
    seen; `share` is a part of the whole from 0 to 1, None
    where it is unknown; `opens` says that there are children. `family` gives the bar its colour.
    """

    path: Path
    label: str
    cells: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    share: float | None = None
    opens: bool = False
    family: str | None = None


@dataclass(frozen=True, slots=True)
class _Node:
    row: TreeRow
    depth: int
    lead: str  # the guides of the levels above
    last: bool  # no sibling follows


class TreeTable(RowView):
    """A flat list of the rows that are seen: opening inserts a slice, folding removes one.

    `children(path)` gives the rows under `path` in the order to show them, `ROOT` being the top; it is asked
    when a row is first opened, and again after `reload`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "unfold", "Unfold", show=False, id="tree.unfold"),
        Binding("left,h", "fold", "Fold", show=False, id="tree.fold"),
    ]

    class _OfTree(Message):
        def __init__(self, tree: "TreeTable", path: Path) -> None:
            super().__init__()
            self.tree = tree
            self.path = path

        @property
        def control(self) -> "TreeTable":
            """The tree it comes from."""
            return self.tree

    class RowHighlighted(_OfTree):
        """The cursor is on the row of this path."""

    class RowSelected(_OfTree):
        """The row was opened with enter or a second click."""

    class RowMarked(_OfTree):
        """The row was marked or unmarked."""

        def __init__(self, tree: "TreeTable", path: Path, marked: bool) -> None:
            super().__init__(tree, path)
            self.marked = marked

    def __init__(
        self,
        columns: Sequence[Column],
        children: Callable[[Path], list[TreeRow]] | None = None,
        *,
        label_width: int = 32,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.columns = tuple(columns)
        self.label = "name"
        self.label_width = label_width
        self.marks: set[Path] = set()
        self.filter_text = ""
        self._children = children
        self._known: dict[Path, list[TreeRow]] = {}
        self._open: set[Path] = set()
        self._opened_by_filter: set[Path] = set()
        self._kept: set[Path] | None = None  # by the filter; None keeps all
        self._seen: list[_Node] = []

    def on_mount(self) -> None:
        """Rows are asked for when the tree is on a screen."""
        if not self._seen:
            self._rebuild(None)

    # --- data ----------------------------------------------------------------------------------------------

    def reload(
        self,
        children: Callable[[Path], list[TreeRow]] | None = None,
        columns: Sequence[Column] | None = None,
        label: str | None = None,
    ) -> None:
        """Asks for all rows anew; what was open, marked and under the cursor stays where it is there."""
        here = self.cursor_path
        if children is not None:
            self._children = children
        if columns is not None:
            self.columns = tuple(columns)
        self.label = self.label if label is None else label
        self._known.clear()
        self.columns_resized()
        self._apply_filter(here)

    def set_filter(self, text: str) -> None:
        """Keep only rows whose label holds `text` in any case, and what is above and below them."""
        here = self.cursor_path
        self.filter_text = text
        self._apply_filter(here)

    def set_marks(self, paths: Iterable[Path]) -> None:
        """Mark these rows and no others."""
        self.marks = set(paths)
        self.refresh()

    def rows_under(self, path: Path) -> list[TreeRow]:
        """The rows under `path` as `children` gave them, asked for once."""
        if path not in self._known:
            self._known[path] = self._children(path) if self._children is not None else []
        return self._known[path]

    def _apply_filter(self, here: Path | None) -> None:
        self._opened_by_filter = set()
        self._kept = None
        if self.filter_text:
            self._kept = set()
            self._keep_matches(ROOT, self.filter_text.casefold(), self._kept)
        self._rebuild(here)

    def _keep_matches(self, path: Path, needle: str, kept: set[Path]) -> bool:
        found = False
        for row in self.rows_under(path):
            if needle in row.label.casefold():
                kept.add(row.path)
                found = True
            elif row.opens and len(row.path) < LEVELS_FILTERED and self._keep_matches(row.path, needle, kept):
                kept.add(row.path)
                self._opened_by_filter.add(row.path)
                found = True
        return found

    def _is_open(self, path: Path) -> bool:
        return path in self._open or path in self._opened_by_filter

    def _slice(self, path: Path, depth: int, lead: str) -> list[_Node]:
        """The nodes under `path`, with what is open under them."""
        rows = self.rows_under(path)
        # Under a row that is kept for its own label everything shows, else only what leads to a match.
        if self._kept is not None and (path == ROOT or path in self._opened_by_filter):
            rows = [row for row in rows if row.path in self._kept]
        nodes: list[_Node] = []
        for number, row in enumerate(rows, 1):
            last = number == len(rows)
            nodes.append(_Node(row, depth, lead, last))
            if row.opens and self._is_open(row.path):
                nodes += self._slice(row.path, depth + 1, _lead_below(nodes[-1]))
        return nodes

    def _rebuild(self, here: Path | None) -> None:
        self._seen = self._slice(ROOT, 0, "")
        self.rows_changed()
        # On the same row, or on the nearest one above it that is left.
        while here and not self._go_to(here):
            here = here[:-1]
        if not here:
            self.cursor = min(self.cursor, max(0, len(self._seen) - 1))
        self.announce()

    # --- rows and their paths ------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Rows that are unfolded."""
        return len(self._seen)

    @property
    def cursor_row(self) -> TreeRow | None:
        """The row under the cursor; None in an empty tree."""
        return self._seen[self.cursor].row if 0 <= self.cursor < len(self._seen) else None

    @property
    def cursor_path(self) -> Path | None:
        """The path of the row under the cursor; None in an empty tree."""
        row = self.cursor_row
        return None if row is None else row.path

    def select_path(self, path: Path) -> bool:
        """Opens what is above `path` and puts the cursor on it; False if there is no such row."""
        for depth in range(1, len(path)):
            above = path[:depth]
            if not any(row.path == above and row.opens for row in self.rows_under(path[: depth - 1])):
                return False
            if not self._is_open(above):
                self._open.add(above)
        self._seen = self._slice(ROOT, 0, "")
        self.rows_changed()
        return self._go_to(path)

    def _go_to(self, path: Path) -> bool:
        found = next((i for i, node in enumerate(self._seen) if node.row.path == path), None)
        if found is None:
            return False
        self.cursor = found
        return True

    # --- folding -------------------------------------------------------------------------------------------

    def action_unfold(self) -> None:
        """Opens the row, or goes to its first child where it is open."""
        row = self.cursor_row
        if row is None or not row.opens:
            return
        if self._is_open(row.path):
            self.cursor += 1
            return
        self._open.add(row.path)
        node = self._seen[self.cursor]
        self._seen[self.cursor + 1 : self.cursor + 1] = self._slice(
            row.path, node.depth + 1, _lead_below(node)
        )
        self.rows_changed()

    def action_fold(self) -> None:
        """Closes the row, or goes to its parent where it is closed."""
        row = self.cursor_row
        if row is None:
            return
        depth = self._seen[self.cursor].depth
        if row.opens and self._is_open(row.path):
            self._open.discard(row.path)
            self._opened_by_filter.discard(row.path)
            end = self.cursor + 1
            while end < len(self._seen) and self._seen[end].depth > depth:
                end += 1
            del self._seen[self.cursor + 1 : end]
            self.rows_changed()
        elif depth:
            self._go_to(row.path[:-1])

    # --- drawing -------------------------------------------------------------------------------------------

    def columns_resized(self) -> None:
        """Place name, share and figures in the width there is."""
        width = self.room.width - GUTTER
        bar_width = 10 if width >= 100 else 6
        self._placed = place(
            [
                Column("label", self.label, self.label_width, grow=True),
                Column("share", "share", bar_width + 1 + PERCENT),
                *self.columns,
            ],
            width,
        )

    def header_pieces(self) -> Sequence[Piece]:
        """Titles."""
        between = " " * gap(self.room.width - GUTTER)
        return [
            (
                between.join(
                    fit(placed.column.title, placed.width, placed.column.align) for placed in self._placed
                ),
                "",
            )
        ]

    def row_pieces(self, row: int) -> Sequence[Piece]:
        """Guides and name, bar and percentage, figures."""
        node = self._seen[row]
        blank = " " * gap(self.room.width - GUTTER)
        cells = node.row.cells if isinstance(node.row.cells, tuple) else node.row.cells()
        pieces: list[Piece] = []
        for placed in self._placed:
            if placed.number == 0:
                pieces += self._label_pieces(node, placed.width)
            elif placed.number == 1:
                tone = f"family:{node.row.family}" if node.row.family else "accent"
                length = placed.width - 1 - PERCENT
                pieces.append((blank + bar(node.row.share, length), tone))
                pieces.append((fit(fmt_percent(node.row.share), PERCENT + 1, "right"), ""))
            else:
                cell = cells[placed.number - 2] if placed.number - 2 < len(cells) else ""
                tone = "muted" if placed.column.muted else ""
                pieces.append((blank + fit(cell, placed.width, placed.column.align), tone))
        return pieces

    def _label_pieces(self, node: _Node, width: int) -> list[Piece]:
        sign = ("▾ " if self._is_open(node.row.path) else "▸ ") if node.row.opens else "  "
        elbow = "" if node.depth == 0 else "└" if node.last else "├"
        guides = node.lead + elbow
        pieces: list[Piece] = [(guides, "muted"), (sign, "")]
        if node.depth == 0 and node.row.family:
            pieces.append((family_mark(node.row.family).letter + " ", f"family:{node.row.family}"))
        used = sum(cell_width(text) for text, _ in pieces)
        name = shorten(node.row.label, max(1, width - used))
        pieces.append((name + " " * (width - used - cell_width(name)), ""))
        return pieces

    # --- marks, search, messages ---------------------------------------------------------------------------

    def is_marked(self, row: int) -> bool:
        """Whether the row's path is among the marks."""
        return self._seen[row].row.path in self.marks

    def find_matches(self, text: str) -> npt.NDArray[np.int64]:
        """Rows that are seen and whose label holds `text` in any case."""
        needle = text.casefold()
        found = [i for i, node in enumerate(self._seen) if needle in node.row.label.casefold()]
        return np.array(found, dtype=np.int64)

    def row_highlighted(self, row: int) -> None:
        """Tells where the cursor is."""
        self.post_message(self.RowHighlighted(self, self._seen[row].row.path))

    def row_selected(self, row: int) -> None:
        """Tells which row was opened."""
        self.post_message(self.RowSelected(self, self._seen[row].row.path))

    def mark_toggled(self, row: int) -> None:
        """Marks or unmarks."""
        path = self._seen[row].row.path
        self.marks ^= {path}
        self.post_message(self.RowMarked(self, path, path in self.marks))


def _lead_below(node: _Node) -> str:
    """The guides of a node's children: a line goes on where a sibling follows."""
    return node.lead + ("" if node.depth == 0 else "  " if node.last else "│ ")
