"""Findings as text: what stands out, why one may believe it, and what to mind."""

from collections.abc import Callable, Sequence
from typing import Any

from traceview.report.text import Style, fmt_dims, fmt_grid, fmt_per_step
from traceview.units import fmt_count, fmt_ns, fmt_percent, md_cell, safe_text, shorten

_LONGEST = 300


def text(document: dict[str, Any], style: Style) -> str:
    """The findings document as a plain page or as markdown."""
    rows = document["rows"]
    if not rows:
        return "Nothing stands out.\n"
    return pages(rows, md_cell if style == "markdown" else safe_text, "### " if style == "markdown" else "")


def pages(rows: Sequence[dict[str, Any]], show: Callable[[str], str], head: str = "### ") -> str:
    """Each finding in a few lines, numbered; `show` makes text fit for where it goes."""
    return "\n".join(head + "\n".join(finding_lines(row, i, show)) + "\n" for i, row in enumerate(rows, 1))


def finding_lines(row: dict[str, Any], number: int, show: Callable[[str], str]) -> list[str]:
    """One finding: a title line, then a list of what it rests on. Names of any length lose their middle."""

    def said(text: str) -> str:
        return show(shorten(text, _LONGEST))

    saves = row["at_most_saves_ns_per_step"]
    lines = [f"{number}. {said(row['title'])}", ""]
    about = [row["kind"], *row["also"]]
    most = "" if saves is None else f"; saves at most {fmt_ns(saves)} per step"
    lines.append(f"- kind: {', '.join(about)}{most}")
    if row["kernel"]:
        calls = f"{fmt_per_step(row['calls_per_step'])} calls per step"
        share = f"{fmt_percent(row['share'])} of the GPU's time, " if row["share"] is not None else ""
        lines.append(f"- {share}{calls}, kernel {show(shorten(row['kernel'], 100))}")
    if row["variant"]:
        shape = row["variant"]
        dims = f", shapes {said(fmt_dims(shape['input_dims']))}" if shape["input_dims"] else ""
        lines.append(f"- grid {fmt_grid(shape['grid'])}, block {fmt_grid(shape['block'])}{dims}")
    lines += [f"- {said(evidence_words(e))}" for e in row["evidence"]]
    if row["op"] or row["python"]:
        lines.append("- " + said(f"called from: {row['python'] or '-'}, op {row['op'] or '-'}"))
    lines += [f"- mind: {said(caveat)}" for caveat in row["caveats"]]
    return lines


def evidence_words(evidence: dict[str, Any]) -> str:
    """`elements: 285,437,952 (shapes): grid 557,496 x 128 x 4 = 285,437,952`."""
    value, unit = evidence["value"], evidence["unit"]
    said = str(evidence["claim"])
    if value is not None:
        if unit == "ns":
            said += f": {fmt_ns(value)}"
        elif unit is None:
            said += f": {fmt_percent(value)}"
        else:
            said += f": {fmt_count(value)} {unit}" if unit != "elements" else f": {fmt_count(value)}"
    if evidence["from"] not in (None, "trace"):
        said += f" (from {evidence['from']})"
    return said + (f"; {evidence['working']}" if evidence["working"] else "")
