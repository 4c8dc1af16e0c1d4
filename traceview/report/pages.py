"""Markdown notes of the screens beside the main note: findings, a query's answer, a comparison."""

import shlex
from collections.abc import Sequence
from typing import Any

import polars as pl

from traceview import __version__
from traceview.report import compare, findings, query
from traceview.report.text import facts_items, selection_line
from traceview.units import fmt_count, md_cell, safe_text

# Wide enough for a kernel's short name beside figures; what takes it wraps or scrolls.
WIDTH = 120
QUERY_ROWS = 200


def findings_page(
    name: str, selection: dict[str, Any], rows: Sequence[dict[str, Any]], total: int, command: Sequence[str]
) -> str:
    """Rows of the findings document, `total` being how many there are.

    name: the trace's file name; command: the words that print all of them.
    """
    facts = [selection_line(selection)]
    if len(rows) < total:
        facts.append(f"marked {fmt_count(len(rows))} of {fmt_count(total)} findings")
    facts.append("saved per step at most, each by itself; savings overlap and never add up")
    body = findings.pages(rows, md_cell) if rows else "Nothing stands out.\n"
    return _page(f"{name}: what stands out", facts_items(facts), body, command)


def query_page(name: str, sql: str, rows: pl.DataFrame, command: Sequence[str]) -> str:
    """The first QUERY_ROWS rows of a query's answer, and how many are left out."""
    shown = rows.head(QUERY_ROWS)
    left = rows.height - shown.height
    rest = f"\n... and {fmt_count(left)} of {fmt_count(rows.height)} rows more\n" if left else ""
    body = query.text(shown, shown.height, "markdown", WIDTH) + rest
    return _page(f"{name}: a query", [f"```sql\n{safe_text(sql)}\n```\n"], body, command)


def compare_page(names: Sequence[str], document: dict[str, Any], command: Sequence[str]) -> str:
    """The compare document of the traces with these file names."""
    return _page(" against ".join(names), [], compare.text(document, "markdown", WIDTH), command)


def _page(title: str, head: Sequence[str], body: str, command: Sequence[str]) -> str:
    return "\n".join(
        [
            f"# {md_cell(title)}\n",
            *(["".join(head)] if head else []),
            body,
            f"The same from the command line:\n\n```\n{safe_text(shlex.join(command))}\n```\n",
            f"traceview {__version__}\n",
        ]
    )
