"""Single launches: which ones, in which order, and everything the contract says of each."""

import json
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from traceview.analysis import patterns
from traceview.analysis.attribution import Links
from traceview.analysis.families import FAMILIES
from traceview.analysis.nesting import NONE, Ints, chains
from traceview.errors import TraceError

Sort = Literal["time", "dur", "delay"]

# Of performance.PERFORMANCE, what is said of each launch.
_PERFORMANCE = (
    "elements",
    "elements_low",
    "elements_from",
    "bytes",
    "bytes_low",
    "bytes_from",
    "flops",
    "flops_from",
    "assumptions",
    "working",
    "bandwidth_gbs",
    "bus_bandwidth_gbs",
    "peak_bandwidth_fraction",
    "tflops",
    "peak_tflops_fraction",
    "floor_ns",
    "bound",
    "suspect",
    "blocks_per_sm",
    "waves",
    "occupancy",
    "limiter",
)

MODULE = "nn.Module: "


@dataclass(frozen=True)
class Query:
    """Which launches, and in what order. Regular expressions search anywhere in the full name."""

    kernel: str | None = None
    op: str | None = None
    family: str | None = None
    id: int | None = None
    straddling: bool = False  # only work that reaches over its step's window
    sort: Sort = "time"
    limit: int = 20  # 0: all


ANY = Query()


def matching(work: pl.DataFrame, query: Query) -> pl.DataFrame:
    """The rows of gpu_work that match, sorted, before the limit.

    Raises TraceError (wrong usage) for a pattern that is not a regular expression, or an unknown family.
    """
    for pattern, column, option in ((query.kernel, "name", "--kernel"), (query.op, "op_name", "--op")):
        if pattern is not None:
            wanted = patterns.matching(work[column], pattern, option)
            work = work.filter(pl.col(column).cast(pl.String).is_in(wanted.implode()))
    if query.family is not None:
        if query.family not in FAMILIES:
            raise TraceError(f"--family {query.family}: none of {', '.join(FAMILIES)}", exit_code=2)
        work = work.filter(pl.col("family").cast(pl.String) == query.family)
    if query.straddling:
        work = work.filter("straddles")
    if query.id is not None:
        work = work.filter(pl.col("id") == query.id)
    if query.sort == "time":
        return work.sort("begin_ns", "id", nulls_last=True)
    column = "dur_ns" if query.sort == "dur" else "launch_delay_ns"
    return work.sort([column, "id"], descending=[True, False], nulls_last=True)


def stacks(links: Links, work: pl.DataFrame) -> pl.DataFrame:
    """op_stack, modules and python_stack (lists of names, from the inside out) of each row of work.

    work needs `id` and `op`. A stack is empty where nothing is known.
    """
    trace = links.trace
    op = work["op"].fill_null(NONE).to_numpy()
    python = links.python.gather(work["id"]).fill_null(NONE).to_numpy()
    ops = _names(links.op_nest.parent_row if (op != NONE).any() else op, op, trace.ops["name"])
    frames = _names(links.python_parent if (python != NONE).any() else python, python, trace.python["name"])
    is_module = pl.element().str.starts_with(MODULE)
    return pl.DataFrame({"op_stack": ops, "frames": frames}).select(
        "op_stack",
        modules=pl.col("frames").list.eval(pl.element().filter(is_module).str.strip_prefix(MODULE)),
        python_stack=pl.col("frames").list.eval(pl.element().filter(~is_module)),
    )


def _names(parent_row: Ints, rows: Ints, names: pl.Series) -> pl.Series:
    """The names along the chain of each row; rows may hold -1, which gives an empty list."""
    distinct = np.unique(rows[rows != NONE])
    chain = chains(parent_row, distinct)
    lists = (
        chain.with_columns(name=names.gather(chain["row"]).cast(pl.String))
        .group_by("start", maintain_order=True)
        .agg("name")
    )
    found = pl.DataFrame({"start": rows}).join(lists, on="start", how="left", maintain_order="left")["name"]
    return found.fill_null(pl.Series([[]], dtype=pl.List(pl.String)))


def documents(links: Links, work: pl.DataFrame) -> list[dict[str, Any]]:
    """The contract's launch rows for rows of gpu_work with short_name and performance."""
    table = pl.concat([work, stacks(links, work)], how="horizontal")
    return [_document(row) for row in table.iter_rows(named=True)]


def _document(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "short_name": row["short_name"],
        "kind": row["kind"],
        "family": row["family"],
        "step": row["step"],
        "straddles": row["straddles"],
        "begin_ns": row["begin_ns"],
        "dur_ns": row["dur_ns"],
        "timed": row["timed"],
        "device": row["device"],
        "stream": row["stream"],
        "correlation": row["correlation"],
        "grid": row["grid"],
        "block": row["block"],
        "registers_per_thread": row["registers_per_thread"],
        "shared_memory_bytes": row["shared_memory_bytes"],
        "occupancy_pct": row["occupancy_pct"],
        "graph_id": row["graph_id"],
        "graph_node": row["graph_node"],
        "launched_by": row["launched_by"],
        "launch_begin_ns": row["launch_begin_ns"],
        "launch_delay_ns": row["launch_delay_ns"],
        "launch_link": row["launch_link"],
        "op": row["op_name"],
        "op_link": row["op_link"],
        "op_stack": row["op_stack"],
        "modules": row["modules"],
        "python_stack": row["python_stack"],
        "input_dims": decoded(row["input_dims"]),
        "input_types": decoded(row["input_types"]),
        "input_strides": decoded(row["input_strides"]),
        "concrete_inputs": decoded(row["concrete_inputs"]),
        **{key: row[key] for key in _PERFORMANCE},
        "collective": decoded(row["collective"]),
    }


def decoded(text: str | None) -> Any:
    """A shape or type list as it was in the file; text that is not JSON stays text."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
