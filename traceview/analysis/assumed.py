"""What a person puts in place of shapes, types or token counts that the file does not hold."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from traceview.analysis.dtypes import dtype
from traceview.analysis.multiplying import PagedSums

KEYS = ("op", "dims", "types", "cached", "tokens")
_KEY = re.compile(rf"(?:^|(?<=\s))({'|'.join(KEYS)})\s*=")
_NO_TENSORS = ("Scalar", "ScalarList", "-")
_LARGEST = (1 << 40) - 1  # more tokens than any cache holds; keeps all products within 64 bits' reach


@dataclass(frozen=True)
class Assumption:
    """What is assumed of all launches of one variant; None: nothing.

    input_dims and input_types are JSON text, as the frames have them. cached: tokens in the paged cache,
    summed over the step's requests; tokens: query tokens of each of these requests (1 where they decode).
    """

    op: str | None = None
    input_dims: str | None = None
    input_types: str | None = None
    cached: int | None = None
    tokens: int = 1

    @property
    def sums(self) -> PagedSums | None:
        """The step's sums that paged attention is reckoned from."""
        if self.cached is None:
            return None
        return PagedSums(self.tokens, self.cached, self.tokens * self.cached, origin="what was typed in")

    @property
    def words(self) -> list[str]:
        """What is assumed, one line each."""
        said = []
        if self.op is not None:
            said.append(f"op {self.op}, typed in")
        if self.input_dims is not None:
            said.append(f"input shapes {self.input_dims}, typed in")
        if self.input_types is not None:
            said.append(f"input types {self.input_types}, typed in")
        if self.cached is not None:
            said.append(f"{self.cached:,} cached tokens, {self.tokens:,} query tokens a request, typed in")
        return said


def parse_assumption(text: str) -> Assumption:
    """The assumption that a line such as `dims=[[8,128],[128]] types=bf16,bf16 cached=4096` spells.

    Text before the first key is dims. Raises ValueError with one line that says what would work.
    """
    keys = list(_KEY.finditer(text))
    ends = [found.start() for found in keys] + [len(text)]
    given = {found[1]: text[found.end() : end].strip() for found, end in zip(keys, ends[1:], strict=True)}
    head = text[: ends[0]].strip()
    if head or not keys:
        if keys and not head.startswith("["):
            raise ValueError(f"{head}: not one of {', '.join(KEYS)}")
        given["dims"] = head
    cached = _count(given, "cached")
    if "tokens" in given and cached is None:
        raise ValueError("tokens: needs cached=N beside it, the tokens in the cache")
    return Assumption(
        given.get("op"),
        _dims(given["dims"]) if "dims" in given else None,
        _types(given["types"]) if "types" in given else None,
        cached,
        _count(given, "tokens") or 1,
    )


def _count(given: Mapping[str, str], key: str) -> int | None:
    if key not in given:
        return None
    digits = given[key].replace(",", "").replace("_", "")
    if not re.fullmatch(r"[0-9]{1,13}", digits) or not 0 < int(digits) <= _LARGEST:
        raise ValueError(f"{key}: needs a whole number such as {key}=4096")
    return int(digits)


def _dims(text: str) -> str:
    wanted = "dims: needs lists such as [[8,128],[128]], one for each argument"
    spaced = re.sub(r"\]\s+\[", "],[", text)
    try:
        value = json.loads(spaced if spaced.startswith("[[") else f"[{spaced}]")
    except (ValueError, RecursionError):
        raise ValueError(wanted) from None
    if not value or not all(isinstance(d, list) and all(type(n) is int and n >= 0 for n in d) for d in value):
        raise ValueError(wanted)
    return json.dumps(value)


def _types(text: str) -> str:
    words = [word for word in re.split(r"[\s,\[\]\"']+", text) if word]
    unknown = [word for word in words if word not in _NO_TENSORS and dtype(word) is None]
    if not words or unknown:
        example = "such as bf16, float8_e4m3fn, int64; - for what is no tensor"
        raise ValueError(f"types: {unknown[0] if unknown else 'none'} is not one, {example}")
    return json.dumps(["" if word == "-" else word for word in words])


def with_assumed(calls: pl.DataFrame, assumed: Mapping[int, Assumption]) -> pl.DataFrame:
    """`calls` with what is assumed in place of what is missing, and `assumed` (words, null: nothing).

    calls: variant, op_name, input_dims, input_types, input_strides, sums_of. A sums_of below 0 stands for the
    sums of an assumption, see `assumed_sums`.
    """
    changed: dict[str, Any] = {name: pl.col(name) for name in ("op_name", "input_dims", "input_types")}
    strides, sums_of = pl.col("input_strides"), pl.col("sums_of").cast(pl.Int64)
    said = pl.lit(None, pl.List(pl.String))
    for variant, assumption in assumed.items():
        here = pl.col("variant") == variant
        given = (assumption.op, assumption.input_dims, assumption.input_types)
        for name, value in zip(changed, given, strict=True):
            if value is not None:
                changed[name] = pl.when(here).then(pl.lit(value, calls.schema[name])).otherwise(changed[name])
        if assumption.input_dims is not None:
            strides = pl.when(~here).then(strides)
        if assumption.sums is not None:
            sums_of = pl.when(here).then(-1 - variant).otherwise(sums_of)
        said = pl.when(here).then(pl.lit(assumption.words, pl.List(pl.String))).otherwise(said)
    return calls.with_columns(
        **{name: expression.alias(name) for name, expression in changed.items()},
        input_strides=strides,
        sums_of=sums_of,
        assumed=said,
    )


def assumed_sums(assumed: Mapping[int, Assumption]) -> dict[int, PagedSums]:
    """The sums of assumptions, by what `with_assumed` puts into sums_of."""
    return {-1 - v: sums for v, assumption in assumed.items() if (sums := assumption.sums) is not None}
