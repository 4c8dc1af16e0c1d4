"""Can the numbers be trusted: what links, clocks and steps reveal that reading the file alone does not."""

from typing import Any

import polars as pl

from traceview.analysis import intervals
from traceview.analysis.header import properties_of
from traceview.analysis.steps import Steps
from traceview.trace import Notice, Trace
from traceview.units import fmt_percent

# Fewer events than this say nothing about a clock's resolution.
_ENOUGH = 20
# A duration is impossible where it runs over this many later starts on its own stream ...
_SUCCESSORS = 3
# ... and swallows at least this much of their time. Overlaps with the next kernel alone are real
# (programmatic dependent launch), and shorter ones are the clock's.
_SWALLOWED_NS = 50_000
# The GPU's records end early where the CPU goes on launching for longer than this share of the trace.
_EARLY = 0.05


def suspects(work: pl.DataFrame) -> pl.Series:
    """True for the rows of gpu_work whose duration cannot be: it covers several later starts on its stream.

    Work of equal start, and work that only reaches into its successor, is not suspect.
    """
    lane = pl.struct("device", "stream").rank("dense").cast(pl.Int64)
    timed = work.filter("timed").select("id", "begin_ns", "dur_ns", lane=lane).sort("lane", "begin_ns", "id")
    covered = intervals.covered_in_lane(timed)
    wild = covered.filter(
        pl.col("starts") >= _SUCCESSORS,
        pl.col("covered_ns") >= _SWALLOWED_NS,
        # Half of it at least lies over others' time: a long kernel among tiny ones is not wild by itself.
        pl.col("covered_ns") * 2 >= pl.col("dur_ns"),
    )
    return work["id"].is_in(wild["id"].implode()).alias("suspect_duration")


def notices(trace: Trace, work: pl.DataFrame, calls: pl.DataFrame, steps: Steps) -> list[Notice]:
    """The trace's own notices and those that only links and steps reveal, in the contract's words.

    work is gpu_work with `suspect_duration`; calls are attribution.launch_calls.
    """
    found = list(trace.notices)

    def add(code: str, count: int, message: str) -> None:
        if count:
            found.append(Notice(code, count, message))

    if work.height:
        lost = calls.filter(~pl.col("has_work")).height
        add("launches-without-work", lost, f"{lost:,} launch calls have no GPU work in the file")
        add("launched-before", *_launched_before(work))
        add(*_ends_early(work, calls))
    unclear = work.filter(pl.col("launch_link") == "ambiguous").height
    add(
        "ambiguous-links",
        unclear,
        f"{unclear:,} pieces of GPU work have several launch calls of one id: no link",
    )
    early = work.filter(pl.col("launch_delay_ns") < 0).height
    add(
        "negative-delay",
        early,
        f"{early:,} pieces of GPU work start before their launch call: the clocks disagree",
    )
    wild = work.filter("suspect_duration").height
    add(
        "suspect-duration",
        wild,
        f"{wild:,} durations run over several later starts on their stream; counted as recorded",
    )
    if steps.whole_trace:
        found.append(
            Notice(
                "no-steps", 1, "no step markers: the whole trace is one step; call prof.step() to mark steps"
            )
        )
    elif work.height:
        idle = steps.windows.height - work["step"].drop_nulls().n_unique()
        add(
            "steps-without-work",
            idle,
            f"{idle:,} of {steps.windows.height:,} steps have no GPU work in the file",
        )
    if resolution_ns(trace) == 1000:
        add(
            "coarse-clock",
            trace.gpu.height,
            "all times are whole microseconds: durations of short kernels are off by up to 1 us",
        )
    unnamed = [d for d in work["device"].unique().to_list() if not properties_of(trace, d).get("name")]
    add(
        "unknown-device",
        len(unnamed),
        f"the file does not name {len(unnamed)} of its GPUs: no peaks for them",
    )
    return found


