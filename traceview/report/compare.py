"""The comparison of two traces as text: a page for the terminal, a comment for a pull request, CSV."""

from collections.abc import Sequence
from typing import Any

from traceview.report.tables import Column, csv_table
from traceview.report.text import Style, fmt_dims, fmt_grid, fmt_per_step, rendered, selection_line
from traceview.report.waterfall import waterfall
from traceview.units import fmt_count, fmt_ns, fmt_percent, md_cell, safe_text

LIMIT = 15

_GROUPS = [
    Column("kernel", number=False, elastic=True),
    Column("status", number=False),
    Column("before"),
    Column("after"),
    Column("delta"),
    Column("change"),
    Column("calls/step"),
]
_VARIANTS = [
    Column("kernel", number=False, elastic=True),
    Column("side", number=False),
    Column("grid", number=False),
    Column("block", number=False),
    Column("shapes", number=False, elastic=True),
    Column("calls/step"),
    Column("mean"),
    Column("launch"),
]
_PHASES = [
    Column("phase", number=False),
    Column("steps"),
    Column("before"),
    Column("after"),
    Column("change"),
]
_PHASES += [Column("noise"), Column("verdict", number=False)]


def text(document: dict[str, Any], style: Style, width: int, limit: int = LIMIT) -> str:
    """The compare document as a page: verdict, what to know, waterfall, groups that are not the same."""
    markdown = style == "markdown"
    show = md_cell if markdown else safe_text
    head = [
        headline(document),
        *_facts(document, markdown),
        *(f"note    {r}" for r in document["comparable"]),
    ]
    if markdown:
        lines = [f"**{md_cell(head[0])}**\n\n", *(f"- {_marked(line)}\n" for line in head[1:])]
    else:
        lines = [f"{safe_text(line)}\n" for line in head]
    parts = ["".join(lines)]
    if document["phases"]:
        parts.append(rendered(style, _PHASES, [_phase_row(p) for p in document["phases"]], width))
    if document["step_ns"]["delta_ns"] is not None:
        drawn = waterfall(document, min(width, 100) - (4 if markdown else 0))
        parts.append(f"```\n{drawn}```\n" if markdown else drawn)
    listed = [g for g in document["groups"] if g["status"] != "same"]
    if listed:
        parts.append(rendered(style, _GROUPS, [_group_row(g) for g in listed[:limit]], width))
    parts.append(_rest(document["groups"], listed, limit))
    renamed = [g for g in listed[:limit] if g["status"] == "renamed"]
    if renamed:
        parts.append("".join(f"- {show(line)}\n" for line in map(_renamed, renamed)))
    if variants := [row for g in listed[:limit] for row in _variant_rows(g)]:
        parts.append(rendered(style, _VARIANTS, variants, width))
    return "\n".join(parts)


def headline(document: dict[str, Any]) -> str:
    """The verdict in one line: `step 95.0 ms -> 62.7 ms, -34.0 %: faster (noise 0 ns)`."""
    step = document["step_ns"]
    if step["delta_ns"] is None:
        return "steps of unknown length: no verdict"
    noise = "noise unknown" if step["noise_ns"] is None else f"noise {fmt_ns(step['noise_ns'])}"
    relative = change(step["before"], step["after"])
    times = f"{fmt_ns(step['before'])} -> {fmt_ns(step['after'])}"
    return f"step {times}, {relative}: {step['verdict']} ({noise})"


def _marked(line: str) -> str:
    word, rest = line.split(" ", 1)
    return f"{word}: {md_cell(rest.strip())}"


def _facts(document: dict[str, Any], short: bool) -> list[str]:
    """A line for each side; short: the file's name without its folders."""
    lines = []
    for word in ("before", "after"):
        side = document[word]
        path = side["path"].replace("\\", "/").rsplit("/", 1)[-1] if short else side["path"]
        phases = ", ".join(
            f"{count} {phase}" for phase, count in side["phases"].items() if phase != "unknown"
        )
        facts = [
            f"{fmt_count(side['steps'])} step{'' if side['steps'] == 1 else 's'}"
            + (f" ({phases})" if phases else ""),
            ", ".join(side["gpus"]) or "unknown GPU",
        ]
        if side["world_size"]:
            facts.append(f"rank {side['rank']} of {side['world_size']}")
        if any(value is not None for value in side["selection"].values()):
            facts.append(selection_line(side["selection"]))
        lines.append(f"{word:<7} {path}: {'; '.join(facts)}")
    return lines


