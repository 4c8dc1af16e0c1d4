"""Traffic of operators that go over rows: norms, softmax, gathers and scatters, activations, quantisation.

Models as in `elementwise`. FLOP counts are conventions and never bound anything.
"""

from math import prod

from traceview.analysis.calls import Call, Sheet, Tensor, Work, finish
from traceview.analysis.dtypes import size_of


def softmax(call: Call) -> Work | None:
    """_softmax, _log_softmax: in and out; float out of a half input where argument 2 says so."""
    source = call.tensor(0)
    if source is None:
        return None
    sheet = Sheet(call)
    sheet.read(source, call.facts.in_dtype)
    wide = call.value(2) == "True"
    sheet.write(Tensor(source.dims, "float" if wide else source.dtype), call.facts.in_dtype, "result")
    return finish(sheet, source.count, 5 * source.count, f"5 x {source.count:,}")


def softmax_backward(call: Call) -> Work | None:
    """Gradient and output are read, the gradient of the input is written."""
    gradient, output = call.tensor(0), call.tensor(1)
    if gradient is None or output is None:
        return None
    sheet = Sheet(call)
    sheet.read(gradient, call.facts.in_dtype)
    sheet.read(output, call.facts.in_dtype)
    sheet.write(Tensor(output.dims, output.dtype), call.facts.in_dtype, "result")
    return finish(sheet, output.count, 4 * output.count, f"4 x {output.count:,}")


def norm(call: Call, rate: int) -> Work | None:
    """layer_norm, rms_norm: in, weights, out. An output that is an argument comes first."""
    tensors = call.tensors()
    if not tensors:
        return None
    source, rest = tensors[0], tensors[1:]
    if rest and rest[0].dims == source.dims and not call.op.startswith("aten::"):
        target, source, rest = source, rest[0], rest[1:]
    else:
        target = Tensor(source.dims, source.dtype)
    sheet = Sheet(call)
    sheet.read(source, call.facts.in_dtype)
    for weight in rest:
        if prod(weight.dims) <= source.count and weight.dims == source.dims[-len(weight.dims) :]:
            sheet.read(weight, call.facts.in_dtype, "weight")
    sheet.write(Tensor(target.dims, target.dtype), call.facts.in_dtype)
    return finish(sheet, source.count, rate * source.count, f"{rate} x {source.count:,}")


def fused_add_norm(call: Call) -> Work | None:
    """(input, residual, weight): input and residual are read and written, the weight is read."""
    source, residual, weight = call.tensor(0), call.tensor(1), call.tensor(2)
    if source is None or residual is None or weight is None or source.dims != residual.dims:
        return None
    sheet = Sheet(call)
    sheet.read(source, call.facts.in_dtype)
    sheet.read(residual, call.facts.in_dtype, "residual")
    sheet.read(weight, call.facts.in_dtype, "weight")
    sheet.write(Tensor(source.dims, source.dtype), call.facts.in_dtype)
    sheet.write(Tensor(residual.dims, residual.dtype), call.facts.in_dtype, "residual")
    return finish(sheet, source.count, 6 * source.count, f"6 x {source.count:,}")


def batch_norm(call: Call) -> Work | None:
    """Batch norm runs in one kernel or three; the kernel's name says which part of the traffic is its own.

    Statistics read the input; the transform reads and writes it; backward reads input and gradient.
    """
    first, second = call.tensor(0), call.tensor(1)
    if first is None or "update_stats" in call.kernel:
        return None
    sheet = Sheet(call)
    sheet.read(first, call.facts.in_dtype)
    if "backward" in call.op:
        if second is None or second.dims != first.dims:
            return None
        sheet.read(second, call.facts.in_dtype)
    if "collect_statistics" not in call.kernel:
        sheet.write(Tensor(first.dims, first.dtype), call.facts.in_dtype, "result")
    return finish(sheet, first.count, 5 * first.count, f"5 x {first.count:,}")


def gather(call: Call, table: int, index: int) -> Work | None:
    """embedding, index_select: the indices, and each gathered row read and written, not the whole table."""
    source, indices = call.tensor(table), call.tensor(index)
    if source is None or indices is None or not source.dims:
        return None
    axis = call.integers(1) if call.op.endswith("index_select") else (0,)
    if not axis or not -len(source.dims) <= axis[0] < len(source.dims):
        return None
    at = axis[0] % len(source.dims)
    row = tuple(d for i, d in enumerate(source.dims) if i != at)
    moved = Tensor((*indices.dims, *row), source.dtype)
    return _gathered(call, indices, moved)


def gather_elements(call: Call) -> Work | None:
    """aten::gather(self, dim, index): one element for each index."""
    source, indices = call.tensor(0), call.tensor(2)
    return _gathered(call, indices, Tensor(indices.dims, source.dtype)) if source and indices else None


def _gathered(call: Call, indices: Tensor, moved: Tensor) -> Work:
    sheet = Sheet(call)
    sheet.read(indices, None, "indices")
    sheet.read(moved, call.facts.in_dtype, "rows")
    sheet.write(moved, call.facts.in_dtype, "rows")
    return finish(sheet, moved.count, 0)


