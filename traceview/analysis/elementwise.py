"""Traffic of elementwise operators, copies, fills, concatenations and reductions.

A model takes a `Call` and returns its `Work`, or None where the recorded arguments do not suffice. Outputs
are not recorded, so their dimensions follow from the operator's definition. FLOPs of these operators are
conventions (one an element and operation); they never bound anything.
"""

from math import prod

from traceview.analysis.calls import Call, Sheet, Tensor, Work, finish
from traceview.analysis.dtypes import UNCONFIRMED_CODES, scalar_code

UNARY = (
    "abs", "acos", "angle", "asin", "atan", "bitwise_not", "ceil", "clamp_max", "clamp_min",
    "conj_physical", "cos", "cosh", "elu", "erf", "erfinv", "exp", "exp2", "expm1", "floor", "frac",
    "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "log", "log10", "log1p", "log2",
    "log_sigmoid_forward", "logit", "mish", "neg", "nan_to_num", "pow", "reciprocal", "relu", "relu6",
    "round", "rsqrt", "sgn", "sigmoid", "sign", "silu", "sin", "sinh", "softplus", "sqrt", "square",
    "tan", "tanh", "threshold", "trunc",
)  # fmt: skip
BINARY = (
    "add", "add_relu", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
    "bitwise_right_shift", "div", "floor_divide", "fmax", "fmin", "fmod", "gelu_backward",
    "hardtanh_backward", "masked_fill", "maximum", "minimum", "mse_loss", "mul", "pow", "remainder",
    "rsub", "sigmoid_backward", "silu_backward", "sub", "tanh_backward", "threshold_backward",
    "true_divide",
)  # fmt: skip
TERNARY = (
    "addcdiv", "addcmul", "clamp", "clip", "lerp", "mse_loss_backward", "where",
)  # fmt: skip
# Results are bool.
UNARY_TESTS = ("isfinite", "isinf", "isnan", "isneginf", "isposinf", "logical_not", "signbit")
TESTS = (
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or",
    "logical_xor",
)  # fmt: skip
REDUCTIONS = (
    "all", "amax", "amin", "any", "argmax", "argmin", "max", "mean", "min", "norm", "prod", "std",
    "sum", "var", "count_nonzero",
)  # fmt: skip
_ORDER = ("bool", "uint8", "int8", "int16", "int32", "int64", "bf16", "fp16", "float", "double")


def broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape that several shapes broadcast to, or None where they do not fit."""
    width = max((len(s) for s in shapes), default=0)
    padded = [(1,) * (width - len(s)) + s for s in shapes]
    out = []
    for sizes in zip(*padded, strict=True):
        wide = {d for d in sizes if d != 1}
        if len(wide) > 1:
            return None
        out.append(wide.pop() if wide else 1)
    return tuple(out)


def _promoted(types: list[str | None]) -> str | None:
    """PyTorch's type promotion between tensors, as far as a total order goes; None where it does not."""
    if not types or any(t not in _ORDER for t in types):
        return None
    if {"bf16", "fp16"} <= set(types):
        return "float"
    return max((t for t in types if t), key=_ORDER.index)


def _result_type(call: Call, sheet: Sheet, inputs: list[Tensor], base: str) -> str | None:
    """The element type of an elementwise result that no argument shows, since outputs are not recorded."""
    facts = call.facts
    if base in TESTS or base in UNARY_TESTS:
        return "bool"
    if facts.elementwise and not facts.copies:
        named = facts.compute_dtype if facts.casts else facts.out_dtype
        if named:
            return named
    types = [t.dtype for t in inputs]
    types = [t for t in types if t != "bool"] or types  # where, masked_fill: the mask has no say
    if len(set(types)) == 1 and types[0] and not (base in ("div", "true_divide") and "int" in types[0]):
        return types[0]
    promoted = _promoted(types)
    if promoted:
        sheet.assume(f"result type {promoted}, by type promotion")
    return promoted


def elementwise(call: Call, arity: int) -> Work | None:
    """Each input read at its own size, the broadcast result written; in place, argument 0 is written."""
    bare = call.op.rsplit("::", 1)[-1]
    in_place = bare.endswith("_") and not bare.endswith("__")
    base = bare.rstrip("_") if in_place else bare
    chosen = [a for a in call.arguments[:arity] if isinstance(a, Tensor)]
    inputs = [t for t in chosen if t.dims] or chosen
    shape = broadcast([t.dims for t in inputs])
    if not inputs or shape is None:
        return None
    sheet = Sheet(call)
    fallback = call.facts.in_dtype
    for tensor in inputs:
        sheet.read(tensor, fallback)
    first = call.tensor(0)
    given = next((a for a in call.arguments[arity:] if isinstance(a, Tensor) and a.dims == shape), None)
    if in_place and first is not None:
        sheet.write(Tensor(first.dims, first.dtype), fallback)
    elif given is not None:
        sheet.write(Tensor(shape, given.dtype), fallback)
    else:
        sheet.write(Tensor(shape, _result_type(call, sheet, inputs, base)), fallback, "result")
    count = prod(shape)
    return finish(sheet, count, count, f"{count:,}")


