"""Work of products, convolutions and attention: FLOPs by definition, bytes with each tensor moved once.

Models as in `elementwise`. A multiply-add is two FLOPs. Sources: the definitions of the operators; torch's
own flop formulas in torch/csrc/profiler/util.cpp and torch/utils/flop_counter.py use the same counts.
"""

import re
from dataclasses import dataclass
from math import prod

from traceview.analysis.calls import Call, Sheet, Tensor, Work, finish, thousands

_TF32 = re.compile(r"tf32|s1688|tensorop_s\d+gemm|xmma_\w*tf32")
_FP32 = re.compile(r"sgemm|simt|gemv|scudnn|dot_kernel|gemmk1|gemmSN")
_DGRAD = re.compile(r"dgrad|bwd_data|igemm_bwd")
_FEWER = r"[wW]inograd|fft"
_WGRAD = re.compile(r"wgrad|bwd_weight|igemm_wrw")


def peak_dtype(call: Call, dtype: str | None) -> str | None:
    """The type whose peak rate applies: float products run on tensor cores as tf32 or without them.

    Which of the two is in the kernel's name, if anywhere; None where it is not.
    """
    if dtype != "float":
        return dtype
    if _TF32.search(call.kernel):
        return "tf32"
    return "float" if _FP32.search(call.kernel) else None


def _product(
    call: Call,
    left: Tensor,
    right: Tensor,
    shape: tuple[int, ...],
    inner: int,
    result: Tensor | None = None,
    bias: Tensor | None = None,
    scales: tuple[Tensor, ...] = (),
    assumed: str | None = None,
) -> Work:
    """The sheet of a product of `left` and `right` that gives `shape`, summing over `inner`."""
    sheet = Sheet(call)
    fallback = call.facts.in_dtype
    if assumed:
        sheet.assume(assumed)
    sheet.read(left, fallback)
    sheet.read(right, fallback)
    for scale in scales:
        sheet.read(scale, None, "scales")
    sheet.read(bias, fallback, "bias")
    sheet.write(result or Tensor(shape, left.dtype), fallback, "result")
    count = prod(shape)
    flops = 2 * count * inner + (count if bias else 0)
    how = f"2 x {thousands((*shape, inner))}" + (f" + {count:,}" if bias else "")
    return finish(sheet, count, flops, how, peak_dtype(call, left.dtype or fallback))


def mm(call: Call, first: int = 0, bias: int | None = None) -> Work | None:
    """mm(a, b), addmm(bias, a, b), bmm, baddbmm: [.., M, K] x [.., K, N]; an output may follow."""
    left, right = call.tensor(first), call.tensor(first + 1)
    if left is None or right is None or len(left.dims) < 2 or len(left.dims) != len(right.dims):
        return None
    if left.dims[:-2] != right.dims[:-2] or left.dims[-1] != right.dims[-2]:
        return None
    shape = (*left.dims[:-1], right.dims[-1])
    given = next((a for a in call.arguments[first + 2 :] if isinstance(a, Tensor) and a.dims == shape), None)
    added = call.tensor(bias) if bias is not None else None
    return _product(call, left, right, shape, left.dims[-1], given, added)


def linear(call: Call) -> Work | None:
    """linear(x, weight [N, K], bias), also where x has leading dimensions."""
    left, weight = call.tensor(0), call.tensor(1)
    if left is None or weight is None or len(weight.dims) != 2 or not left.dims:
        return None
    if left.dims[-1] != weight.dims[1]:
        return None
    return _product(
        call, left, weight, (*left.dims[:-1], weight.dims[0]), weight.dims[1], None, call.tensor(2)
    )


def mv(call: Call) -> Work | None:
    """mv(matrix, vector) and dot(vector, vector)."""
    left, right = call.tensor(0), call.tensor(1)
    if left is None or right is None or not left.dims or left.dims[-1:] != right.dims:
        return None
    return _product(call, left, right, left.dims[:-1], left.dims[-1])


def scaled_mm(call: Call) -> Work | None:
    """_scaled_mm(a, b, scale_a, scale_b, bias, scale_result, out_dtype): fp8 in, scales as recorded."""
    left, right = call.tensor(0), call.tensor(1)
    if left is None or right is None or len(left.dims) != 2 or len(right.dims) != 2:
        return None
    if left.dims[1] != right.dims[0]:
        return None
    from_code = {"15": "bf16", "5": "fp16", "6": "float"}.get(call.value(6))
    shape = (left.dims[0], right.dims[1])
    scales = tuple(t for t in (call.tensor(2), call.tensor(3)) if t)
    result = Tensor(shape, from_code or "bf16")
    assumed = None if from_code else "result type bf16"
    return _product(call, left, right, shape, left.dims[1], result, None, scales, assumed)


