"""Rows of text as a table: plain for terminals, markdown for tickets, CSV for spreadsheets."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from traceview.units import cell_width, md_cell, safe_text, shorten

# Narrower than this a shortened name says nothing.
_LEAST = 12


@dataclass(frozen=True)
class Column:
    """A column's title, whether it is a number (aligned right), and whether it may be shortened."""

    title: str
    number: bool = True
    elastic: bool = False


def plain_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> str:
    """An aligned table of at most `width` cells where its elastic columns allow that. Ends with a newline."""
    return _aligned(columns, _fitted(columns, rows, width, gap=2), "  ")


def markdown_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int = 99) -> str:
    """A GitHub table, padded to be read as text too, of at most `width` cells if elastic columns allow."""
    fitted = _fitted(columns, rows, width, gap=3, border=4)
    escaped = [[md_cell(cell) for cell in row] for row in fitted]
    return _aligned(columns, escaped, " | ", markdown=True)


def csv_table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """RFC 4180 text. Texts are made safe, and cannot be taken for a formula by a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _csv_cell(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = safe_text(cell)
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def _fitted(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int, gap: int, border: int = 0
) -> list[list[str]]:
    """The rows with safe cells, the elastic columns cut so that the table fits."""
    safe = [[safe_text(cell) if cell else "" for cell in row] for row in rows]
    wide = [max([cell_width(c.title), *(cell_width(row[i]) for row in safe)]) for i, c in enumerate(columns)]
    elastic = [i for i, c in enumerate(columns) if c.elastic]
    room = width - border - gap * (len(columns) - 1) - sum(w for i, w in enumerate(wide) if i not in elastic)
    # The widest gives first, until all fit or nothing useful would be left.
    limits = {i: wide[i] for i in elastic}
    while limits and sum(limits.values()) > room and max(limits.values()) > _LEAST:
        widest = max(limits, key=lambda i: limits[i])
        others = sum(w for i, w in limits.items() if i != widest)
        second = max([_LEAST, *(w for i, w in limits.items() if i != widest)])
        limits[widest] = max(_LEAST, min(limits[widest] - 1, max(second, room - others)))
    return [[shorten(cell, limits[i]) if i in limits else cell for i, cell in enumerate(row)] for row in safe]


def _aligned(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], between: str, markdown: bool = False
) -> str:
    """Lines of padded cells; as markdown with bars around each and a rule below the head."""
    table = [[c.title for c in columns], *rows]
    wide = [max(3, *(cell_width(row[i]) for row in table)) for i in range(len(columns))]
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
