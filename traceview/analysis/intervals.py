"""Unions, clipping and exclusive time of intervals. All times are whole nanoseconds, half-open [begin, end).

Frames in here have the columns `begin_ns` and `dur_ns` and no nulls in them; touching is not overlapping.
"""

from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]

END = pl.col("begin_ns") + pl.col("dur_ns")


def merged(frame: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """The union of the intervals of each key as disjoint intervals: keys, begin_ns, dur_ns, sorted."""
    reach = pl.col("end_ns").cum_max()
    fresh = pl.col("begin_ns") > reach.shift(1)
    sorted_ = frame.select(*keys, "begin_ns", end_ns=END).sort(*keys, "begin_ns")
    runs = sorted_.with_columns(
        reach=reach.over(keys) if keys else reach,
        fresh=(fresh.over(keys) if keys else fresh).fill_null(True),
    )
    last = runs.filter(pl.col("fresh").shift(-1, fill_value=True))
    return runs.filter("fresh").select(*keys, "begin_ns", dur_ns=last["reach"] - pl.col("begin_ns"))


def busy(frame: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Length of the union of the intervals of each key: keys, busy_ns."""
    return merged(frame, keys).group_by(keys, maintain_order=True).agg(busy_ns=pl.col("dur_ns").sum())


def exposed(frame: pl.DataFrame, place: str, key: str) -> pl.DataFrame:
    """Time at a place in which one key alone was active: key, exposed_ns (0 where always overlapped).

    A place is a device. A sweep over the borders of the keys' unions: where one union is open, the sum of
    the codes of the open unions is that key's code.
    """
    parts = merged(frame, [place, key]).with_columns(code=pl.col(key).rank("dense").cast(pl.Int64))
    names = parts.select(key, "code").unique()
    borders = pl.concat(
        [
            parts.select(place, at=pl.col("begin_ns"), open=pl.lit(1, pl.Int64), code="code"),
            parts.select(place, at=END, open=pl.lit(-1, pl.Int64), code=-pl.col("code")),
        ]
    ).sort(place, "at")
    alone = (
        borders.with_columns(
            pl.col("open").cum_sum().over(place),
            pl.col("code").cum_sum().over(place),
            length=(pl.col("at").shift(-1) - pl.col("at")).over(place),
        )
        .filter(pl.col("open") == 1)
        .group_by("code")
        .agg(exposed_ns=pl.col("length").sum())
    )
    return names.join(alone, on="code", how="left").select(key, pl.col("exposed_ns").fill_null(0))


def covered_until(begin: Ints, end: Ints, at: Ints) -> Ints:
    """How much of all intervals lies before each time `at`, overlaps counted as often as they occur.

    begin, end: shape [n], any order. at: shape [m]. Returns shape [m]. covered_until(y) - covered_until(x)
    is the work clipped to [x, y). Prefix sums may wrap around; their difference does not.
    """
    begin, end = np.sort(begin), np.sort(end)
    sum_begin = np.concatenate(([0], np.cumsum(begin)))
    sum_end = np.concatenate(([0], np.cumsum(end)))
    begun = np.searchsorted(begin, at, side="left")
    ended = np.searchsorted(end, at, side="left")
    open_now = begun - ended
    return np.asarray(at * open_now - sum_begin[begun] + sum_end[ended], dtype=np.int64)


def covered_in_lane(slices: pl.DataFrame) -> pl.DataFrame:
    """How much of the later work of its lane each slice runs over: id, dur_ns, starts, covered_ns.

    slices: id, lane (a number from 0 on), begin_ns, dur_ns, sorted by lane, begin. starts counts the slices
    that begin after this one and before its end; covered_ns adds up what of their time lies before its end.
    """
    begin, dur = slices["begin_ns"].to_numpy(), slices["dur_ns"].to_numpy()
    end = begin + dur
    after, until = np.zeros(len(begin), dtype=np.int64), np.zeros(len(begin), dtype=np.int64)
    borders = np.flatnonzero(np.diff(slices["lane"].to_numpy(), prepend=-1)).tolist()
    for first, last in pairwise([*borders, len(begin)]):
        lane = begin[first:last]
        after[first:last] = first + np.searchsorted(lane, lane, side="right")
        until[first:last] = first + np.searchsorted(lane, end[first:last], side="left")
    before = np.concatenate(([0], np.cumsum(dur)))
    starts = np.maximum(until - after, 0)
    whole = before[np.maximum(until, after)] - before[after]
    # Only the last of them can reach beyond the end, where the others do not overlap among themselves.
    beyond = np.where(starts > 0, np.maximum(end[np.maximum(until - 1, 0)] - end, 0), 0)
    return slices.select("id", "dur_ns").with_columns(
        starts=pl.Series(starts), covered_ns=pl.Series(whole - beyond)
    )
