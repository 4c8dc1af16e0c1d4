"""The steps of a trace, and the step of each piece of GPU work.

Two definitions stand side by side. Launched-in: work belongs to the step that holds its launch call; work
without a launch in the file to the GPU step annotation that holds its start, else to the CPU window that
does, else to none. By clock: all GPU work clipped to the step's CPU window.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.datatypes import DataType, DataTypeClass

from traceview.analysis import intervals, patterns
from traceview.analysis.markers import GRAMMARS, NEVER_STEPS, PHASE, marker_facts
from traceview.analysis.period import FEWEST_STEPS, find_period, sequence
from traceview.errors import TraceError
from traceview.schema import Columns
from traceview.trace import Trace

# One row a step, in time order. wall_ns and period_ns are null where unknown (period: the last step).
_WINDOWS: Columns = {
    "index": pl.Int64,
    "name": pl.String,
    "phase": PHASE,
    "phase_from": pl.String,
    "batch": pl.Int64,
    "tokens": pl.Int64,
    "begin_ns": pl.Int64,
    "wall_ns": pl.Int64,
    "period_ns": pl.Int64,
    "cut_off": pl.Boolean,
}
WINDOWS = pl.Schema(_WINDOWS)

_NO_GPU_WINDOWS = pl.DataFrame(
    schema={"device": pl.Int64, "index": pl.Int64, "begin_ns": pl.Int64, "dur_ns": pl.Int64}
)
# An annotation is taken for the step where it holds this share of the launches.
_NEARLY_ALL = 0.8
_CUT_SHORT = 0.5


@dataclass(frozen=True)
class Steps:
    """Where the steps are and how they were found.

    windows: WINDOWS. gpu_windows: device, index, begin_ns, dur_ns of the markers' copies on the GPU.
    source and confidence (0 to 1) are the JSON contract's; source "none" is one step, the whole trace.
    """

    windows: pl.DataFrame
    gpu_windows: pl.DataFrame
    source: str
    confidence: float | None

    @property
    def whole_trace(self) -> bool:
        """True where the trace has no steps and stands for one."""
        return self.source == "none"


def find_steps(trace: Trace, work: pl.DataFrame, marker: str | None = None) -> Steps:
    """The steps: by the first of these that answers.

    The annotations that match `marker`, a regular expression of the person's own; a framework's markers
    (markers.GRAMMARS); an annotation of the user's own that repeats and covers the launches; the period with
    which the launches repeat; else one step, the whole trace. work is linked_work. Raises TraceError (wrong
    usage) for a marker that is no regular expression or matches nothing.
    """
    marks = trace.annotations.filter(pl.col("begin_ns").is_not_null(), pl.col("dur_ns") >= 0).with_columns(
        pl.col("name").cast(pl.String).fill_null(""), pl.col("on_gpu").fill_null(False)
    )
    if marker is not None:
        return _from_marks(
            marks.filter(pl.col("name").is_in(_matching(marks, marker).implode())), "annotation", trace
        )
    names = marks["name"].unique()
    for grammar in GRAMMARS:
        matching = names.filter(names.str.contains(grammar.pattern))
        if len(matching):
            return _from_marks(marks.filter(pl.col("name").is_in(matching.implode())), grammar.source, trace)
    return _from_own_annotation(marks, work, trace) or _from_period(work, trace) or _whole(trace)


def _matching(marks: pl.DataFrame, marker: str) -> pl.Series:
    matching = patterns.matching(marks["name"], marker, "--step-marker")
    if not len(matching):
        raise TraceError(f"--step-marker {marker}: no annotation of the trace matches", exit_code=2)
    return matching


def _from_own_annotation(marks: pl.DataFrame, work: pl.DataFrame, trace: Trace) -> Steps | None:
    """The longest annotation that repeats, numbers in its name aside, and holds nearly all launches."""
    own = marks.filter(~pl.col("on_gpu"), ~pl.col("name").str.contains(NEVER_STEPS)).with_columns(
        kind=pl.col("name").str.replace_all(r"\d+", "#")
    )
    launches = work["launch_begin_ns"].drop_nulls()
    repeated = own.group_by("kind").agg(count=pl.len(), total=pl.col("dur_ns").sum())
    for kind in repeated.filter(pl.col("count") >= FEWEST_STEPS).sort("total", "kind", descending=True)[
        "kind"
    ]:
        found = _from_marks(own.filter(pl.col("kind") == kind), "annotation", trace)
        held = _holding(_disjoint(found.windows), launches)
        if len(held) and held.count() >= _NEARLY_ALL * len(held):
            return found
    return None


def _from_period(work: pl.DataFrame, trace: Trace) -> Steps | None:
    """Steps cut where the sequence of launches repeats; a step ends where the next one begins."""
    tokens = sequence(work)
    period = find_period(tokens)
    if period is None:
        return None
    begins = tokens["at_ns"].gather(pl.Series(period.first))
    # The last step ends with the last call of the host, which is usually its wait for the GPU.
    last = trace.runtime.filter(pl.col("dur_ns") >= 0).select(intervals.END.max()).item()
    last = max(last or 0, tokens["end_ns"].max() or 0)
    ends = begins.shift(-1).fill_null(last)
    count = len(begins)
    usual = float(np.median((ends - begins).to_numpy()))
    windows = _windows(
        pl.DataFrame({"begin_ns": begins, "wall_ns": ends - begins}).with_columns(
            name=pl.format("step {}", pl.int_range(count)),
            # A first or last stretch far shorter than the others is a step that was not recorded whole.
            cut_off=(pl.int_range(count) == count - 1) & (pl.col("wall_ns") < usual * _CUT_SHORT),
        )
    )
    return Steps(windows, _NO_GPU_WINDOWS, "graph-launch" if period.by_graph else "period", period.confidence)


def _from_marks(marks: pl.DataFrame, source: str, trace: Trace) -> Steps:
    on_gpu = marks.filter("on_gpu")
    chosen = _outermost(marks.filter(~pl.col("on_gpu")) if on_gpu.height < marks.height else on_gpu)
    facts = {name: marker_facts(name) for name in chosen["name"].unique()}

    def fact(word: str, dtype: DataType | DataTypeClass) -> pl.Expr:
        values = {name: getattr(found, word) for name, found in facts.items()}
        return pl.col("name").replace_strict(values, return_dtype=dtype).alias(word)

    windows = _windows(
        chosen.select("name", "begin_ns", wall_ns="dur_ns").with_columns(
            fact("phase", PHASE),
            fact("batch", pl.Int64()),
            fact("tokens", pl.Int64()),
            # A file that was cut leaves its last step without an honest end.
            cut_off=(pl.int_range(pl.len()) == chosen.height - 1) & pl.lit(not trace.complete),
        )
    ).with_columns(phase_from=pl.when(pl.col("phase").is_not_null()).then(pl.lit("marker")))
    gpu_windows = _gpu_windows(windows.with_columns(chosen["external_id"]), on_gpu)
    return Steps(windows, gpu_windows, source, 1.0)


def _windows(known: pl.DataFrame) -> pl.DataFrame:
    """WINDOWS from what is known of them, in time order; columns that are not given are null."""
    known = known.with_columns(
        index=pl.int_range(pl.len()), period_ns=pl.col("begin_ns").shift(-1) - pl.col("begin_ns")
    )
    missing = [pl.lit(None, dtype=t).alias(c) for c, t in WINDOWS.items() if c not in known.columns]
    return known.with_columns(missing).select(pl.col(name).cast(dtype) for name, dtype in WINDOWS.items())


def _disjoint(windows: pl.DataFrame) -> pl.DataFrame:
    """index, begin_ns, end_ns: where two markers overlap, the moment belongs to the one that began first."""
    ends = (pl.col("begin_ns") + pl.col("wall_ns")).alias("end_ns")
    return windows.select("index", "begin_ns", ends).with_columns(
        begin_ns=pl.max_horizontal("begin_ns", pl.col("end_ns").cum_max().shift(1))
    )


def _outermost(marks: pl.DataFrame) -> pl.DataFrame:
    """Marks in time order without those that lie inside an earlier one."""
    end = pl.col("begin_ns") + pl.col("dur_ns")
    return marks.sort("begin_ns", -pl.col("dur_ns"), maintain_order=True).filter(
        (end > end.cum_max().shift(1)).fill_null(True)
    )


def _gpu_windows(windows: pl.DataFrame, on_gpu: pl.DataFrame) -> pl.DataFrame:
    """device, index, begin_ns, dur_ns: the extent of each step's copies on each device.

    A copy belongs to the CPU marker with its name and External id, else to the latest of its name that does
    not begin after it.
    """
    device = _leading_int("pid")
    copies = on_gpu.select("name", "external_id", "begin_ns", "dur_ns", device=device).sort("begin_ns")
    starts = windows.select("name", "begin_ns", latest="index").sort("begin_ns")
    by_id = windows.unique(["name", "external_id"], keep="none").select("name", "external_id", exact="index")
    found = copies.join_asof(starts, on="begin_ns", by="name", strategy="backward", check_sortedness=False)
    end = pl.col("begin_ns") + pl.col("dur_ns")
    return (
        found.join(by_id, on=["name", "external_id"], how="left")
        .with_columns(index=pl.coalesce("exact", "latest"))
        .filter(pl.col("index").is_not_null())
        .group_by("device", "index")
        .agg(pl.col("begin_ns").min(), end_ns=end.max())
        .select("device", "index", "begin_ns", dur_ns=pl.col("end_ns") - pl.col("begin_ns"))
        .sort("device", "begin_ns")
    )


def _leading_int(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String).str.extract(r"(\d+)").cast(pl.Int64, strict=False)


def _whole(trace: Trace) -> Steps:
    """One step, the extent of the GPU work, or of everything where there is none."""
    of_host = [trace.ops, trace.runtime, trace.python, trace.slices]
    frames = [trace.gpu.filter("timed")] if trace.gpu["timed"].any() else of_host
    extents = [
        f.filter(pl.col("dur_ns") >= 0).select(
            begin_ns=pl.col("begin_ns").min(), end_ns=(pl.col("begin_ns") + pl.col("dur_ns")).max()
        )
        for f in frames
    ]
    extent = pl.concat(extents).select(pl.col("begin_ns").min(), pl.col("end_ns").max())
    windows = extent.select(
        "begin_ns",
        name=pl.lit("whole trace"),
        wall_ns=pl.col("end_ns") - pl.col("begin_ns"),
        cut_off=pl.lit(not trace.complete),
    )
    return Steps(_windows(windows), _NO_GPU_WINDOWS, "none", None)


def assign(steps: Steps, work: pl.DataFrame) -> pl.Series:
    """The step (index) of each row of `work`, launched-in; null is outside.

    work: begin_ns, device, launch_begin_ns (null where the launch is not in the file). Each row is in
    exactly one step or outside.
    """
    if steps.whole_trace:
        return pl.repeat(0, work.height, dtype=pl.Int64, eager=True).alias("step")
    windows = _disjoint(steps.windows)
    by_launch = _holding(windows, work["launch_begin_ns"])
    by_start = _holding(windows, work["begin_ns"])
    on_gpu = _holding_on_device(steps.gpu_windows, work)
    launched = work["launch_begin_ns"].is_not_null()
    return (
        pl.DataFrame({"launched": launched, "by_launch": by_launch, "on_gpu": on_gpu, "by_start": by_start})
        .select(step=pl.when("launched").then("by_launch").otherwise(pl.coalesce("on_gpu", "by_start")))
        .to_series()
    )


def _holding(windows: pl.DataFrame, at: pl.Series) -> pl.Series:
    """Index of the window (index, begin_ns, end_ns; sorted, disjoint) that holds each moment, else null."""
    moments = pl.DataFrame({"at": at}).with_row_index("i").sort("at")
    found = moments.join_asof(
        windows, left_on="at", right_on="begin_ns", strategy="backward", check_sortedness=False
    )
    return found.sort("i").select(pl.when(pl.col("at") < pl.col("end_ns")).then("index")).to_series()


def _holding_on_device(gpu_windows: pl.DataFrame, work: pl.DataFrame) -> pl.Series:
    moments = work.select("device", at="begin_ns").with_row_index("i").sort("at")
    # As on the CPU: where two copies overlap, the moment belongs to the one that began first.
    earlier = pl.col("end_ns").cum_max().shift(1).over("device")
    windows = (
        gpu_windows.select("device", "index", "begin_ns", end_ns=intervals.END)
        .sort("begin_ns")
        .with_columns(begin_ns=pl.max_horizontal("begin_ns", earlier))
        .sort("begin_ns")
    )
    found = moments.join_asof(
        windows, left_on="at", right_on="begin_ns", by="device", strategy="backward", check_sortedness=False
    )
    return found.sort("i").select(pl.when(pl.col("at") < pl.col("end_ns")).then("index")).to_series()


def straddling(windows: pl.DataFrame, work: pl.DataFrame) -> pl.Series:
    """True for the timed rows of work (step, begin_ns, dur_ns, timed) that reach over their step's window."""
    borders = windows.select(step="index", from_ns="begin_ns", to_ns=pl.col("begin_ns") + pl.col("wall_ns"))
    beyond = (pl.col("begin_ns") < pl.col("from_ns")) | (pl.col("to_ns") < intervals.END)
    placed = work.select("step", "begin_ns", "dur_ns", "timed").join(
        borders, on="step", how="left", maintain_order="left"
    )
    return placed.select((beyond & pl.col("timed")).fill_null(False).alias("straddles")).to_series()


