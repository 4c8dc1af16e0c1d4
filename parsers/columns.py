"""Lists of decoded values into polars columns; a value of the wrong type costs itself, never its row."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Context, Decimal, InvalidOperation
from functools import partial
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Raw

from traceview.parsers.events import NULL
from traceview.schema import TEXT

_INT64 = 1 << 63
_NUMBER = re.compile(r"-?\d+(?!\S*[.\d])")
_AT_END = re.compile(r"(-?\d+)\D*$")
_MORE_DIGITS = re.compile(rb'"(?:ts|dur)"\s*:\s*(?:-?\d+\.\d{4}|[-\d.]+[eE])')
_EXACT = Context(prec=100)
_UNIQUE_SPELLING = 2.0**43  # below, doubles are closer together than thousandths
# Nanoseconds beyond which a time is damage, not a time, so that differences and sums of them fit 64 bits:
# a clock that began in 1970 gets there in 2096; of durations of 30 days, thousands can be added.
FARTHEST_NS = 4 * 10**18
LONGEST_NS = 30 * 86_400 * 10**9

Lost = set[int]  # rows of which a value could not be kept
IntArray = npt.NDArray[np.int64]


class Numbered(dict[Any, int]):
    """Distinct values, numbered as they come."""

    def __missing__(self, value: Any) -> int:
        self[value] = number = len(self)
        return number

    def codes(self, values: Collection[Any]) -> IntArray:
        """The number of each value."""
        return np.fromiter(map(self.__getitem__, values), dtype=np.int64, count=len(values))


def _clean(values: Sequence[Any], one: Callable[[Any], Any], dtype: Any, lost: Lost) -> pl.Series:
    out = []
    for i, value in enumerate(values):
        kept = None
        if value is not None:
            kept = one(value)
            if kept is None:
                lost.add(i)
        out.append(kept)
    return pl.Series(out, dtype=dtype)


def _int(value: Any) -> int | None:
    if isinstance(value, str):  # "stream 7", "7"
        found = _NUMBER.findall(value)
        value = int(found[-1]) if found and len(found[-1]) < 20 else None
    elif isinstance(value, float):
        value = int(value) if value == value // 1 else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_INT64 <= value < _INT64 else None


def _float(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def _ints(value: Any) -> list[int] | None:
    if isinstance(value, str) and re.fullmatch(r"[\[(]?[-\d,\s]*[\])]?", value):
        value = re.findall(r"-?\d+", value)
    if not isinstance(value, list):
        return None
    numbers = [_int(v) for v in value]
    return None if None in numbers else [n for n in numbers if n is not None]


def _bool(value: Any) -> bool | None:
    known = {"true": True, "false": False, "1": True, "0": False}
    return known.get(str(value).lower())


def _only(values: Sequence[Any], types: set[type]) -> bool:
    return set(map(type, values)) <= types


def integers(values: Sequence[Any], lost: Lost) -> pl.Series:
    """Int64; numbers in text count ("stream 7" is 7); what is no 64-bit integer becomes null."""
    if _only(values, {int, type(None)}):
        try:
            return pl.Series(values, dtype=pl.Int64)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            pass
    return _clean(values, _int, pl.Int64, lost)


def floats(values: Sequence[Any], lost: Lost) -> pl.Series:
    """Float64, finite or null."""
    if _only(values, {int, type(None)}):
        return integers(values, lost).cast(pl.Float64)
    return _clean(values, _float, pl.Float64, lost)


def booleans(values: Sequence[Any], lost: Lost) -> pl.Series:
    """Boolean from true, false, 1, 0 and their spellings in text."""
    if _only(values, {bool, type(None)}):
        return pl.Series(values, dtype=pl.Boolean)
    return _clean(values, _bool, pl.Boolean, lost)


def integer_lists(values: Sequence[Any], lost: Lost) -> pl.Series:
    """List(Int64), e.g. a grid; the text "[1, 2, 3]" counts."""
    dtype = pl.List(pl.Int64)
    missing = pl.Series([v is None for v in values], dtype=pl.Boolean)
    filled = [(0, 0, 0) if v is None else v for v in values]
    if _only(filled, {list, tuple}) and set(map(len, filled)) == {3}:  # what grids and blocks are
        flat = list(chain.from_iterable(filled))
        if _only(flat, {int}) and min(flat) >= -_INT64 and max(flat) < _INT64:
            column = pl.Series(flat, dtype=pl.Int64).reshape((len(values), 3)).cast(dtype)
            return column.set(missing, None) if missing.any() else column
    return _clean(values, _ints, dtype, lost)


def strings(values: Sequence[Any], lost: Lost) -> pl.Series:
    """String; numbers as they are spelled; objects and lists become null."""
    if _only(values, {str, type(None)}):
        return pl.Series(values, dtype=pl.String)
    return _clean(values, lambda v: None if isinstance(v, (dict, list)) else str(v), pl.String, lost)


def texts(values: Sequence[Any], lost: Lost) -> pl.Series:
    """As `strings`, Categorical."""
    return strings(values, lost).cast(TEXT)


def nulls(dtype: Any, length: int) -> pl.Series:
    """A column without any value."""
    return pl.Series([None], dtype=dtype).new_from_index(0, length)


def all_missing(values: Sequence[Any]) -> bool:
    """Whether there is no value but None and JSON's null, i.e. nothing that a column would be made for."""
    return not values or (values[0] in (None, NULL) and values.count(values[0]) == len(values))


