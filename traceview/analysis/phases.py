"""Prefill or decode, told by the attention kernels that a step ran, where its marker does not say."""

import polars as pl

from traceview.analysis.markers import PHASE

# Attention kernels that only one phase uses: FlashInfer, FlashAttention, vLLM, TensorRT-LLM and ROCm names.
_DECODE = (
    r"BatchDecode|SingleDecode|BatchMLA|splitkv|split_kv|paged_attention|_fwd_grouped_kernel|decode_att|"
    r"flash_?mla|[Gg]enerat(e|ion)Phase|mla_decode|attention_3d"
)
_PREFILL = r"BatchPrefill|SinglePrefill|flash_fwd_kernel|FmhaBatchPrefill|Context\b|PersistentContext|prefill"


def with_phases(windows: pl.DataFrame, work: pl.DataFrame) -> pl.DataFrame:
    """The step windows with `phase` and `phase_from` filled in from kernels where markers left them null.

    work: step, name, kind. A step with attention kernels of both kinds is mixed; one with neither stays null.
    """
    name = pl.col("name").cast(pl.String)
    distinct = work.select("name").unique().drop_nulls()
    decode = name.str.contains(_DECODE)
    kinds = distinct.with_columns(decode=decode, prefill=name.str.contains(_PREFILL) & ~decode)
    seen = (
        work.filter(pl.col("step").is_not_null())
        .join(kinds.filter(pl.col("decode") | pl.col("prefill")), on="name")
        .group_by("step")
        .agg(pl.col("decode").any(), pl.col("prefill").any())
        .select(
            pl.col("step").cast(windows["index"].dtype),
            by_kernels=pl.when(pl.col("decode") & pl.col("prefill"))
            .then(pl.lit("mixed"))
            .when("decode")
            .then(pl.lit("decode"))
            .otherwise(pl.lit("prefill"))
            .cast(PHASE),
        )
    )
    unknown = pl.col("phase").is_null() & pl.col("by_kernels").is_not_null()
    return (
        windows.join(seen, left_on="index", right_on="step", how="left", maintain_order="left")
        .with_columns(
            phase_from=pl.when(unknown).then(pl.lit("kernels")).otherwise("phase_from"),
            phase=pl.coalesce("phase", "by_kernels"),
        )
        .drop("by_kernels")
    )
