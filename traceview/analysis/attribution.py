"""Who launched each piece of GPU work, and for which op: by the strongest evidence that the file has.

Launch: the runtime or driver call with the same correlation. Op: the one whose External id the work
carries, else the innermost one around the launch call on its thread. Work of a graph replay has a launch,
and no op of its own.
"""

from functools import cached_property

import numpy as np
import polars as pl

from traceview.analysis import nesting
from traceview.analysis.markers import ANY_STEP
from traceview.analysis.nesting import NO_NEST, NONE, Ints, Nest
from traceview.trace import Trace

LAUNCH_LINK = pl.Enum(["correlation", "graph", "before-window", "ambiguous", "none"])
OP_LINK = pl.Enum(["external-id", "containment", "borrowed", "none"])

# Calls that put work on a GPU, for launches whose work is not in the file. Others are known by correlation.
# Copies are matched at the front: cudaGraphAddMemcpyNode describes one and runs none.
LAUNCH_CALL = (
    r"^(cuda|cu|hip|musa|ze)"
    r"(\w*(Launch(Kernel|Cooperative|ByPtr)|ModuleLaunch|GraphLaunch)|(Drv)?Mem(cpy|set))"
)


def thread_codes(*frames: pl.DataFrame) -> list[pl.DataFrame]:
    """The frames with a column `thread`: one whole number for each (pid, tid), the same in all frames."""
    threads = pl.concat([frame.select("pid", "tid") for frame in frames]).unique(maintain_order=True)
    numbered = threads.with_row_index("thread").with_columns(pl.col("thread").cast(pl.Int64))
    return [
        frame.join(numbered, on=["pid", "tid"], how="left", nulls_equal=True, maintain_order="left")
        for frame in frames
    ]


