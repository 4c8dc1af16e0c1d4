"""Kernel names made short without losing what matters: functor, types, tile, vector width."""

import re
from collections.abc import Callable
from functools import lru_cache

import polars as pl

from traceview.analysis.cxx import Parts, leading, parse_parts
from traceview.analysis.namefacts import (
    DEEP,
    NameFacts,
    deep_types,
    direct_types,
    integer,
    name_facts,
    strip_suffix,
)

__all__ = ["NameFacts", "name_facts", "over_distinct", "parse_parts", "short_name", "short_names"]

LONGEST = 96  # characters of a short name
# Names that say nothing: the role stands in the template's arguments.
_NAMELESS = re.compile(r"(?:device_kernel|[kK]ernel2?|kentry|trampoline_kernel)$")
_ROLE = re.compile(r"\b(?:\w*FlashAttn\w*|\w*Fmha\w*|\w*MLA\w*|\w*Mla\w*|GemmUniversal\w*|\w*Convolution\w*)")
_QUALITIES = (("GroupProblemShape", "grouped"), ("BlockScaled", "BlockScaled"), ("StreamK", "StreamK"))
_ARCHITECTURE = re.compile(r"Sm(\d{2,3})(?!\d)")
_FLASH = re.compile(r"lash_(?:fwd|bwd)\w*_traits<(\d+), (\d+), (\d+)")
_NCCL = re.compile(r"nccl(?:Dev)?Kernel_(\w+)")
_NCCL_WORDS = {"Sum", "Prod", "Max", "Min", "MinMax", "PreMulSum", "SumPostDiv", "Avg", "t"}
_NCCL_TYPES = {
    "f16": "fp16", "f32": "float", "f64": "double", "half": "fp16", "bfloat16": "bf16", "i8": "int8",
    "u8": "uint8", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64",
}  # fmt: skip
_NCCL_TYPE = re.compile(r"(?:bf16|f\d\w*|float|double|half|bfloat16|u?int\d+|[iu]\d+)$")
_NVJET = re.compile(r"nvjet_[a-z0-9]+_\d+x\d+_\d+x\d+")
_XMMA = re.compile(
    r"(sm\d+_xmma_[a-z]+(?:_implicit)?(?:_gemm)?(?:_indexed)?)_([a-z]+\d+)\w*?_tilesize(\d+x\d+x\d+)"
)
_IGEMM = re.compile(r"(igemm_[a-z]+_gtcx?\d*_[a-z]+_[a-z0-9]+)_\w*?_bt(\d+x\d+x\d+)")
_TENSILE = re.compile(r"Cijk_(A\w{3})_(B\w{3})_([A-Z0-9]+?)_")
_TENSILE_TILE = re.compile(r"_MT(\d+x\d+x\d+)")
_TENSILE_TYPES = {
    "BBS": "bf16",
    "HHS": "fp16",
    "HSS": "fp16 -> float",
    "BSS": "bf16 -> float",
    "SB": "float",
    "DB": "double",
}
# Triton before 3.0 ends a name with its arguments' specialisation; `triton__0d1d` is nothing else and stays.
_TRITON_SPECIALISED = re.compile(r"(?<=[a-z])_0[dec]\w*$")
_ROCPRIM = re.compile(r"wrapped_(\w+)_config")


def over_distinct(
    names: pl.Series, answer: Callable[[str], str], dtype: pl.DataType | type[pl.DataType]
) -> pl.Series:
    """`answer` of each name, asked once for each distinct one. Nulls stay null; order and length are kept."""
    distinct = names.unique().drop_nulls()
    keys = distinct.cast(pl.String).to_list()
    table = pl.DataFrame(
        {"name": distinct, "answer": pl.Series([answer(k) for k in keys], dtype=pl.String).cast(dtype)}
    )
    asked = pl.DataFrame({"name": names})
    return asked.join(table, on="name", how="left", maintain_order="left")["answer"].alias(names.name)


def short_names(names: pl.Series) -> pl.Series:
    """`short_name` over a column of names (String or Categorical): a Categorical of the same length."""
    return over_distinct(names, short_name, pl.Categorical())


def distinct_names(names: pl.Series) -> pl.Series:
    """`short_name` of distinct names, told apart where they agree: a String column of the same length.

    Names that share a short one stay whole where they are as short as that allows, else they are numbered.
    """
    table = pl.DataFrame({"name": names.cast(pl.String).fill_null("")})
    table = table.with_columns(short=short_names(table["name"]).cast(pl.String))
    shared = pl.len().over("short") > 1
    fits = pl.col("name").str.len_chars() <= LONGEST
    numbered = pl.format("{} ({})", "short", pl.int_range(1, pl.len() + 1).over("short"))
    return table.select(
        pl.when(~shared).then("short").when(fits).then("name").otherwise(numbered).alias("short_name")
    ).to_series()


