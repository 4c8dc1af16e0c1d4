"""The kernel tree, one level at a time: GPU work split by the keys of a grouping, with labels and remarks."""

import json
from typing import Any

import polars as pl

from traceview.analysis import intervals
from traceview.analysis.calls import json_list
from traceview.analysis.groups import GROUPINGS, along, grouped, inside, whole_ns
from traceview.analysis.namefacts import name_facts
from traceview.analysis.remarks import Layers, remark
from traceview.analysis.work import numbered

# More rows than anyone reads; the others are added up in one last row, so that the shares stay whole.
MOST_ROWS = 300
REST = "rest"

# Work that could be left out altogether.
_COULD_GO = ("copy-cast", "memcpy")
_WORDS = {
    "op_name": "op",
    "module_path": "module",
    "module": "module",
    "call_site": "Python line",
    "annotation": "annotation",
}
_NO_OP = {"graph": "inside a CUDA graph", "before-window": "launched before the recording"}


def level(
    work: pl.DataFrame,
    grouping: str,
    path: tuple[Any, ...],
    steps: int,
    names: pl.DataFrame,
    layers: Layers | None,
) -> pl.DataFrame:
    """What lies below `path`, largest first.

    work is the selected GPU work, names has group, name, short_name, family. Columns: those of
    groups.grouped; key (to go down with), level (the column split by), expandable, label, name (full kernel
    name, null on other levels), family, per_step_ns, remark; and the ceilings: exposed_ns, and per step what
    the step could shrink by at most: gone_ns if the row's work were gone, perfect_ns if it ran at its floor
    (null where that is unknown). A row with the level REST adds up the rows
    beyond MOST_ROWS; it cannot be opened.
    """
    column = GROUPINGS[grouping][len(path)]
    total = int(work.filter("timed")["dur_ns"].sum())
    here = along(work, grouping, path)
    table = grouped(here, [column], steps, total).rename({column: "key"})
    parts = [table.head(MOST_ROWS).with_columns(level=pl.lit(column))]
    if table.height > MOST_ROWS:
        tail = here.filter(pl.col(column).is_in(table["key"].slice(MOST_ROWS).implode(), nulls_equal=True))
        rest = grouped(tail.with_columns(key=pl.lit(None, dtype=table["key"].dtype)), ["key"], steps, total)
        parts.append(rest.with_columns(level=pl.lit(REST)))
    shown = pl.concat(parts)
    known = names.select("group", "name", "short_name", "family")
    if column == "variant":
        groups = here.select("variant", "group").unique()
        shown = shown.join(groups, left_on="key", right_on="variant", how="left", maintain_order="left")
    elif column == "group":
        shown = shown.with_columns(group=pl.col("key"))
    else:
        shown = shown.with_columns(group=pl.lit(None, dtype=pl.Int64))
    shown = shown.join(known, on="group", how="left", maintain_order="left")
    shown = shown.join(
        ceilings(work, grouping, path), on="key", how="left", maintain_order="left", nulls_equal=True
    ).with_columns(
        gone_ns=pl.col("exposed_ns") / max(steps, 1),
        perfect_ns=pl.min_horizontal("exposed_ns", pl.col("rated_ns") - pl.col("floor_ns"))
        .clip(lower_bound=0)
        .truediv(max(steps, 1)),
    )
    shown = shown.with_columns(perfect_ns=pl.when(pl.col("over_floor").is_not_null()).then("perfect_ns"))
    could_go = pl.coalesce(pl.col("family").cast(pl.String), pl.col("key").cast(pl.String)).is_in(_COULD_GO)
    shown = shown.with_columns(saves_ns=pl.when(could_go).then("gone_ns").otherwise("perfect_ns"))
    records = shown.to_dicts()
    below = len(path) + 1 < len(GROUPINGS[grouping])
    left_out = table.height - MOST_ROWS
    return shown.with_columns(
        label=pl.Series([_label(row, left_out) for row in records], dtype=pl.String),
        remark=pl.Series([_remark(row, layers) for row in records], dtype=pl.String),
        expandable=(pl.col("level") != REST) & pl.lit(below),
        per_step_ns=pl.col("sum_ns") / max(steps, 1),
    )


# What the groups document says of a row.
ROW_KEYS = (
    "label",
    "short_name",
    "name",
    "family",
    "op",
    "calls",
    "calls_per_step",
    "sum_ns",
    "per_step_ns",
    "share",
    "mean_ns",
    "p50_ns",
    "p95_ns",
    "min_ns",
    "max_ns",
    "variants",
    "over_floor",
    "suspect",
    "exposed_ns",
    "saves_ns",
    "remark",
)


def rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """A level of the tree as records with ROW_KEYS; times in whole nanoseconds."""
    whole = [whole_ns(pl.col(name)) for name in ("per_step_ns", "saves_ns")]
    return table.with_columns(whole).select(ROW_KEYS).to_dicts()


def ceilings(work: pl.DataFrame, grouping: str, path: tuple[Any, ...]) -> pl.DataFrame:
    """key and exposed_ns of each row below `path`: when its work ran and no other GPU work did."""
    column = GROUPINGS[grouping][len(path)]
    here = inside(grouping, path)
    timed = work.filter("timed").select(
        "device",
        "begin_ns",
        "dur_ns",
        here.alias("here"),
        key=pl.when(here).then(column),
        id=pl.int_range(pl.len()),
    )
    coded = numbered(timed, ["here", "key"], "part")
    keys = coded.filter("here").select("key", "part").unique()
    return intervals.exposed(coded, "device", "part").join(keys, on="part").select("key", "exposed_ns")


def _label(row: dict[str, Any], left_out: int) -> str:
    what = row["level"]
    if what == REST:
        return f"everything else ({left_out:,} more rows)"
    if what == "group":
        return str(row["short_name"])
    if what == "variant":
        return variant_label(row)
    if row["key"] is None:
        return f"no {_WORDS[what]}: " + _NO_OP.get(row["launch_link"], "none recorded")
    return str(row["key"])


def variant_label(row: dict[str, Any]) -> str:
    """`grid 557,496 x block 128  [495552,1,576] [495552,1,576] []  bf16 fp8`, with - for what is unknown."""
    dims = " ".join(json.dumps(d, separators=(",", ":")) for d in json_list(row["input_dims"])) or "shapes -"
    return f"grid {_size(row['grid'])} block {_size(row['block'])}  {dims}"


def _size(numbers: list[int] | None) -> str:
    if not numbers:
        return "-"
    kept = numbers[:1] if all(n == 1 for n in numbers[1:]) else numbers
    return "x".join(f"{n:,}" for n in kept)


def _remark(row: dict[str, Any], layers: Layers | None) -> str:
    facts = name_facts(row["name"] or "") if row["level"] in ("group", "variant") else None
    return remark(row, facts, layers, [str(t) for t in json_list(row["input_types"])])