def copy(call: Call) -> Work | None:
    """aten::copy_(destination, source): both recorded, so exact."""
    target, source = call.tensor(0), call.tensor(1)
    if target is None or source is None:
        return None
    sheet = Sheet(call)
    sheet.read(source, None if call.facts.casts else call.facts.in_dtype or call.facts.out_dtype)
    sheet.write(target, call.facts.out_dtype)
    return finish(sheet, target.count, 0)


def convert(call: Call) -> Work | None:
    """_to_copy, to, clone, contiguous: the result's type from the kernel, or from the ScalarType code."""
    source = call.tensor(0)
    if source is None:
        return None
    sheet = Sheet(call)
    sheet.read(source, call.facts.in_dtype)
    code = call.value(1)
    kind = call.facts.out_dtype or (scalar_code(code) if call.op.endswith("to_copy") else None)
    if call.facts.out_dtype is None and kind and int(code) in UNCONFIRMED_CODES:
        sheet.assume(f"ScalarType {code} is {kind}")
    sheet.write(Tensor(source.dims, kind or source.dtype), None, "result")
    return finish(sheet, source.count, 0)


def fill(call: Call) -> Work | None:
    """fill_, zero_: writes only."""
    target = call.tensor(0)
    if target is None:
        return None
    sheet = Sheet(call)
    sheet.write(target, call.facts.in_dtype or call.facts.compute_dtype)
    return finish(sheet, target.count, 0)


def cat(call: Call) -> Work | None:
    """Every input of the list is read and written once."""
    listed = call.arguments[0] if call.arguments else None
    if not isinstance(listed, tuple) or not listed:
        return None
    sheet = Sheet(call)
    for tensor in listed:
        sheet.read(tensor, call.facts.in_dtype)
    count = sum(t.count for t in listed)
    sheet.write(Tensor((count,)), call.facts.in_dtype)
    return finish(sheet, count, 0)


def foreach(call: Call) -> Work | None:
    """_foreach_add_ and its like: every list is read, the first is written; _foreach_copy_ only writes it."""
    lists = [a for a in call.arguments if isinstance(a, tuple)]
    if not lists:
        return None
    sheet = Sheet(call)
    for listed in lists[1:] if "copy" in call.op else lists:
        for tensor in listed:
            sheet.read(tensor, call.facts.in_dtype)
    for tensor in lists[0]:
        sheet.write(tensor, call.facts.in_dtype)
    count = sum(t.count for t in lists[0])
    return finish(sheet, count, 0 if "copy" in call.op else count)


def reduction(call: Call) -> Work | None:
    """The input is read once; what is left of it is written."""
    source = call.tensor(0)
    if source is None:
        return None
    sheet = Sheet(call)
    sheet.read(source, call.facts.in_dtype)
    axes = call.integers(1)
    bare = call.op.rsplit("::", 1)[-1]
    kept = 1
    if axes and all(-len(source.dims) <= a < len(source.dims) for a in axes):
        gone = {a % len(source.dims) for a in axes}
        kept = prod(d for i, d in enumerate(source.dims) if i not in gone)
    kind = "int64" if bare.startswith("arg") else "bool" if bare in ("all", "any") else call.facts.out_dtype
    sheet.write(Tensor((kept,), kind or source.dtype), call.facts.in_dtype, "result")
    return finish(sheet, source.count, source.count, f"{source.count:,}")


def read_once(call: Call) -> Work | None:
    """topk, sort, sampling: the input once, which is the least; they pass over it several times."""
    source = max(call.tensors(), key=lambda t: t.count, default=None)
    if source is None:
        return None
    sheet = Sheet(call)
    sheet.assume("the input is read once; the kernel may pass over it several times")
    sheet.read(source, call.facts.in_dtype)
    return finish(sheet, source.count)


def each_once(call: Call) -> Work | None:
    """A fused kernel whose arguments are all recorded: each tensor is moved once, which is the least."""
    tensors = [t for t in call.tensors() if t.dims]
    if not tensors:
        return None
    sheet = Sheet(call)
    sheet.assume("each recorded tensor is moved once; what is updated in place moves twice")
    for tensor in tensors:
        sheet.move("move", tensor)
    return finish(sheet, max(t.count for t in tensors))


def view(call: Call) -> Work | None:
    """Views move nothing."""
    return Work(None, 0, 0, 0, working=(f"{call.op} is a view: nothing moves",))
