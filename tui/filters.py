"""What is typed after `/`: words that a row must hold, and comparisons such as `dur>800us step=3`."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

_COMPARISON = re.compile(r"(?P<field>[a-z]+)\s*(?P<sign><=|>=|!=|==|=|<|>)\s*(?P<value>\S*)")
_NUMBER = re.compile(r"(-?\d[\d,_]*(?:\.\d+)?)\s*([a-zA-Z]*)")
_SIGNS: dict[str, Callable[[pl.Expr, float], pl.Expr]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_UNITS = {
    "time": {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9},
    "count": {"": 1.0, "k": 1e3, "M": 1e6, "KB": 1e3, "kB": 1e3, "MB": 1e6},
}
_EXAMPLE = {"time": "800us", "count": "1000"}


class FilterError(Exception):
    """A comparison that cannot be made, in one line that says what would work."""


@dataclass(frozen=True)
class Field:
    """A column that can be compared. `kind` is "time" (a unit is required) or "count"."""

    column: pl.Expr
    kind: str = "count"


@dataclass(frozen=True)
class Filter:
    """A predicate over a frame's rows, and the words in it (what to look for with n and N)."""

    predicate: pl.Expr | None
    words: str


def parse(text: str, fields: Mapping[str, Field], frame: pl.DataFrame, texts: Sequence[str]) -> Filter:
    """The filter that `text` means. Every comparison and every word must hold.

    `texts` are the frame's text columns: a word is looked for in any of them, in any case. Raises FilterError
    for a field that is not there or a value that is no number of its kind.
    """
    parts: list[pl.Expr] = []
    rest: list[str] = []
    end = 0
    for found in _COMPARISON.finditer(text):
        if found["field"] not in fields:
            if found["sign"] in ("<", ">"):  # as in a template's name: these are words
                continue
            raise FilterError(f"{found['field']}: not one of {', '.join(fields)}")
        rest.append(text[end : found.start()])
        end = found.end()
        field = fields[found["field"]]
        parts.append(_SIGNS[found["sign"]](field.column, _value(found["field"], field, found["value"])))
    rest.append(text[end:])
    words = " ".join(" ".join(rest).split())
    if words:
        parts.append(_holds(words, frame, texts))
    return Filter(pl.all_horizontal(parts) if parts else None, words)


def _value(name: str, field: Field, text: str) -> float:
    found = _NUMBER.fullmatch(text)
    scale = _UNITS[field.kind].get(found[2]) if found else None
    if found is None or scale is None:
        raise FilterError(f"{name}: needs a {field.kind} such as {name}>{_EXAMPLE[field.kind]}")
    return float(found[1].replace(",", "").replace("_", "")) * scale


def _holds(words: str, frame: pl.DataFrame, texts: Sequence[str]) -> pl.Expr:
    """Rows of which any text column holds `words`: looked for once in each distinct text."""
    found = []
    for column in texts:
        distinct = frame.get_column(column).unique().drop_nulls()
        holds = distinct.cast(pl.String).str.to_lowercase().str.contains(words.lower(), literal=True)
        found.append(pl.col(column).is_in(distinct.filter(holds).implode()).fill_null(False))
    return pl.any_horizontal(found)