@lru_cache(maxsize=2048)
def short_name(name: str) -> str:
    """A kernel's name in at most 96 characters: `unrolled_elementwise direct_copy -> bf16`.

    What stays is what tells kernels of one kind apart: functor, element types, tile, vector width. Different
    kernels may share a short name; names that are no C++ and belong to no known library stay whole. Never
    raises. The text is the file's and must be made safe before it is shown.
    """
    text = name.strip()
    short = _library(text) or _template(text)
    if len(short) <= LONGEST:
        return short
    return f"{short[: LONGEST * 2 // 3]}…{short[-(LONGEST - 1 - LONGEST * 2 // 3) :]}"


def _library(text: str) -> str | None:
    """Kernels whose names follow a scheme of their library: NCCL, nvjet, xmma, MIOpen's igemm, Tensile."""
    if found := _NCCL.match(text):
        return _nccl(found[1])
    if found := _NVJET.match(text):
        return found.group() + (" splitK" if "splitK" in text else "")
    if found := _XMMA.match(text):
        return f"{found[1]} {found[2]} {found[3]}" + (" splitK" if "split_k" in text else "")
    if found := _IGEMM.match(text):
        return f"{found[1]} {found[2]}"
    if found := _TENSILE.match(text):
        # Tensile's index order: Ailk is A not transposed, Alik transposed; Bljk, Bjlk likewise.
        layout = ("N" if found[1] == "Ailk" else "T") + ("N" if found[2] == "Bljk" else "T")
        tile = _TENSILE_TILE.search(text)
        types = _TENSILE_TYPES.get(found[3], found[3])
        return f"Tensile {layout} {types}" + (f" {tile[1]}" if tile else "")
    return None


def _nccl(rest: str) -> str:
    """`AllReduce_Sum_bf16_RING_LL` (older: `AllReduce_RING_LL_Sum_bf16`) as `nccl AllReduce bf16 RING_LL`."""
    words = rest.split("_")[:16]
    types = [_NCCL_TYPES.get(w, w) for w in words[1:] if _NCCL_TYPE.match(w)]
    protocol = "_".join(w for w in words[1:] if w not in _NCCL_WORDS and not _NCCL_TYPE.match(w))
    return " ".join(filter(None, ["nccl", words[0], *types[:1], protocol]))


def _template(text: str) -> str:
    parts = parse_parts(text)
    if not parts.arguments and not parts.parameters:
        return (
            parts.template
            if parts.base.startswith("triton_")
            else _TRITON_SPECIALISED.sub("", parts.template)
        )
    facts = name_facts(text)
    if facts.elementwise or facts.base == "reduce_kernel":
        return _aten(facts)
    if _NAMELESS.match(parts.base) and parts.arguments:
        return _nameless(parts)
    arguments = ", ".join(parts.arguments)[:DEEP]
    types = direct_types(parts.arguments, 2) or deep_types(parts)
    if found := _FLASH.search(arguments):
        return " ".join(
            [strip_suffix(parts.base), f"head {found[1]}", f"{found[2]}x{found[3]}", *deep_types(parts)]
        )
    if parts.base.startswith("multi_tensor_apply") and len(parts.arguments) > 1:
        return " ".join(["multi_tensor_apply", leading(parts.arguments[1]).base, *deep_types(parts)])
    if facts.element_bytes:
        return f"{strip_suffix(parts.base)} {facts.element_bytes} B"
    numbers = [str(n) for a in parts.arguments if a[:1].isdigit() and (n := integer(a)) is not None][:3]
    keep = f"<{','.join(numbers)}>" if numbers and not parts.base[0].isupper() else ""
    return " ".join([strip_suffix(parts.base) + keep, *([",".join(types)] if types else [])])


def _aten(facts: NameFacts) -> str:
    """ATen's elementwise and reduce kernels."""
    base = facts.base.removesuffix("_kernel").replace("_kernel_", "_")
    if facts.vector is not None:
        base += f"<{facts.vector}>"
    elif facts.threads is not None:
        base += f"<{facts.threads},{facts.per_thread}>"
    words = [base, facts.functor or ""]
    if facts.copies:
        written = "float8" if facts.functor == "float8_copy" else facts.out_dtype
        words += [facts.in_dtype or "", f"-> {written}" if written else ""]
    else:
        words += [facts.in_dtype or facts.compute_dtype or "", "cast" if facts.casts else ""]
    return " ".join(w for w in words if w)


def _nameless(parts: Parts) -> str:
    """`cutlass::device_kernel<...>` and its like: the role found in the arguments, with its qualities."""
    text = ", ".join(parts.arguments)[:DEEP]
    library = parts.template.split("::", 1)[0] if "::" in parts.template else ""
    first = next(
        (p for a in parts.arguments if integer(a) is None and (p := parse_parts(a).base)), parts.base
    )
    role = _ROLE.search(text)
    words = [library] if library and not first.startswith(library) else []
    words.append(role.group() if role else _ROCPRIM.sub(r"\1", first))
    words += [word for mark, word in _QUALITIES if mark in text]
    architecture = _ARCHITECTURE.search(text)
    if architecture and architecture[1] not in " ".join(words):
        words.append(f"sm{architecture[1]}")
    return " ".join([*words, *deep_types(parts)])
