"""Ops and the GPU time below them: self is the work of the op's own launches, total that of all inside it."""

import numpy as np
import polars as pl

from traceview.analysis.attribution import Links
from traceview.analysis.nesting import chains


def op_totals(links: Links, work: pl.DataFrame) -> pl.DataFrame:
    """op_name, self_ns, total_ns, launches of each op that GPU work is linked to; largest total first.

    work: op, op_name, dur_ns, timed of a selection. A launch counts once in the total of an op, however often
    the op's name stands in its chain; the self times add up to the time of all linked work.
    """
    own = (
        work.filter("timed", pl.col("op").is_not_null())
        .group_by("op")
        .agg(ns=pl.col("dur_ns").sum(), launches=pl.len().cast(pl.Int64))
    )
    chain = chains(links.op_nest.parent_row, np.asarray(own["op"].to_numpy(), dtype=np.int64))
    named = chain.with_columns(op_name=links.trace.ops["name"].gather(chain["row"]))
    inside = named.unique(["start", "op_name"]).join(own, left_on="start", right_on="op")
    totals = inside.group_by("op_name").agg(total_ns=pl.col("ns").sum(), launches=pl.col("launches").sum())
    selves = (
        named.filter(pl.col("start") == pl.col("row"))
        .join(own, left_on="start", right_on="op")
        .group_by("op_name")
        .agg(self_ns=pl.col("ns").sum())
    )
    return (
        totals.join(selves, on="op_name", how="left")
        .select("op_name", pl.col("self_ns").fill_null(0), "total_ns", "launches")
        .sort(["total_ns", pl.col("op_name").cast(pl.String)], descending=[True, False])
    )
