"""Elements, bytes and FLOPs of every launch, each with its origin and the working behind it."""

from functools import lru_cache
from typing import Any

import polars as pl

from traceview.analysis.calls import Work, parse_call
from traceview.analysis.dtypes import size_of
from traceview.analysis.models import PagedSums, is_helper, model
from traceview.analysis.namefacts import NameFacts, name_facts
from traceview.analysis.sizing import geometry

FROM = pl.Enum(["shapes", "geometry", "trace", "assumed"])
_COLUMNS: dict[str, Any] = {
    "elements": pl.Int64,
    "elements_low": pl.Int64,  # below `elements` where that is an upper bound
    "elements_from": FROM,
    "bytes": pl.Int64,
    "bytes_low": pl.Int64,  # below `bytes` where the traffic is a range
    "bytes_from": FROM,
    "traffic_bytes": pl.Int64,  # least that the device's memory moves; null where a link is the bound
    "bus_bytes": pl.Int64,  # of a collective, on each rank's link
    "flops": pl.Int64,
    "flops_from": FROM,
    "compute_dtype": pl.String,  # whose peak FLOP rate applies
    "assumptions": pl.List(pl.String),
    "working": pl.List(pl.String),
}
SIZES = pl.Schema(_COLUMNS)
_INPUT: dict[str, Any] = {
    "name": pl.String,
    "op": pl.String,
    "input_dims": pl.String,
    "input_types": pl.String,
    "input_strides": pl.String,
    "concrete_inputs": pl.String,
    "collective": pl.String,
    "kind": pl.String,
    "grid": pl.List(pl.Int64),
    "block": pl.List(pl.Int64),
    "kernels_of_op": pl.Int64,
    "recorded_bytes": pl.Int64,
    "assumed": pl.List(pl.String),
}
_LARGEST = (1 << 63) - 1  # of Int64
_STRIDED = ("plain", "manual-unroll", "index")  # launchers whose operands may be broadcast
_OF_TYPES = ("element type", "result type")


def size_calls(calls: pl.DataFrame, *, rocm: bool = False, sums: PagedSums | None = None) -> pl.DataFrame:
    """The sizes of each row of `calls`, a frame of SIZES in the same order (with `key`, if `calls` has it).

    `calls` should hold distinct rows; each is worked out one by one. Columns, all but `name` optional:
    name (the full kernel name), kind (kernel, memcpy, memset), op, input_dims, input_types, input_strides,
    concrete_inputs, collective (texts of the schema), grid, block, recorded_bytes (the profiler's, of copies
    and sets), kernels_of_op (see `models.kernels_of_op`), assumed (what the person put in place of something
    missing, in words). `rocm`: the device is AMD's. `sums`: those of the step, for paged attention.

    Where shapes and grid of an elementwise kernel disagree, the shapes are another kernel's and the grid
    decides.
    """
    given = calls.select(
        pl.col(c).cast(t) if c in calls.columns else pl.lit(None, t).alias(c) for c, t in _INPUT.items()
    )
    works = [_work(*row, sums) for row in given.select(list(_INPUT)[:7]).iter_rows()]
    known = [
        w.elements if w and name_facts(n or "").elementwise else None
        for w, n in zip(works, given["name"], strict=True)
    ]
    bounds = geometry(given.select("name", "grid", "block", elements=pl.Series(known, dtype=pl.Int64)), rocm)
    rows = [
        _combined(row, work, bound)
        for row, work, bound in zip(
            given.iter_rows(named=True), works, bounds.iter_rows(named=True), strict=True
        )
    ]
    sizes = pl.DataFrame(rows, schema=SIZES)
    return calls.select("key").hstack(sizes) if "key" in calls.columns else sizes


@lru_cache(maxsize=16384)
def _work(
    name: str | None,
    op: str | None,
    dims: str | None,
    types: str | None,
    strides: str | None,
    concrete: str | None,
    collective: str | None,
    sums: PagedSums | None,
) -> Work | None:
    work = model(parse_call(op, name, dims, types, strides, concrete, collective), sums)
    if work is None:
        return None
    numbers = (work.elements, work.bytes, work.flops, work.bus_bytes)
    return work if all(n is None or n <= _LARGEST for n in numbers) else None


