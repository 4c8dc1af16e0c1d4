"""The rows of a query, and what can be queried, as text and as a document."""

import json
import math
from typing import Any

import polars as pl

from traceview.report.plain import json_value
from traceview.report.tables import Column, csv_table
from traceview.report.text import Style, rendered
from traceview.units import UNKNOWN, fmt_count, safe_text

_LONGEST = 400  # characters of a cell: a name may be a megabyte


def document(
    sql: str, rows: pl.DataFrame, total: int, types: dict[str, str], selection: dict[str, Any]
) -> dict[str, Any]:
    """The document of `query --format json`: rows are the first of `total`, NaN and infinities are null."""
    return {
        "schema": "traceview.query/1",
        "sql": sql,
        "selection": selection,
        "columns": [{"name": name, "type": kind} for name, kind in types.items()],
        "total": total,
        "rows": [
            {key: json_value(value) for key, value in row.items()} for row in rows.iter_rows(named=True)
        ],
    }


def text(rows: pl.DataFrame, total: int, style: Style, width: int) -> str:
    """The rows as a table, and how many were left out; numbers are whole or have six digits, - is unknown."""
    columns = [
        Column(safe_text(name), number=dtype.is_numeric(), elastic=not dtype.is_numeric())
        for name, dtype in rows.schema.items()
    ]
    if not columns:
        return "no columns\n"
    body = [[cell(value) for value in row] for row in rows.iter_rows()]
    return rendered(style, columns, body, width) + left_out(rows.height, total)


def left_out(shown: int, total: int) -> str:
    """A line that says how many rows there are more, if any."""
    return (
        f"... {fmt_count(shown)} of {fmt_count(total)} rows; --limit 0 shows all\n" if shown < total else ""
    )


def rows_csv(rows: pl.DataFrame) -> str:
    """The rows as CSV, exact values; lists are written as JSON text."""
    body = [
        [json.dumps(json_value(v)) if isinstance(v, list | dict) else v for v in row]
        for row in rows.iter_rows()
    ]
    return csv_table(rows.columns, body)


def tables_text(tables: pl.DataFrame, purposes: dict[str, str], style: Style, width: int) -> str:
    """What can be queried: a table for each table, its columns with their types."""
    parts = []
    for (name,), part in tables.partition_by("table", as_dict=True, maintain_order=True).items():
        head = f"{name}: one row is {purposes[str(name)]} ({fmt_count(part['rows'][0])} rows)\n"
        columns = [Column("column", number=False), Column("type", number=False)]
        parts.append(
            f"{head}\n{rendered(style, columns, [*map(list, part.select('column', 'type').rows())], width)}"
        )
    return "\n".join(parts)


def cell(value: Any) -> str:
    """One value as it stands in a table."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return UNKNOWN
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) else f"{value:.6g}"
    if isinstance(value, list | dict):
        return json.dumps(json_value(value))
    return str(value)[:_LONGEST]
