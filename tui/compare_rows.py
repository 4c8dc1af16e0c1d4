"""A comparison (Session.compare) as rows of tables and as a drawn waterfall."""

from typing import Any

import polars as pl

from traceview.palette import THEMES, Colour, sgr
from traceview.report.compare import change, signed
from traceview.report.text import fmt_dims, fmt_grid, fmt_per_step
from traceview.report.waterfall import WORDS, waterfall
from traceview.tui import cells
from traceview.units import UNKNOWN
from traceview.widgets.columns import Column

_STEP_ROWS = 7  # lines of the waterfall that are no groups, at most
_SLOWER: dict[str, Colour] = {"dark": (255, 135, 95), "light": (175, 95, 0), "ansi": 1}
_FASTER: dict[str, Colour] = {"dark": (95, 215, 175), "light": (0, 135, 95), "ansi": 2}


def signed_times(values: pl.Series) -> list[str]:
    """Differences of durations in ns."""
    return [UNKNOWN if v is None else signed(v) for v in values]


def noises(values: pl.Series) -> list[str]:
    """How far a difference may be off by chance."""
    return [UNKNOWN if text == UNKNOWN else f"± {text}" for text in cells.times(values)]


COLUMNS = (
    Column("status", "status", 8, "left", cells.names),
    Column("name", "kernel", 24, "left", cells.names, grow=True),
    Column("before_ns", "before", 8, "right", cells.times),
    Column("after_ns", "after", 8, "right", cells.times),
    Column("delta_ns", "delta", 9, "right", signed_times),
    Column("change", "change", 9, "right", cells.names, priority=1, sortable=False),
    Column("noise_ns", "noise", 9, "right", noises, priority=2),
    Column("calls", "calls/step", 12, "right", cells.names, priority=2, sortable=False),
    Column("how", "", 22, "left", cells.names, priority=3, muted=True, sortable=False),
)
VARIANT_COLUMNS = (
    Column("grid", "grid", 14, "left", cells.names),
    Column("block", "block", 9, "left", cells.names, priority=2),
    Column("before_ns", "before", 8, "right", cells.times),
    Column("after_ns", "after", 8, "right", cells.times),
    Column("delta_ns", "delta", 9, "right", signed_times),
    Column("calls", "calls/step", 12, "right", cells.names, priority=1),
    Column("mean_before", "mean", 8, "right", cells.times, priority=3),
    Column("mean_after", "after", 8, "right", cells.times, priority=3),
    Column("shapes", "shapes", 24, "left", cells.names, priority=1, grow=True, muted=True),
)


def group_rows(document: dict[str, Any]) -> pl.DataFrame:
    """id (place among the groups, then of the rest of the step), and what COLUMNS show.

    Times are ns a step; the deltas add up to the step's.
    """
    rows = [
        {
            "status": group["status"],
            "name": two(group["short_name"], group["short_name_after"] or group["short_name"]),
            "before_ns": group["before_ns"],
            "after_ns": group["after_ns"],
            "delta_ns": group["delta_ns"],
            "change": change(group["before_ns"], group["after_ns"]),
            "noise_ns": group["noise_ns"],
            "calls": two(fmt_per_step(group["calls_before"]), fmt_per_step(group["calls_after"])),
            "how": "" if group["matched_by"] in (None, "name") else f"matched by {group['matched_by']}",
        }
        for group in document["groups"]
    ]
    idle = document["idle_ns"]
    sides = {f"{side}_ns": idle[side] for side in ("before", "after")}
    rest = [{"name": "GPU idle", **sides, "delta_ns": idle["delta_ns"]}]
    for key, ns in document["unexplained"].items():
        if ns:
            rest.append({"name": WORDS.get(key, "rounding of the means"), "delta_ns": ns})
    quiet = dict.fromkeys(("status", "calls", "how", "change"), "")
    whole = [*rows, *(quiet | row for row in rest)]
    schema = {c.key: pl.Int64 if c.key.endswith("_ns") else pl.String for c in COLUMNS}
    return pl.DataFrame(whole, schema=schema, strict=False).with_row_index("id").cast({"id": pl.Int64})


def step_row(document: dict[str, Any]) -> dict[str, str]:
    """The pinned row: the step itself."""
    step = document["step_ns"]
    keys = ("before", "after", "delta_ns", "noise_ns")
    one = pl.DataFrame({key: [step[key]] for key in keys}, schema=dict.fromkeys(keys, pl.Int64))
    return {
        "status": step["verdict"],
        "name": "the whole step",
        "before_ns": cells.times(one["before"])[0],
        "after_ns": cells.times(one["after"])[0],
        "delta_ns": signed_times(one["delta_ns"])[0],
        "change": change(step["before"], step["after"]),
        "noise_ns": noises(one["noise_ns"])[0],
    }


def two(before: str, after: str) -> str:
    """One text where both sides say the same."""
    return before if before == after else f"{before} -> {after}"


def variant_rows(group: dict[str, Any]) -> pl.DataFrame:
    """The variants of a group side by side: id (place), what VARIANT_COLUMNS show, both launches."""
    rows = []
    for pair in group["variants"]:
        before, after = pair["before"] or {}, pair["after"] or {}

        def both(key: str, show: Any, before: dict[str, Any] = before, after: dict[str, Any] = after) -> str:
            return two(*(show(side[key]) if side else "none" for side in (before, after)))

        rows.append(
            {
                "grid": both("grid", fmt_grid),
                "block": both("block", fmt_grid),
                "before_ns": before.get("per_step_ns", 0),
                "after_ns": after.get("per_step_ns", 0),
                "delta_ns": (after.get("per_step_ns") or 0) - (before.get("per_step_ns") or 0),
                "calls": both("calls_per_step", fmt_per_step),
                "mean_before": before.get("mean_ns"),
                "mean_after": after.get("mean_ns"),
                "shapes": both("input_dims", fmt_dims),
                "launch_before": before.get("launch"),
                "launch_after": after.get("launch"),
            }
        )
    texts = ("grid", "block", "calls", "shapes")
    keys = [*(c.key for c in VARIANT_COLUMNS), "launch_before", "launch_after"]
    schema = {key: pl.String if key in texts else pl.Int64 for key in keys}
    return pl.DataFrame(rows, schema=schema, strict=False).with_row_index("id").cast({"id": pl.Int64})


def draw_waterfall(document: dict[str, Any], width: int, height: int, theme: str, color: bool) -> str:
    """The step's difference, group by group; lines that add time in one colour, that save it in another."""
    if document["step_ns"]["delta_ns"] is None or width < 1:
        return "a step without a length: nothing to add up"
    lines = waterfall(document, width, max(1, height - _STEP_ROWS)).splitlines()[:height]
    return "\n".join(_tinted(line, theme) for line in lines) if color else "\n".join(lines)


def _tinted(line: str, theme: str) -> str:
    value = line.rstrip().rpartition("  ")[2]
    if value[:1] not in "+-":
        return f"{sgr(THEMES[theme].axis)}{line}\x1b[0m" if line.startswith("(") else line
    return f"{sgr((_SLOWER if value[0] == '+' else _FASTER)[theme])}{line}\x1b[0m"
