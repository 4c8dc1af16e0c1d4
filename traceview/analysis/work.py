"""GPU work with everything known of it: the one frame that all other questions are asked of."""

import polars as pl

from traceview.analysis.attribution import Links
from traceview.analysis.families import family_of
from traceview.analysis.steps import Steps, assign
from traceview.schema import TEXT
from traceview.trace import Trace

VARIANT_OF = ["group", "grid", "block", "input_dims", "input_types"]


def gpu_work(trace: Trace, links: Links, steps: Steps) -> pl.DataFrame:
    """Trace.gpu, row for row, with these columns more.

    launch, launch_link, op, op_link (attribution.Links.frame); launched_by, launch_begin_ns, launch_pid,
    launch_tid, launch_delay_ns (GPU start minus launch start, negative where the clocks disagree); op_name,
    input_dims, input_types, input_strides, concrete_inputs of the op; step (null: outside); family; place
    (device and stream in words); group: a number for each (kind, name); variant: a number for each (group,
    grid, block, shapes, types). Grid and block are the launch call's where only that has them.
    """
    frame = trace.gpu.with_columns(links.frame.select("launch", "launch_link", "op", "op_link"))
    call = _rows(trace.runtime, frame["launch"])
    op = _rows(trace.ops, frame["op"])
    frame = frame.with_columns(
        call["name"].alias("launched_by"),
        call["begin_ns"].alias("launch_begin_ns"),
        call["pid"].alias("launch_pid"),
        call["tid"].alias("launch_tid"),
        (frame["begin_ns"] - call["begin_ns"]).alias("launch_delay_ns"),
        op["name"].alias("op_name"),
        *(op[c] for c in ("input_dims", "input_types", "input_strides", "concrete_inputs")),
        *(pl.coalesce(c, call[c]).alias(c) for c in ("grid", "block") if c in call.columns),
    )
    place = pl.format(
        "GPU {} stream {}",
        pl.col("device").cast(pl.String).fill_null("-"),
        pl.col("stream").cast(pl.String).fill_null("-"),
    )
    frame = frame.with_columns(
        place.cast(TEXT).alias("place"),
        assign(steps, frame),
        family_of(frame["name"], frame["kind"]).alias("family"),
    )
    return _numbered(_numbered(frame, ["kind", "name"], "group"), VARIANT_OF, "variant")


def _rows(frame: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
    """The rows of a frame by row number; a null row number gives a row of nulls."""
    if not frame.height:
        return pl.DataFrame(schema=frame.schema).clear(len(rows))
    return frame.select(pl.all().gather(rows))


def _numbered(frame: pl.DataFrame, keys: list[str], name: str) -> pl.DataFrame:
    """frame with a column `name`: 0, 1, ... for each combination of keys, in order of first appearance."""
    rows = (
        frame.group_by(keys, maintain_order=True)
        .agg(row=pl.col("id"))
        .with_row_index(name)
        .select(pl.col(name).cast(pl.Int64), "row")
        .explode("row")
        .sort("row")
    )
    return frame.with_columns(rows[name])
