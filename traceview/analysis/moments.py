"""What the host was doing: in a gap of the GPU, and around one of its own slices.

Self time is what of a slice lies in the span and in none of the slices that it encloses.
"""

from typing import Any

import polars as pl

from traceview.analysis import gaps, intervals
from traceview.analysis.nesting import NONE, nest
from traceview.trace import Trace

# The host's frames, in the order in which they answer "what was it doing".
HOST = ("annotations", "ops", "runtime", "python")
_LISTED = 3


def gap_document(
    trace: Trace, work: pl.DataFrame, device: int | None, stream: int | None, begin_ns: int, end_ns: int
) -> dict[str, Any]:
    """What was going on while a stream had no work in [begin_ns, end_ns).

    work: work.gpu_work of the whole trace. Keys: begin_ns, end_ns, dur_ns; idle_ns: of it the whole device
    was idle; cause: the gaps.CAUSE of the device's longest gap in it (None where other streams had work all
    the time); next, previous: ids of the stream's work at its ends, None at the edges of the recording;
    next_call: its launch call as {name, begin_ns, dur_ns} or None; thread: [pid, tid] of that call, else of
    the thread that launched most; doing: see `doing`; overhead: the profiler's own work by name, alike.
    """
    on_device = work.filter("timed", pl.col("device").eq_missing(pl.lit(device, dtype=pl.Int64)))
    here = on_device.filter(pl.col("stream").eq_missing(pl.lit(stream, dtype=pl.Int64)))
    after = here.filter(pl.col("begin_ns") >= end_ns).sort("begin_ns", "id").head(1)
    before = here.filter(begin_ns >= intervals.END).sort(intervals.END, "id").tail(1)
    idle = _clipped(gaps.gaps(trace, on_device), begin_ns, end_ns).sort("inside_ns", descending=True)
    call = trace.runtime[after["launch"].drop_nulls()]
    thread = _thread(call) or _thread(_most_launching(trace, on_device))
    overhead = trace.slices.filter(pl.col("cat").cast(pl.String).str.to_lowercase() == "overhead")
    return {
        "begin_ns": begin_ns,
        "end_ns": end_ns,
        "dur_ns": end_ns - begin_ns,
        "idle_ns": int(idle["inside_ns"].sum()) if before.height and after.height else None,
        "cause": idle["cause"][0] if idle.height else None,
        "previous": before["id"][0] if before.height else None,
        "next": after["id"][0] if after.height else None,
        "next_call": call.select(pl.col("name").cast(pl.String), "begin_ns", "dur_ns").row(0, named=True)
        if call.height
        else None,
        "thread": thread,
        "doing": {} if thread is None else doing(trace, *thread, begin_ns, end_ns),
        "overhead": _by_name(_self_time(overhead, begin_ns, end_ns)),
    }


def doing(
    trace: Trace, pid: str | None, tid: str | None, begin_ns: int, end_ns: int
) -> dict[str, list[dict[str, Any]]]:
    """For each of HOST the names with the most self time in a span of a thread, largest first.

    Rows: name, self_ns, calls.
    """
    found = {}
    for kind in HOST:
        own = _on_thread(_host(trace, kind), pid, tid)
        found[kind] = _by_name(_self_time(own, begin_ns, end_ns))
    return found


def span_document(work: pl.DataFrame, begin_ns: int, end_ns: int) -> dict[str, Any]:
    """The GPU work in [begin_ns, end_ns): launches that run in it, and busy_ns of all devices, added."""
    inside = _clipped(work.filter("timed"), begin_ns, end_ns).with_columns(
        begin_ns=pl.max_horizontal("begin_ns", pl.lit(begin_ns)), dur_ns="inside_ns"
    )
    busy = intervals.merged(inside, ["device"])
    return {"dur_ns": end_ns - begin_ns, "launches": inside.height, "busy_ns": int(busy["dur_ns"].sum())}


