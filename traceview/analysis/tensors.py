"""What tensor is this? Sizes matched with the trace's tensors and with those a model's config implies."""

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import polars as pl

from traceview.analysis.calls import Tensor, parse_arguments
from traceview.analysis.dtypes import size_of
from traceview.errors import TraceError

_TENSORS: dict[str, Any] = {
    "dims": pl.List(pl.Int64),
    "dtype": pl.String,  # null: not recorded
    "elements": pl.Int64,
    "bytes": pl.Int64,
    "op": pl.String,
    "position": pl.Int64,  # among the operator's arguments
    "calls": pl.Int64,
}
TENSORS = pl.Schema(_TENSORS)
_MODEL: dict[str, Any] = {
    "tensor": pl.String,
    "dims": pl.List(pl.Int64),
    "elements": pl.Int64,  # on one rank
    "working": pl.String,
}
MODEL = pl.Schema(_MODEL)
LARGEST_MULTIPLE = 8
_LARGEST = (1 << 63) // 32  # elements: their bytes fit 64 bits, whatever their type
_LARGEST_CONFIG = 16 << 20  # bytes; real ones have a few thousand
_LARGEST_NUMBER = 1 << 31  # no width, vocabulary or count of a model comes near


def seen_tensors(ops: pl.DataFrame) -> pl.DataFrame:
    """Every distinct tensor among the arguments of `ops` (name, input_dims, input_types), as TENSORS.

    Each distinct combination is read once; `calls` counts the operator calls that had it.
    """
    distinct = (
        ops.filter(pl.col("input_dims").is_not_null()).group_by("name", "input_dims", "input_types").len()
    )
    columns = [distinct[c].cast(pl.String).to_list() for c in ("name", "input_dims", "input_types")]
    rows: list[tuple[Any, ...]] = []
    for op, dims, types, calls in zip(*columns, distinct["len"].to_list(), strict=True):
        for position, argument in enumerate(parse_arguments(dims, types)):
            for tensor in argument if isinstance(argument, tuple) else (argument,):
                if isinstance(tensor, Tensor) and tensor.dims and tensor.count <= _LARGEST:
                    size = size_of(tensor.dtype)
                    total = tensor.count * size if size else None
                    rows.append((list(tensor.dims), tensor.dtype, tensor.count, total, op, position, calls))
    table = pl.DataFrame(rows, schema=TENSORS, orient="row")
    keys = [c for c in TENSORS if c != "calls"]
    return table.group_by(keys).agg(pl.col("calls").sum()).select(TENSORS.names())


def _multiple(elements: int) -> pl.Expr:
    """How often the column `elements` goes into a number, for 1 to LARGEST_MULTIPLE times; null otherwise."""
    value = pl.col("elements")
    times = pl.lit(elements) // pl.when(value > 0).then(value)
    return pl.when((times * value == elements) & times.is_between(1, LARGEST_MULTIPLE)).then(times)


def same_size(tensors: pl.DataFrame, elements: int) -> pl.DataFrame:
    """The rows of `tensors` whose elements make up the given number, with how often: `multiple`.

    1 to 8 times; equal ones first, then those with most calls.
    """
    found = tensors.with_columns(multiple=_multiple(elements)).filter(pl.col("multiple").is_not_null())
    return found.sort("multiple", "calls", "op", "position", descending=[False, True, False, False])


def read_config(path: Path) -> dict[str, Any]:
    """A Hugging Face config.json. Raises TraceError (exit code 2) where it cannot be read or is none."""
    try:
        if path.exists() and not path.is_file():  # a device or a pipe may never end
            raise TraceError(f"{path}: not a regular file", exit_code=2)
        with path.open("rb") as file:
            text = file.read(_LARGEST_CONFIG + 1)
        if len(text) > _LARGEST_CONFIG:
            raise TraceError(f"{path}: too large for a model's config", exit_code=2)
        config = json.loads(text)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}", exit_code=2) from None
    except (ValueError, RecursionError):
        raise TraceError(f"{path}: not JSON", exit_code=2) from None
    if not isinstance(config, dict) or _config_number(_text_part(config), "hidden_size") is None:
        raise TraceError(f"{path}: not a model's config: no hidden_size", exit_code=2)
    return config


