"""GPU work added up: by kernel, by any path of keys, with the statistics of each group.

Everywhere: `calls` counts untimed work too, all times are of timed work alone; percentiles are linear
between ranks; every time is rounded half to even to whole nanoseconds.
"""

import polars as pl

# The ways to unfold GPU work in the tree: the columns that each level splits by, of work.gpu_work and of
# callsites.call_sites.
GROUPINGS: dict[str, tuple[str, ...]] = {
    "kernel": ("family", "group", "variant"),
    "op": ("op_name", "group", "variant"),
    "module": ("module_path", "module", "group"),
    "python": ("call_site", "group", "variant"),
    "annotation": ("annotation", "group", "variant"),
    "stream": ("place", "group", "variant"),
}

# What the JSON contract says of a group, in its order.
GROUP_KEYS = (
    "name",
    "short_name",
    "kind",
    "family",
    "calls",
    "calls_per_step",
    "sum_ns",
    "share",
    "mean_ns",
    "p50_ns",
    "p95_ns",
    "min_ns",
    "max_ns",
    "variants",
)


def whole_ns(expression: pl.Expr) -> pl.Expr:
    """Nanoseconds rounded half to even."""
    return expression.round(0, mode="half_to_even").cast(pl.Int64)


# Of no use for a ratio to the floor: launches bound by their own start and drain, whose floor no kernel
# reaches, and those whose traffic is a range (experts that may or may not be hit).
_RATED = (
    pl.col("timed")
    & pl.col("floor_ns").is_not_null()
    & (pl.col("bound") != "latency")
    & (pl.col("bytes_low") == pl.col("bytes"))
).fill_null(False)
# A group has a ratio to its floor where at least this share of its time has one.
_MOSTLY = 0.9


def statistics() -> list[pl.Expr]:
    """The aggregates of a group: calls, sum_ns, mean_ns, p50_ns, p95_ns, min_ns, max_ns, variants.

    A group of which nothing is timed has sum 0 and null for the rest.
    """
    timed = pl.col("dur_ns").filter("timed")
    return [
        pl.len().cast(pl.Int64).alias("calls"),
        timed.sum().alias("sum_ns"),
        whole_ns(timed.mean()).alias("mean_ns"),
        whole_ns(timed.quantile(0.5, "linear")).alias("p50_ns"),
        whole_ns(timed.quantile(0.95, "linear")).alias("p95_ns"),
        timed.min().alias("min_ns"),
        timed.max().alias("max_ns"),
        pl.col("variant").n_unique().cast(pl.Int64).alias("variants"),
    ]


def grouped(work: pl.DataFrame, keys: list[str], steps: int, total_ns: int) -> pl.DataFrame:
    """Groups of work by keys, largest sum first, ties in the order of the keys' first appearance.

    steps is the number of selected steps, total_ns the sum of all selected GPU work. Columns: keys, the
    statistics, calls_in_steps, calls_per_step (over the selected steps, without work outside of them),
    share (null where nothing is timed), the numbers of distinct grids, blocks and ops, and of the longest
    launch: grid, block, op, input_dims, input_types, launch_link, largest_id; and over_floor: time over
    floor of the launches that have one (null where these are not nearly all); suspect: any launch
    is; assumed: any launch's bytes are.
    """
    in_steps = pl.col("step").is_not_null().sum().cast(pl.Int64)
    largest = pl.col("dur_ns").fill_null(-1).arg_max()
    return (
        work.group_by(keys, maintain_order=True)
        .agg(
            *statistics(),
            calls_in_steps=in_steps,
            grids=pl.col("grid").n_unique(),
            blocks=pl.col("block").n_unique(),
            grid=pl.col("grid").get(largest),
            block=pl.col("block").get(largest),
            ops=pl.col("op_name").n_unique(),
            op=pl.col("op_name").get(largest),
            input_dims=pl.col("input_dims").get(largest),
            input_types=pl.col("input_types").get(largest),
            launch_link=pl.col("launch_link").get(largest),
            floor_ns=pl.col("floor_ns").filter(_RATED).sum(),
            rated_ns=pl.col("dur_ns").filter(_RATED).sum(),
            suspect=pl.col("suspect").any(),
            assumed=(pl.col("bytes_from") == "assumed").any(),
            largest_id=pl.col("id").get(largest),
        )
        .with_columns(
            calls_per_step=pl.col("calls_in_steps") / max(steps, 1),
            share=pl.col("sum_ns") / total_ns if total_ns else pl.lit(None, dtype=pl.Float64),
        )
        .with_columns(
            over_floor=pl.when(pl.col("rated_ns") >= _MOSTLY * pl.col("sum_ns"), pl.col("floor_ns") > 0).then(
                pl.col("rated_ns") / pl.col("floor_ns")
            )
        )
        .sort("sum_ns", descending=True, maintain_order=True)
    )


def inside(grouping: str, path: tuple[object, ...]) -> pl.Expr:
    """True for the work at a place of the tree: path holds one value for each level that was gone down.

    A None in the path means work that has no such key (no op, no module).
    """
    levels = zip(GROUPINGS[grouping], path, strict=False)
    return pl.all_horizontal(
        pl.lit(True), *(pl.col(column).eq_missing(pl.lit(value)) for column, value in levels)
    )


def along(work: pl.DataFrame, grouping: str, path: tuple[object, ...]) -> pl.DataFrame:
    """The work at a place of the tree (see `inside`)."""
    return work.filter(inside(grouping, path))
