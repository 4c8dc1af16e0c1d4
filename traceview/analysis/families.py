"""The family of a kernel (gemm, attention, copy-cast, ...), by rules in a file that can be extended."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from traceview.analysis.cxx import NAMES_KEPT
from traceview.analysis.names import over_distinct
from traceview.errors import TraceError

FAMILIES = (
    "gemm", "attention", "moe", "communication", "norm", "rope", "quantize", "activation", "sampling",
    "embedding-index", "softmax", "kv-cache", "copy-cast", "fill", "reduce", "elementwise", "convolution",
    "optimizer", "triton", "memcpy", "memset", "other",
)  # fmt: skip
FAMILY = pl.Enum(FAMILIES)
_SEARCHED = 1 << 14  # characters of a name; roles deep in a template stand well before


@dataclass(frozen=True)
class Rule:
    """Kernels in whose name `pattern` is found belong to `family`."""

    family: str
    pattern: re.Pattern[str]


def load_rules(extra: Path | None = None) -> tuple[Rule, ...]:
    """The rules in the order they are tried: those of the file `extra`, then the built-in ones.

    `extra` is TOML with `[[rule]]` tables of `family` and `pattern`. Raises TraceError (exit code 2) where it
    cannot be read, names an unknown family or holds a pattern that is no regular expression.
    """
    return (*(_read_extra(extra) if extra else ()), *_built_in())


@lru_cache(maxsize=1)
def _built_in() -> tuple[Rule, ...]:
    text = files("traceview.data").joinpath("families.toml").read_text("utf-8")
    return tuple(_rule(entry) for entry in tomllib.loads(text)["rule"])


def _read_extra(path: Path) -> tuple[Rule, ...]:
    try:
        entries = tomllib.loads(path.read_text("utf-8")).get("rule", [])
        if not isinstance(entries, list):
            raise ValueError("rule must be an array of tables, [[rule]]")
        return tuple(_rule(entry) for entry in entries)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}", exit_code=2) from None
    except (ValueError, re.error) as error:  # a TOML or UTF-8 fault is a ValueError
        raise TraceError(f"{path}: not a file of family rules: {error}", exit_code=2) from None


def _rule(entry: Any) -> Rule:
    match entry:
        case {"family": str(family), "pattern": str(pattern)} if family in FAMILIES:
            return Rule(family, re.compile(pattern))
        case {"family": str(family), "pattern": str()}:
            raise ValueError(f"family {family!r} is none of {', '.join(FAMILIES)}")
        case _:
            raise ValueError("each [[rule]] needs a family and a pattern, both text")


def family_of_name(name: str, rules: Sequence[Rule] | None = None) -> str:
    """The family of one kernel by its full name; `other` where no rule matches. rules: None, the built-in."""
    return _by_built_in(name) if rules is None else _by_rules(name, rules)


@lru_cache(maxsize=NAMES_KEPT)
def _by_built_in(name: str) -> str:
    return _by_rules(name, _built_in())


def _by_rules(name: str, rules: Sequence[Rule]) -> str:
    searched = name[:_SEARCHED]
    return next((rule.family for rule in rules if rule.pattern.search(searched)), "other")


def family_of(
    names: pl.Series, kinds: pl.Series | None = None, rules: Sequence[Rule] | None = None
) -> pl.Series:
    """The family of each piece of GPU work, an Enum of `FAMILIES` of the same length.

    `names` are full names, `kinds` the schema's kernel, memcpy, memset; each distinct name is looked at once.
    A null name has a null family.
    """
    tried = None if rules is None or tuple(rules) == _built_in() else tuple(rules)
    found = over_distinct(names, lambda name: family_of_name(name, tried), FAMILY)
    if kinds is None:
        return found
    kind = kinds.cast(pl.String).cast(FAMILY, strict=False)  # null for kernels
    return pl.select(pl.coalesce(kind, found)).to_series().alias(names.name)