def _text_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The language model's part of a multimodal config, or the config itself."""
    part = config.get("text_config")
    return part if isinstance(part, dict) else config


def _config_number(config: Mapping[str, Any], *names: str) -> int | None:
    """The first of `names` that the config gives as a positive whole number.

    Raises TraceError (exit code 2) where that is larger than any model's.
    """
    found = next(((n, v) for n in names if type(v := config.get(n)) is int and v > 0), None)
    if found is None:
        return None
    name, value = found
    if value > _LARGEST_NUMBER:
        raise TraceError(f"the model's config: {name} is larger than any model's", exit_code=2)
    return value


def model_tensors(config: Mapping[str, Any], tp: int = 1) -> pl.DataFrame:
    """The weights of one layer, the embeddings and one layer's KV cache on one rank, as MODEL.

    `config` is a Hugging Face config, `tp` the tensor-parallel ranks. Heads, experts' inner width and
    vocabulary are divided over the ranks, rounded up; fewer KV heads than ranks are repeated. How many tokens
    the cache holds no config says: its rows have the dimensions of one token and null elements. What the
    config does not say is left out, and so is what no memory could hold. Attention is MLA where the config
    has kv_lora_rank, grouped-query otherwise.
    """
    text = _text_part(config)
    ranks = max(tp, 1)
    rows: list[tuple[str, list[int], int | None, str]] = []

    def number(*names: str) -> int | None:
        return _config_number(text, *names)

    def shard(value: int | None) -> int | None:
        return None if value is None else -(-value // ranks)

    def times(*values: int | None) -> int | None:
        return prod(v for v in values if v is not None) if None not in values else None

    def add(name: str, dims: list[int | None], working: str) -> None:
        known = [d for d in dims if d is not None]
        if len(known) == len(dims):
            shared = f" at tp {ranks}" if ranks > 1 else ""
            rows.append((name, known, prod(known), f"{working}{shared}"))

    hidden = number("hidden_size")
    heads = number("num_attention_heads")
    local_heads = shard(heads)
    add("embedding", [shard(number("vocab_size")), hidden], "vocab_size x hidden_size")
    add("lm_head", [shard(number("vocab_size")), hidden], "vocab_size x hidden_size")
    latent, rope = number("kv_lora_rank"), number("qk_rope_head_dim")
    if latent and rope:
        nope, value, low = number("qk_nope_head_dim"), number("v_head_dim"), number("q_lora_rank")
        per_query = nope + rope if nope else None
        add("q_a_proj", [low, hidden], "q_lora_rank x hidden_size")
        add("q_b_proj", [times(local_heads, per_query), low], "heads x (nope + rope) x q_lora_rank")
        add("kv_a_proj", [latent + rope, hidden], "(kv_lora_rank + rope) x hidden_size")
        per_value = nope + value if nope and value else None
        add("kv_b_proj", [times(local_heads, per_value), latent], "heads x (nope + v) x kv_lora_rank")
        add("o_proj", [hidden, times(local_heads, value)], "hidden_size x heads x v_head_dim")
        said = f"tokens x (kv_lora_rank {latent} + rope {rope})"
        rows.append(("KV cache of a layer", [1, latent + rope], None, said))
    else:
        width = number("head_dim") or (hidden // heads if hidden and heads else None)
        kv_heads = number("num_key_value_heads") or heads
        local_kv = max(shard(kv_heads) or 0, 1) if kv_heads else None
        add("q_proj", [times(local_heads, width), hidden], "heads x head_dim x hidden_size")
        add("k_proj or v_proj", [times(local_kv, width), hidden], "KV heads x head_dim x hidden_size")
        both = local_heads + 2 * local_kv if local_heads and local_kv else None
        add("qkv_proj", [times(both, width), hidden], "(heads + 2 x KV heads) x head_dim x hidden_size")
        add("o_proj", [hidden, times(local_heads, width)], "hidden_size x heads x head_dim")
        if local_kv and width:
            said = f"tokens x {local_kv} KV heads x head_dim {width}"
            rows.append(("K or V cache of a layer", [local_kv, width], None, said))
            rows.append(("KV cache of a layer", [2, local_kv, width], None, f"2 x {said}"))
    inner = shard(number("intermediate_size"))
    add("mlp gate and up", [times(2, inner), hidden], "2 x intermediate_size x hidden_size")
    add("mlp down", [hidden, inner], "hidden_size x intermediate_size")
    experts = number("n_routed_experts", "num_experts", "num_local_experts")
    if experts:
        narrow = shard(number("moe_intermediate_size", "intermediate_size"))
        shared = number("n_shared_experts")
        add("router", [experts, hidden], "experts x hidden_size")
        wide = "experts x 2 x moe_intermediate_size x hidden_size"
        add("experts' gate and up", [experts, times(2, narrow), hidden], wide)
        add("experts' down", [experts, hidden, narrow], "experts x hidden_size x moe_intermediate_size")
        add(
            "shared expert's gate and up",
            [times(2, shared, narrow), hidden],
            "2 x moe_intermediate_size x hidden_size",
        )
        add("shared expert's down", [hidden, times(shared, narrow)], "hidden_size x moe_intermediate_size")
    fitting = [row for row in rows if prod(row[1]) <= _LARGEST]
    return pl.DataFrame(fitting, schema=MODEL, orient="row")


def match_model(model: pl.DataFrame, elements: int) -> pl.DataFrame:
    """Each row of `model` against a number of elements, with `multiple` (null: no match) and `tokens`.

    `multiple`: how often the tensor goes into the number, 1 to 8 times. `tokens`: for a cache of unknown
    length, the tokens that would make it this size. Matches come first, the rest by size.
    """
    per_token = pl.col("dims").list.eval(pl.element().product()).list.first()
    open_cache = pl.col("elements").is_null() & (per_token > 0) & (pl.lit(elements) % per_token == 0)
    return model.with_columns(
        multiple=pl.when(open_cache).then(1).otherwise(_multiple(elements)).cast(pl.Int64),
        tokens=pl.when(open_cache).then(pl.lit(elements) // per_token),
    ).sort(
        pl.col("multiple").is_null(), "multiple", -pl.col("elements"), nulls_last=True, maintain_order=True
    )


# Ops that only look at a tensor another way, or make room for one: they say nothing of what it is.
_VIEWS = (
    r"^aten::(_unsafe_)?(view|as_strided|reshape|transpose|t|permute|slice|select|expand|squeeze|unsqueeze|detach|"
    r"alias|empty|empty_like|empty_strided|narrow|split|chunk|unbind|flatten|lift_fresh)_?$"
)
# Smaller numbers of elements are shared by tensors that have nothing to do with each other.
LEAST_TELLING = 1_000_000
MOST_CANDIDATES = 6


def candidates(
    tensors: pl.DataFrame, model: pl.DataFrame | None, elements: int | None
) -> list[dict[str, Any]]:
    """What a tensor of so many elements may be: arguments of the trace's ops, then tensors of the model.

    tensors: `seen_tensors`; model: `model_tensors` or None. Each has op and position (None for the model's),
    tensor (its name in the model, else None), multiple (how often it goes into the number) and working.
    Empty for numbers too small to tell tensors apart.
    """
    if not elements or elements < LEAST_TELLING:
        return []
    seen = same_size(tensors.filter(~pl.col("op").str.contains(_VIEWS)), elements)
    of_trace = seen.unique("op", keep="first", maintain_order=True).head(MOST_CANDIDATES)
    found = [
        {
            "op": row["op"],
            "position": row["position"],
            "tensor": None,
            "multiple": row["multiple"],
            "working": f"{row['dims']} {row['dtype'] or 'type -'} in {row['calls']:,} calls",
        }
        for row in of_trace.iter_rows(named=True)
    ]
    if model is None:
        return found
    known = match_model(model, elements).filter(pl.col("multiple").is_not_null())
    return found + [
        {
            "op": None,
            "position": None,
            "tensor": row["tensor"],
            "multiple": row["multiple"],
            "working": row["working"] + (f"; {row['tokens']:,} tokens" if row["tokens"] else ""),
        }
        for row in known.iter_rows(named=True)
    ]
