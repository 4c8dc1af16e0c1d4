"""Element types: one name each, whatever the writer's spelling, and their size in bytes."""

import re
from functools import lru_cache

# Bytes of one element. Two float4 values share a byte, so the element counted here is the pair.
SIZES = {
    "float": 4,
    "double": 8,
    "fp16": 2,
    "bf16": 2,
    "tf32": 4,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "bool": 1,
    "complex64": 8,
    "complex128": 16,
}

# Lower-cased spellings with namespaces and blanks removed: C++ (typeid's demangling differs between
# compilers), CUDA and HIP headers, CUTLASS, c10d.
_SPELLINGS = {
    "float": "float",
    "float32": "float",
    "f32": "float",
    "fp32": "float",
    "double": "double",
    "float64": "double",
    "half": "fp16",
    "__half": "fp16",
    "half_t": "fp16",
    "float16": "fp16",
    "_float16": "fp16",
    "f16": "fp16",
    "bfloat16": "bf16",
    "__nv_bfloat16": "bf16",
    "nv_bfloat16": "bf16",
    "__hip_bfloat16": "bf16",
    "hip_bfloat16": "bf16",
    "bfloat16_t": "bf16",
    "__bf16": "bf16",
    "bf16": "bf16",
    "tfloat32_t": "tf32",
    "float8_e4m3fn": "float8_e4m3fn",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "float_e4m3_t": "float8_e4m3fn",
    "float_ue4m3_t": "float8_e4m3fn",
    "f8e4m3": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "__nv_fp8_e5m2": "float8_e5m2",
    "float_e5m2_t": "float8_e5m2",
    "f8e5m2": "float8_e5m2",
    "float8_e4m3fnuz": "float8_e4m3fnuz",
    "__hip_fp8_e4m3_fnuz": "float8_e4m3fnuz",
    "float8_e5m2fnuz": "float8_e5m2fnuz",
    "float8_e8m0fnu": "float8_e8m0fnu",
    "float4_e2m1fn_x2": "float4_e2m1fn_x2",
    "signedchar": "int8",
    "char": "int8",
    "int8": "int8",
    "int8_t": "int8",
    "unsignedchar": "uint8",
    "byte": "uint8",
    "uint8": "uint8",
    "uint8_t": "uint8",
    "short": "int16",
    "shortint": "int16",
    "int16": "int16",
    "int16_t": "int16",
    "unsignedshort": "uint16",
    "uint16_t": "uint16",
    "int": "int32",
    "int32": "int32",
    "int32_t": "int32",
    "u32": "uint32",
    "unsignedint": "uint32",
    "unsigned": "uint32",
    "uint32_t": "uint32",
    "long": "int64",
    "longint": "int64",
    "longlong": "int64",
    "longlongint": "int64",
    "int64": "int64",
    "int64_t": "int64",
    "unsignedlong": "uint64",
    "unsignedlongint": "uint64",
    "unsignedlonglong": "uint64",
    "uint64": "uint64",
    "uint64_t": "uint64",
    "bool": "bool",
    "complex<float>": "complex64",
    "complex<double>": "complex128",
    "complexfloat": "complex64",
    "complexdouble": "complex128",
}

# c10::ScalarType. 0 to 11 from c10/core/ScalarType.h, 15 seen in traces; the float8 codes are not confirmed.
_SCALAR_CODES = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "fp16",
    6: "float",
    7: "double",
    9: "complex64",
    10: "complex128",
    11: "bool",
    15: "bf16",
    23: "float8_e5m2",
    24: "float8_e4m3fn",
}
UNCONFIRMED_CODES = frozenset({23, 24})

_NAMESPACES = re.compile(r"\b[A-Za-z_]\w*::")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict__)\b|[*&\s]")
_LONGEST = 80


@lru_cache(maxsize=4096)
def dtype(text: str) -> str | None:
    """The element type that `text` spells (`c10::BFloat16`, `float const*`, `Half`), or None if it is none.

    >>> dtype("c10::BFloat16"), dtype("long int"), dtype("Scalar")
    ('bf16', 'int64', None)
    """
    if len(text) > _LONGEST:
        return None
    return _SPELLINGS.get(_NAMESPACES.sub("", _QUALIFIERS.sub("", text.replace("const ", ""))).lower())


def size_of(name: str | None) -> int | None:
    """Bytes of one element of a type as `dtype` names it; None for an unknown type."""
    return None if name is None else SIZES.get(name)


def scalar_code(text: str) -> str | None:
    """The type behind a ScalarType code as Concrete Inputs spell it ('15' is bf16), or None."""
    return _SCALAR_CODES.get(int(text)) if text.isascii() and text.isdigit() and len(text) < 4 else None