def change(before: float | None, after: float | None) -> str:
    """`-50.0 %`; unknown where there is nothing to measure against."""
    if not before or after is None:
        return "-"
    fraction = (after - before) / before
    return ("-" if fraction < 0 else "+" if fraction > 0 else "") + fmt_percent(abs(fraction))


def signed(ns: int) -> str:
    """A difference of times, with its sign."""
    return ("+" if ns > 0 else "") + fmt_ns(ns)


def _phase_row(phase: dict[str, Any]) -> list[str]:
    step = phase["step_ns"]
    return [
        phase["phase"] or "unknown",
        f"{phase['steps_before']} -> {phase['steps_after']}",
        fmt_ns(step["before"]),
        fmt_ns(step["after"]),
        change(step["before"], step["after"]),
        fmt_ns(step["noise_ns"]),
        step["verdict"] if step["delta_ns"] is not None else "-",
    ]


def _group_row(group: dict[str, Any]) -> list[str]:
    before, after = (fmt_per_step(group[key]) for key in ("calls_before", "calls_after"))
    return [
        group["short_name"],
        group["status"],
        fmt_ns(group["before_ns"]),
        fmt_ns(group["after_ns"]),
        signed(group["delta_ns"]),
        change(group["before_ns"], group["after_ns"]),
        before if before == after else f"{before} -> {after}",
    ]


def _renamed(group: dict[str, Any]) -> str:
    how = f"matched by {group['matched_by']}"
    if group["names_differ_in"]:
        how += f", the names differ only in {group['names_differ_in']}"
    return f"renamed: {group['short_name']} -> {group['short_name_after']} ({how})"


def _rest(groups: Sequence[dict[str, Any]], listed: Sequence[dict[str, Any]], limit: int) -> str:
    """What the table leaves out."""
    lines = []
    if len(listed) > limit:
        delta = sum(g["delta_ns"] for g in listed[limit:])
        lines.append(f"... and {len(listed) - limit:,} groups more that are not the same, {signed(delta)}\n")
    if same := [g for g in groups if g["status"] == "same"]:
        times = f"{fmt_ns(sum(g['before_ns'] for g in same))} a step"
        groups_are = "group is" if len(same) == 1 else "groups are"
        delta = signed(sum(g["delta_ns"] for g in same))
        lines.append(f"{len(same):,} {groups_are} the same: {times}, {delta}\n")
    return "".join(lines)


def _variant_rows(group: dict[str, Any]) -> list[list[str]]:
    """Two rows for each pair of variants; the launch is the longest, for its card."""
    rows = []
    for pair in group.get("variants", ()):
        for side, variant in pair.items():
            if variant is not None:
                rows.append(
                    [
                        group["short_name"],
                        side,
                        fmt_grid(variant["grid"]),
                        fmt_grid(variant["block"]),
                        fmt_dims(variant["input_dims"]),
                        fmt_per_step(variant["calls_per_step"]),
                        fmt_ns(variant["mean_ns"]),
                        str(variant["launch"]),
                    ]
                )
    return rows


def groups_csv(document: dict[str, Any]) -> str:
    """The groups as CSV, exact values, one row a group; then idle, unexplained, the step (kind `step`)."""
    keys = ["key", "kind", "status", "matched_by", "before_ns", "after_ns", "delta_ns", "noise_ns"]
    keys += ["calls_before", "calls_after", "name_after", "family"]
    step, idle = document["step_ns"], document["idle_ns"]
    rows: list[dict[str, Any]] = [
        *document["groups"],
        {
            "key": "idle",
            "kind": "step",
            **{f"{k}_ns": idle[k] for k in ("before", "after")},
            "delta_ns": idle["delta_ns"],
        },
        {"key": "unexplained", "kind": "step", "delta_ns": document["unexplained_ns"]},
        {
            "key": "step",
            "kind": "step",
            "status": step["verdict"],
            "before_ns": step["before"],
            "after_ns": step["after"],
            "delta_ns": step["delta_ns"],
            "noise_ns": step["noise_ns"],
        },
    ]
    return csv_table(keys, [[row.get(key) for key in keys] for row in rows])
