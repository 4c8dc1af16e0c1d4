"""Idle time as text: by cause, then the longest gaps."""

from typing import Any

from traceview.report.tables import Column
from traceview.report.text import Style, rendered
from traceview.units import fmt_count, fmt_ns, fmt_percent

_CAUSES = [Column("cause", number=False), Column("gaps"), Column("sum"), Column("longest"), Column("share")]
_GAPS = [
    Column("step"),
    Column("length"),
    Column("cause", number=False),
    Column("after", number=False, elastic=True),
    Column("before launch"),
    Column("kernel", number=False, elastic=True),
]


def text(document: dict[str, Any], style: Style, width: int) -> str:
    """The gaps document as a plain page or as markdown."""
    idle = document["idle_ns"]
    head = (
        f"idle {fmt_ns(idle)} in {fmt_count(document['total'])} gaps between GPU work, per device and added\n"
    )
    if not document["total"]:
        return "no idle time between GPU work\n"
    causes = [
        [c["cause"], fmt_count(c["gaps"]), *(fmt_ns(c[k]) for k in ("sum_ns", "longest_ns")), share]
        for c in document["causes"]
        for share in [fmt_percent(c["sum_ns"] / idle)]
    ]
    rows = [
        [
            "-" if row["step"] is None else str(row["step"]),
            fmt_ns(row["dur_ns"]),
            row["cause"],
            row["wait_name"] or "-",
            "-" if row["next_id"] is None else str(row["next_id"]),
            row["next_short"] or "-",
        ]
        for row in document["rows"]
    ]
    return "\n".join([head, rendered(style, _CAUSES, causes, width), rendered(style, _GAPS, rows, width)])