def slice_document(trace: Trace, work: pl.DataFrame, kind: str, row: int) -> dict[str, Any]:
    """One slice of the host: a row of the frame of this kind (of HOST).

    Keys: kind, name, begin_ns, dur_ns, thread; around: for each of HOST the names of the slices that enclose
    it, from the inside out, itself left out; input_dims, input_types of an op, as the file has them;
    launches, gpu_ns: how much GPU work was launched within it on its thread, and the sum of its times.
    """
    own = _host(trace, kind).filter(pl.col("id") == row)
    pid, tid = own["pid"].cast(pl.String)[0], own["tid"].cast(pl.String)[0]
    begin, dur = own["begin_ns"][0], own["dur_ns"][0]
    around = {}
    for other in HOST:
        holds = (pl.col("begin_ns") <= begin) & (begin + dur <= intervals.END)
        rows = _on_thread(_host(trace, other), pid, tid).filter(holds)
        if other == kind:
            rows = rows.filter(pl.col("id") != row)
        chain = rows.sort("begin_ns", "dur_ns", "id", descending=[True, False, True])
        around[other] = chain["name"].cast(pl.String).to_list()
    calls = trace.runtime.filter(pl.col("begin_ns") >= begin, pl.col("begin_ns") < begin + dur)
    within = work.filter(pl.col("launch").is_in(_on_thread(calls, pid, tid)["id"].implode()))
    return {
        "kind": kind,
        "name": own["name"].cast(pl.String)[0],
        "begin_ns": begin,
        "dur_ns": dur,
        "thread": [pid, tid],
        "around": around,
        "input_dims": own["input_dims"].cast(pl.String)[0] if kind == "ops" else None,
        "input_types": own["input_types"].cast(pl.String)[0] if kind == "ops" else None,
        "launches": within.height,
        "gpu_ns": int(within.filter("timed")["dur_ns"].sum()),
    }


def _host(trace: Trace, kind: str) -> pl.DataFrame:
    frame: pl.DataFrame = getattr(trace, kind)
    return frame.filter(~pl.col("on_gpu").fill_null(False)) if kind == "annotations" else frame


def _on_thread(frame: pl.DataFrame, pid: str | None, tid: str | None) -> pl.DataFrame:
    return frame.filter(_is("pid", pid), _is("tid", tid))


def _is(column: str, value: str | None) -> pl.Expr:
    return pl.col(column).cast(pl.String).eq_missing(pl.lit(value, dtype=pl.String))


def _thread(calls: pl.DataFrame) -> tuple[str | None, str | None] | None:
    return calls.select(pl.col("pid", "tid").cast(pl.String)).row(0) if calls.height else None


def _most_launching(trace: Trace, work: pl.DataFrame) -> pl.DataFrame:
    calls = trace.runtime.select("pid", "tid")[work["launch"].drop_nulls()]
    return calls.group_by("pid", "tid").len().sort("len", "tid", descending=[True, False]).head(1)


def _clipped(frame: pl.DataFrame, begin_ns: int, end_ns: int) -> pl.DataFrame:
    """The rows that reach into a span, with inside_ns: how much of each lies in it."""
    end = pl.min_horizontal(intervals.END, pl.lit(end_ns))
    inside = end - pl.max_horizontal("begin_ns", pl.lit(begin_ns))
    return frame.with_columns(inside_ns=inside).filter(pl.col("inside_ns") > 0)


def _self_time(frame: pl.DataFrame, begin_ns: int, end_ns: int) -> pl.DataFrame:
    """Slices of one thread that reach into a span: name, inside_ns, self_ns."""
    rows = _clipped(frame, begin_ns, end_ns).select(
        "name", "begin_ns", "dur_ns", "inside_ns", id=pl.int_range(pl.len(), dtype=pl.Int64), thread=pl.lit(0)
    )
    parent = pl.Series(nest(rows).parent_row) if rows.height else pl.Series([], dtype=pl.Int64)
    children = (
        rows.select("inside_ns", parent=parent)
        .filter(pl.col("parent") != NONE)
        .group_by(id="parent")
        .agg(children_ns=pl.col("inside_ns").sum())
    )
    return rows.join(children, on="id", how="left", maintain_order="left").select(
        pl.col("name").cast(pl.String),
        self_ns=(pl.col("inside_ns") - pl.col("children_ns").fill_null(0)).clip(0),
    )


def _by_name(slices: pl.DataFrame) -> list[dict[str, Any]]:
    return (
        slices.group_by("name")
        .agg(pl.col("self_ns").sum(), calls=pl.len())
        .sort("self_ns", "name", descending=[True, False])
        .head(_LISTED)
        .to_dicts()
    )
