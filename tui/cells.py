"""Frame columns as cells: a slice of a column in, one text a row out."""

from collections.abc import Callable, Iterable

import polars as pl

from traceview.report.text import fmt_grid
from traceview.units import UNKNOWN, fmt_count, fmt_ns, fmt_percent

Cells = Callable[[pl.Series], list[str]]


def times(values: pl.Series) -> list[str]:
    """Durations in ns."""
    return [fmt_ns(v) for v in values]


def assumed_times(values: pl.Series) -> list[str]:
    """Durations in ns that rest on something assumed."""
    return [UNKNOWN if v is None else f"≈{fmt_ns(v)}" for v in values]


def shares(values: pl.Series) -> list[str]:
    """Fractions as percentages."""
    return [fmt_percent(v) for v in values]


def counts(values: pl.Series) -> list[str]:
    """Whole numbers."""
    return [fmt_count(v) for v in values]


def sizes(values: pl.Series) -> list[str]:
    """Grids and blocks."""
    return [fmt_grid(v.to_list() if isinstance(v, pl.Series) else v) for v in values]


def shapes(values: pl.Series) -> list[str]:
    """Input dims, which the frame has as JSON text, without the outer brackets."""
    return [text[1:-1] if text[:1] == "[" and len(text) > 2 else text for text in _texts(values)]


def names(values: pl.Series) -> list[str]:
    """Text, unknown as `-`."""
    return [*_texts(values)]


def plain(values: pl.Series) -> list[str]:
    """Numbers that are names: streams, steps, ids."""
    return [number_name(v) for v in values]


def number_name(number: int | None) -> str:
    """A single number that is a name."""
    return UNKNOWN if number is None else str(number)


def since(origin_ns: int) -> Cells:
    """Moments as milliseconds after `origin_ns`, to the microsecond."""

    def cells(values: pl.Series) -> list[str]:
        return [UNKNOWN if v is None else f"{(v - origin_ns) / 1e6:,.3f}" for v in values]

    return cells


def _texts(values: pl.Series) -> Iterable[str]:
    return values.cast(pl.String).fill_null(UNKNOWN)
