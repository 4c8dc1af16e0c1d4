"""Findings about a trace as a whole: idle time and its causes, slow steps, swarms of short kernels."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from traceview.analysis.findings import Evidence, Finding, Scene
from traceview.analysis.gaps import by_cause
from traceview.analysis.pace import pace
from traceview.units import fmt_ns, fmt_percent

# Less of the span than this is no finding.
LEAST_OF_SPAN = 0.02
# One gap is a finding of its own from this share of the span on.
LONG_GAP = 0.01
# The host does not keep up where this much of the span is waiting for launches, in gaps this short.
LAUNCH_BOUND = 0.05
SHORT_KERNEL_NS = 5_000
SHORT_SHARE_OF_CALLS = 0.5
SHORT_PER_STEP = 100
_MOST_STEPS = 3
_MOSTLY = 0.9  # of the time: that one is named


def trace_findings(scene: Scene) -> Iterator[Finding]:
    """Every finding that is not about one kernel."""
    if not scene.timed.height:
        return
    yield from _idle(scene)
    yield from _short_kernels(scene)
    if not scene.whole_trace:
        yield from _slow_steps(scene)


def _idle(scene: Scene) -> Iterator[Finding]:
    causes = {row["cause"]: row for row in by_cause(scene.gaps).iter_rows(named=True)}
    sync, late = causes.get("after a sync"), causes.get("host was late")
    if sync and sync["sum_ns"] >= LEAST_OF_SPAN * scene.span_ns:
        yield _host_sync(scene, sync["sum_ns"], sync["gaps"])
    # One long pause is a gap of its own; a host that cannot keep up makes many.
    bound = late is not None and late["longest_ns"] < 0.5 * late["sum_ns"]
    if late and bound and late["sum_ns"] >= LAUNCH_BOUND * scene.span_ns:
        gaps = scene.gaps.filter(pl.col("cause") == "host was late")
        yield Finding(
            "launch-bound",
            f"the GPU waits for launches {fmt_percent(late['sum_ns'] / scene.span_ns)} of the time",
            late["sum_ns"] // scene.steps,
            share=None,
            launch=gaps.sort("dur_ns", descending=True)["next_id"][0],
            evidence=(
                Evidence("idle until a launch that came late", late["sum_ns"], "ns", "trace"),
                Evidence(
                    "gaps of that kind",
                    late["gaps"],
                    "gaps",
                    "trace",
                    f"median {_median(gaps['dur_ns'])}",
                ),
                Evidence("launch calls per step", scene.work.height / scene.steps, "calls", "trace"),
            ),
            caveats=("profiling with stacks slows the host down and makes such gaps longer",),
        )
    # What a host that waits or is late explains is told above.
    other = ~pl.col("cause").is_in(["after a sync", "host was late"] if bound else ["after a sync"])
    long = scene.gaps.filter(other, pl.col("dur_ns") >= LONG_GAP * scene.span_ns)
    long = long.sort("dur_ns", descending=True)
    if long.height:
        first = long.row(0, named=True)
        yield Finding(
            "idle-gap",
            f"the GPU is idle for {fmt_ns(first['dur_ns'])} at a stretch"
            + (f", {long.height - 1} more like it" if long.height > 1 else ""),
            int(long["dur_ns"].sum()) // scene.steps,
            launch=first["next_id"],
            evidence=(
                Evidence(
                    "the longest gap", first["dur_ns"], "ns", "trace", f"before launch {first['next_id']}"
                ),
                Evidence(f"its cause: {first['cause']}", None, None, "trace"),
                Evidence("such gaps together", int(long["dur_ns"].sum()), "ns", "trace"),
            ),
            caveats=("idle time at the edges of the recording may not be the program's",),
        )


def _host_sync(scene: Scene, total: int, count: int) -> Finding:
    waits = pl.concat([scene.gaps, scene.waits], how="horizontal").filter(pl.col("cause") == "after a sync")
    calls = waits.group_by("wait_name", "wait_site").agg(sum_ns=pl.col("dur_ns").sum(), gaps=pl.len())
    worst = calls.sort("sum_ns", descending=True).row(0, named=True)
    one = worst["sum_ns"] >= _MOSTLY * total and worst["wait_name"]
    waited = one or "the host has waited for it"
    return Finding(
        "host-sync",
        f"the GPU is idle after {waited}: {fmt_percent(total / scene.span_ns)} of the time",
        total // scene.steps,
        launch=waits.sort("dur_ns", descending=True)["next_id"][0],
        evidence=(
            Evidence("idle between a wait of the host and its next launch", total, "ns", "trace"),
            Evidence("gaps of that kind", count, "gaps", "trace", f"{count / scene.steps:.1f} per step"),
            Evidence(f"after {worst['wait_name']}", worst["sum_ns"], "ns", "trace"),
        ),
        caveats=("a wait that hands tokens to the host may be needed, but can overlap later launches",),
        python=worst["wait_site"],
    )


def _short_kernels(scene: Scene) -> Iterator[Finding]:
    kernels = scene.timed.filter(pl.col("kind") == "kernel")
    short = kernels.filter(pl.col("dur_ns") < SHORT_KERNEL_NS)
    per_step = short.height / scene.steps
    if per_step < SHORT_PER_STEP or short.height < SHORT_SHARE_OF_CALLS * kernels.height:
        return
    total = int(short["dur_ns"].sum())
    yield Finding(
        "many-short-kernels",
        f"{fmt_percent(short.height / kernels.height)} of the kernels take under {fmt_ns(SHORT_KERNEL_NS)}",
        None,
        share=total / scene.total_ns,
        calls_per_step=per_step,
        evidence=(
            Evidence("short kernels per step", per_step, "kernels", "trace"),
            Evidence("their time", total, "ns", "trace", f"{fmt_percent(total / scene.total_ns)} of all"),
        ),
        caveats=("what fusing them or a CUDA graph would save is not in a trace",),
    )


def _slow_steps(scene: Scene) -> Iterator[Finding]:
    found = pace(scene.table)
    slow = sorted(found.slow.items(), key=lambda item: -item[1])[:_MOST_STEPS]
    for index, times in slow:
        step = scene.table.filter(pl.col("index") == index).row(0, named=True)
        more = step["wall_ns"] - (found.wall_p50_ns or 0)
        yield Finding(
            "step-outlier",
            f"step {index} ({step['name']}) took {fmt_ns(step['wall_ns'])}, {times:.2f} times the median",
            more // scene.steps,
            evidence=(
                _beside_usual("its wall time", step, scene.table, "wall_ns"),
                _beside_usual("its idle time", step, scene.table, "idle_ns"),
                _beside_usual("its GPU work", step, scene.table, "sum_ns"),
            ),
        )


def _beside_usual(claim: str, step: dict[str, Any], table: pl.DataFrame, column: str) -> Evidence:
    return Evidence(claim, step[column], "ns", "trace", f"median {_median(table[column])}")


def _median(times: pl.Series) -> str:
    """The median of nanoseconds, in words."""
    return fmt_ns(times.cast(pl.Float64).quantile(0.5, "linear"))
