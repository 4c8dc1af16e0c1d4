"""How much each launch moves and computes, and how fast it could be: sizes and rooflines beside gpu_work."""

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl

from traceview.analysis.assumed import Assumption, assumed_sums, with_assumed
from traceview.analysis.gpus import Gpu, Overrides, find_gpu
from traceview.analysis.header import is_rocm, properties_of
from traceview.analysis.models import PagedSums, kernels_of_op
from traceview.analysis.roofline import BOUND, occupancy, roofline
from traceview.analysis.sizes import SIZES, size_calls
from traceview.analysis.sizing import grid_blocks
from traceview.analysis.work import numbered
from traceview.schema import Columns
from traceview.trace import Trace

# Launches that agree in all of these have the same sizes.
_ALIKE = [
    "variant",
    "op_name",
    "input_strides",
    "concrete_inputs",
    "collective_of",
    "recorded_bytes",
    "kernels_of_op",
]
# A collective's number in its sequence differs from call to call and says nothing of its size.
_SEQUENCE = r'"(Seq|Comms Id)": ?-?\d+'

_SHAPE = ["block", "registers_per_thread", "shared_memory_bytes"]  # what occupancy is reckoned from

_COLUMNS: Columns = {
    **SIZES,
    "bandwidth_gbs": pl.Float64,
    "bus_bandwidth_gbs": pl.Float64,
    "tflops": pl.Float64,
    "intensity": pl.Float64,
    "peak_bandwidth_fraction": pl.Float64,
    "peak_tflops_fraction": pl.Float64,
    "memory_floor_ns": pl.Int64,
    "compute_floor_ns": pl.Int64,
    "floor_ns": pl.Int64,
    "bound": BOUND,
    "suspect": pl.Boolean,
    "fits_cache": pl.Boolean,
    "waves": pl.Float64,
    "tail": pl.Float64,
    "blocks": pl.Int64,
    "blocks_per_sm": pl.Int64,
    "occupancy": pl.Float64,
    "limiter": pl.String,
}
PERFORMANCE = pl.Schema(_COLUMNS)


def gpus_of(trace: Trace, overrides: Overrides) -> dict[int | None, Gpu | None]:
    """The GPU and its peaks for each device that GPU work names; None where it is not known."""
    devices = trace.gpu["device"].unique().to_list()
    return {device: find_gpu(properties_of(trace, device), overrides) for device in devices}


def performance(
    trace: Trace,
    work: pl.DataFrame,
    gpus: Mapping[int | None, Gpu | None],
    sums: Mapping[int, PagedSums],
    assumed: Mapping[int, Assumption] = MappingProxyType({}),
) -> pl.DataFrame:
    """Sizes, rates and floors of each row of gpu_work, in its order: the columns of PERFORMANCE.

    gpus: see gpus_of. sums: for a step's index, what its marker says of cached tokens, which is what paged
    attention is reckoned from. assumed: for a variant, what a person puts in place of what is missing.
    Suspect durations are suspect here too.
    """
    calls = work.with_columns(
        kernels_of_op(work.select("name", op_id="op")),
        collective_of=pl.col("collective").str.replace_all(_SEQUENCE, '"$1":0'),
        sums_of=pl.when(pl.col("step").is_in(list(sums))).then("step"),
    )
    calls = numbered(with_assumed(calls, assumed), [*_ALIKE, "sums_of"], "key")
    distinct = calls.unique("key", keep="first", maintain_order=True)
    sizes = _sizes(distinct, is_rocm(trace), {**sums, **assumed_sums(assumed)})
    sized = (
        calls.select("id", "key", "device", "dur_ns", "timed", "suspect_duration", "block")
        .with_columns(work["registers_per_thread"], work["shared_memory_bytes"])
        .with_columns(grid_blocks(work.select("name", "grid", "block"), is_rocm(trace)).alias("blocks"))
        .join(sizes, on="key", how="left", maintain_order="left")
    )
    parts = [
        _of_device(part, gpus[device], properties_of(trace, device))
        for (device,), part in sized.partition_by("device", as_dict=True, maintain_order=True).items()
    ]
    if not parts:
        return pl.DataFrame(schema=PERFORMANCE)
    return pl.concat(parts).sort("id").select(PERFORMANCE.names())


def _sizes(distinct: pl.DataFrame, rocm: bool, sums: Mapping[int, PagedSums]) -> pl.DataFrame:
    """The sizes of distinct calls; those of a step with sums are reckoned with them."""
    wanted = distinct.select(
        "key",
        "name",
        "kind",
        "input_dims",
        "input_types",
        "input_strides",
        "concrete_inputs",
        "grid",
        "block",
        "recorded_bytes",
        "kernels_of_op",
        "sums_of",
        "assumed",
        op="op_name",
        collective="collective_of",
    )
    parts = wanted.partition_by("sums_of", as_dict=True, maintain_order=True, include_key=False)
    return pl.concat(
        [
            size_calls(part, rocm=rocm, sums=None if step is None else sums[step])
            for (step,), part in parts.items()
        ]
        or [pl.DataFrame(schema={"key": pl.Int64, **SIZES})]
    )


def _of_device(part: pl.DataFrame, gpu: Gpu | None, properties: Mapping[str, object]) -> pl.DataFrame:
    """The rows of one device with its roofline and occupancy; untimed rows have no rate."""
    took = part.select(pl.when(pl.col("timed")).then("dur_ns")).to_series()
    rates = roofline(part, took, gpu)
    shapes = numbered(part.select("id", *_SHAPE), _SHAPE, "shape")
    distinct = shapes.unique("shape", keep="first", maintain_order=True)
    resident = occupancy(distinct.select(_SHAPE), properties)[shapes["shape"]]
    suspect = rates["suspect"] | part["suspect_duration"]
    # As many blocks as fit run at a time on a multiprocessor; where that is unknown, waves are of one each.
    waves = pl.col("waves") / pl.coalesce("blocks_per_sm", 1)
    rates = rates.with_columns(resident["blocks_per_sm"]).with_columns(waves).drop("blocks_per_sm")
    rates = rates.with_columns(tail=pl.col("waves").ceil() - pl.col("waves"))
    return pl.concat([part, rates.with_columns(suspect.alias("suspect")), resident], how="horizontal")
