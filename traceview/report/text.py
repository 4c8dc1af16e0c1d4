"""The answers of the command line as text: plain tables, markdown and CSV."""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal

from traceview import charts
from traceview.report.tables import Column, csv_table, markdown_table, plain_table
from traceview.selection import steps_text
from traceview.units import fmt_bytes, fmt_count, fmt_ns, fmt_percent, md_cell, safe_text, shorten

Style = Literal["table", "markdown"]

_GROUP_COLUMNS = [
    Column("kernel", number=False, elastic=True),
    Column("family", number=False),
    Column("share"),
    Column("sum"),
    Column("calls"),
    Column("/step"),
    Column("mean"),
    Column("p50"),
    Column("p95"),
    Column("max"),
]
# What the columns are worth their place at: the narrowest table that shows them.
_FROM_WIDTH = {"p95": 90, "max": 100, "p50": 120, "family": 120}
_MOST_BARS = 12

_STEP_COLUMNS = [
    Column("step", number=False, elastic=True),
    Column("phase", number=False),
    Column("wall"),
    Column("GPU sum"),
    Column("busy", spare=1),
    Column("idle"),
    Column("events"),
    Column("straddling", spare=2),
]

_LAUNCH_COLUMNS = [
    Column("id"),
    Column("step"),
    Column("start", spare=1),
    Column("duration"),
    Column("delay", spare=3),
    Column("stream", spare=5),
    Column("grid", number=False),
    Column("block", number=False, spare=4),
    Column("op", number=False, elastic=True),
    Column("shapes", number=False, elastic=True, spare=2),
    Column("kernel", number=False, elastic=True),
]


def rendered(style: Style, columns: list[Column], rows: list[list[str]], width: int) -> str:
    """A table in the wanted style."""
    return (plain_table if style == "table" else markdown_table)(columns, rows, width)


def facts_lines(document: dict[str, Any]) -> list[str]:
    """The trace and the selection in a few plain lines: what was read, what was set aside, what it is of."""
    trace, gpu, steps = document["trace"], document["gpu"], document["steps"]
    events = trace["events"]
    devices = {d["id"]: d["name"] for d in trace["devices"]}
    used = [d["id"] for d in gpu["devices"]]
    names = sorted({devices.get(i) or "unknown GPU" for i in used})
    lines = [
        f"trace     {safe_text(trace['path'])}  ({fmt_bytes(trace['bytes'])}, {trace['layout']}"
        + ("" if trace["rank"] is None else f", rank {trace['rank']}")
        + (f" of {trace['world_size']}" if trace["world_size"] else "")
        + ")",
        f"events    {fmt_count(events['in_file'])} in the file, {fmt_count(events['loaded'])} loaded, "
        f"{fmt_count(events['set_aside'])} set aside, {fmt_count(events['repaired'])} repaired",
    ]
    if used:
        lines += [
            f"GPU       {shorten(', '.join(names), 200)}; {gpu['kernels']:,} kernels, "
            f"{gpu['copies']:,} copies, {gpu['sets']:,} sets",
            f"time      sum {fmt_ns(gpu['sum_ns'])}, busy {fmt_ns(gpu['busy_ns'])} of a span of "
            f"{fmt_ns(gpu['span_ns'])}, idle {fmt_ns(gpu['idle_ns'])}",
        ]
    source = (
        "no markers: the whole trace is one step" if steps["source"] == "none" else f"from {steps['source']}"
    )
    lines.append(
        f"steps     {steps['count']} ({source}), wall p50 {fmt_ns(steps['wall_p50_ns'])}, "
        f"p95 {fmt_ns(steps['wall_p95_ns'])}"
    )
    return lines


def selection_line(selection: dict[str, Any]) -> str:
    """What is selected, in one line; for everything, the word all."""
    chosen = [
        steps_text(tuple(value), len(value)) if key == "steps" else f"{key} {value}"
        for key, value in selection.items()
        if value is not None
    ]
    return "selected  " + (", ".join(chosen) or "all")


def summary_tables(document: dict[str, Any], style: Style, width: int, limit: int = 30) -> str:
    """The summary document as text: facts, steps, groups. Lists over `limit` rows say what they leave out."""
    parts = ["\n".join([*facts_lines(document), selection_line(document["selection"])]) + "\n"]
    if style == "markdown":
        parts = ["".join(facts_items(parts[0].splitlines()))]
    after = "\n" if style == "markdown" else ""  # a line right below a markdown table would be a row of it
    items = document["steps"]["items"]
    if document["steps"]["source"] != "none":
        parts.append(rendered(style, _STEP_COLUMNS, [_step_row(s) for s in items[:limit]], width))
        below = _left_out(len(items) - limit, "steps")
        outside = document["steps"]["outside"]
        if outside["events"]:
            below += f"outside of any step: {outside['events']:,} events, {fmt_ns(outside['sum_ns'])}\n"
        parts[-1] += below and after + below
    groups = document["groups"] or document["host_groups"]
    columns = [c for c in _GROUP_COLUMNS if width >= _FROM_WIDTH.get(c.title, 0)]
    rows = [[_group_cells(g)[c.title] for c in columns] for g in groups[:limit]]
    if not groups:
        return "\n".join([*parts, "No GPU work in this selection.\n"])
    if not document["groups"]:
        parts.append("No GPU work in this file. CPU slices by name (nested ones count in each other):\n")
    rest = _rest(groups[limit:])
    parts.append(rendered(style, columns, rows, width) + (rest and after + rest))
    return "\n".join(parts)


