"""What stands around one launch: its neighbours on the stream, and its size against the device."""

from typing import Any

import numpy as np
import polars as pl

from traceview.analysis.attribution import Links
from traceview.analysis.callsites import forward_ops
from traceview.analysis.nesting import NONE


def neighbours(work: pl.DataFrame, row: dict[str, Any]) -> dict[str, dict[str, Any] | None]:
    """The launches before and after on the same stream: id, name, begin_ns, dur_ns and gap_ns between them.

    A negative gap is an overlap. None at the ends of the stream, or where the launch has no time.
    """
    lane = work.filter(
        "timed", pl.col("device").eq_missing(row["device"]), pl.col("stream").eq_missing(row["stream"])
    ).sort("begin_ns", "id")
    at = lane["id"].index_of(row["id"])
    if at is None:
        return {"previous": None, "next": None}

    def beside(i: int) -> dict[str, Any] | None:
        if not 0 <= i < lane.height:
            return None
        other = lane.row(i, named=True)
        first, second = (other, row) if i < at else (row, other)
        gap = second["begin_ns"] - first["begin_ns"] - first["dur_ns"]
        return {**{k: other[k] for k in ("id", "name", "begin_ns", "dur_ns")}, "gap_ns": gap}

    return {"previous": beside(at - 1), "next": beside(at + 1)}


def op_facts(links: Links, op: int | None) -> dict[str, Any] | None:
    """What is known of a launch's op besides its shapes: sequence, forward_op, kernel_file, kernel_kwargs.

    op: a row of Trace.ops. forward_op is the name of the op whose gradient a backward op computes;
    kernel_file and kernel_kwargs are Inductor's, of a compiled region. None where there is no op.
    """
    if op is None:
        return None
    row = links.trace.ops.row(op, named=True)
    forward = int(forward_ops(links, np.array([op], dtype=np.int64))[0])
    return {
        "sequence": row["sequence"],
        "forward_op": None if forward == NONE else links.trace.ops["name"][forward],
        "kernel_file": row["kernel_file"],
        "kernel_kwargs": row["kernel_kwargs"],
    }
