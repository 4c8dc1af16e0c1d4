"""How fast a launch could be: floors, what bounds it, waves and occupancy.

Roofline model (Williams, Waterman and Patterson, 2009): a kernel takes at least bytes / bandwidth and at
least FLOPs / peak rate. The floor is the larger one; it assumes a perfect kernel that starts with cold
caches, so data that is still in the second-level cache can beat it.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from traceview.analysis.gpus import Gpu, plausible

# Start and drain of a launch take a microsecond or two on the GPU, so a floor below that is no aim: below
# LAUNCH_FLOOR_NS for a grid that leaves multiprocessors empty, far below it for any grid.
LAUNCH_FLOOR_NS = 2_000
_FAR_BELOW_NS = 500
# FLOPs a byte from which a kernel may be compute-bound although its peak rate is not known.
_INTENSE = 8
BOUND = pl.Enum(["memory", "compute", "latency"])

# CUDA occupancy rules, from the occupancy calculator and the CUDA C++ programming guide, "compute
# capabilities": registers come in units of 256 a warp and for four warps at a time; shared memory comes in
# units of 128 B (256 B before 8.0), and since 8.0 the system takes 1 KiB of it for each block.
_REGISTER_UNIT, _WARP_UNIT = 256, 4
_BLOCKS_PER_SM = {(7, 5): 16, (8, 6): 16, (8, 7): 16, (8, 9): 24, (11, 0): 24, (12, 0): 24, (12, 1): 24}
_BLOCKS_OTHERWISE = 32


def roofline(sizes: pl.DataFrame, dur_ns: pl.Series, gpu: Gpu | None) -> pl.DataFrame:
    """Rates, floors and bounds of launches on one device; one row for each row of `sizes`, in its order.

    `sizes`: bytes, bytes_low, traffic_bytes, flops, compute_dtype (`sizes.SIZES`), and blocks where the grid
    is known (`sizing.grid_blocks`). Where bytes are a range all is reckoned from its lower end: a rate is
    then at least, and a floor at most, what it would be.
    `dur_ns`: measured durations, null or 0 where unknown. Returns
    bandwidth_gbs           bytes_low / duration, 10^9 B/s (a driver's copy: one way; a collective: algorithm)
    bus_bandwidth_gbs       bus_bytes / duration, of collectives
    tflops                  FLOPs / duration, 10^12 a second
    intensity               FLOPs / traffic_bytes
    peak_bandwidth_fraction traffic_bytes / duration / peak; null where the peak is unknown
    peak_tflops_fraction    likewise for FLOPs
    memory_floor_ns, compute_floor_ns, floor_ns   whole ns, half to even; floor_ns is the larger one
    bound                   memory or compute, whichever floor is larger; latency where that is below what a
                            launch takes anyhow (see LAUNCH_FLOOR_NS); null where one of the floors is
                            unknown and could be the larger one
    suspect                 true where a fraction is above 1: model or peak are wrong, or a cache helped
    fits_cache              traffic_bytes within the second-level cache, which can beat the memory's peak
    waves, tail             blocks / multiprocessors; the share of the last wave's places that stay empty
    """
    bandwidth = gpu.bandwidth_gbs.value if gpu and gpu.bandwidth_gbs else None
    cache = gpu.l2_mb.value * 1e6 if gpu and gpu.l2_mb else None
    kinds = sizes["compute_dtype"].unique().to_list()
    peaks = {k: peak.value for k in kinds if gpu and (peak := gpu.peak_tflops(k))}
    flop_peak = pl.lit(None, pl.Float64)
    for kind, value in peaks.items():
        flop_peak = pl.when(pl.col("compute_dtype").eq_missing(kind)).then(value).otherwise(flop_peak)
    blocks = pl.col("blocks") if "blocks" in sizes.columns else pl.lit(None, pl.Int64)
    bus = pl.col("bus_bytes") if "bus_bytes" in sizes.columns else pl.lit(None, pl.Int64)
    places = gpu.multiprocessors if gpu else None
    took = pl.when(pl.col("dur_ns") > 0).then(pl.col("dur_ns"))
    table = sizes.with_columns(dur_ns=dur_ns, blocks=blocks, bus_bytes=bus, flop_peak=flop_peak).with_columns(
        # bytes per ns are 10^9 bytes per second; FLOPs per ns and 10^3 are 10^12 per second
        bandwidth_gbs=pl.col("bytes_low") / took,
        bus_bandwidth_gbs=pl.col("bus_bytes") / took,
        tflops=pl.col("flops") / took / 1000,
        intensity=pl.col("flops") / pl.when(pl.col("traffic_bytes") > 0).then(pl.col("traffic_bytes")),
        peak_bandwidth_fraction=pl.col("traffic_bytes") / took / pl.lit(bandwidth, pl.Float64),
        peak_tflops_fraction=pl.col("flops") / took / 1000 / pl.col("flop_peak"),
        memory_ns=pl.col("traffic_bytes") / pl.lit(bandwidth, pl.Float64),
        compute_ns=pl.col("flops") / (pl.col("flop_peak") * 1000),
        waves=pl.col("blocks") / pl.lit(places, pl.Float64),
    )
    floor = pl.max_horizontal("memory_ns", "compute_ns")
    # Where bytes are a range, a launch is latency-bound only if the upper end says so too.
    highest = pl.max_horizontal(floor, pl.col("bytes") / pl.lit(bandwidth, pl.Float64))
    unfilled = (pl.col("blocks") < pl.lit(places, pl.Int64)).fill_null(True)
    doubtful = pl.col("compute_ns").is_null() & (pl.col("intensity") > _INTENSE)
    return table.select(
        "bandwidth_gbs",
        "bus_bandwidth_gbs",
        "tflops",
        "intensity",
        "peak_bandwidth_fraction",
        "peak_tflops_fraction",
        memory_floor_ns=_whole(pl.col("memory_ns")),
        compute_floor_ns=_whole(pl.col("compute_ns")),
        floor_ns=_whole(floor),
        bound=pl.when(pl.col("memory_ns").is_null() | doubtful)
        .then(None)
        .when((highest < _FAR_BELOW_NS) | ((highest < LAUNCH_FLOOR_NS) & unfilled))
        .then(pl.lit("latency"))
        .when(pl.col("compute_ns") > pl.col("memory_ns"))
        .then(pl.lit("compute"))
        .otherwise(pl.lit("memory"))
        .cast(BOUND),
        suspect=pl.max_horizontal("peak_bandwidth_fraction", "peak_tflops_fraction").fill_null(0) > 1,
        fits_cache=pl.col("traffic_bytes") <= pl.lit(cache, pl.Float64),
        waves="waves",
        tail=pl.col("waves").ceil() - pl.col("waves"),
    )


def explain(
    sizes: Mapping[str, Any], rates: Mapping[str, Any], dur_ns: int | None, gpu: Gpu | None
) -> list[str]:
    """The floor of one launch worked out in lines, as on paper, with the peaks' sources.

    `sizes` is a row of `sizes.SIZES` (with blocks and blocks_per_sm, where known), `rates` its row of
    `roofline`, whose waves count blocks_per_sm.
    """
    lines = []
    moved, flops, blocks = sizes["traffic_bytes"], sizes["flops"], sizes.get("blocks")
    peak = gpu.bandwidth_gbs if gpu else None
    if peak and moved is not None:
        lines.append(f"memory floor = {moved:,} B / {peak.value:,g} GB/s = {rates['memory_floor_ns']:,} ns")
        lines.append(f"peak bandwidth {peak.value:,g} GB/s: {peak.source}, {peak.confidence}")
    rate = gpu.peak_tflops(sizes["compute_dtype"]) if gpu else None
    if rate and flops:
        kind = sizes["compute_dtype"] or "given"
        lines.append(
            f"compute floor = {flops:,} FLOP / {rate.value:,g} TFLOP/s = {rates['compute_floor_ns']:,} ns"
        )
        lines.append(f"peak rate {rate.value:,g} TFLOP/s ({kind}): {rate.source}, {rate.confidence}")
    if dur_ns and rates["bandwidth_gbs"] is not None:
        share = rates["peak_bandwidth_fraction"]
        said = f", {share:.1%} of the peak" if share is not None else ", peak unknown"
        lines.append(f"achieved {rates['bandwidth_gbs']:,.1f} GB/s in {dur_ns:,} ns{said}")
    if dur_ns and rates["tflops"] and sizes["compute_dtype"]:
        share = rates["peak_tflops_fraction"]
        said = f", {share:.1%} of the peak" if share is not None else ", peak unknown"
        lines.append(f"achieved {rates['tflops']:,.1f} TFLOP/s in {dur_ns:,} ns{said}")
    if dur_ns and rates["floor_ns"]:
        lines.append(f"{dur_ns / rates['floor_ns']:.2f} x the floor of {rates['floor_ns']:,} ns")
    if rates["suspect"]:
        cached = (
            "the data fits the second-level cache"
            if rates["fits_cache"]
            else "the model or the peak is wrong"
        )
        lines.append(f"above the peak: {cached}")
    if blocks is not None and gpu and gpu.multiprocessors:
        filled = f"{1 - rates['tail']:.0%} of the last wave's places are filled"
        at_once = f" x {sizes['blocks_per_sm']} at a time" if sizes.get("blocks_per_sm") else ""
        over = f"{blocks:,} blocks / {gpu.multiprocessors} multiprocessors{at_once}"
        lines.append(f"{over} = {rates['waves']:,.1f} waves; {filled}")
    return lines


def _whole(ns: pl.Expr) -> pl.Expr:
    return ns.round(mode="half_to_even").cast(pl.Int64, strict=False)


def occupancy(launches: pl.DataFrame, properties: Mapping[str, Any]) -> pl.DataFrame:
    """The theoretical occupancy of CUDA launches, recomputed from their shape and the device's limits.

    `launches`: block (list of threads), registers_per_thread, shared_memory_bytes (static and dynamic).
    `properties`: the device's entry of `deviceProperties`. Returns blocks_per_sm, occupancy (0 to 1: warps
    resident on a multiprocessor / the most it holds) and limiter (warps, registers, shared memory, blocks);
    null where a figure is missing, the block does not fit, or the device is no CUDA device (warps of 64).
    """
    limits = {key: plausible(properties.get(key)) for key in (*_LIMITS, "computeMajor")}
    schema = {"blocks_per_sm": pl.Int64, "occupancy": pl.Float64, "limiter": pl.String}
    if any(value is None for value in limits.values()) or limits["warpSize"] != 32:
        return pl.DataFrame({name: [None] * launches.height for name in schema}, schema=schema)
    major, minor = limits["computeMajor"] or 0, plausible(properties.get("computeMinor")) or 0
    most_blocks = _BLOCKS_PER_SM.get((major, minor), _BLOCKS_OTHERWISE)
    most_warps = (limits["maxThreadsPerMultiprocessor"] or 0) // 32
    unit, taken = (128, 1024) if major >= 8 else (256, 0)

    sizes = [pl.col("block").list.get(i, null_on_oob=True).fill_null(1) for i in range(3)]
    threads = pl.when(pl.col("block").list.len() > 0).then(sizes[0] * sizes[1] * sizes[2])
    warps = _up(threads, 32) // 32
    per_warp = _up(pl.col("registers_per_thread") * 32, _REGISTER_UNIT)
    fitting = (pl.lit(limits["regsPerMultiprocessor"]) // per_warp) // _WARP_UNIT * _WARP_UNIT
    shared = _up(pl.col("shared_memory_bytes") + taken, unit)
    room = limits["sharedMemPerMultiprocessor"]
    by = {
        "warps": pl.lit(most_warps) // warps,
        "registers": pl.when(pl.col("registers_per_thread") > 0)
        .then(fitting // warps)
        .otherwise(most_blocks),
        "shared memory": pl.when(shared > 0).then(pl.lit(room) // shared).otherwise(most_blocks),
        "blocks": pl.lit(most_blocks),
    }
    known = (
        (threads > 0) & (pl.col("registers_per_thread") >= 0) & (pl.col("shared_memory_bytes") >= 0)
    ).fill_null(False)
    least = pl.min_horizontal(by.values())
    limiter = pl.lit(None, pl.String)
    for name, value in reversed(by.items()):
        limiter = pl.when(value == least).then(pl.lit(name)).otherwise(limiter)
    fits = known & (least > 0)
    return launches.select(
        blocks_per_sm=pl.when(fits).then(least.cast(pl.Int64)),
        occupancy=pl.when(fits).then(least * warps / most_warps),
        limiter=pl.when(fits).then(limiter),
    )


_LIMITS = ("warpSize", "maxThreadsPerMultiprocessor", "regsPerMultiprocessor", "sharedMemPerMultiprocessor")


def _up(value: pl.Expr, unit: int) -> pl.Expr:
    return (value + unit - 1) // unit * unit
