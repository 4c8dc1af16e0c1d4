"""Which events belong to a part of a trace: the rows of all frames that a smaller trace needs.

A part is some windows of time [begin, end), or some steps: their windows and the GPU work launched in them.
Others' work that runs inside the windows is there too, unless only a marker on the GPU tells whose it is.
With each piece of GPU work come the calls that carry its correlation, the op that it is linked to, the ops,
modules and Python frames around these, so that the smaller trace gives the same links.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from traceview.analysis.attribution import Links
from traceview.analysis.callsites import forward_ops
from traceview.analysis.markers import ANY_STEP
from traceview.analysis.nesting import NONE, Ints, chains
from traceview.analysis.steps import Steps
from traceview.trace import Trace

# Flows of the part: the launch call's end of the arrow, the GPU work's.
FLOW = pl.Enum(["s", "f"])
_FRAMES = ("gpu", "ops", "runtime", "annotations", "python", "slices", "memory", "instants")


@dataclass(frozen=True)
class Part:
    """events: kind (a frame of the trace), id (row), offset, length, begin_ns, dur_ns, flow (FLOW), flow_id.

    In the order of the file; flow_id is the correlation of a launch call and of its GPU work. windows:
    begin_ns, end_ns, disjoint and sorted; none for the whole trace. left_out: kinds of events that cannot be
    carried over, with their numbers in the whole file.
    """

    events: pl.DataFrame
    windows: pl.DataFrame
    left_out: dict[str, int]

    def count(self, kind: str) -> int:
        """How many events of a frame are in the part."""
        return int((self.events["kind"] == kind).sum())


def part(
    trace: Trace, links: Links, work: pl.DataFrame, steps: Steps, windows: pl.DataFrame, of: list[int]
) -> Part:
    """The part of a trace inside `windows` (begin_ns, end_ns) and of the steps `of` (indices; may be empty).

    work: work.gpu_work of all GPU work.
    """
    windows = _disjoint(windows)
    taken = {name: _overlapping(getattr(trace, name), windows) for name in _FRAMES}
    launched = links.frame["launch"].is_in(np.flatnonzero(taken["runtime"])).fill_null(False)
    taken["gpu"] |= (work["step"].is_in(of).fill_null(False) | launched).to_numpy()
    if of:
        # Its own marker is not there to tell its step by, so it would be taken for the part's.
        orphan = links.frame["launch"].is_null() & work["step"].is_not_null() & ~work["step"].is_in(of)
        begins = _overlapping(trace.gpu.select("begin_ns"), windows)
        taken["gpu"] &= ~(orphan.fill_null(False).to_numpy() & begins)
    chosen = np.flatnonzero(taken["gpu"])
    correlations = trace.gpu["correlation"].gather(chosen).drop_nulls().unique()
    taken["runtime"] |= trace.runtime["correlation"].is_in(correlations.implode()).fill_null(False).to_numpy()
    _add_context(taken, links, chosen)
    taken["annotations"] &= _own_markers(trace, steps, of)
    return _part(trace, links, taken, windows)


def everything(trace: Trace, links: Links) -> Part:
    """All events, times or not."""
    taken = {name: np.ones(getattr(trace, name).height, dtype=bool) for name in _FRAMES}
    return _part(trace, links, taken, pl.DataFrame(schema={"begin_ns": pl.Int64, "end_ns": pl.Int64}))


def _part(trace: Trace, links: Links, taken: dict[str, NDArray[np.bool_]], windows: pl.DataFrame) -> Part:
    rows = [
        getattr(trace, name)
        .with_row_index("row")
        .filter(pl.Series(taken[name]))
        .select(
            pl.col("row").cast(pl.Int64).alias("id"),
            "offset",
            "length",
            "begin_ns",
            kind=pl.lit(name),
            dur_ns=pl.col("dur_ns") if name not in ("memory", "instants") else pl.lit(None, dtype=pl.Int64),
        )
        for name in _FRAMES
    ]
    events = (
        pl.concat(rows)
        .join(_flows(links, trace, np.flatnonzero(taken["gpu"])), on=["kind", "id"], how="left")
        .sort("offset")
    )
    return Part(events, windows, _left_out(trace))


def step_windows(steps: Steps, of: list[int]) -> pl.DataFrame:
    """begin_ns, end_ns of steps by index."""
    chosen = steps.windows.filter(pl.col("index").is_in(of))
    return chosen.select("begin_ns", end_ns=pl.col("begin_ns") + pl.col("wall_ns")).drop_nulls()


def _disjoint(windows: pl.DataFrame) -> pl.DataFrame:
    """Windows that touch or overlap as one."""
    ends = pl.col("end_ns").cum_max()
    return (
        windows.sort("begin_ns")
        .with_columns(part=(pl.col("begin_ns") > ends.shift(1)).fill_null(False).cum_sum())
        .group_by("part", maintain_order=True)
        .agg(pl.col("begin_ns").min(), pl.col("end_ns").max())
        .drop("part")
    )


def _overlapping(frame: pl.DataFrame, windows: pl.DataFrame) -> NDArray[np.bool_]:
    """Which rows have a time inside a window; a row without duration is where it begins."""
    if not windows.height or not frame.height:
        return np.zeros(frame.height, dtype=bool)
    dur = frame["dur_ns"].fill_null(0).clip(0) if "dur_ns" in frame.columns else pl.Series([0])
    known = frame["begin_ns"].is_not_null().to_numpy()
    if "timed" in frame.columns:
        known &= frame["timed"].to_numpy()
    begin = frame["begin_ns"].fill_null(0)
    end = pl.select(pl.max_horizontal(begin + dur, begin + 1)).to_series()
    # The last window that begins before the row ends is the only one that can hold the row's end or middle.
    at = np.searchsorted(windows["begin_ns"].to_numpy(), end.to_numpy(), side="left") - 1
    inside = windows["end_ns"].to_numpy()[np.maximum(at, 0)] > begin.to_numpy()
    return np.asarray(known & (at >= 0) & inside, dtype=bool)


def _add_context(taken: dict[str, NDArray[np.bool_]], links: Links, chosen: NDArray[np.int64]) -> None:
    """Ops, Python frames and annotations around the chosen GPU work, those of a forward op too."""
    ops = links.frame["op"].gather(chosen).fill_null(NONE).to_numpy()
    forward = forward_ops(links, ops) if (ops != NONE).any() else ops
    python = links.python.gather(chosen).fill_null(NONE).to_numpy()
    _take(taken["ops"], links.op_nest.parent_row, np.concatenate([ops, forward]))
    _take(taken["python"], links.python_parent, np.concatenate([python, links.around_ops(forward)]))
    annotation = links.annotation.gather(chosen).drop_nulls().to_numpy()
    taken["annotations"][annotation] = True


def _take(taken: NDArray[np.bool_], parent_row: Ints, rows: Ints) -> None:
    """Take rows, NONE aside, and all that are around them."""
    distinct = np.unique(rows[rows != NONE])
    if len(distinct):
        taken[chains(parent_row, distinct)["row"].to_numpy()] = True


def _own_markers(trace: Trace, steps: Steps, of: list[int]) -> NDArray[np.bool_]:
    """All annotations but the copies on the GPU of the markers of steps that are no part of it.

    Such a copy would be taken for that of a step with the same name.
    """
    own = steps.gpu_windows.filter(pl.col("index").is_in(of)).select(
        "begin_ns", end_ns=pl.col("begin_ns") + pl.col("dur_ns")
    )
    marks = trace.annotations.select(
        other=pl.col("on_gpu").fill_null(False) & pl.col("name").cast(pl.String).str.contains(ANY_STEP)
    )["other"].to_numpy()
    if not of:
        return np.ones(len(marks), dtype=bool)
    return np.asarray(~marks | _overlapping(trace.annotations, _disjoint(own)), dtype=bool)


def _flows(links: Links, trace: Trace, chosen: NDArray[np.int64]) -> pl.DataFrame:
    """kind, id, flow, flow_id of the launch calls and the work that they launched; one call a correlation."""
    pairs = links.frame.select("id", "launch")[chosen].drop_nulls("launch")
    pairs = pairs.with_columns(flow_id=trace.runtime["correlation"].gather(pairs["launch"])).drop_nulls()
    # An arrow needs a time at both of its ends.
    pairs = pairs.filter(
        trace.gpu["begin_ns"].gather(pairs["id"]).is_not_null()
        & trace.runtime["begin_ns"].gather(pairs["launch"]).is_not_null()
    )
    pairs = pairs.filter(pl.col("launch").n_unique().over("flow_id") == 1)
    starts = pairs.select(pl.col("launch").alias("id"), "flow_id").unique()
    return pl.concat(
        [
            starts.select("id", "flow_id", kind=pl.lit("runtime"), flow=pl.lit("s").cast(FLOW)),
            pairs.select("id", "flow_id", kind=pl.lit("gpu"), flow=pl.lit("f").cast(FLOW)),
        ]
    )


# What is made anew: arrows from launch calls to GPU work, and the names of processes and threads.
_MADE_ANEW = ("M",)
_CARRIED = ("X", "B", "E", "i", "I", "R", "C", "")


def _left_out(trace: Trace) -> dict[str, int]:
    """Kinds of events that no frame keeps the place of, with their numbers in the whole file."""
    flow = pl.col("ph").cast(pl.String).is_in(["s", "t", "f"])
    other = ~pl.col("ph").cast(pl.String).is_in([*_MADE_ANEW, *_CARRIED])
    kinds = trace.kinds.filter(other & ~(flow & (pl.col("cat").cast(pl.String) == "ac2g")))
    words = kinds.select(
        pl.format("{} {}", "ph", pl.col("cat").cast(pl.String).fill_null("")).str.strip_chars(), "count"
    )
    return dict(words.iter_rows())
