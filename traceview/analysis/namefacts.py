"""What a kernel's name alone says: its launcher, its functor, its element types, whether it converts."""

import re
from dataclasses import dataclass
from functools import lru_cache

from traceview.analysis.cxx import NAMES_KEPT, Parts, clean, leading, parse_parts, split_arguments
from traceview.analysis.dtypes import dtype

DEEP = 1 << 14  # how far into a template a role or a type is looked for
_SUFFIX = re.compile(r"(?<=\w)(?:_?[kK]ernel(?:_impl|_cuda)?|_cuda_kernel|_cuda)$")
_WRAPPER = re.compile(
    r"(?:gpu_kernel_impl(?:_nocast)?|gpu_index_kernel|func_wrapper_t|(?:Binary|AUnary|BUnary)Functor)$"
)
_LAMBDA = re.compile(r"\{lambda\(([^(){}]*)\)")
_INTEGER = re.compile(r"(?:\([\w:]+\))?(-?\d+)(?:ul{0,2}|l{1,2}|U|L)?$")
_LAUNCHER = re.compile(
    r"(?P<kind>vectorized_templated|vectorized|unrolled|index|)_?elementwise_kernel"
    r"(?P<more>_manual_unroll|_for_multi_outputs|_with_index)?$"
)
_KINDS = {
    "": "plain",
    "vectorized_templated": "templated",
    "_manual_unroll": "manual-unroll",
    "_for_multi_outputs": "multi-output",
    "_with_index": "with-index",
}
_ARRAY = re.compile(r"[Aa]rray<char ?\*, (\d+)")
_OPAQUE = re.compile(r"OpaqueType<(\d+)u?>")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_OPERANDS = {
    "BinaryFunctor": 2,
    "AUnaryFunctor": 1,
    "BUnaryFunctor": 1,
    "CUDAFunctor_add": 2,
    "CUDAFunctorOnSelf_add": 1,
    "CUDAFunctorOnOther_add": 1,
}
# Copy.cu: these copies have a functor of their own, named after what they write.
_NAMED_COPIES = {"bfloat16_copy": "bf16", "float16_copy": "fp16", "bfloat16tofloat32_copy": "float"}


@dataclass(frozen=True, slots=True)
class NameFacts:
    """None means that the name does not say. Types are named as in `dtypes`.

    `elementwise` is the launcher: vectorized, unrolled, plain (`elementwise_kernel<threads, per thread>`),
    manual-unroll, index, templated, multi-output, with-index. `threads` and `per_thread` are the template's
    own numbers, `vector` the width of a vectorised access, `inputs` how many tensors are read. `casts`:
    operands are converted while they are loaded or stored. `out_dtype` of a copy is what is written; the
    source of a direct copy is not in its name. `element_bytes` is the size of an element of unnamed type.
    """

    base: str
    elementwise: str | None = None
    functor: str | None = None
    threads: int | None = None
    per_thread: int | None = None
    vector: int | None = None
    inputs: int | None = None
    casts: bool = False
    copies: bool = False
    fills: bool = False
    compute_dtype: str | None = None
    in_dtype: str | None = None
    out_dtype: str | None = None
    element_bytes: int | None = None


@dataclass(frozen=True)
class Functor:
    """The innermost functor of a template: name, its types, those of the functor around it, its operands."""

    name: str
    dtypes: tuple[str, ...]  # of the lambda's parameters, or else of the template
    wrapped: tuple[str, ...] = ()  # inputs, then the result
    operands: int | None = None


def integer(text: str) -> int | None:
    """A template argument's integer (`8`, `8u`, `2048l`, `(Kind)2`), or None."""
    found = _INTEGER.match(text)
    return int(found[1]) if found and len(found[1]) < 12 else None


def strip_suffix(base: str) -> str:
    """A function's name without `_kernel`, `Kernel`, `_kernel_cuda` and their like."""
    return _SUFFIX.sub("", base) or base


def functor_of(text: str, depth: int = 0) -> Functor:
    """The functor that an elementwise or reduce template's argument names, and its types."""
    head = leading(text)
    types = tuple(d for a in head.arguments if (d := dtype(a)))
    inner = next((a for a in head.arguments if dtype(a) is None and integer(a) is None), None)
    if inner and depth < 4 and _WRAPPER.search(head.base):
        found = functor_of(inner, depth + 1)
        operands = _OPERANDS.get(head.base, found.operands)
        return Functor(found.name, found.dtypes or types, types or found.wrapped, operands)
    lambdas = _LAMBDA.findall(text[-DEEP:])
    parameters = next((p for p in reversed(lambdas) if p and "*" not in p), "")
    spelled = tuple(d for p in split_arguments(parameters) if (d := dtype(p)))
    operands = len(split_arguments(parameters)) if parameters else _OPERANDS.get(head.base)
    return Functor(strip_suffix(head.base), spelled or types, (), operands)


