"""How steady the steps are: their percentiles, which are slow, how many tokens go by in a second."""

from dataclasses import dataclass

import polars as pl

from traceview.analysis.steps import typical

# A step is slow if it is this much over the median and this many robust standard deviations beyond it.
SLOWER = 1.1
DEVIATIONS = 3
FEWEST = 4  # fewer typical steps have no usual length
_MAD_TO_SIGMA = 1.4826  # of a normal distribution


@dataclass(frozen=True)
class Pace:
    """wall_p50_ns and wall_p95_ns of typical steps (steps.typical), None without any.

    slow: step index -> wall / wall_p50 of the steps that stand out. tokens_per_second is over the periods of
    the steps whose marker says how many tokens they had, None where none does.
    """

    wall_p50_ns: int | None
    wall_p95_ns: int | None
    slow: dict[int, float]
    tokens_per_second: float | None


def pace(table: pl.DataFrame) -> Pace:
    """The pace of steps: index, wall_ns, period_ns, tokens, cut_off."""
    usual = typical(table)
    walls = usual["wall_ns"].drop_nulls()
    counted = table.filter(pl.col("tokens") > 0, pl.col("period_ns") > 0)
    period = int(counted["period_ns"].sum())
    return Pace(
        quantile(walls, 0.5),
        quantile(walls, 0.95),
        _slow(usual),
        int(counted["tokens"].sum()) * 1e9 / period if period else None,
    )


def _slow(usual: pl.DataFrame) -> dict[int, float]:
    walls = usual["wall_ns"].drop_nulls()
    median = walls.median()
    if len(walls) < FEWEST or not isinstance(median, float) or median <= 0:
        return {}
    spread = (walls - median).abs().median()
    sigma = _MAD_TO_SIGMA * spread if isinstance(spread, float) else 0.0
    bound = max(SLOWER * median, median + DEVIATIONS * sigma)
    far = usual.filter(pl.col("wall_ns") > bound).select("index", pl.col("wall_ns") / median)
    return dict(far.iter_rows())


def quantile(values: pl.Series, at: float) -> int | None:
    """Linear between ranks, rounded half to even to whole numbers; None without values."""
    found = values.quantile(at, "linear")
    return None if found is None else round(found)
