"""The note that a person takes away: markdown that pastes into a ticket or a chat as it is."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from traceview import __version__
from traceview.report import findings
from traceview.report.tables import Column
from traceview.report.text import (
    facts_items,
    facts_lines,
    fmt_dims,
    fmt_grid,
    fmt_per_step,
    rendered,
    selection_line,
    share_chart,
)
from traceview.units import fmt_count, fmt_ns, fmt_percent, md_cell, safe_text, shorten

# Under 100 columns, as chats and terminals wrap beyond that.
WIDTH = 96

_GROUPS = [
    Column("kernel", number=False, elastic=True),
    Column("share"),
    Column("per step"),
    Column("calls/step"),
    Column("mean"),
    Column("x floor"),
    Column("saves <="),
]
_LAUNCHES = [
    Column("id"),
    Column("step"),
    Column("duration"),
    Column("grid"),
    Column("block"),
    Column("op", number=False, elastic=True),
    Column("shapes", number=False, elastic=True),
]
_LISTED = 20
# A fact's line; the four frames of a Python stack fit, a template of 10 KB loses its middle.
_LONGEST = 500


@dataclass(frozen=True)
class Content:
    """What a note is made of.

    summary: the summary document of the selection. groups: its group rows that the note is about (marked:
    chosen by the person, else the largest). findings: rows of the findings document. launches and biggest:
    launch rows. command: the words that make the same note.
    """

    summary: dict[str, Any]
    groups: Sequence[dict[str, Any]]
    findings: Sequence[dict[str, Any]]
    launches: Sequence[dict[str, Any]]
    biggest: dict[str, Any] | None
    command: Sequence[str]
    marked: bool


def note(content: Content, width: int = WIDTH) -> str:
    """The page: facts, what stands out, where the time goes, the biggest launch, the command."""
    summary, groups = content.summary, content.groups
    parts = [f"# {md_cell(_file_name(summary['trace']['path']))}: where the GPU time goes\n", _facts(summary)]
    if content.findings:
        parts.append("## What stands out\n\n" + findings.pages(content.findings, md_cell))
    if groups:
        title = "Marked kernels" if content.marked else "Where the time goes"
        parts.append(f"## {title}\n\n{_chart(groups, width)}\n{_groups_table(groups, summary, width)}")
    if content.launches:
        parts.append(f"## Marked launches\n\n{_launches_table(content.launches, width)}")
    if content.biggest:
        parts.append(_launch(content.biggest, width))
    if summary["trace"]["notices"]:
        parts.append(
            "## What to know about this trace\n\n"
            + "".join(f"- {md_cell(n['message'])}\n" for n in summary["trace"]["notices"])
        )
    parts.append(
        "The same from the command line:\n\n"
        f"```\n{safe_text(shlex.join(content.command))}\n```\n\n"
        f"traceview {__version__}; sums are durations added over streams, shares are of the selected sum.\n"
    )
    return "\n".join(parts)


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def _facts(summary: dict[str, Any]) -> str:
    return "".join(facts_items([*facts_lines(summary), selection_line(summary["selection"])]))


def _chart(groups: Sequence[dict[str, Any]], width: int) -> str:
    return f"```\n{share_chart(groups, width - 8)}\n```\n"


def _groups_table(groups: Sequence[dict[str, Any]], summary: dict[str, Any], width: int) -> str:
    steps = max(1, summary["steps"]["count"])
    rows = [
        [
            g["label"],
            fmt_percent(g["share"]),
            fmt_ns(g["sum_ns"] / steps),
            fmt_per_step(g["calls_per_step"]),
            fmt_ns(g["mean_ns"]),
            "-" if g["over_floor"] is None else f"{g['over_floor']:.1f}{'?' if g['suspect'] else ''}",
            fmt_ns(g["saves_ns"]),
        ]
        for g in groups
    ]
    return rendered("markdown", _GROUPS, rows, width)


def _launches_table(launches: Sequence[dict[str, Any]], width: int) -> str:
    rows = [
        [
            str(r["id"]),
            "-" if r["step"] is None else str(r["step"]),
            fmt_ns(r["dur_ns"]),
            fmt_grid(r["grid"]),
            fmt_grid(r["block"]),
            r["op"] or "-",
            fmt_dims(r["input_dims"]),
        ]
        for r in launches[:_LISTED]
    ]
    more = len(launches) - _LISTED
    rest = f"\n... and {fmt_count(more)} more\n" if more > 0 else ""
    return rendered("markdown", _LAUNCHES, rows, width) + rest


def _launch(row: dict[str, Any], width: int) -> str:
    """The biggest launch as a list: what it is, what it moves, who called it."""
    op_stack = _chain(row["op_stack"], " <- ")
    if op_stack == "-" and row["launch_link"] == "graph":
        op_stack = "- (inside a CUDA graph)"
    facts = {
        "kernel": row["name"] or "-",
        "duration": f"{fmt_ns(row['dur_ns'])} ({fmt_count(row['dur_ns'])} ns), launch {row['id']}, "
        + ("outside of any step" if row["step"] is None else f"step {row['step']}"),
        "grid x block": f"{fmt_grid(row['grid'])} x {fmt_grid(row['block'])}",
        "shapes": fmt_dims(row["input_dims"]),
        "types": ", ".join(map(str, row["input_types"] or [])) or "-",
        "op": op_stack,
        "data": _data(row),
        "floor": _floor(row),
        "module": _chain(row["modules"], " in "),
        "Python": _chain(row["python_stack"][:4], " <- "),
        "launched by": f"{row['launched_by'] or '-'} ({row['launch_link']}), "
        f"delay {fmt_ns(row['launch_delay_ns'])}",
    }
    lines = "".join(f"- {key}: {md_cell(shorten(value, _LONGEST))}\n" for key, value in facts.items())
    return f"## The biggest launch: {md_cell(shorten(row['short_name'], width - 24))}\n\n{lines}"


def _data(row: dict[str, Any]) -> str:
    """What the launch moves, and where that is known from."""
    if row["bytes"] is None:
        return "-"
    elements = f"{fmt_count(row['elements'])} elements, " if row["elements"] is not None else ""
    low = "" if row["bytes_low"] == row["bytes"] else f"{fmt_count(row['bytes_low'])} to "
    return f"{elements}{low}{fmt_count(row['bytes'])} B (from {row['bytes_from']})"


def _floor(row: dict[str, Any]) -> str:
    """How fast it could be, and how far it is from that."""
    if row["floor_ns"] is None:
        return "-"
    fraction = max(row["peak_bandwidth_fraction"] or 0, row["peak_tflops_fraction"] or 0)
    doubt = "; more than the peak: the size is in doubt" if row["suspect"] else ""
    bound = f"{row['bound']}-bound" if row["bound"] else "bound unknown"
    return f"{fmt_ns(row['floor_ns'])}, {bound}; it reached {fmt_percent(fraction)} of the peak{doubt}"


def _chain(names: Sequence[str | None], between: str) -> str:
    """Names from the inside out, each of a length that can be read."""
    return between.join(shorten(name or "-", 120) for name in names) or "-"
