"""Findings about kernels: casts, copies, distance to the floor, exposed collectives, outliers."""

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from traceview.analysis.calls import json_list
from traceview.analysis.findings import Evidence, Finding, Scene
from traceview.analysis.gpus import Gpu
from traceview.analysis.namefacts import NameFacts, name_facts
from traceview.analysis.remarks import dtype_word
from traceview.analysis.sizing import product
from traceview.analysis.tensors import candidates, seen_tensors
from traceview.units import fmt_count, fmt_ns, fmt_percent

# Less of the GPU's time than this is no finding.
LEAST_SHARE = 0.01
DOMINANT_SHARE = 0.25
LEAST_EXPOSED = 0.02
# A grid of less than one block for so many multiprocessors leaves most of the GPU empty.
FEW_BLOCKS = 4
LEAST_SMALL = 0.02
# A copy of this much in one call is a tensor's whole store, not a slice of it.
LARGE_COPY_BYTES = 64_000_000
# Kernels reach 80 to 90 % of peak bandwidth; this far over the floor there is something to gain.
FAR_OVER_FLOOR = 1.5
# A launch sticks out at this many times the median of at least so many like it ...
OUTLIER_TIMES = 3.0
OUTLIER_CALLS = 5
# ... if what it takes beyond that is worth looking at.
OUTLIER_EXCESS_NS = 20_000
OUTLIER_EXCESS_SHARE = 0.003
_COPIES = ("aten::copy_", "aten::clone", "aten::contiguous", "aten::_to_copy", "aten::to")


def kernel_findings(scene: Scene) -> Iterator[Finding]:
    """Every finding about a variant that has its share of the time, or launches that stick out."""
    if not scene.total_ns:
        return
    tensors = seen_tensors(scene.trace.ops)
    for row in scene.variants.iter_rows(named=True):
        if (row["share"] or 0) < LEAST_SHARE:
            continue
        first = scene.work.filter(pl.col("id") == row["largest_id"]).row(0, named=True)
        facts = name_facts(row["name"] or "")
        yield from _of_variant(scene, row, first, facts, tensors)
    yield from _outliers(scene)


def _of_variant(
    scene: Scene, row: dict[str, Any], first: dict[str, Any], facts: NameFacts, tensors: pl.DataFrame
) -> Iterator[Finding]:
    exposed = int(row["exposed_ns"] or 0)
    shown = _about(scene, row, first)
    types = json_list(first["input_types"])
    copies = facts.copies or row["kind"] == "memcpy" or first["op_name"] in _COPIES
    evidence = (*_counts(scene, row), *_sizes(scene, row, first))
    if copies:  # what is only moved can be told by its size
        evidence = (*evidence, *_matches(scene, first, tensors))
    source, target = _types_of_cast(facts, types, first["op_name"])
    share = fmt_percent(row["share"])
    gone = exposed // scene.steps
    if target is not None:
        what = f"{source} -> {target}" if source else f"to {target}"
        yield Finding(
            "dtype-cast",
            f"a cast {what} of {_shape_words(first)} takes {share} of the GPU's time",
            gone,
            evidence=evidence,
            caveats=("it saves that only if what reads the result can read the source's type itself",),
            **shown,
        )
    if copies and (first["bytes"] or 0) >= LARGE_COPY_BYTES:
        yield Finding(
            "oversized-copy",
            f"a copy of {fmt_count(first['bytes'])} B a call takes {share} of the GPU's time",
            gone,
            evidence=evidence,
            caveats=("it saves that only if the copy can be left out",),
            **shown,
        )
    if row["family"] == "communication" and exposed >= LEAST_EXPOSED * scene.total_ns:
        yield Finding(
            "exposed-communication",
            f"{row['short_name']} runs alone for {fmt_ns(exposed / scene.steps)} a step",
            gone,
            evidence=(
                *evidence,
                Evidence("no other work ran beside it", exposed, "ns", "trace"),
            ),
            caveats=("its time includes waiting for the slowest rank; this is one rank's view",),
            **shown,
        )
    over = row["over_floor"]
    if over is not None and over >= FAR_OVER_FLOOR and not row["suspect"]:
        saved = min(exposed, row["rated_ns"] - row["floor_ns"])
        if saved >= LEAST_SHARE * scene.total_ns:
            yield Finding(
                "below-floor",
                f"{row['short_name']} takes {over:.1f} times its floor, {share} of the GPU's time",
                saved // scene.steps,
                evidence=evidence,
                caveats=_doubts(scene, first),
                **shown,
            )
    gpu, blocks = scene.gpus.get(first["device"]), first["blocks"]
    places = gpu.multiprocessors if gpu else None
    # Collectives take few blocks on purpose, to leave the rest to others.
    alone = row["kind"] == "kernel" and row["family"] != "communication"
    small = alone and blocks and places and blocks * FEW_BLOCKS <= places
    if small and row["share"] >= LEAST_SMALL:
        yield Finding(
            "small-grid",
            f"{row['short_name']} uses {blocks:,} of {places:,} multiprocessors for {share} of the time",
            None,
            evidence=(
                *evidence,
                Evidence("blocks", blocks, "blocks", "trace", f"{fmt_count(places)} multiprocessors"),
            ),
            caveats=("what more blocks would save is not in a trace",),
            **shown,
        )
    if (row["share"] or 0) >= DOMINANT_SHARE:
        yield Finding(
            "dominant-kernel",
            f"{row['short_name']} takes {share} of the GPU's time",
            None if over is None else max(0, min(exposed, row["rated_ns"] - row["floor_ns"])) // scene.steps,
            evidence=evidence,
            caveats=_doubts(scene, first),
            **shown,
        )


