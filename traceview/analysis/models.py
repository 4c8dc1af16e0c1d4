"""Which model a kernel has: from its operator's name to the function that works out its traffic."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import polars as pl

from traceview.analysis import elementwise as ew
from traceview.analysis import multiplying as mu
from traceview.analysis import rowwise as rw
from traceview.analysis.calls import Call, Tensor, Work
from traceview.analysis.collectives import collective
from traceview.analysis.cxx import NAMES_KEPT
from traceview.analysis.families import family_of_name
from traceview.analysis.multiplying import PagedSums
from traceview.analysis.namefacts import DEEP
from traceview.analysis.names import over_distinct

__all__ = ["PagedSums", "is_helper", "kernels_of_op", "model", "role_of"]

Model = Callable[[Call], Work | None]

# Names of aten operators, in-place forms included, and their model. Later lines win.
_GROUPS: tuple[tuple[str, Model], ...] = (
    (" ".join((*ew.UNARY, *ew.UNARY_TESTS)), partial(ew.elementwise, arity=1)),
    (" ".join((*ew.BINARY, *ew.TESTS)), partial(ew.elementwise, arity=2)),
    (" ".join(ew.TERNARY), partial(ew.elementwise, arity=3)),
    (" ".join(ew.REDUCTIONS), ew.reduction),
    ("_to_copy to clone contiguous type_as", ew.convert),
    ("copy", ew.copy),
    ("fill zero", ew.fill),
    ("cat stack", ew.cat),
    ("topk sort kthvalue", ew.read_once),
    ("_softmax _log_softmax softmax log_softmax", rw.softmax),
    ("_softmax_backward_data _log_softmax_backward_data", rw.softmax_backward),
    ("native_layer_norm layer_norm", partial(rw.norm, rate=8)),
    ("_fused_rms_norm rms_norm", partial(rw.norm, rate=5)),
    ("native_batch_norm cudnn_batch_norm miopen_batch_norm", rw.batch_norm),
    ("native_batch_norm_backward cudnn_batch_norm_backward miopen_batch_norm_backward", rw.batch_norm),
    ("embedding", partial(rw.gather, table=0, index=1)),
    ("index_select", partial(rw.gather, table=0, index=2)),
    ("gather", rw.gather_elements),
    ("index_put _index_put_impl", partial(rw.scatter, values=2, target=0)),
    ("scatter scatter_add index_add index_copy", partial(rw.scatter, values=3, target=0)),
    ("max_pool2d_with_indices_backward", rw.pool_backward),
    ("mm bmm matmul _int_mm", mu.mm),
    ("addmm baddbmm", partial(mu.mm, first=1, bias=0)),
    ("linear", mu.linear),
    ("mv dot vdot", mu.mv),
    ("_scaled_mm", mu.scaled_mm),
    ("_grouped_mm", mu.grouped_mm),
    ("convolution _convolution", partial(mu.convolution, stride=3, padding=4, dilation=5, transposed=6)),
    ("conv1d conv2d conv3d", partial(mu.convolution, stride=3, padding=4, dilation=5)),
    ("cudnn_convolution", partial(mu.convolution, stride=3, padding=2, dilation=4)),
    ("miopen_convolution", partial(mu.convolution, stride=4, padding=3, dilation=5)),
    ("convolution_backward", mu.convolution_backward),
    ("cudnn_convolution_backward_input miopen_convolution_backward_input", mu.convolution_backward_input),
    ("_flash_attention_forward", partial(mu.attention, causal=8, heads_first=False)),
    ("_scaled_dot_product_flash_attention", partial(mu.attention, causal=4)),
    ("_scaled_dot_product_efficient_attention", partial(mu.attention, causal=6)),
    ("_scaled_dot_product_cudnn_attention", partial(mu.attention, causal=6)),
    ("scaled_dot_product_attention", partial(mu.attention, causal=5)),
    (
        "alias as_strided detach empty empty_like empty_strided expand expand_as narrow permute select",
        ew.view,
    ),
    ("slice split squeeze t transpose unbind unsqueeze view _unsafe_view movedim lift_fresh", ew.view),
)
_ATEN: dict[str, Model] = {name: function for names, function in _GROUPS for name in names.split()}

# Operators of vLLM, SGLang, flashinfer and others, whatever their namespace; the first that fits decides.
_CUSTOM: tuple[tuple[re.Pattern[str], Model], ...] = tuple(
    (re.compile(pattern), function)
    for pattern, function in (
        (r"fused_add_(?:rms_?norm|layer_?norm)", rw.fused_add_norm),
        (r"(?:rms|layer)_?norm$", partial(rw.norm, rate=5)),
        (r"(?:silu|gelu|gelu_tanh|gelu_quick|swiglu|act)_and_mul$", rw.act_and_mul),
        (r"rotary_embedding$", rw.rope),
        (r"reshape_and_cache", rw.cache_write),
        (r"fp4_(?:experts_)?quant", rw.quantize_fp4),
        (r"fp8_quant|quant_fp8|scaled_quant$", rw.quantize_fp8),
        (r"group(?:ed)?_(?:mm|gemm)", mu.grouped_mm),
        (r"sampling_from_prob", ew.read_once),
        (r"topk_softmax$", ew.each_once),
        (r"^triton_(?:poi|red|per)_fused", ew.each_once),
    )
)
_PAGED = re.compile(r"paged_attention|unified_attention|batch_(?:mla|decode|prefill)")

_HELPER = re.compile(
    r"split[Kk]?_?[rR]educe|reduce_1Block|ReduceSplitK|compute\w*Offsets|nchwToNhwc|nhwcToNchw|batched_transpose"
    r"|N[CH]+W2|im2col|col2im|winograd(?:Forward|Wgrad|Backward)|generateWinograd|scalePackedTensor|SubTensorOp"
    r"|reduce_wgrad|^Memset|^Memcpy|MergeState|[sS]plit_?[kK]v_?[cC]ombine|FlashAttnFwdCombine|reduce_segments"
    r"|attention_ll4mi_reduce|(?:Scan|Compact)InitKernel"
)
_NOT_PRODUCTS = frozenset(
    {"elementwise", "copy-cast", "fill", "reduce", "norm", "softmax", "activation", "memset", "memcpy"}
)
_PRODUCTS = frozenset({"gemm", "convolution", "attention", "communication"})


@lru_cache(maxsize=NAMES_KEPT)
def is_helper(kernel: str) -> bool:
    """True for kernels that only serve another kernel of the same operator: split-K sums, layout changes.

    They move data of their own making, of which the trace says nothing, so they have no model.
    """
    return _HELPER.search(kernel[:DEEP]) is not None


def role_of(kernel: str) -> str:
    """What a kernel does for its operator: `helper`, a part that has a model of its own, or `main`."""
    if is_helper(kernel):
        return "helper"
    parts = ("dgrad|bwd_data|igemm_bwd", "wgrad|bwd_weight|igemm_wrw", "collect_statistics", "update_stats")
    return next((p for p in parts if re.search(p, kernel[:DEEP])), "main")


def kernels_of_op(launches: pl.DataFrame) -> pl.Series:
    """How many kernels of one call of an operator share the row's role; null where the row has no operator.

    `launches`: op_id (which call; null: none), name. Where it is more than one, the operator's bytes cannot
    be told apart and `sizes.size_calls` gives them to none of the kernels.
    """
    roles = over_distinct(launches["name"], role_of, pl.String)
    count = pl.len().over("op_id", "role").cast(pl.Int64)
    table = pl.DataFrame({"op_id": launches["op_id"], "role": roles})
    return table.select(kernels_of_op=pl.when(pl.col("op_id").is_not_null()).then(count)).to_series()


def _modelled(call: Call, sums: PagedSums | None) -> tuple[Model | None, bool]:
    """The model for a call, and whether it is a product's (which no elementwise kernel computes)."""
    namespace, _, bare = call.op.rpartition("::")
    if namespace in ("aten", ""):
        in_place = bare.removesuffix("_") if not bare.endswith("__") else bare
        found = (_ATEN.get(bare) or _ATEN.get(in_place)) if namespace else None
        if found:
            return found, getattr(found, "func", found).__module__ == mu.__name__
        if namespace and bare.startswith("_foreach_"):
            return ew.foreach, False
    if _PAGED.search(bare):
        return partial(mu.paged_attention, sums=sums), True
    custom = next((f for p, f in _CUSTOM if p.search(bare)), None)
    return custom, custom is mu.grouped_mm


def model(call: Call, sums: PagedSums | None = None) -> Work | None:
    """What the kernel of `call` has to do, as far as names, shapes and types tell; None where they do not.

    `sums` are those of the call's step, for attention over a paged cache. Bytes are the least that must be
    moved: each tensor once, broadcast dimensions once, nothing twice.
    """
    # By the built-in rules: one's own rules group kernels and do not change what they compute.
    family = family_of_name(call.kernel) if call.kernel else "other"
    if family == "communication" or call.collective:
        return collective(call)
    if not call.op or is_helper(call.kernel):
        return None
    found, product = _modelled(call, sums)
    if found is ew.view and call.kernel:  # what launches a kernel is no view
        return None
    if found is not None:
        wrong = family in _NOT_PRODUCTS if product else family in _PRODUCTS
        return None if wrong else found(call)
    inputs = [a for a in call.arguments if isinstance(a, Tensor) and a.dims]
    if call.op.startswith("aten::") and call.facts.elementwise and call.facts.inputs == len(inputs):
        work = ew.elementwise(call, len(call.arguments))
        said = f"{call.op} is taken as elementwise, as its kernel is"
        return replace(work, assumptions=(*work.assumptions, said)) if work else None
    return None
