"""GPU work with everything known of it: the one frame that all other questions are asked of."""

from collections.abc import Sequence

import polars as pl

from traceview.analysis.attribution import Links
from traceview.analysis.families import Rule, family_of
from traceview.schema import TEXT
from traceview.trace import Trace

VARIANT_OF = ["group", "grid", "block", "input_dims", "input_types"]


def linked_work(trace: Trace, links: Links) -> pl.DataFrame:
    """Trace.gpu, row for row, its bytes as recorded_bytes, with what its links say.

    launch, launch_link, op, op_link (attribution.Links.frame); launched_by, launch_begin_ns, launch_dur_ns,
    launch_delay_ns (GPU start minus launch start, negative where the clocks disagree); op_name, input_dims,
    input_types, input_strides, concrete_inputs of the op. Grid and block are the launch call's where only
    that has them.
    """
    frame = trace.gpu.rename({"bytes": "recorded_bytes"}).with_columns(
        links.frame.select("launch", "launch_link", "op", "op_link")
    )
    call = _rows(trace.runtime, frame["launch"])
    op = _rows(trace.ops, frame["op"])
    return frame.with_columns(
        call["name"].alias("launched_by"),
        call["begin_ns"].alias("launch_begin_ns"),
        call["dur_ns"].alias("launch_dur_ns"),
        pl.when("timed").then(frame["begin_ns"] - call["begin_ns"]).alias("launch_delay_ns"),
        op["name"].alias("op_name"),
        *(op[c] for c in ("input_dims", "input_types", "input_strides", "concrete_inputs")),
        *(pl.coalesce(c, call[c]).alias(c) for c in ("grid", "block") if c in call.columns),
    )


def gpu_work(linked: pl.DataFrame, rules: Sequence[Rule] | None = None) -> pl.DataFrame:
    """linked_work and `step` (null: outside), with these columns more.

    family, by `rules`; place (device and stream in words); group: a number for each (kind, name);
    variant: a number for each (group, grid, block, shapes, types).
    """
    device, stream = (pl.col(c).cast(pl.String).fill_null("-") for c in ("device", "stream"))
    frame = linked.with_columns(
        pl.format("GPU {} stream {}", device, stream).cast(TEXT).alias("place"),
        family_of(linked["name"], linked["kind"], rules).fill_null("other").alias("family"),
    )
    return numbered(numbered(frame, ["kind", "name"], "group"), VARIANT_OF, "variant")


def _rows(frame: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
    """The rows of a frame by row number; a null row number gives a row of nulls."""
    if not frame.height:
        return pl.DataFrame(schema=frame.schema).clear(len(rows))
    return frame.select(pl.all().gather(rows))


def numbered(frame: pl.DataFrame, keys: list[str], name: str) -> pl.DataFrame:
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
