"""The totals of a selection: what the GPU did, and what the host did to make it do so."""

from typing import Any

import polars as pl

from traceview.analysis import intervals
from traceview.analysis.groups import GROUP_KEYS, whole_ns
from traceview.trace import Trace

# "Memcpy HtoD (Pinned -> Device)": the direction is the second word.
_DIRECTION = r"\b([HDP]to[HDP])\b"


def gpu_totals(work: pl.DataFrame) -> dict[str, Any]:
    """The contract's `gpu` object for a selection of analysis.work.gpu_work.

    sum adds durations over streams and devices; busy is the union per device, added; span is first start to
    last end per device, added; idle is span minus busy.
    """
    timed = work.filter("timed").with_columns(
        communication=pl.col("family").cast(pl.String).eq_missing(pl.lit("communication")).cast(pl.Int8)
    )
    devices = _devices(timed, work)
    kernels = timed.filter(pl.col("kind") == "kernel")
    collective = timed.filter(pl.col("communication") == 1)
    alone = intervals.exposed(timed, "device", "communication").filter(pl.col("communication") == 1)
    return {
        "kernels": work.filter(pl.col("kind") == "kernel").height,
        "copies": work.filter(pl.col("kind") == "memcpy").height,
        "sets": work.filter(pl.col("kind") == "memset").height,
        "untimed": work.height - timed.height,
        "sum_ns": int(timed["dur_ns"].sum()),
        "kernel_sum_ns": int(kernels["dur_ns"].sum()),
        "busy_ns": sum(d["busy_ns"] for d in devices),
        "span_ns": sum(d["span_ns"] for d in devices),
        "idle_ns": sum(d["idle_ns"] for d in devices),
        "communication_ns": int(collective["dur_ns"].sum()),
        "communication_exposed_ns": int(alone["exposed_ns"].sum()),
        "devices": devices,
    }


def _devices(timed: pl.DataFrame, work: pl.DataFrame) -> list[dict[str, Any]]:
    streams = (
        work.group_by("device", "stream")
        .agg(events=pl.len().cast(pl.Int64), sum_ns=pl.col("dur_ns").filter("timed").sum())
        .join(
            intervals.busy(timed, ["device", "stream"]), on=["device", "stream"], how="left", nulls_equal=True
        )
        .with_columns(pl.col("busy_ns").fill_null(0))
        .sort("device", "stream")
    )
    devices = (
        timed.group_by("device")
        .agg(
            sum_ns=pl.col("dur_ns").sum(),
            span_ns=intervals.END.max() - pl.col("begin_ns").min(),
        )
        .join(intervals.busy(timed, ["device"]), on="device", how="left", nulls_equal=True)
    )
    table = (
        work.select("device")
        .unique()
        .join(devices, on="device", how="left", nulls_equal=True)
        .with_columns(pl.col("sum_ns", "span_ns", "busy_ns").fill_null(0))
        .sort("device")
    )
    return [
        {
            "id": row["device"],
            "sum_ns": row["sum_ns"],
            "busy_ns": row["busy_ns"],
            "span_ns": row["span_ns"],
            "idle_ns": row["span_ns"] - row["busy_ns"],
            "streams": streams.filter(pl.col("device").eq_missing(row["device"])).drop("device").to_dicts(),
        }
        for row in table.iter_rows(named=True)
    ]


def host_totals(work: pl.DataFrame, calls: pl.DataFrame, cpu_ops: int) -> dict[str, Any]:
    """The contract's `host` object: selected launch calls (attribution.launch_calls), copies by direction.

    copied_bytes is null for a direction whose copies have no byte count at all.
    """
    copies = (
        work.filter(pl.col("kind") == "memcpy")
        .with_columns(way=pl.col("name").cast(pl.String).str.extract(_DIRECTION).fill_null("other"))
        .group_by("way")
        .agg(
            bytes=pl.when(pl.col("recorded_bytes").count() > 0).then(pl.col("recorded_bytes").sum()),
            ns=pl.col("dur_ns").filter("timed").sum(),
        )
        .sort("way")
    )
    return {
        "cpu_ops": cpu_ops,
        "launches": calls.height,
        "launch_ns": int(calls["dur_ns"].clip(lower_bound=0).sum()),
        "launches_without_gpu_work": calls.filter(~pl.col("has_work")).height,
        "gpu_work_without_launch": work.filter(pl.col("launch_link").is_in(["before-window", "none"])).height,
        "copied_bytes": dict(copies.select("way", "bytes").iter_rows()),
        "copied_ns": dict(copies.select("way", "ns").iter_rows()),
    }


def host_groups(trace: Trace, steps: int) -> list[dict[str, Any]]:
    """CPU slices by name as the contract's `host_groups`, for traces without GPU work; they nest."""
    frames = [f.select("name", "dur_ns") for f in (trace.ops, trace.python, trace.runtime, trace.slices)]
    slices = pl.concat(frames).filter(pl.col("dur_ns") >= 0)
    total = int(slices["dur_ns"].sum())
    dur = pl.col("dur_ns")
    table = (
        slices.group_by(pl.col("name").cast(pl.String).fill_null(""))
        .agg(
            calls=pl.len().cast(pl.Int64),
            sum_ns=dur.sum(),
            mean_ns=whole_ns(dur.mean()),
            p50_ns=whole_ns(dur.quantile(0.5, "linear")),
            p95_ns=whole_ns(dur.quantile(0.95, "linear")),
            min_ns=dur.min(),
            max_ns=dur.max(),
        )
        .with_columns(
            kind=pl.lit("host"),
            short_name=pl.col("name"),
            calls_per_step=pl.col("calls") / max(steps, 1),
            share=pl.col("sum_ns") / total if total else pl.lit(None, dtype=pl.Float64),
            family=pl.lit(None, dtype=pl.String),
            variants=pl.lit(None, dtype=pl.Int64),
        )
        .sort(["sum_ns", "name"], descending=[True, False])
    )
    return table.select(GROUP_KEYS).to_dicts()