def last_numbers(texts_: Sequence[str | None]) -> pl.Series:
    """Int64: the number that each text ends with, e.g. of "stream 7 "."""
    found = [_AT_END.search(t or "") for t in texts_]
    return integers([match[1] if match else None for match in found], set())


def lists(values: Mapping[str, Sequence[Raw]], lost: Lost) -> dict[str, pl.Series]:
    """JSON lists (shapes, types) as compact text, Categorical; what is no list becomes null.

    The columns come together because their rows do: most are like an earlier row in all of them, so each
    distinct one is looked at once.
    """
    numbered = Numbered()
    codes = numbered.codes(list(map(b"\0".join, zip(*values.values(), strict=True))))  # no NUL stands in JSON
    spelled = [row.split(b"\0") for row in numbered]
    compact = [[_compact_list(text) for text in row] for row in spelled]
    odd = [
        any(kept is None and text != b"null" for text, kept in zip(*pair, strict=True))
        for pair in zip(spelled, compact, strict=True)
    ]
    if any(odd):
        lost.update(np.flatnonzero(np.array(odd)[codes]).tolist())
    texts_ = zip(values, zip(*compact, strict=True), strict=True)
    return pl.DataFrame([pl.Series(column, some, dtype=TEXT) for column, some in texts_])[codes].to_dict()


def _compact_list(text: bytes) -> str | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return msgspec.json.encode(value).decode() if isinstance(value, list) else None


def compact_json(values: bytes) -> list[str]:
    """Each value of a JSON list as compact JSON text."""
    whole = msgspec.json.format(values, indent=-1)
    return [bytes(raw).decode("utf-8", "replace") for raw in msgspec.json.decode(whole, type=list[Raw])]


def _exact_ns(text: str, largest: int) -> int | None:
    try:
        value = Decimal(text.strip().strip('"').strip())
    except InvalidOperation:
        return None
    if not value.is_finite() or value.adjusted() > 18:
        return None
    ns = int(_EXACT.to_integral_value(_EXACT.multiply(value, Decimal(1000))))
    return ns if abs(ns) <= largest else None


def nanoseconds(
    values: Sequence[Any], block: bytes, spelling: Callable[[], Iterable[Raw]], lost: Lost, largest: int
) -> pl.Series:
    """Microseconds as decoded -> whole nanoseconds, Int64, exactly those of the decimal text, half to even.

    A double holds three decimals exactly below 2**43 us, which every timestamp relative to Kineto's base is;
    for larger or finer ones `spelling` gives the text of each row. What is beyond `largest` nanoseconds,
    before or after, is lost.
    """
    types = set(map(type, values))
    most = largest // 1000
    if types <= {int}:
        try:
            whole = np.array(values, dtype=np.int64)
            if whole.max(initial=0) <= most and whole.min(initial=0) >= -most:
                return pl.Series(whole * 1000)
        except OverflowError:
            pass
    elif types <= {int, float, type(None)}:
        micro = np.array(values, dtype=np.float64)
        floor = np.floor(micro)
        thousandths = (micro - floor) * 1000
        half = np.abs(thousandths - np.floor(thousandths) - 0.5)
        with np.errstate(invalid="ignore"):
            unsure = half <= np.spacing(np.abs(micro)) * 500 + 1e-9
            large = np.abs(micro) >= min(_UNIQUE_SPELLING, most)
        if not large.any() and not (unsure.any() and _MORE_DIGITS.search(block)):
            missing = np.isnan(micro)
            floor[missing] = thousandths[missing] = 0
            ns = pl.Series(floor.astype(np.int64) * 1000 + np.rint(thousandths).astype(np.int64))
            return ns.set(pl.Series(missing), None) if missing.any() else ns
    texts_ = [bytes(raw).decode("utf-8", "replace") for raw in spelling()]
    exact = partial(_exact_ns, largest=largest)
    return _clean([None if t in ("null", '""') else t for t in texts_], exact, pl.Int64, lost)
