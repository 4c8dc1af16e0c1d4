"""The trust document as text: notices, links, what is missing, what was read."""

from typing import Any

from traceview.report.tables import Column
from traceview.report.text import Style, rendered
from traceview.units import fmt_count, fmt_ns, fmt_percent, md_cell, safe_text

_LINKS = [
    Column("question", number=False),
    Column("answered by", number=False),
    Column("events"),
    Column("sum"),
    Column("share"),
]
_MISSING = [
    Column("not recorded", number=False),
    Column("so unknown", number=False, elastic=True),
    Column("torch.profiler option", number=False, elastic=True),
]
_KINDS = [Column("ph", number=False), Column("category", number=False, elastic=True), Column("events")]
_CLOCK = {1: "nanoseconds", 1000: "whole microseconds", None: "too few events to tell"}


def text(document: dict[str, Any], style: Style, width: int) -> str:
    """The document of `check` as a plain page or as markdown."""
    trace = document["trace"]
    events = trace["events"]
    complete = "complete" if trace["complete"] else "cut off: events are missing"
    parts = [
        f"{safe_text(trace['path'])}: {complete}\n\n"
        f"{fmt_count(events['in_file'])} events in the file = {fmt_count(events['loaded'])} loaded "
        f"({fmt_count(events['repaired'])} of them repaired) + {fmt_count(events['set_aside'])} set aside\n"
        f"clock: {_CLOCK[document['clock_resolution_ns']]}; "
        f"steps: {fmt_count(document['steps']['count'])} from {document['steps']['source']}\n",
        _notices(trace["notices"], style),
    ]
    links = [
        [
            question,
            answer["link"],
            fmt_count(answer["events"]),
            fmt_ns(answer["sum_ns"]),
            fmt_percent(answer["share"]),
        ]
        for question, answers in document["links"].items()
        for answer in answers
    ]
    if links:
        parts.append("GPU work by what it could be linked to:\n\n" + rendered(style, _LINKS, links, width))
    if document["missing"]:
        rows = [[m["what"], m["without"], m["option"]] for m in document["missing"]]
        parts.append(rendered(style, _MISSING, rows, width))
    kinds = [[k["ph"] or "-", k["cat"] or "-", fmt_count(k["count"])] for k in document["kinds"][:30]]
    parts.append(rendered(style, _KINDS, kinds, width))
    return "\n".join(parts)


def _notices(notices: list[dict[str, Any]], style: Style) -> str:
    if not notices:
        return "Nothing to warn of.\n"
    show = md_cell if style == "markdown" else safe_text
    return "".join(f"- {n['code']}: {show(n['message'])}\n" for n in notices)
