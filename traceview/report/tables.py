"""Rows of text as a table: plain for terminals, markdown for tickets, CSV for spreadsheets."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from traceview.units import cell_width, md_cell, safe_text, shorten

# Narrower than this a shortened name says nothing.
_LEAST = 12
# Markdown wants three dashes below a title.
_RULE = 3


@dataclass(frozen=True)
class Column:
    """A column's title, whether it is a number (aligned right), and what a table may do to it to fit.

    elastic: its cells may be shortened. spare: it may be left out, the column with the highest number first;
    0 stays.
    """

    title: str
    number: bool = True
    elastic: bool = False
    spare: int = 0


def plain_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> str:
    """An aligned table of at most `width` cells where its columns allow that. Ends with a newline."""
    return _aligned(*_fitted(columns, rows, width, 2, 0, str), "  ")


def markdown_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int = 99) -> str:
    """A GitHub table, padded to be read as text too, of at most `width` cells where its columns allow it."""
    kept, cells = _fitted(columns, rows, width, 3, 4, lambda cell: md_cell(cell) if cell else "")
    return _aligned(kept, cells, " | ", markdown=True)


def csv_table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """RFC 4180 text. Texts are made safe, and cannot be taken for a formula by a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def csv_cell(cell: object) -> object:
    """A cell that is safe for a terminal and no formula to a spreadsheet; what is no text stays as it is."""
    if not isinstance(cell, str):
        return cell
    text = safe_text(cell)
    return "'" + text if text.lstrip()[:1] in ("=", "+", "-", "@") else text


def _fitted(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    width: int,
    gap: int,
    border: int,
    shown: Callable[[str], str],
) -> tuple[list[Column], list[list[str]]]:
    """The columns that have room, and their cells as they are shown: safe, escaped by `shown`, cut to fit."""
    safe = [[safe_text(cell) if cell else "" for cell in row] for row in rows]
    wide = [
        max([_RULE, cell_width(column.title), *(cell_width(shown(row[i])) for row in safe)])
        for i, column in enumerate(columns)
    ]
    least = [min(_LEAST, w) if c.elastic else w for c, w in zip(columns, wide, strict=True)]
    kept = list(range(len(columns)))
    spare = sorted((i for i in kept if columns[i].spare), key=lambda i: columns[i].spare)
    while spare and border + gap * (len(kept) - 1) + sum(least[i] for i in kept) > width:
        kept.remove(spare.pop())
    limits = {i: wide[i] for i in kept if columns[i].elastic}
    room = width - border - gap * (len(kept) - 1) - sum(wide[i] for i in kept if i not in limits)
    # The widest gives first, until all fit or nothing useful would be left.
    while limits and sum(limits.values()) > room and max(limits.values()) > _LEAST:
        widest = max(limits, key=lambda i: limits[i])
        others = sum(w for i, w in limits.items() if i != widest)
        second = max([_LEAST, *(w for i, w in limits.items() if i != widest)])
        limits[widest] = max(_LEAST, min(limits[widest] - 1, max(second, room - others)))
    cells = [[_cut(row[i], limits[i], shown) if i in limits else shown(row[i]) for i in kept] for row in safe]
    return [columns[i] for i in kept], cells


def _cut(cell: str, width: int, shown: Callable[[str], str]) -> str:
    """What is shown of a cell, shortened until it takes at most `width` cells: an escape takes room too."""
    room = width
    while cell_width(found := shown(shorten(cell, room))) > width and room > 1:
        room -= 1
    return found


def _aligned(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], between: str, markdown: bool = False
) -> str:
    """Lines of padded cells; as markdown with bars around each and a rule below the head."""
    table = [[c.title for c in columns], *rows]
    wide = [max(_RULE, *(cell_width(row[i]) for row in table)) for i in range(len(columns))]
    lines = [
        [_pad(cell, w, c.number) for cell, w, c in zip(row, wide, columns, strict=True)] for row in table
    ]
    if markdown:
        lines.insert(
            1, ["-" * (w - 1) + (":" if c.number else "-") for w, c in zip(wide, columns, strict=True)]
        )
        return "".join("| " + between.join(line) + " |\n" for line in lines)
    return "".join(between.join(line).rstrip() + "\n" for line in lines)


def _pad(text: str, width: int, right: bool) -> str:
    blanks = " " * max(0, width - cell_width(text))
    return blanks + text if right else text + blanks