def _combined(row: dict[str, Any], work: Work | None, bound: dict[str, Any]) -> dict[str, Any]:
    """One row of SIZES: the model's work, checked against the grid, or what the grid alone says."""
    if row["kind"] in ("memcpy", "memset"):
        return _recorded(row)
    name = row["name"] or ""
    facts = name_facts(name)
    note = None
    if work is not None and row["collective"] is None and (row["kernels_of_op"] or 1) > 1:
        note = f"{row['op']} runs {row['kernels_of_op']} such kernels; its bytes cannot be told apart"
        work = None
    elif work is None and row["op"] and is_helper(name):
        note = f"a helper of {row['op']}: its traffic is not recorded"
    upper, lower = bound["elements"], bound["elements_low"]
    check = None
    if work is not None and work.elements is not None and upper is not None and facts.elementwise:
        check = _geometry_line(bound)
        if not lower <= work.elements <= upper:
            note = f"{check}: the shapes' {work.elements:,} elements are not this kernel's"
            work = None
        else:
            check += ", equal to the shapes" if upper == work.elements else ", which the shapes fit"
    if work is not None:
        return _modelled(row, work, check)
    out = _from_geometry(facts, bound) if upper is not None else dict.fromkeys(SIZES)
    out["working"] = [*([note] if note else []), *(out["working"] or [])]
    out["assumptions"] = [*(out["assumptions"] or []), *(row["assumed"] or [])]
    return out


def _modelled(row: dict[str, Any], work: Work, check: str | None) -> dict[str, Any]:
    assumptions = [*work.assumptions, *(row["assumed"] or [])]
    origin = "assumed" if assumptions else "trace" if work.on_link else "shapes"
    counted = (
        "shapes" if origin == "assumed" and all(a.startswith(_OF_TYPES) for a in assumptions) else origin
    )
    return {
        "elements": work.elements,
        "elements_low": work.elements,
        "elements_from": None
        if work.elements is None
        else "assumed"
        if row["assumed"]
        else counted
        if origin == "trace"
        else "shapes",
        "bytes": work.bytes,
        "bytes_low": work.bytes_low,
        "bytes_from": None if work.bytes is None else origin,
        "traffic_bytes": None if work.on_link else work.bytes_low,
        "bus_bytes": work.bus_bytes,
        "flops": work.flops,
        "flops_from": None if work.flops is None else counted,
        "compute_dtype": work.compute_dtype,
        "assumptions": assumptions,
        "working": [*work.working, *([check] if check else [])],
    }


def _recorded(row: dict[str, Any]) -> dict[str, Any]:
    """A copy or a set of the driver: the profiler recorded its bytes, one way."""
    moved = row["recorded_bytes"]
    name = row["name"] or ""
    out: dict[str, Any] = dict.fromkeys(SIZES)
    out["assumptions"], out["working"] = [], []
    if moved is None or not 0 <= moved <= _LARGEST // 2:
        return out
    out |= {"bytes": moved, "bytes_low": moved, "bytes_from": "trace", "flops": 0, "flops_from": "trace"}
    out["working"] = [f"recorded by the profiler: {moved:,} B"]
    if row["kind"] == "memset":
        out["traffic_bytes"] = moved
    elif "DtoD" in name:
        out["traffic_bytes"] = 2 * moved
        out["working"].append(f"read and written: the memory moves 2 x {moved:,} = {2 * moved:,} B")
    else:
        out["working"].append("the link bounds it, not the device's memory")
    return out


def _geometry_line(bound: dict[str, Any]) -> str:
    each = bound["per_thread_high"]
    line = f"grid {bound['blocks']:,} x {bound['threads']:,} x {each} = {bound['elements']:,}"
    if bound["per_thread_low"] != each:
        line += f" ({bound['per_thread_low']} to {each} elements a thread, by torch version)"
    return line


def _from_geometry(facts: NameFacts, bound: dict[str, Any]) -> dict[str, Any]:
    """Elements and bytes as the launch bounds them; types from the name, one byte where it is silent."""
    upper, lower = bound["elements"], bound["elements_low"]
    out: dict[str, Any] = dict.fromkeys(SIZES)
    assumptions: list[str] = []
    working = [_geometry_line(bound), f"at least {lower:,}, at most {upper:,} elements"]
    out |= {"elements": upper, "elements_low": lower, "elements_from": "geometry"}
    reads = 0 if facts.fills else 1 if facts.copies else facts.inputs
    if reads is not None:
        each = least = 0
        for verb, count, kind in (("read", reads, facts.in_dtype), ("write", 1, facts.out_dtype)):
            size = size_of(kind) or facts.element_bytes
            if not count:
                continue
            if size is None:
                assumptions.append(
                    f"{verb}: the type is not in the kernel's name; 1 B an element is the least"
                )
            each += count * (size or 1)
            least += (
                0 if verb == "read" and facts.elementwise in _STRIDED and count > 1 else count * (size or 1)
            )
            working.append(f"{verb} {count} x {size or 1} B ({kind or 'unknown type'}) an element")
        if least < each:
            working.append("the operands may be broadcast: only the result is certain")
        out |= {"bytes": upper * each, "bytes_low": lower * least, "bytes_from": "geometry"}
        out["traffic_bytes"] = lower * least
        working.append(
            f"bytes = at most {upper:,} x {each} = {upper * each:,} B, at least {lower * least:,} B"
        )
    flops = 0 if facts.copies or facts.fills else upper
    return out | {"flops": flops, "flops_from": "geometry", "assumptions": assumptions, "working": working}
