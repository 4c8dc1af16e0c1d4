"""The Nsight Compute command that profiles a launch: which kernel, and which of its launches."""

import re
import shlex
from typing import Any

import polars as pl

from traceview.analysis.cxx import parse_parts
from traceview.errors import TraceError


def ncu_command(work: pl.DataFrame, launch_id: int) -> dict[str, Any]:
    """command, kernel (what ncu takes for the name: the function's own, without templates), skip, caveats.

    ncu counts the launches that match its kernel filter, in the order of their launch, in the whole process:
    --launch-skip is the number of launches of that function before this one on its device, as far as the
    file has them. work: work.gpu_work. Raises TraceError (wrong usage) for a launch that is not there or is
    no kernel.
    """
    rows = work.filter(pl.col("id") == launch_id)
    if not rows.height:
        raise TraceError(f"no launch {launch_id}; ids run from 0 to {work.height - 1}", exit_code=2)
    if rows["kind"][0] != "kernel":
        raise TraceError(f"launch {launch_id} is no kernel; ncu profiles kernels alone", exit_code=2)
    base = function_name(rows["name"].cast(pl.String)[0])
    kernels = work.filter(pl.col("kind") == "kernel", pl.col("device").eq_missing(rows["device"][0]))
    names = kernels["name"].unique().cast(pl.String).drop_nulls()
    alike = [name for name in names if function_name(name) == base]
    order = [pl.coalesce("launch_begin_ns", "begin_ns"), "begin_ns", "id"]
    same = kernels.filter(pl.col("name").cast(pl.String).is_in(alike)).sort(order, nulls_last=True)
    skip = same["id"].index_of(launch_id) or 0
    words = ["ncu", "--set", "full", "--kernel-name", f"regex:^{re.escape(base)}$"]
    words += ["--launch-skip", str(skip), "--launch-count", "1"]
    caveats = [
        f"{skip:,} launches of this function come before it in the file; how many came before the recording "
        "began is not in the file: add them to --launch-skip",
    ]
    if len(alike) > 1:
        caveats.append(f"{len(alike)} kernels share this function name and are counted together")
    if rows["launch_link"][0] == "graph":
        caveats.append("it is part of a CUDA graph: ncu profiles its nodes with --graph-profiling node")
    return {"command": f"{shlex.join(words)} ...", "kernel": base, "skip": skip, "caveats": caveats}


def function_name(name: str | None) -> str:
    """What ncu compares by default: the function's own name, without namespaces, templates, arguments."""
    return parse_parts(name or "").base