def facts_items(lines: Sequence[str]) -> list[str]:
    """The lines of facts_lines and selection_line as markdown list items."""
    words = (line.split(" ", 1) for line in lines)
    return [f"- {word}: {md_cell(rest)}\n" for word, rest in words]


def _left_out(count: int, what: str) -> str:
    return f"... and {count:,} {what} more\n" if count > 0 else ""


def _rest(groups: list[dict[str, Any]]) -> str:
    if not groups:
        return ""
    share = sum(g["share"] or 0.0 for g in groups)
    return f"... and {len(groups):,} groups more, {fmt_percent(share)} together\n"


def _step_row(step: dict[str, Any]) -> list[str]:
    times = [fmt_ns(step[k]) for k in ("wall_ns", "sum_ns", "busy_ns", "idle_ns")]
    return [
        step["name"],
        step["phase"] or "-",
        *times,
        fmt_count(step["events"]),
        fmt_count(step["straddling"]),
    ]


def _group_cells(group: dict[str, Any]) -> dict[str, str]:
    return {
        "kernel": group["short_name"],
        "family": group["family"] or "-",
        "share": fmt_percent(group["share"]),
        "sum": fmt_ns(group["sum_ns"]),
        "calls": fmt_count(group["calls"]),
        "/step": fmt_per_step(group["calls_per_step"]),
        "mean": fmt_ns(group["mean_ns"]),
        "p50": fmt_ns(group["p50_ns"]),
        "p95": fmt_ns(group["p95_ns"]),
        "max": fmt_ns(group["max_ns"]),
    }


def fmt_per_step(calls: float | None) -> str:
    """Calls per step: whole where it is whole, else with one decimal."""
    if calls is None:
        return "-"
    return f"{calls:,.0f}" if calls == int(calls) else f"{calls:,.1f}"


def fmt_dims(dims: Any) -> str:
    """Shapes as text: `[495552, 1, 576] [495552, 1, 576] []`; a list of tensors keeps its brackets.

    What repeats more than twice in a row is written once: `[] x 12`.
    """
    if dims is None:
        return "-"
    if not isinstance(dims, list):
        return str(dims)
    runs = [(str(shape).replace('"', ""), len(list(run))) for shape, run in groupby(dims, key=str)]
    return " ".join(f"{shape} x {n}" if n > 2 else " ".join([shape] * n) for shape, n in runs)


def fmt_grid(grid: list[int] | None) -> str:
    """`557,496` where only x counts, else `8 x 2 x 1`; unknown is `-`."""
    if not grid:
        return "-"
    if all(n == 1 for n in grid[1:]):
        return fmt_count(grid[0])
    return " x ".join(map(fmt_count, grid))


def launches_table(document: dict[str, Any], style: Style, width: int) -> str:
    """The launches document as a table; start counts from the document's origin."""
    rows, first = document["rows"], document["origin_ns"]
    body = [
        [
            str(r["id"]),
            "-" if r["step"] is None else str(r["step"]),
            fmt_ns(r["begin_ns"] - first if r["timed"] else None),
            fmt_ns(r["dur_ns"] if r["timed"] else None),
            fmt_ns(r["launch_delay_ns"]),
            "-" if r["stream"] is None else str(r["stream"]),
            fmt_grid(r["grid"]),
            fmt_grid(r["block"]),
            r["op"] or "-",
            fmt_dims(r["input_dims"]),
            r["short_name"],
        ]
        for r in rows
    ]
    counts = f"{fmt_count(len(rows))} of {fmt_count(document['total'])} launches"
    head = f"{counts}; start counts from the trace's first step\n\n"
    return head + rendered(style, _LAUNCH_COLUMNS, body, width)


def share_chart(groups: Sequence[dict[str, Any]], width: int) -> str:
    """The largest groups' shares as plain bars."""
    return charts.share_bars(
        [shorten(g["short_name"], 44) for g in groups],
        [g["share"] or 0.0 for g in groups],
        [fmt_percent(g["share"]) for g in groups],
        min(width, 100),
        min(_MOST_BARS, len(groups)),
        plain=True,
    )


def groups_csv(document: dict[str, Any]) -> str:
    """The groups of a summary as CSV, exact values, one row a group."""
    groups = document["groups"] or document["host_groups"]
    keys = list(groups[0]) if groups else ["name", "calls", "sum_ns"]
    return csv_table(keys, [[g[k] for k in keys] for g in groups])


def launches_csv(document: dict[str, Any]) -> str:
    """Launch rows as CSV, exact values; lists are written as JSON text."""
    keys = list(document["rows"][0]) if document["rows"] else ["id", "name", "begin_ns", "dur_ns"]
    rows = [
        [json.dumps(v) if isinstance(v, (list, dict)) else v for v in (r[k] for k in keys)]
        for r in document["rows"]
    ]
    return csv_table(keys, rows)
