"""Everything of a trace that lasts, lane by lane: GPU streams, then host threads with their nesting.

A host thread has lanes for its annotations, its ops (one for each depth), its runtime calls and, if wanted,
its Python frames. Copies of annotations on the GPU's rows are left out, as their originals are there.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from traceview.analysis.attribution import thread_codes
from traceview.analysis.nesting import NONE, Ints, nest
from traceview.schema import TEXT, Columns
from traceview.trace import Trace

# What an event is, and the family that the palette knows it by.
KINDS = {"gpu": "", "annotations": "mark", "ops": "cpu-op", "runtime": "call", "python": "python"}
_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_BASE = 10  # more than there are kinds
_COLUMNS: Columns = {
    "lane": pl.Int64,
    "begin_ns": pl.Int64,
    "dur_ns": pl.Int64,
    "family": TEXT,
    "row_id": pl.Int64,
    "key": pl.Int64,
    "name": TEXT,
}
EVENTS = pl.Schema(_COLUMNS)
_LABELS = {"annotations": "annotations", "ops": "ops", "runtime": "calls", "python": "Python"}


@dataclass(frozen=True)
class LaneFacts:
    """One lane: its kind (a key of KINDS), device and stream of GPU work, depth of host slices from 0."""

    kind: str
    label: str
    device: int | None = None
    stream: int | None = None
    depth: int = 0


@dataclass(frozen=True)
class Lanes:
    """lanes: in the order to show them; events: the columns of EVENTS, `lane` being a place in `lanes`.

    row_id and key (alike for events of one name) speak for all kinds, see `event_of`. untimed: how many
    events have no usable time and so no place.
    """

    lanes: tuple[LaneFacts, ...]
    events: pl.DataFrame
    untimed: int


def event_id(kind: str, row: int) -> int:
    """The row_id of a row of the frame of this kind."""
    return row * _BASE + _NUMBER[kind]


def event_of(row_id: int) -> tuple[str, int]:
    """Kind and row of an event: ("gpu", 3) is launch 3, ("ops", 3) row 3 of Trace.ops."""
    return [*KINDS][row_id % _BASE], row_id // _BASE


def lanes(trace: Trace, work: pl.DataFrame, names: pl.DataFrame, python: bool = False) -> Lanes:
    """The lanes of a trace. work: rows of work.gpu_work; names: group, short_name; python: its frames too.

    Streams are in the order of their numbers; of the threads the one that launched most comes first.
    """
    streams, gpu = _gpu(work, names)
    threads, host = _host(trace, work, python)
    host = host.with_columns(pl.col("lane") + len(streams))
    drawn = pl.concat([gpu.filter("timed").drop("timed"), host.filter(pl.col("lane").is_not_null())])
    untimed = gpu.height + host.height - drawn.height
    return Lanes((*streams, *threads), drawn.cast(EVENTS), untimed)


def _gpu(work: pl.DataFrame, names: pl.DataFrame) -> tuple[list[LaneFacts], pl.DataFrame]:
    """Lanes of the streams; events with `timed`."""
    communication = pl.col("family").cast(pl.String) == "communication"
    sums = work.filter("timed").with_columns(
        pl.col("name").cast(pl.String).str.contains("(?i)nccl").alias("nccl")
    )
    streams = (
        sums.group_by("device", "stream")
        .agg(
            part=pl.col("dur_ns").filter(communication).sum() / pl.col("dur_ns").sum().clip(1),
            nccl=pl.col("nccl").any(),
        )
        .sort("device", "stream", nulls_last=True)
        .with_row_index("lane")
    )
    facts = [
        LaneFacts("gpu", _stream_label(row), row["device"], row["stream"])
        for row in streams.iter_rows(named=True)
    ]
    events = (
        work.join(streams, on=["device", "stream"], how="left", nulls_equal=True, maintain_order="left")
        .join(names.select("group", "short_name"), on="group", how="left", maintain_order="left")
        .select(
            pl.col("lane").cast(pl.Int64),
            "begin_ns",
            "dur_ns",
            pl.col("family").cast(pl.String).cast(TEXT),
            row_id=pl.col("id") * _BASE + _NUMBER["gpu"],
            key=pl.col("group") * _BASE + _NUMBER["gpu"],
            name=pl.col("short_name").cast(TEXT),
            timed="timed",
        )
    )
    return facts, events


def _stream_label(row: dict[str, object]) -> str:
    device, stream = ("-" if row[c] is None else row[c] for c in ("device", "stream"))
    talks = row["part"] > 0.5  # type: ignore[operator]
    return f"GPU {device} stream {stream}" + ((" NCCL" if row["nccl"] else " comm") if talks else "")


def _host(trace: Trace, work: pl.DataFrame, python: bool) -> tuple[list[LaneFacts], pl.DataFrame]:
    """Lanes of the threads; `lane` is null where an event has no usable time."""
    frames = thread_codes(trace.annotations, trace.ops, trace.runtime, trace.python)
    kinds = dict(zip([*KINDS][1:], frames, strict=True))
    kinds["annotations"] = kinds["annotations"].filter(~pl.col("on_gpu").fill_null(False))
    if not python:
        del kinds["python"]
    slices = pl.concat([_slices(kind, frame) for kind, frame in kinds.items()])
    launches = kinds["runtime"]["thread"].gather(work["launch"].drop_nulls())
    order = (
        slices.group_by("thread")
        .agg(slices=pl.len(), pid=pl.col("pid").first(), tid=pl.col("tid").first())
        .join(launches.to_frame().group_by("thread").agg(launches=pl.len()), on="thread", how="left")
        .sort(pl.col("launches").fill_null(0), "slices", "thread", descending=[True, True, False])
        .with_row_index("place")
    )
    table = (
        slices.filter(pl.col("depth") != NONE)
        .group_by("thread", "kind", "depth")
        .len()
        .join(order, on="thread")
        .sort("place", "kind", "depth")
        .with_row_index("lane")
    )
    titles = _thread_titles(trace)
    facts: list[LaneFacts] = []
    last = None
    for row in table.iter_rows(named=True):
        kind = [*KINDS][row["kind"]]
        title = titles.get((row["pid"], row["tid"]), f"thread {row['tid'] or '-'}")
        head = " " if row["thread"] == last else title  # the first of a thread's lanes names it
        number = f" {row['depth'] + 1}" if row["depth"] else ""
        facts.append(LaneFacts(kind, f"{head} {_LABELS[kind]}{number}", depth=row["depth"]))
        last = row["thread"]
    placed = slices.join(
        table.select("thread", "kind", "depth", pl.col("lane").cast(pl.Int64)),
        on=["thread", "kind", "depth"],
        how="left",
        maintain_order="left",
    )
    return facts, placed.select(*EVENTS)


def _slices(kind: str, frame: pl.DataFrame) -> pl.DataFrame:
    """thread, kind (number), depth (-1: no usable time) and what EVENTS has but the lane."""
    own = frame.with_columns(row=pl.col("id"), id=pl.int_range(pl.len(), dtype=pl.Int64))
    found = nest(own.select("id", "thread", "begin_ns", "dur_ns"))
    depth = np.full(own.height, NONE, dtype=np.int64)
    depth[found.row] = depths(found.parent)
    number = _NUMBER[kind]
    return own.select(
        "thread",
        pl.col("pid", "tid").cast(pl.String),
        "begin_ns",
        "dur_ns",
        kind=pl.lit(number, dtype=pl.Int64),
        depth=pl.Series(depth),
        family=pl.lit(KINDS[kind]).cast(TEXT),
        row_id=pl.col("row") * _BASE + number,
        key=pl.col("name").to_physical().cast(pl.Int64) * _BASE + number,
        name="name",
    )


def depths(parent: Ints) -> Ints:
    """How many slices enclose each, for parents as in nesting.Nest. One pass for each level of nesting."""
    depth = np.zeros(len(parent), dtype=np.int64)
    up = parent
    while (inside := up != NONE).any():
        depth += inside
        up = np.where(inside, parent[up], NONE)
    return depth


def _thread_titles(trace: Trace) -> dict[tuple[str | None, str | None], str]:
    """The names that the file gives its threads, where they are more than `thread 7 (python)`."""
    named = trace.tracks.filter(pl.col("what").cast(pl.String) == "thread_name").drop_nulls("value")
    rows = named.select(pl.col("pid", "tid").cast(pl.String), "value").iter_rows()
    return {(pid, tid): name for pid, tid, name in rows if name and not name.startswith(f"thread {tid} ")}
