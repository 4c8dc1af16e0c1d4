"""Idle time of the GPU, gap by gap: which work ended it, and what the host did until then."""

import polars as pl

from traceview.analysis import intervals
from traceview.schema import Columns
from traceview.trace import Trace

CAUSE = pl.Enum(["after a sync", "host was late", "queued", "unknown"])
# Calls in which the host waits for the GPU.
_WAITS = r"Synchronize|Memcpy(?:DtoH|ToSymbol)?(?:_v2)?$|hipMemcpyWithStream"

# A wait ends a little after the work it waited for; host and GPU clocks may disagree by as much.
_CLOCK_SLACK_NS = 20_000

_COLUMNS: Columns = {
    "device": pl.Int64,
    "begin_ns": pl.Int64,
    "dur_ns": pl.Int64,
    "step": pl.Int64,
    "next_id": pl.Int64,
    "cause": CAUSE,
    "wait": pl.Int64,
}
GAPS = pl.Schema(_COLUMNS)


def gaps(trace: Trace, work: pl.DataFrame) -> pl.DataFrame:
    """The gaps between the busy stretches of each device, in time order: the columns of GAPS.

    next_id is the work that ends the gap and step the step of that work. The cause goes by the larger part:
    `queued` where half of the gap or more lay after the launch call, so the GPU waited for something else;
    before it, `after a sync` where the thread had waited for the GPU until then (wait: its row in
    Trace.runtime), else `host was late`; `unknown` where the launch is not in the file.
    """
    timed = work.filter("timed")
    union = intervals.merged(timed, ["device"])
    edges = union.with_columns(
        gap_ns=(pl.col("begin_ns") - intervals.END.shift(1)).over("device"), idle_from=intervals.END.shift(1)
    ).filter(pl.col("gap_ns") > 0)
    first = (
        timed.sort("begin_ns", "id")
        .unique(["device", "begin_ns"], keep="first", maintain_order=True)
        .select("device", "begin_ns", "step", "launch", "launch_begin_ns", next_id="id")
    )
    found = edges.join(first, on=["device", "begin_ns"], how="left", maintain_order="left", nulls_equal=True)
    found = _with_last_wait(trace, found)
    launched = pl.col("launch_begin_ns")
    return found.select(
        "device",
        begin_ns=pl.col("idle_from"),
        dur_ns=pl.col("gap_ns"),
        step="step",
        next_id="next_id",
        cause=pl.when(launched.is_null())
        .then(pl.lit("unknown"))
        .when(2 * (launched - pl.col("idle_from")) <= pl.col("gap_ns"))
        .then(pl.lit("queued"))
        .when(pl.col("wait").is_not_null())
        .then(pl.lit("after a sync"))
        .otherwise(pl.lit("host was late"))
        .cast(CAUSE),
        wait="wait",
    ).cast(GAPS)


def _with_last_wait(trace: Trace, found: pl.DataFrame) -> pl.DataFrame:
    """`wait`: the launching thread's last wait for the GPU that ended between gap begin and call."""
    waits = trace.runtime.filter(pl.col("name").cast(pl.String).str.contains(_WAITS), pl.col("dur_ns") >= 0)
    waits = waits.select("pid", "tid", wait="id", wait_end=intervals.END).sort("wait_end")
    calls = (
        trace.runtime.select("pid", "tid")
        .with_row_index("launch")
        .with_columns(pl.col("launch").cast(pl.Int64))
    )
    placed = found.with_row_index("i").join(calls, on="launch", how="left").sort("launch_begin_ns")
    joined = placed.join_asof(
        waits,
        left_on="launch_begin_ns",
        right_on="wait_end",
        by=["pid", "tid"],
        strategy="backward",
        check_sortedness=False,
    ).sort("i")
    inside = pl.col("wait_end") >= pl.col("idle_from") - _CLOCK_SLACK_NS
    return joined.with_columns(wait=pl.when(inside).then("wait"))


def by_cause(table: pl.DataFrame) -> pl.DataFrame:
    """Idle time by cause: cause, gaps, sum_ns, longest_ns, longest_begin_ns; largest first."""
    longest = pl.col("dur_ns").arg_max()
    return (
        table.group_by("cause")
        .agg(
            gaps=pl.len().cast(pl.Int64),
            sum_ns=pl.col("dur_ns").sum(),
            longest_ns=pl.col("dur_ns").max(),
            longest_begin_ns=pl.col("begin_ns").get(longest),
        )
        .sort(["sum_ns", pl.col("cause").cast(pl.String)], descending=[True, False])
    )


def largest(
    table: pl.DataFrame, waits: pl.DataFrame, work: pl.DataFrame, names: pl.DataFrame, limit: int
) -> pl.DataFrame:
    """The `limit` longest gaps (0: all) with what ended them, longest first.

    waits: callsites.wait_sites of the table; names: group, name, short_name. Columns: those of GAPS,
    wait_name, wait_site, and of the work that ended the gap next_name, next_short, launch_begin_ns.
    """
    named = names.select("group", next_name=pl.col("name").cast(pl.String), next_short="short_name")
    ended = work.select("group", "launch_begin_ns", next_id="id").join(named, on="group").drop("group")
    rows = pl.concat([table, waits], how="horizontal").sort(
        ["dur_ns", "begin_ns"], descending=[True, False], maintain_order=True
    )
    return (rows.head(limit) if limit else rows).join(ended, on="next_id", how="left", maintain_order="left")