def step_table(steps: Steps, work: pl.DataFrame) -> pl.DataFrame:
    """Each step with its GPU work.

    Columns: WINDOWS, events, sum_ns, busy_ns, idle_ns, sum_by_clock_ns, straddling.

    work: step, device, begin_ns, dur_ns, timed. busy is the union of the step's own work, per device and
    added; idle is the wall minus the union of all GPU work clipped to the window, per device that has any
    work in the trace, added. `events` counts untimed work too.
    """
    timed = work.filter("timed")
    windows = steps.windows
    begin = windows["begin_ns"].fill_null(0).to_numpy()
    end = begin + windows["wall_ns"].fill_null(0).to_numpy()
    covered = _clipped(timed, begin, end)
    union = intervals.merged(timed, ["device"])
    devices = max(1, timed["device"].n_unique())
    own = work.group_by("step").agg(
        events=pl.len().cast(pl.Int64), sum_ns=pl.col("dur_ns").filter("timed").sum()
    )
    busy = intervals.merged(timed, ["step", "device"]).group_by("step").agg(busy_ns=pl.col("dur_ns").sum())
    over = work.filter(straddling(windows, work)).group_by("step").agg(straddling=pl.len().cast(pl.Int64))
    idle = (end - begin) * devices - _clipped(union, begin, end)
    return (
        windows.with_columns(sum_by_clock_ns=pl.Series(covered), idle_ns=pl.Series(idle))
        .join(own, left_on="index", right_on="step", how="left")
        .join(busy, left_on="index", right_on="step", how="left")
        .join(over, left_on="index", right_on="step", how="left")
        .with_columns(pl.col("events", "sum_ns", "busy_ns", "straddling").fill_null(0))
        .sort("index")
    )


def _clipped(work: pl.DataFrame, begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Length of the work inside each window [begin, end), overlaps counted as often as they occur."""
    starts = work["begin_ns"].to_numpy()
    ends = starts + work["dur_ns"].to_numpy()
    until = intervals.covered_until(starts, ends, np.concatenate([begin, end]))
    return np.asarray(until[len(begin) :] - until[: len(begin)], dtype=np.int64)


def typical(table: pl.DataFrame) -> pl.DataFrame:
    """The steps that percentiles and outliers are made of: without the first and a cut-off one.

    Where that leaves nothing, all of them.
    """
    kept = table.filter(pl.col("index") > 0, ~pl.col("cut_off"))
    return kept if kept.height else table