def _launched_before(work: pl.DataFrame) -> tuple[int, str]:
    """How much GPU work has no launch in the file, and what becomes of it."""
    before = work.filter(pl.col("launch_link") == "before-window")
    total = int(work.filter("timed")["dur_ns"].sum())
    share = int(before.filter("timed")["dur_ns"].sum()) / total if total else None
    inside = before["step"].count()
    return before.height, (
        f"{before.height:,} pieces of GPU work ({fmt_percent(share)} of the time) were launched before the "
        f"recording; {inside:,} of them count in the step in which they ran"
    )


def _ends_early(work: pl.DataFrame, calls: pl.DataFrame) -> tuple[str, int, str]:
    """The notice for GPU records that end long before the CPU stops launching; count 0 where they do not."""
    last_work = work.filter("timed").select(intervals.END.max()).item()
    after = calls.filter(pl.col("begin_ns") > last_work) if last_work is not None else calls.clear()
    span = calls.select(pl.col("begin_ns").max() - pl.col("begin_ns").min()).item() or 0
    late = after.select(pl.col("begin_ns").max() - pl.lit(last_work)).item() or 0
    count = after.height if late > _EARLY * span else 0
    return "gpu-ends-early", count, f"the GPU's records end before the last {after.height:,} launch calls"


def resolution_ns(trace: Trace) -> int | None:
    """1 or 1000: the finest unit that the times of the GPU work use; null where there is too little of it."""
    timed = trace.gpu.filter("timed")
    if timed.height < _ENOUGH:
        return None
    fine = timed.select(((pl.col("begin_ns") % 1000 != 0) | (pl.col("dur_ns") % 1000 != 0)).any()).item()
    return 1 if fine else 1000


def coverage(work: pl.DataFrame, sites: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """How much of the GPU work is linked to what, and how: for each question its answers, largest first.

    Questions: launch, op, python, module, step. An answer has link, events, sum_ns and share (of the sum of
    all timed work). sites is callsites.call_sites.
    """
    table = pl.concat(
        [work.select("launch_link", "op_link", "step", "dur_ns", "timed"), sites], how="horizontal"
    )
    total = int(table.filter("timed")["dur_ns"].sum())
    questions = {
        "launch": pl.col("launch_link").cast(pl.String),
        "op": pl.col("op_link").cast(pl.String),
        "python": pl.when(pl.col("call_site").is_not_null()).then("site_from").otherwise(pl.lit("none")),
        "module": pl.when(pl.col("module").is_not_null()).then("site_from").otherwise(pl.lit("none")),
        "step": pl.when(pl.col("step").is_not_null()).then(pl.lit("in a step")).otherwise(pl.lit("outside")),
    }
    return {
        question: table.group_by(link=answer)
        .agg(events=pl.len().cast(pl.Int64), sum_ns=pl.col("dur_ns").filter("timed").sum())
        .with_columns(share=pl.col("sum_ns") / total if total else pl.lit(None, dtype=pl.Float64))
        .sort(["sum_ns", "link"], descending=[True, False])
        .to_dicts()
        for question, answer in questions.items()
    }


def missing(trace: Trace, recorded: dict[str, bool], steps: Steps) -> list[dict[str, str]]:
    """What the file does not hold: what, without (what cannot be told), option (of torch.profiler)."""
    found = []

    def add(absent: bool, what: str, without: str, option: str) -> None:
        if absent:
            found.append({"what": what, "without": without, "option": option})

    add(not trace.gpu.height, "GPU work", "anything about the GPU", "activities=[CPU, CUDA]")
    add(not recorded["shapes"], "shapes", "elements, bytes, FLOPs and floors", "record_shapes=True")
    add(not recorded["stacks"], "Python stacks", "the Python line of a launch", "with_stack=True")
    modules = trace.python["name"].cast(pl.String).str.starts_with("nn.Module: ").any()
    add(not modules, "modules", "the module of a launch", "with_stack=True")
    add(not recorded["memory"], "memory", "allocations", "profile_memory=True")
    marked = steps.source not in ("none", "period", "graph-launch")
    add(not marked, "step markers", "the steps' own borders", "schedule=..., and prof.step() in the loop")
    return found
