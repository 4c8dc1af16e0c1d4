"""What step markers look like: the grammars of frameworks, their phases, batch sizes and token counts."""

import re
from dataclasses import dataclass

import polars as pl

from traceview.analysis.multiplying import PagedSums
from traceview.selection import PHASES

PHASE = pl.Enum(PHASES)


@dataclass(frozen=True)
class Grammar:
    """One framework's way to name a step. `source` is the word of the JSON contract."""

    source: str
    pattern: str


# In order of preference: the first grammar that matches any annotation gives the steps.
# torch: torch/profiler/profiler.py; vLLM: vllm/v1/worker/gpu_worker.py; SGLang: scheduler profiling;
# ATOM and diffusion: as TraceLens' annotation_utils.py reads them.
GRAMMARS = (
    Grammar("profiler-step", r"^ProfilerStep#\d+$"),
    Grammar("sglang", r"^step\[[A-Z_]+\b.*\]"),
    Grammar("vllm", r"^execute_(\d+_)?context_\d+\(.*\)_generation_\d+\(.*\)|^execute_new_\d+_cached_\d+"),
    Grammar("annotation", r"^(prefill|decode|mixed)\[bs=.*\]|^execute_diffusion_\d+_\d+x\d+"),
)

ANY_STEP = "|".join(grammar.pattern for grammar in GRAMMARS)

# Annotations that repeat in every step and are parts of it: torch's optimizer, loader, DDP, collectives.
NEVER_STEPS = r"^(Optimizer\.|enumerate\(|nccl:|gloo:|## Call CompiledFxGraph|DistributedDataParallel\.)"

# Numbers of more digits than a 64-bit integer takes are no counts.
_VLLM = re.compile(r"^execute_(?:\d+_)?context_(\d{1,17})\((.*?)\)_generation_(\d{1,17})\((.*?)\)")
_VLLM_OLD = re.compile(r"^execute_new_(\d{1,17})_cached_(\d{1,17})(?!\d)")
_SGLANG = re.compile(r"^step\[([A-Z_]+)\b(.*)\]")
_ATOM = re.compile(r"^(prefill|decode|mixed)\[(.*)\]")
_SUMS = re.compile(r"sq(\d{1,17})sk(\d{1,17})sqsq(\d{1,17})sqsk(\d{1,17})")
_NUMBER = re.compile(r"\b(bs|toks|tok)=(\d{1,17})(?!\d)")

_SGLANG_PHASES = {
    "DECODE": "decode",
    "EXTEND": "prefill",
    "PREFILL": "prefill",
    "MIXED": "mixed",
    "IDLE": "idle",
    "VERIFY": "decode",
    "TARGET_VERIFY": "decode",
    "DRAFT_EXTEND": "decode",
}


@dataclass(frozen=True)
class MarkerFacts:
    """What a marker's text says. None: it does not say."""

    phase: str | None = None
    batch: int | None = None
    tokens: int | None = None
    sums: PagedSums | None = None


def marker_facts(name: str) -> MarkerFacts:
    """Phase, batch (requests) and tokens of one marker; fields that are not known are ignored."""
    if found := _VLLM.match(name):
        context, generation = int(found[1]), int(found[3])
        tokens = [_leading_number(found[2]), _leading_number(found[4])]
        known = None if None in tokens else sum(t or 0 for t in tokens)
        sums = _sums(found[2], found[4])
        return MarkerFacts(_phase_of(context, generation), context + generation, known, sums)
    if found := _VLLM_OLD.match(name):
        new, cached = int(found[1]), int(found[2])
        return MarkerFacts(_phase_of(new, cached), new + cached)
    if found := _SGLANG.match(name):
        numbers = dict(_NUMBER.findall(found[2]))
        return MarkerFacts(_SGLANG_PHASES.get(found[1]), _int(numbers.get("bs")), _int(numbers.get("toks")))
    if found := _ATOM.match(name):
        numbers = dict(_NUMBER.findall(found[2]))
        return MarkerFacts(found[1], _int(numbers.get("bs")), _int(numbers.get("tok")))
    return MarkerFacts()


def _sums(context: str, generation: str) -> PagedSums | None:
    """The sums of vLLM's detailed form; the prefilling requests' own part is causal."""
    parts = [_SUMS.match(text) for text in (context, generation)]
    if parts[0] is None or parts[1] is None:
        return None
    sq, sk, sqsq, sqsk = map(int, parts[0].groups())
    decode_sq, decode_sk, _, decode_sqsk = map(int, parts[1].groups())
    return PagedSums(sq + decode_sq, sk + decode_sk, sqsk + decode_sqsk, sqsq)


def _phase_of(prefill: int, decode: int) -> str:
    if prefill and decode:
        return "mixed"
    return "prefill" if prefill else "decode" if decode else "idle"


def _leading_number(text: str) -> int | None:
    """The token count: plain, or the query sum `sq<n>` of vLLM's detailed form."""
    found = re.match(r"(?:sq)?(\d{1,17})(?!\d)", text)
    return int(found[1]) if found else None


def _int(text: str | None) -> int | None:
    return int(text) if text else None


def repeated(annotations: pl.DataFrame) -> pl.DataFrame:
    """Annotations of the host that occur more than once, numbers in their names aside: what could be steps.

    Columns: name (of the first), count, median_ns, pattern (a regular expression for all of them and no
    others); the largest sum first. annotations: Trace.annotations; those of the GPU stand in where the host
    has none.
    """
    named = annotations.filter(pl.col("name").is_not_null(), pl.col("dur_ns") >= 0)
    host = named.filter(~pl.col("on_gpu").fill_null(False))
    kinds = (
        (host if host.height else named)
        .select(name=pl.col("name").cast(pl.String), dur_ns="dur_ns")
        .with_columns(kind=pl.col("name").str.replace_all(r"\d+", "#"))
        .group_by("kind", maintain_order=True)
        .agg(
            pl.col("name").first(),
            count=pl.len().cast(pl.Int64),
            median_ns=pl.col("dur_ns").median().cast(pl.Int64),
            sum_ns=pl.col("dur_ns").sum(),
        )
        .filter(pl.col("count") > 1)
        .sort("sum_ns", descending=True, maintain_order=True)
    )
    patterns = [_pattern(name) for name in kinds["name"]]
    return kinds.select("name", "count", "median_ns", pattern=pl.Series(patterns, dtype=pl.String))


def _pattern(name: str) -> str:
    """A regular expression for the names that differ from this one in their numbers alone."""
    return "^" + r"\d+".join(re.escape(part) for part in re.split(r"\d+", name)) + "$"
