"""Who launched each piece of GPU work, and for which op: by the strongest evidence that the file has.

Launch: the runtime or driver call with the same correlation. Op: the one whose External id the work
carries, else the innermost one around the launch call on its thread. Work of a graph replay has a launch,
and no op of its own.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from traceview.analysis import nesting
from traceview.analysis.nesting import NONE, Nest
from traceview.trace import Trace

LAUNCH_LINK = pl.Enum(["correlation", "graph", "before-window", "ambiguous", "none"])
OP_LINK = pl.Enum(["external-id", "containment", "borrowed", "none"])

# Calls that put work on a GPU, for launches whose work is not in the file. Others are known by correlation.
LAUNCH_CALL = r"^(cuda|cu|hip|musa|ze)\w*(Launch(Kernel|Cooperative|ByPtr)|ModuleLaunch|GraphLaunch|Memcpy|Memset)"

Ints = NDArray[np.int64]


def thread_codes(*frames: pl.DataFrame) -> list[pl.DataFrame]:
    """The frames with a column `thread`: one whole number for each (pid, tid), the same in all frames."""
    key = pl.concat_str(pl.col("pid").cast(pl.String), pl.lit("/"), pl.col("tid").cast(pl.String), ignore_nulls=True)
    keys = [frame.select("pid", "tid").unique() for frame in frames]
    names = pl.concat(keys).unique().with_columns(key=key).select(pl.col("key").unique().sort()).with_row_index("thread")
    return [
        frame.join(
            part.with_columns(key=key).join(names, on="key").select("pid", "tid", pl.col("thread").cast(pl.Int64)),
            on=["pid", "tid"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        for frame, part in zip(frames, keys, strict=True)
    ]


@dataclass(frozen=True)
class Links:
    """The links of a trace's GPU work; everything costly is computed when it is first asked for.

    `frame` has one row for each row of Trace.gpu, in its order: id, launch (row of Trace.runtime, null
    where there is none or more than one), launch_link, op (row of Trace.ops, null), op_link.
    """

    trace: Trace
    frame: pl.DataFrame

    @cached_property
    def op_nest(self) -> Nest:
        """The nesting of the cpu_op slices."""
        return self._nests[0]

    @cached_property
    def python_nest(self) -> Nest:
        """The nesting of the Python frames."""
        return nesting.nest(self._threaded[2])

    @cached_property
    def _threaded(self) -> list[pl.DataFrame]:
        return threaded(self.trace)

    @cached_property
    def _nests(self) -> list[Nest]:
        return [nesting.nest(self._threaded[0])]

    @cached_property
    def python(self) -> pl.Series:
        """Row of Trace.python: the innermost Python frame around each launch call, null where none is."""
        launch = self.frame["launch"].fill_null(NONE).to_numpy()
        found = _around_launch(self.python_nest, self._threaded[1], launch)
        return pl.Series("python", found).replace(NONE, None)


def threaded(trace: Trace) -> list[pl.DataFrame]:
    """ops, runtime and python with a common `thread` code."""
    return thread_codes(trace.ops, trace.runtime, trace.python)


def _around_launch(nest: Nest, runtime: pl.DataFrame, launch: Ints) -> Ints:
    """Innermost row of `nest` around each launch call; launch holds rows of runtime or -1."""
    out = np.full(len(launch), NONE, dtype=np.int64)
    known = launch != NONE
    if known.any():
        calls = runtime[launch[known]]
        out[known] = nest.around(
            calls["thread"].cast(pl.Int64).to_numpy(), calls["begin_ns"].fill_null(NONE).to_numpy()
        )
    return out


def link(trace: Trace) -> Links:
    """Link every piece of GPU work to its launch call and its op."""
    work = trace.gpu.select("id", "correlation", "external_id", "begin_ns")
    launches = _launches(work, trace.runtime)
    sane = bool(
        work.select(
            (pl.col("external_id").is_not_null() & pl.col("external_id").ne_missing(pl.col("correlation"))).any()
        ).item()
    )
    frame = launches
    by_id = (
        trace.ops.filter(pl.col("external_id").is_not_null())
        .group_by("external_id")
        .agg(op=pl.col("id").last())
        .filter(pl.lit(sane))
    )
    frame = frame.join(by_id, on="external_id", how="left", maintain_order="left").with_columns(
        op=pl.when(pl.col("launch_link") != "graph").then("op")
    )
    links = Links(trace, frame)
    need = frame["op"].is_null() & frame["launch"].is_not_null() & (frame["launch_link"] == "correlation")
    contained = pl.Series("contained", np.full(frame.height, NONE, dtype=np.int64))
    if need.any() and trace.ops.height:
        rows = np.flatnonzero(need.to_numpy())
        found = np.full(frame.height, NONE, dtype=np.int64)
        found[rows] = _around_launch(links.op_nest, links._threaded[1], frame["launch"].gather(rows).to_numpy())
        contained = pl.Series("contained", found)
    frame = frame.with_columns(contained.replace(NONE, None)).select(
        "id",
        "launch",
        "launch_link",
        op=pl.coalesce("op", "contained"),
        op_link=pl.when(pl.col("op").is_not_null())
        .then(pl.lit("external-id"))
        .when(pl.col("contained").is_not_null())
        .then(pl.lit("containment"))
        .otherwise(pl.lit("none"))
        .cast(OP_LINK),
    )
    return _same_nests(links, Links(trace, frame))


def _same_nests(done: Links, links: Links) -> Links:
    """Carry over what was computed already."""
    links.__dict__.update({k: v for k, v in done.__dict__.items() if k in ("op_nest", "_nests", "_threaded")})
    return links


def _launches(work: pl.DataFrame, runtime: pl.DataFrame) -> pl.DataFrame:
    """work with launch and launch_link.

    Several calls with one correlation (many processes in one file) leave the work without a launch.
    """
    calls = (
        runtime.filter(pl.col("correlation").is_not_null())
        .group_by("correlation")
        .agg(
            launch=pl.col("id").first(),
            calls=pl.len(),
            graph=pl.col("name").cast(pl.String).str.contains("GraphLaunch", literal=True).any(),
        )
    )
    count = pl.col("calls")
    return (
        work.join(calls, on="correlation", how="left", maintain_order="left")
        .with_columns(
            launch=pl.when(count == 1).then("launch"),
            launch_link=pl.when(pl.col("correlation").is_null())
            .then(pl.lit("none"))
            .when(count.is_null())
            .then(pl.lit("before-window"))
            .when(pl.col("graph"))
            .then(pl.lit("graph"))
            .when(count > 1)
            .then(pl.lit("ambiguous"))
            .otherwise(pl.lit("correlation"))
            .cast(LAUNCH_LINK),
        )
        .drop("calls", "graph")
    )


def launch_calls(trace: Trace) -> pl.DataFrame:
    """Host calls that put work on a GPU, once each: the rows of Trace.runtime with `has_work`.

    Those whose correlation the GPU work carries, whatever they are called, and those known by name that
    have none (or whose work is not in the file).
    """
    carried = trace.gpu.select("correlation").drop_nulls().unique().with_columns(has_work=True)
    return (
        trace.runtime.join(carried, on="correlation", how="left", maintain_order="left")
        .with_columns(pl.col("has_work").fill_null(False))
        .filter(pl.col("has_work") | pl.col("name").cast(pl.String).str.contains(LAUNCH_CALL))
    )