def _about(scene: Scene, row: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    """What every finding says of its variant."""
    per_step = row["calls_per_step"]
    layers = scene.layers.count if scene.layers and scene.layers.recorded else None
    if scene.layers is None or not scene.layers.times(per_step):
        layers = None
    return {
        "share": row["share"],
        "calls_per_step": per_step,
        "layers": layers,
        "kernel": row["name"],
        "group": row["group"],
        "variant": row["variant"],
        "launch": row["largest_id"],
        "shape": {
            "grid": first["grid"],
            "block": first["block"],
            "input_dims": json_list(first["input_dims"]) or None,
            "of_calls": row["calls"],
        },
        "python": first["call_site"],
        "op": first["op_name"],
    }


def _counts(scene: Scene, row: dict[str, Any]) -> Iterator[Evidence]:
    steps, per_step = scene.steps, row["calls_per_step"]
    working = f"{fmt_count(row['calls_in_steps'])} calls / {fmt_count(steps)} steps"
    if scene.layers and (times := scene.layers.times(per_step)):
        said = "layers" if scene.layers.recorded else "layers, by how often most kernels run"
        working += f"; {times} in each of {fmt_count(scene.layers.count)} {said}"
    yield Evidence("calls per step", per_step, "calls", "trace", working)
    same_kernel = scene.work.filter(pl.col("group") == row["group"])["variant"].n_unique()
    alike = "all calls of this kernel are alike" if same_kernel == 1 else f"one of {same_kernel} variants"
    yield Evidence(f"{alike}: one grid, block, shapes and types", row["calls"], "calls", "trace")
    yield Evidence("median duration", row["p50_ns"], "ns", "trace", f"p95 {fmt_ns(row['p95_ns'])}")
    share = f"{fmt_percent(row['share'])} of all GPU work"
    yield Evidence("per step", round(row["sum_ns"] / steps), "ns", "trace", share)


def _sizes(scene: Scene, row: dict[str, Any], first: dict[str, Any]) -> Iterator[Evidence]:
    working = list(first["working"] or [])
    if first["elements"] is not None:
        grid = next((line for line in working if line.startswith("grid ")), None)
        bound = "elements, at most" if first["elements_from"] == "geometry" else "elements"
        yield Evidence(bound, first["elements"], "elements", first["elements_from"], grid)
    if first["bytes"] is not None:
        total = next((line for line in reversed(working) if line.startswith("bytes = ")), None)
        yield Evidence("bytes moved by a call, at least", first["bytes"], "B", first["bytes_from"], total)
    if first["floor_ns"] is not None:
        fraction = max(first["peak_bandwidth_fraction"] or 0, first["peak_tflops_fraction"] or 0)
        yield Evidence(
            f"floor of a call, {first['bound']}-bound",
            first["floor_ns"],
            "ns",
            first["bytes_from"] or first["flops_from"],
            _floor_words(first, scene.gpus.get(first["device"])),
        )
        if row["p50_ns"] and first["dur_ns"]:
            usual = fraction * first["dur_ns"] / row["p50_ns"]
            yield Evidence("of the peak, at the median", round(usual, 3), None, first["bytes_from"])


def _floor_words(first: dict[str, Any], gpu: Gpu | None) -> str | None:
    """The division behind a floor: `856,313,856 B / 1,792 GB/s`."""
    if gpu is None:
        return None
    if first["bound"] == "compute":
        peak = gpu.peak_tflops(first["compute_dtype"])
        return f"{first['flops']:,} FLOP / {peak.value:,.0f} TFLOP/s" if peak else None
    if gpu.bandwidth_gbs is None or first["traffic_bytes"] is None:
        return None
    return f"{first['traffic_bytes']:,} B / {gpu.bandwidth_gbs.value:,.0f} GB/s"


def _matches(scene: Scene, first: dict[str, Any], tensors: pl.DataFrame) -> Iterator[Evidence]:
    """Which other tensors have that many elements: of the trace's ops, and of the model that was named."""
    elements = first["elements"]
    own = {first["op_name"], "aten::to", "aten::_to_copy", "aten::copy_"}
    for tensor in candidates(tensors, scene.model, elements):
        if tensor["op"] is None:
            claim = f"the model's {tensor['tensor']}"
        elif tensor["op"] in own:
            continue
        else:
            times = "" if tensor["multiple"] == 1 else f", {tensor['multiple']} times"
            claim = f"argument {tensor['position']} of {tensor['op']} has as many elements{times}"
        yield Evidence(claim, elements, "elements", "shapes", tensor["working"])


def _doubts(scene: Scene, first: dict[str, Any]) -> tuple[str, ...]:
    """Why the floor of a launch might be off."""
    doubts = [f"assumed: {assumption}" for assumption in first["assumptions"] or []]
    gpu = scene.gpus.get(first["device"])
    peak = gpu.bandwidth_gbs if gpu else None
    if peak and peak.confidence not in ("sure", "given"):
        doubts.append(f"the peak bandwidth used, {peak.value:,.0f} GB/s, is {peak.confidence}")
    if first["elements_from"] == "geometry":
        doubts.append("no shapes in the trace: the size is a bound from the grid")
    return tuple(doubts)


def _types_of_cast(facts: NameFacts, types: list[Any], op: str | None) -> tuple[str | None, str | None]:
    """Source and target type where the kernel converts while it copies; (None, None) where it does not."""
    if not (facts.copies and facts.casts):
        named = [str(t) for t in types[:2]]
        differ = len(named) == 2 and named[0] != named[1] and all(n not in ("", "Scalar") for n in named)
        if not (facts.copies and op == "aten::copy_" and differ):
            return None, None
    source = dtype_word(str(types[1])) if op == "aten::copy_" and len(types) > 1 else None
    target = facts.out_dtype or facts.compute_dtype or (dtype_word(str(types[0])) if types else None)
    return source, target


def _shape_words(first: dict[str, Any]) -> str:
    dims = [d for d in json_list(first["input_dims"]) if d]
    if dims:
        return json.dumps(dims[0])
    if first["elements"]:
        return f"at most {fmt_count(first['elements'])} elements"
    return f"grid {fmt_count(product(first['grid']))}"


def _outliers(scene: Scene) -> Iterator[Finding]:
    """Launches that took several times the median of those like them, one finding a variant."""
    many = scene.variants.filter(pl.col("calls") >= OUTLIER_CALLS).select(
        "variant", "p50_ns", "calls", "share", "calls_per_step", "group", "name", "short_name"
    )
    excess = pl.col("dur_ns") - pl.col("p50_ns")
    far = (
        scene.timed.join(many, on="variant", suffix="_of")
        .filter(pl.col("dur_ns") > OUTLIER_TIMES * pl.col("p50_ns"), excess >= OUTLIER_EXCESS_NS)
        .sort("dur_ns", "id", descending=[True, False])
    )
    rows = far.group_by("variant", maintain_order=True).agg(
        excess_ns=excess.sum(), launches=pl.len(), worst=pl.col("id").first()
    )
    rows = rows.filter(pl.col("excess_ns") >= OUTLIER_EXCESS_SHARE * scene.total_ns)
    for row in rows.iter_rows(named=True):
        worst = far.filter(pl.col("id") == row["worst"]).row(0, named=True)
        first_call = scene.timed.filter(pl.col("variant") == row["variant"]).sort("begin_ns", "id")["id"][0]
        times = worst["dur_ns"] / worst["p50_ns"]
        caveats = ["the first call of its kind: it may be a warm-up"] if first_call == row["worst"] else []
        if str(worst["family"]) == "communication":
            caveats.append("a collective's time includes waiting for the slowest rank")
        yield Finding(
            "outlier-launch",
            f"launch {row['worst']} of {worst['short_name']} took {fmt_ns(worst['dur_ns'])}, "
            f"{times:.0f} times the median",
            row["excess_ns"] // scene.steps,
            share=row["excess_ns"] / scene.total_ns,
            calls_per_step=worst["calls_per_step"],
            kernel=worst["name_of"],
            group=worst["group"],
            variant=row["variant"],
            launch=row["worst"],
            shape={
                "grid": worst["grid"],
                "block": worst["block"],
                "input_dims": json_list(worst["input_dims"]) or None,
                "of_calls": worst["calls"],
            },
            evidence=(
                Evidence("the launch", worst["dur_ns"], "ns", "trace", f"median {fmt_ns(worst['p50_ns'])}"),
                Evidence("launches over 3 times the median", row["launches"], "launches", "trace"),
                Evidence("beyond the median, together", row["excess_ns"], "ns", "trace"),
            ),
            caveats=tuple(caveats),
            python=worst["call_site"],
            op=worst["op_name"],
        )