def scatter(call: Call, values: int, target: int) -> Work | None:
    """index_put_, scatter, index_add_, index_copy_: values read, as many elements written, indices read."""
    source, into = call.tensor(values), call.tensor(target)
    if source is None or into is None:
        return None
    sheet = Sheet(call)
    sheet.read(source, call.facts.in_dtype, "values")
    for at, argument in enumerate(call.arguments):
        listed = argument if isinstance(argument, tuple) else ()
        if listed:
            sheet.assume("indices in the list are int64")
        for indices in listed:
            sheet.read(Tensor(indices.dims, "int64"), None, "indices")
        if at not in (values, target) and isinstance(argument, Tensor):
            sheet.read(argument, None, "indices")
    sheet.write(Tensor(source.dims, into.dtype), call.facts.in_dtype, "places")
    return finish(sheet, source.count, 0)


def cache_write(call: Call) -> Work | None:
    """reshape_and_cache(key, value, key_cache, value_cache, slots): the cache's type is what is written."""
    tensors = call.tensors()
    if len(tensors) < 5:
        return None
    sheet = Sheet(call)
    for source in tensors[:2]:
        sheet.read(source)
    sheet.read(tensors[4], None, "slots")
    for source, cache in zip(tensors[:2], tensors[2:4], strict=True):
        sheet.write(Tensor(source.dims, cache.dtype), None, "cache")
    return finish(sheet, tensors[0].count + tensors[1].count, 0)


def act_and_mul(call: Call) -> Work | None:
    """silu_and_mul and its like: the input is twice as wide as the output; the output may be an argument."""
    tensors = call.tensors()
    if not tensors or not all(t.dims for t in tensors):
        return None
    source = max(tensors, key=lambda t: t.count)
    half = (*source.dims[:-1], source.dims[-1] // 2)
    target = next((t for t in tensors if t.dims == half), Tensor(half, source.dtype))
    sheet = Sheet(call)
    sheet.read(source, call.facts.in_dtype)
    sheet.write(target, call.facts.in_dtype)
    count = target.count
    return finish(sheet, count, 5 * count, f"5 x {count:,}")


def rope(call: Call) -> Work | None:
    """rotary_embedding(positions, query, key, head size, cos-sin cache): query and key in place."""
    positions, query, key, cache = (call.tensor(i) for i in (0, 1, 2, 4))
    if positions is None or query is None or cache is None:
        return None
    sheet = Sheet(call)
    sheet.read(positions, None, "positions")
    sheet.read(
        Tensor((positions.count, cache.dims[-1] if cache.dims else 0), cache.dtype), None, "cos and sin"
    )
    moved = [t for t in (query, key) if t is not None]
    for tensor in moved:
        sheet.read(tensor)
        sheet.write(Tensor(tensor.dims, tensor.dtype))
    count = sum(t.count for t in moved)
    return finish(sheet, count, 6 * count, f"6 x {count:,}")


def quantize_fp8(call: Call) -> Work | None:
    """fp8 quantisation: the wide tensor is read, as many fp8 values written; scales as recorded."""
    tensors = call.tensors()
    wide = [t for t in tensors if (size_of(t.dtype) or 0) >= 2]
    source = max(wide, key=lambda t: t.count, default=None)
    if source is None:
        return None
    sheet = Sheet(call)
    sheet.read(source)
    targets = [t for t in tensors if t.count == source.count and size_of(t.dtype) == 1]
    if not targets:
        sheet.assume("writes one byte an element")
    sheet.write(targets[0] if targets else Tensor(source.dims, "float8_e4m3fn"))
    for scale in wide:
        if scale is not source:
            sheet.write(Tensor(scale.dims, scale.dtype), None, "scales")
    return finish(sheet, source.count, 2 * source.count, f"2 x {source.count:,}")


def quantize_fp4(call: Call) -> Work | None:
    """nvfp4 quantisation: half a byte an element, and one byte of scale for 16 of them."""
    source = max(call.tensors(), key=lambda t: t.count, default=None)
    if source is None or (size_of(source.dtype) or 0) < 2:
        return None
    sheet = Sheet(call)
    sheet.assume("writes nvfp4: two values a byte and one byte of scale for 16 values")
    sheet.read(source)
    sheet.write(Tensor((source.count // 2,), "float4_e2m1fn_x2"))
    sheet.write(Tensor((source.count // 16,), "float8_e4m3fn"), None, "scales")
    return finish(sheet, source.count, 2 * source.count, f"2 x {source.count:,}")


def pool_backward(call: Call) -> Work | None:
    """max_pool2d_with_indices_backward: gradient and indices read, the input's gradient written."""
    gradient, source = call.tensor(0), call.tensor(1)
    if gradient is None or source is None:
        return None
    sheet = Sheet(call)
    sheet.read(gradient, call.facts.in_dtype)
    sheet.read(Tensor(gradient.dims, "int64"), None, "indices")
    sheet.write(Tensor(source.dims, source.dtype), call.facts.in_dtype, "result")
    return finish(sheet, source.count, 0)