def grouped_mm(call: Call) -> Work | None:
    """Grouped product of a mixture of experts: rows [T, K], weights [E, .., ..], each row through one expert.

    Which experts are hit is not recorded: from one to all that T rows can reach. fp4 packs two values a byte.
    """
    rows = next((t for t in call.tensors() if len(t.dims) == 2), None)
    weights = next((t for t in call.tensors() if len(t.dims) == 3), None)
    if rows is None or weights is None or not all(weights.dims):
        return None
    packed = 2 if "fp4" in call.op or "fp4" in call.kernel else 1
    width = rows.dims[1]
    if width not in weights.dims[1:]:
        return None
    outputs = weights.dims[1] * weights.dims[2] // width
    most = min(weights.dims[0], rows.dims[0])
    sheet = Sheet(call)
    sheet.read(rows)
    sheet.assume(f"between 1 and {most} of {weights.dims[0]} experts are hit; the routing is not recorded")
    sheet.assume("result type bf16")
    if packed == 2:
        sheet.assume("two fp4 values a byte; their scales are left out")
    sheet.read(Tensor((most, *weights.dims[1:]), weights.dtype), None, "experts' weights")
    sheet.write(Tensor((rows.dims[0], outputs), "bf16"), None, "result")
    one_expert = (most - 1) * sheet.moved[1] // most if sheet.known else 0
    low = sum(sheet.moved) - one_expert if sheet.known else None
    factors = (rows.dims[0], outputs, width * packed)
    flops = 2 * prod(factors)
    kind = "float4_e2m1fn_x2" if packed == 2 else rows.dtype
    return finish(sheet, rows.dims[0] * outputs, flops, f"2 x {thousands(factors)}", kind, low)