def direct_types(arguments: tuple[str, ...], most: int = 2) -> list[str]:
    """The element types among template arguments, each once, without flags and index types."""
    found = (dtype(a) for a in arguments)
    return list(dict.fromkeys(d for d in found if d and d not in ("bool", "uint32", "uint64")))[:most]


def deep_types(parts: Parts) -> list[str]:
    """The first floating-point type anywhere inside the arguments, as a list of one or none."""
    text = ", ".join(parts.arguments)[:DEEP]
    for match in _IDENTIFIER.finditer(text):
        found = dtype(match.group())
        if found and found.startswith(("bf", "fp", "float", "tf")):
            return [found]
    return []


@lru_cache(maxsize=NAMES_KEPT)
def name_facts(name: str) -> NameFacts:
    """The facts in a kernel's name. Never raises. The templates are those of ATen/native/cuda."""
    parts = parse_parts(name)
    text = clean(name)[:DEEP]
    opaque = _OPAQUE.search(text)
    element_bytes = int(opaque[1][:6]) if opaque else None
    launcher = _LAUNCHER.match(parts.base)
    if launcher:
        return _elementwise(parts, launcher, element_bytes, "LoadWithCast" in text or "StoreWithCast" in text)
    if parts.base == "reduce_kernel":
        return _reduction(parts)
    types = direct_types(parts.arguments, 1) or deep_types(parts)
    return NameFacts(
        parts.base,
        copies=parts.base.startswith("CatArrayBatchedCopy") or "CopyFunctor" in text,
        in_dtype=types[0] if types else None,
        element_bytes=element_bytes,
    )


def _reduction(parts: Parts) -> NameFacts:
    """`reduce_kernel<512, 1, ReduceOp<in, operation, index, out, ...>>`"""
    operation = next((parse_parts(a) for a in parts.arguments if "ReduceOp<" in a), Parts(""))
    types = [dtype(a) for a in operation.arguments]
    if len(types) < 4:
        return NameFacts(parts.base)
    functor = functor_of(operation.arguments[1]).name.removesuffix("_functor").removesuffix("Ops")
    return NameFacts(parts.base, functor=functor, in_dtype=types[0], out_dtype=types[3])


def _elementwise(parts: Parts, launcher: re.Match[str], element_bytes: int | None, casts: bool) -> NameFacts:
    kind = _KINDS.get(launcher["more"] or launcher["kind"], launcher["kind"])
    numbers = [integer(a) for a in parts.arguments[:6]]
    leading = next((i for i, n in enumerate(numbers) if n is None), len(numbers))
    plain = ("true", "false")
    functor = functor_of(
        next((a for a in parts.arguments if a not in plain and integer(a) is None and not dtype(a)), "")
    )
    threads = per_thread = vector = None
    if (
        kind == "vectorized" and leading >= 6
    ):  # since 2026: threads, per thread, unroll, ..., vector at the sixth
        threads, per_thread, vector = numbers[0], numbers[1], numbers[5]
    elif kind == "vectorized" and leading:
        vector = numbers[0]
    elif kind in ("plain", "manual-unroll", "index") and leading >= 2:
        threads, per_thread = numbers[0], numbers[1]
    elif kind == "unrolled":  # four, and since 2024 written as the third argument
        per_thread = numbers[2] if len(numbers) > 2 and numbers[2] else 4
    arrays = _ARRAY.findall(" ".join(parts.arguments)[-DEEP:])
    # A mask among the operands (where, masked_fill) is not what is computed on.
    compute = next((d for d in functor.dtypes if d != "bool"), functor.dtypes[0] if functor.dtypes else None)
    copies = functor.name.endswith("_copy") or functor.name == "copy_device_to_device"
    source = None if casts or copies else functor.wrapped[0] if functor.wrapped else compute
    out = functor.wrapped[2] if len(functor.wrapped) > 2 else None if casts else compute
    if functor.name == "direct_copy":
        out = compute
    elif copies:
        source = "bf16" if functor.name == "bfloat16tofloat32_copy" else compute
        out = _NAMED_COPIES.get(functor.name, None if functor.name.startswith("float8") else compute)
    elif "ompare" in functor.name or functor.name.startswith(("logical_", "isnan", "isinf")):
        out = "bool"
    return NameFacts(
        parts.base,
        elementwise=kind,
        functor=functor.name or None,
        threads=threads,
        per_thread=per_thread,
        vector=vector,
        inputs=int(arrays[-1][:6]) - 1 if arrays else functor.operands,
        casts=casts or (copies and source is not None and source != out),
        copies=copies,
        fills=functor.name == "FillFunctor",
        compute_dtype=compute,
        in_dtype=source,
        out_dtype=out,
        element_bytes=element_bytes,
    )
