"""Groups of GPU work as text, with their distance to the floor and what is odd about them."""

from typing import Any

from traceview.report.tables import Column
from traceview.report.text import Style, fmt_per_step, rendered
from traceview.units import fmt_count, fmt_ns, fmt_percent

_COLUMNS = [
    Column("group", number=False, elastic=True),
    Column("share"),
    Column("per step"),
    Column("calls/step"),
    Column("mean", spare=2),
    Column("p95", spare=3),
    Column("x floor"),
    Column("saves <="),
    Column("what is odd", number=False, spare=4),
]


def text(document: dict[str, Any], style: Style, width: int, limit: int) -> str:
    """The groups document as a table; a list over `limit` rows (0: none) says what it leaves out."""
    rows = document["rows"]
    shown = rows[:limit] if limit else rows
    body = [
        [
            row["label"],
            fmt_percent(row["share"]),
            fmt_ns(row["per_step_ns"]),
            fmt_per_step(row["calls_per_step"]),
            fmt_ns(row["mean_ns"]),
            fmt_ns(row["p95_ns"]),
            "-"
            if row["over_floor"] is None
            else f"{row['over_floor']:.1f}" + ("?" if row["suspect"] else ""),
            fmt_ns(row["saves_ns"]),
            row["remark"] or "-",
        ]
        for row in shown
    ]
    where = f"{fmt_ns(document['total_ns'])} in {fmt_count(document['steps'])} steps"
    head = f"GPU work by {document['by']}, {where}\n\n"
    more = f"\n... and {fmt_count(len(rows) - len(shown))} more\n" if len(rows) > len(shown) else ""
    return head + rendered(style, _COLUMNS, body, width) + more
