"""Columns of the tables: what they show, and which find room in a given width."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from traceview.units import cell_width, shorten

if TYPE_CHECKING:  # the first screen is drawn before polars is there
    import polars as pl

Align = Literal["left", "right"]


@dataclass(frozen=True)
class Column:
    """One column. `key` is the frame's column, or a name of one's own where a table has no frame.

    `width` is in cells; a column that may `grow` gets what is left, and shrinks where not even the columns of
    priority 0 find room.
    `priority` 0 always stays, the largest number goes first where room is short. `format` turns a slice of
    the frame's column into one text a row.
    """

    key: str
    title: str
    width: int
    align: Align = "left"
    format: "Callable[[pl.Series], list[str]] | None" = None
    priority: int = 0
    grow: bool = False
    sortable: bool = True
    muted: bool = False


@dataclass(frozen=True)
class Placed:
    """A column that found room, its width there, and its number among the declared ones."""

    column: Column
    width: int
    number: int


SHRUNK = 16  # cells that a growing column keeps at least


def gap(available: int) -> int:
    """Cells between two columns: closer together on a narrow screen."""
    return 2 if available >= 100 else 1


def place(columns: Sequence[Column], available: int, keep_all: bool = False) -> list[Placed]:
    """The columns that fit into `available` cells, in the order declared.

    Columns are dropped by priority until the rest fits; with `keep_all` none is and the row may be wider.
    """
    shown = [Placed(column, column.width, number) for number, column in enumerate(columns)]
    between = gap(available)

    def needed() -> int:
        least = (min(p.width, SHRUNK) if p.column.grow and p.column.priority else p.width for p in shown)
        return sum(least) + between * (len(shown) - 1)

    while not keep_all and needed() > available:
        last = max(shown, key=lambda p: (p.column.priority, p.number))
        if last.column.priority == 0:
            break
        shown.remove(last)
    widths = {p.number: p.width for p in shown}
    spare = available - sum(widths.values()) - between * (len(shown) - 1)
    growing = [p.number for p in shown if p.column.grow]
    if spare > 0 and growing:
        share, extra = divmod(spare, len(growing))
        for number in growing:
            widths[number] += share
        widths[growing[0]] += extra
    elif spare < 0 and not keep_all:
        for number in reversed(growing):
            cut = min(-spare, max(0, widths[number] - SHRUNK))
            widths[number] -= cut
            spare += cut
    return [Placed(p.column, widths[p.number], p.number) for p in shown]


def fit(text: str, width: int, align: Align = "left") -> str:
    """`text`, safe and shortened or filled up to exactly `width` cells."""
    text = shorten(text, width)
    blank = " " * (width - cell_width(text))
    return blank + text if align == "right" else text + blank


_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(fraction: float | None, width: int) -> str:
    """A horizontal bar of eighths of a cell; anything above 0 shows at least one eighth."""
    if not fraction or fraction != fraction or fraction < 0:
        return " " * width
    eighths = max(1, min(round(fraction * width * 8), width * 8))
    whole, part = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[part] if part else "")).ljust(width)
