"""What is odd about a group of launches, in a few words that stand beside its row."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from traceview.analysis.namefacts import NameFacts
from traceview.analysis.sizing import product
from traceview.units import fmt_count

# A p95 this many times the median means that the mean speaks of no launch.
_SPREAD = 3
# A grid of as many blocks is over data that is large for one step.
LARGE_GRID = 100_000
_LAYER_MODULE = r"^nn\.Module: (?<class>\w*(?:Layer|Block))_(?<instance>\d+)$"
# A count per step shared by this many kernels is taken for the number of layers.
_KERNELS_OF_A_LAYER = 3
_FEWEST_LAYERS = 4

_DTYPES = {
    "c10::Float8_e4m3fn": "fp8",
    "c10::Float8_e4m3fnuz": "fp8",
    "c10::Float8_e5m2": "fp8",
    "c10::Float8_e5m2fnuz": "fp8",
    "c10::BFloat16": "bf16",
    "c10::Half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "long int": "int64",
    "long": "int64",
    "int": "int32",
    "unsigned char": "uint8",
    "signed char": "int8",
    "bool": "bool",
}


def dtype_word(dtype: str) -> str:
    """The short word for an element type as the profiler spells it."""
    return _DTYPES.get(dtype, dtype)


@dataclass(frozen=True)
class Layers:
    """How many layers the model has; recorded: by its modules, else guessed from the kernels' counts."""

    count: int
    recorded: bool

    def times(self, per_step: float | None) -> int | None:
        """How often a kernel runs in each layer; None where that is no whole number."""
        if not per_step or per_step % self.count:
            return None
        return int(per_step // self.count)


def layer_count(modules: pl.Series, groups: pl.DataFrame) -> Layers | None:
    """The layers by the most instances of a module class that is called a layer or a block, else by counts.

    modules: distinct names as Trace.python has them (`nn.Module: LlamaDecoderLayer_3`); groups: see `layers`.
    """
    instance = modules.drop_nulls().cast(pl.String).str.extract_groups(_LAYER_MODULE).struct.unnest()
    counts = instance.drop_nulls().unique().group_by("class").len()["len"]
    if len(counts) and (most := int(counts.to_numpy().max())) > 1:
        return Layers(most, recorded=True)
    guessed = layers(groups)
    return None if guessed is None else Layers(guessed, recorded=False)


def layers(groups: pl.DataFrame) -> int | None:
    """The number of layers that the kernels' counts speak of: the whole calls per step that most share.

    groups has calls_per_step. None where fewer than three kernels share a count of four or more.
    """
    whole = groups.filter(
        pl.col("calls_per_step") >= _FEWEST_LAYERS,
        pl.col("calls_per_step") == pl.col("calls_per_step").round(),
    )
    counts = whole.group_by("calls_per_step").len().sort(["len", "calls_per_step"], descending=True)
    if not counts.height or counts["len"][0] < _KERNELS_OF_A_LAYER:
        return None
    return int(counts["calls_per_step"][0])


def remark(
    row: dict[str, Any], facts: NameFacts | None, layer_count: Layers | None, types: list[str] | None
) -> str:
    """One row's remarks, the most telling first, joined by a middle dot.

    row: a row of groups.grouped; facts: of its kernel's name, where it is one kernel; types: its input types.
    """
    words = []
    if facts is not None and (facts.casts or facts.copies) and (cast := _cast(facts, types)):
        words.append(cast)
    per_step = row["calls_per_step"]
    if layer_count and (times := layer_count.times(per_step)):
        sign = "=" if layer_count.recorded else "≈"
        words.append(f"{fmt_count(per_step)}/step {sign} {'' if times == 1 else f'{times} x '}layers")
    if facts is not None and row["calls"] > 1:
        variants = row["variants"]
        words.append(
            f"all {fmt_count(row['calls'])} alike" if variants == 1 else f"{fmt_count(variants)} variants"
        )
    if row["over_floor"] is not None:
        words.append(floor_word(row["over_floor"], row["suspect"], row["assumed"]) + " floor")
    blocks = product(row["grid"]) if row["grids"] == 1 else None
    if blocks and blocks >= LARGE_GRID:
        words.append(f"grid {fmt_count(blocks)}")
    if facts is not None and row["p50_ns"] and row["p95_ns"] >= _SPREAD * row["p50_ns"]:
        words.append(f"p95 {row['p95_ns'] / row['p50_ns']:.0f}x p50")
    return " · ".join(words)


def floor_word(over_floor: float, suspect: bool | None, assumed: bool | None) -> str:
    """Time over floor: `1.7x`; with ? where it cannot be, with ≈ where sizes are assumed."""
    return f"{'≈' if assumed else ''}{over_floor:.1f}x{'?' if suspect else ''}"


def _cast(facts: NameFacts, types: list[str] | None) -> str | None:
    """`casts fp8 -> bf16`: the target out of the name, the source out of the op's second input type."""
    if not facts.casts:
        return None
    source = dtype_word(types[1]) if types and len(types) > 1 else None
    target = facts.out_dtype or facts.compute_dtype
    if facts.copies and target:
        return f"casts {source} -> {target}" if source and source != "Scalar" else f"casts to {target}"
    return "converts dtype"