def _outputs(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def convolution(call: Call, stride: int, padding: int, dilation: int, transposed: int = -1) -> Work | None:
    """Forward convolution of [N, C, ..] with weight [K, C / groups, ..]; positions of the other arguments.

    Winograd and FFT kernels do fewer FLOPs than the definition says, so theirs are left unknown.
    """
    source, weight = call.tensor(0), call.tensor(1)
    steps, pads, spread = call.integers(stride), call.integers(padding), call.integers(dilation)
    if source is None or weight is None or not steps or not pads or not spread or len(source.dims) < 3:
        return None
    if len(weight.dims) != len(source.dims) or 0 in steps or call.value(transposed) == "True":
        return None
    space = len(source.dims) - 2
    steps, pads, spread = ((v * space if len(v) == 1 else v)[:space] for v in (steps, pads, spread))
    if not len(steps) == len(pads) == len(spread) == space:
        return None
    sizes = zip(source.dims[2:], weight.dims[2:], steps, pads, spread, strict=True)
    shape = (source.dims[0], weight.dims[0], *(_outputs(*s) for s in sizes))
    if min(shape) < 0:
        return None
    return _convolved(call, (source, weight), Tensor(shape, source.dtype), shape, weight)


def convolution_backward(call: Call) -> Work | None:
    """convolution_backward(gradient, input, weight, ..): the kernel's name says which gradient it is."""
    gradient, source, weight = call.tensor(0), call.tensor(1), call.tensor(2)
    if gradient is None or source is None or weight is None or len(weight.dims) < 3:
        return None
    if call.value(7) == "True":  # a transposed convolution: input and output change places
        return None
    if _DGRAD.search(call.kernel):
        return _convolved(call, (gradient, weight), Tensor(source.dims, source.dtype), gradient.dims, weight)
    if _WGRAD.search(call.kernel):
        return _convolved(call, (gradient, source), Tensor(weight.dims, weight.dtype), gradient.dims, weight)
    return None


def convolution_backward_input(call: Call) -> Work | None:
    """cudnn_convolution_backward_input(sizes, gradient, weight): FLOPs alone, as sizes are no shape."""
    gradient, weight = call.tensor(1), call.tensor(2)
    if gradient is None or weight is None or len(weight.dims) != len(gradient.dims):
        return None
    if re.search(_FEWER, call.kernel):
        return None
    factors = (*gradient.dims, *weight.dims[1:])
    kind = peak_dtype(call, gradient.dtype or call.facts.in_dtype)
    return finish(Sheet(call), None, 2 * prod(factors), f"2 x {thousands(factors)}", kind)


def _convolved(
    call: Call, inputs: tuple[Tensor, Tensor], result: Tensor, outputs: tuple[int, ...], weight: Tensor
) -> Work:
    sheet = Sheet(call)
    fallback = call.facts.in_dtype
    for tensor in inputs:
        sheet.read(tensor, fallback)
    sheet.write(result, fallback, "result")
    factors = (*outputs, *weight.dims[1:])
    if re.search(_FEWER, call.kernel):
        sheet.lines.append("flops unknown: Winograd and FFT do fewer than the definition")
        return finish(sheet, result.count)
    flops = 2 * prod(factors)
    kind = peak_dtype(call, inputs[0].dtype or fallback)
    return finish(sheet, result.count, flops, f"2 x {thousands(factors)}", kind)


@dataclass(frozen=True)
class PagedSums:
    """Sums over the requests of a step, from its annotation: query tokens, cached tokens, their products.

    `products` is the sum of query length x cached length; `self_products` the part of it that a causal mask
    halves, the sum of squared query lengths (0 for decoding). `origin` is where they come from, in words.
    """

    query: int
    cached: int
    products: int
    self_products: int = 0
    origin: str = "the step's annotation"


def attention(call: Call, causal: int, heads_first: bool = True) -> Work | None:
    """Attention over dense [B, H, S, D] (or [B, S, H, D]): `causal` is the position of is_causal.

    2 x B x H x Sq x Skv x (D + Dv) FLOPs, half of it where causal and Sq = Skv.
    """
    query, key, value = call.tensor(0), call.tensor(1), call.tensor(2)
    if query is None or key is None or value is None:
        return None
    if not len(query.dims) == len(key.dims) == len(value.dims) == 4:
        return None
    sequence, head = (2, 1) if heads_first else (1, 2)
    rows, columns = query.dims[sequence], key.dims[sequence]
    shape = (*query.dims[:3], value.dims[3])
    sheet = Sheet(call)
    for tensor in (query, key, value):
        sheet.read(tensor)
    sheet.write(Tensor(shape, query.dtype), None, "result")
    halved = call.value(causal) == "True" and rows == columns
    factors = (query.dims[0], query.dims[head], rows, columns, query.dims[3] + value.dims[3])
    flops = 2 * prod(factors)
    how = f"2 x {thousands(factors)}"
    if halved:
        flops, how = flops // 2, f"{how} / 2 (causal)"
    return finish(sheet, prod(shape), flops, how, query.dtype)


def paged_attention(call: Call, sums: PagedSums | None) -> Work | None:
    """Attention over a paged cache: the cache's shape is not its traffic, so only the step's sums tell.

    MLA: a query [T, H, c] with a rope part [T, H, r] against a cache [.., c + r]. Otherwise query [T, Hq, D]
    and key [T, Hkv, D], the cache's type being that of the last tensor with more elements, or the key's.
    """
    tensors = call.tensors()
    if sums is None or len(tensors) < 3:
        return None
    query, second, third = tensors[:3]
    if len(query.dims) < 3 or len(second.dims) < 3:
        return None
    sheet = Sheet(call)
    sheet.assume(f"cached tokens from {sums.origin}, not from the call")
    heads = query.dims[-2]
    latent, rope = query.dims[-1], second.dims[-1]
    sheet.read(query)
    if third.dims and third.dims[-1] == latent + rope and second.dims[-2] == heads:
        sheet.read(second, None, "rope part")
        sheet.read(Tensor((sums.cached, latent + rope), third.dtype), None, "cache")
        wide = latent + rope + latent
    else:
        sheet.read(Tensor((sums.cached, 2, *second.dims[-2:]), second.dtype), None, "cache")
        wide = 2 * latent
    sheet.write(Tensor(query.dims, query.dtype), None, "result")
    flops = 2 * heads * wide * sums.products - heads * wide * sums.self_products
    how = f"2 x {thousands((heads, wide, sums.products))}"
    if sums.self_products:
        how += f" - {thousands((heads, wide, sums.self_products))}"
    return finish(sheet, query.count, flops, how, query.dtype)