class Links:
    """The links of a trace's GPU work; everything costly is computed when it is first asked for."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def _threaded(self) -> list[pl.DataFrame]:
        trace = self.trace
        return thread_codes(trace.ops, trace.runtime, trace.python, trace.annotations)

    @cached_property
    def op_nest(self) -> Nest:
        """The nesting of the cpu_op slices."""
        return nesting.nest(self._threaded[0])

    @cached_property
    def python_nest(self) -> Nest:
        """The nesting of the Python frames."""
        return nesting.nest(self._threaded[2])

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row for each row of Trace.gpu, in its order.

        Columns: id, launch (row of Trace.runtime, null where there is none or more than one), launch_link,
        op (row of Trace.ops, null where unknown), op_link.
        """
        found = self._by_external_id(_launches(self.trace.gpu, self.trace.runtime))
        contained = (found["launch_link"] == "correlation") & found["op"].is_null()
        nest = self.op_nest if contained.any() else NO_NEST
        found = found.with_columns(contained=self._around_launch(nest, found["launch"], contained))
        return found.select(
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

    @cached_property
    def python(self) -> pl.Series:
        """Row of Trace.python of the innermost Python frame around each launch call, else around the op.

        Null where none is, and where neither is in the file.
        """
        launch = self.frame["launch"]
        around_call = self._around_launch(self.python_nest, launch, launch.is_not_null())
        ops = self.frame["op"].zip_with(launch.is_null(), pl.Series([None], dtype=pl.Int64))
        around_op = pl.Series(self.around_ops(ops.fill_null(NONE).to_numpy())).replace(NONE, None)
        return around_call.zip_with(around_call.is_not_null(), around_op)

    @cached_property
    def python_parent(self) -> Ints:
        """For each row of Trace.python the row of its caller, -1 where there is none.

        By Python parent id where that leads to an earlier frame, else by nesting.
        """
        nest = self.python_nest
        order = np.full(self.trace.python.height, NONE, dtype=np.int64)
        order[nest.row] = np.arange(len(nest.row))
        ids = self.trace.python.select("id", "pid", "python_id", "python_parent_id")
        callers = (
            ids.filter(pl.col("python_id").is_not_null())
            .group_by("pid", "python_id")
            .agg(caller=pl.col("id").last())
        )
        caller = (
            ids.join(
                callers,
                left_on=["pid", "python_parent_id"],
                right_on=["pid", "python_id"],
                how="left",
                maintain_order="left",
            )["caller"]
            .fill_null(NONE)
            .to_numpy()
        )
        earlier = (caller != NONE) & (order[caller] != NONE) & (order[caller] < order)
        return np.where(earlier, caller, nest.parent_row)

    @cached_property
    def annotation(self) -> pl.Series:
        """Row of Trace.annotations of the innermost CPU annotation around each launch call, else null."""
        launch = self.frame["launch"]
        return self._around_launch(self.annotation_nest, launch, launch.is_not_null())

    @cached_property
    def annotation_nest(self) -> Nest:
        """The nesting of the CPU annotations that are no step markers."""
        marks = self._threaded[3]
        name = pl.col("name").cast(pl.String)
        return nesting.nest(
            marks.with_columns(
                begin_ns=pl.when(~pl.col("on_gpu").fill_null(False), ~name.str.contains(ANY_STEP)).then(
                    "begin_ns"
                )
            )
        )

    def around_calls(self, calls: pl.Series) -> Ints:
        """Row of Trace.python of the innermost frame around each runtime row (null: none); -1: none."""
        return self._around_launch(self.python_nest, calls, calls.is_not_null()).fill_null(NONE).to_numpy()

    def around_ops(self, ops: Ints) -> Ints:
        """Row of Trace.python of the innermost Python frame around the begin of each op row; -1: none."""
        out = np.full(len(ops), NONE, dtype=np.int64)
        known = ops != NONE
        if known.any():
            rows = self._threaded[0][ops[known]]
            out[known] = self.python_nest.around(rows["thread"].to_numpy(), rows["begin_ns"].to_numpy())
        return out

    def _by_external_id(self, work: pl.DataFrame) -> pl.DataFrame:
        """work with `op`. Where External id is the correlation itself (before 2024) it says nothing.

        Ids are each process's own: where several use one, it counts only for launches of that process.
        """
        sane = work.select((pl.col("external_id") != pl.col("correlation").fill_null(0)).any()).item()
        wanted = work.filter(pl.lit(bool(sane))).select("external_id").drop_nulls().unique()
        ops = self.trace.ops.select("id", "external_id", "pid").join(wanted, on="external_id", how="semi")
        by_id = ops.group_by("external_id").agg(
            any_op=pl.col("id").last(), shared=pl.col("pid").n_unique() > 1
        )
        by_pid = ops.group_by("external_id", pl.col("pid").alias("launch_pid")).agg(
            own_op=pl.col("id").last()
        )
        found = work.join(by_id, on="external_id", how="left", maintain_order="left").join(
            by_pid, on=["external_id", "launch_pid"], how="left", maintain_order="left"
        )
        op = pl.when("shared").then("own_op").otherwise("any_op")
        return found.with_columns(op=pl.when(pl.col("launch_link") != "graph").then(op))

    def _around_launch(self, nest: Nest, launch: pl.Series, wanted: pl.Series) -> pl.Series:
        """Innermost row of the nest around each launch call that is wanted, else null."""
        out = np.full(len(launch), NONE, dtype=np.int64)
        rows = wanted.arg_true()
        if len(rows):
            calls = self._threaded[1][launch.gather(rows)]
            out[rows.to_numpy()] = nest.around(
                calls["thread"].to_numpy(), calls["begin_ns"].fill_null(NONE).to_numpy()
            )
        return pl.Series(out).replace(NONE, None)


def _launches(gpu: pl.DataFrame, runtime: pl.DataFrame) -> pl.DataFrame:
    """id, correlation and external_id of the GPU work with launch, launch_pid and launch_link.

    Several calls with one correlation (the ranks of several processes in one file) leave the work without a
    launch, unless its device is known to be served by one process and that process made just one of them.
    """
    work = gpu.select("id", "device", "correlation", "external_id")
    calls = runtime.filter(pl.col("correlation").is_not_null()).select(
        "correlation",
        launch="id",
        launch_pid="pid",
        graph=pl.col("name").cast(pl.String).str.contains("GraphLaunch", literal=True),
    )
    alone = _only(calls, ["correlation"])
    own = _only(calls, ["correlation", "launch_pid"]).drop("calls")
    found = (
        work.join(alone, on="correlation", how="left", maintain_order="left")
        .join(_home(work, alone), on="device", how="left", nulls_equal=True, maintain_order="left")
        .join(
            own,
            left_on=["correlation", "home"],
            right_on=["correlation", "launch_pid"],
            how="left",
            suffix="_own",
            maintain_order="left",
        )
    )
    several = pl.col("calls") > 1
    found = found.with_columns(
        pl.when(several).then(f"{name}_own").otherwise(name).alias(name) for name in ("launch", "graph")
    ).with_columns(launch_pid=pl.when(several).then("home").otherwise("launch_pid"))
    link = (
        pl.when(pl.col("correlation").is_null())
        .then(pl.lit("none"))
        .when(pl.col("calls").is_null())
        .then(pl.lit("before-window"))
        .when(pl.col("launch").is_null())
        .then(pl.lit("ambiguous"))
        .when(pl.col("graph"))
        .then(pl.lit("graph"))
        .otherwise(pl.lit("correlation"))
    )
    return found.select(
        "id", "correlation", "external_id", "launch", "launch_pid", launch_link=link.cast(LAUNCH_LINK)
    )


def _only(calls: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """One row a key: calls (how many); launch, launch_pid and graph where it is just one, else null."""
    single = pl.len() == 1
    values = [name for name in ("launch", "launch_pid", "graph") if name not in keys]
    return calls.group_by(keys).agg(
        pl.len().alias("calls"), *(pl.when(single).then(pl.col(name).first()).alias(name) for name in values)
    )


def _home(work: pl.DataFrame, alone: pl.DataFrame) -> pl.DataFrame:
    """device and home: the one process that made all launches of a device whose correlation is its own."""
    sure = work.join(alone.filter(pl.col("calls") == 1), on="correlation")
    homes = sure.group_by("device").agg(
        home=pl.when(pl.col("launch_pid").n_unique() == 1).then(pl.col("launch_pid").first())
    )
    return homes.filter(pl.col("home").is_not_null())


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
