"""Begin and end events (ph B, E) made into slices."""

import polars as pl

from traceview import schema
from traceview.parsers.columns import LONGEST_NS

PAIRS = pl.Schema(
    {"ph": schema.TEXT, **{c: t for c, t in schema.SLICES.items() if c not in ("id", "dur_ns")}}
)


def paired(pairs: pl.DataFrame) -> pl.DataFrame:
    """One slice per B event (columns of schema.SLICES but `id`); `dur_ns` is null where its end is missing.

    An E closes the innermost open B of its name on its thread; on threads whose E events have no names, the
    innermost open B. Events are taken in order of time, equal times in file order. An E without a B makes no
    slice.
    """
    thread = ["pid", "tid"]
    lane = [*thread, "_key"]
    step = pl.when(pl.col("ph") == "B").then(1).otherwise(-1)
    nameless = (pl.col("name").is_null() & (pl.col("ph") == "E")).any().over(thread)
    rows = (
        pairs.sort("begin_ns", maintain_order=True, nulls_last=True)
        .with_columns(_key=pl.when(nameless).then(pl.lit("")).otherwise(pl.col("name").cast(pl.String)))
        .with_columns(_depth=step.cum_sum().over(lane))
        # An end without a beginning takes the depth below all before; the floor follows it down.
        .with_columns(_floor=pl.min_horizontal(pl.col("_depth").cum_min().over(lane), 0))
        .with_columns(_level=pl.col("_depth") - pl.col("_floor") + (pl.col("ph") == "E").cast(pl.Int32))
        .with_columns(
            _stray=(pl.col("ph") == "E")
            & (pl.col("_floor") < pl.col("_floor").shift(1, fill_value=0).over(lane))
        )
        .filter(~pl.col("_stray"))
    )
    level = [*lane, "_level"]
    closed = pl.col("ph").shift(-1).over(level) == "E"
    took = pl.col("begin_ns").shift(-1).over(level) - pl.col("begin_ns")
    return (
        rows.with_columns(dur_ns=pl.when(closed & (took <= LONGEST_NS)).then(took))
        .filter(pl.col("ph") == "B")
        .select([c for c in schema.SLICES if c != "id"])
    )
