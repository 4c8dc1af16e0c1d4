"""One operator call as its recorded arguments tell it, and the sheet on which its traffic is worked out."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any

from traceview.analysis.dtypes import dtype, size_of
from traceview.analysis.namefacts import NameFacts, name_facts

_NO_TENSOR = frozenset({"", "Scalar", "ScalarList", "GenericList", "Device", "None"})
_LARGEST = (1 << 63) - 1  # of Int64
_MOST_DIMS = 64  # PyTorch's own limit


@dataclass(frozen=True)
class Tensor:
    """A tensor's dimensions (elements), element type as `dtypes` names it, and strides (elements)."""

    dims: tuple[int, ...]
    dtype: str | None = None
    strides: tuple[int, ...] | None = None

    @property
    def count(self) -> int:
        """How many elements it shows."""
        return prod(self.dims)

    @property
    def broadcast(self) -> bool:
        """True where a dimension has stride 0: its elements are the same memory."""
        if self.strides is None or len(self.strides) != len(self.dims):
            return False
        return any(s == 0 and d > 1 for d, s in zip(self.dims, self.strides, strict=True))

    @property
    def stored(self) -> int:
        """How many elements lie in memory: dimensions of stride 0 count once."""
        if not self.broadcast or self.strides is None:
            return self.count
        return prod(d for d, s in zip(self.dims, self.strides, strict=True) if s != 0)


Argument = Tensor | tuple[Tensor, ...] | None


@dataclass(frozen=True)
class Call:
    """An operator call: name without overload, the kernel it launched, and its arguments in order.

    A tensor list is a tuple of tensors; what is no tensor is None, and its value stands in `concrete`.
    """

    op: str
    kernel: str = ""
    arguments: tuple[Argument, ...] = ()
    concrete: tuple[str, ...] = ()
    collective: Mapping[str, Any] = field(default_factory=dict)

    @property
    def facts(self) -> NameFacts:
        """What the kernel's name says."""
        return name_facts(self.kernel)

    def tensor(self, at: int) -> Tensor | None:
        """The tensor at a position, or None."""
        found = self.arguments[at] if at < len(self.arguments) else None
        return found if isinstance(found, Tensor) else None

    def tensors(self) -> list[Tensor]:
        """The single tensors among the arguments, in order. Numbers wrapped as tensors are left out.

        A tensor without dimensions stands for a number as soon as another argument has dimensions.
        """
        found = [a for a in self.arguments if isinstance(a, Tensor)]
        shaped = [t for t in found if t.dims]
        return shaped or found

    def value(self, at: int) -> str:
        """The recorded value of an argument that is no tensor, or ""."""
        return self.concrete[at] if 0 <= at < len(self.concrete) else ""

    def integers(self, at: int) -> tuple[int, ...] | None:
        """An argument that is a list of whole numbers, or one; None where it is not recorded."""
        try:
            found = json.loads(self.value(at))
        except ValueError:
            return None
        listed = found if isinstance(found, list) else [found]
        return tuple(listed) if all(isinstance(v, int) and not isinstance(v, bool) for v in listed) else None


@lru_cache(maxsize=4096)
def _decoded(text: str | None) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def json_list(text: str | None) -> list[Any]:
    """The list that a JSON text holds; empty where it holds another value or cannot be read. Never raises."""
    try:
        value = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else []


def _whole(values: Any) -> tuple[int, ...] | None:
    """A list of whole numbers of at least 0, as a tuple."""
    if (
        isinstance(values, list)
        and len(values) <= _MOST_DIMS
        and all(type(v) is int and 0 <= v <= _LARGEST for v in values)
    ):
        return tuple(values)
    return None


def _argument(dims: Any, kind: Any, strides: Any) -> Argument:
    if isinstance(dims, list) and dims and all(isinstance(d, list) for d in dims):
        listed = [_whole(d) for d in dims]
        return tuple(Tensor(d) for d in listed if d is not None) if None not in listed else None
    whole = _whole(dims)
    if whole is None or (isinstance(kind, str) and kind in _NO_TENSOR) or (kind == "TensorList"):
        return None
    if not whole and not isinstance(kind, str):
        return None
    return Tensor(whole, dtype(kind) if isinstance(kind, str) else None, _whole(strides))


@lru_cache(maxsize=8192)
def parse_arguments(dims: str | None, types: str | None, strides: str | None = None) -> tuple[Argument, ...]:
    """The arguments from the schema's compact JSON texts of `input_dims`, `input_types`, `input_strides`.

    What cannot be read is None, as is an argument that is no tensor. Never raises.
    """
    shapes = _decoded(dims)
    if not isinstance(shapes, list):
        return ()
    kinds, steps = _decoded(types), _decoded(strides)
    kinds = kinds if isinstance(kinds, list) else []
    steps = steps if isinstance(steps, list) else []
    return tuple(
        _argument(d, kinds[i] if i < len(kinds) else None, steps[i] if i < len(steps) else None)
        for i, d in enumerate(shapes)
    )


def parse_call(
    op: str | None,
    kernel: str | None,
    dims: str | None = None,
    types: str | None = None,
    strides: str | None = None,
    concrete: str | None = None,
    collective: str | None = None,
) -> Call:
    """A call from the schema's columns. An overload (`aten::add.Tensor`) is cut off. Never raises."""
    values = _decoded(concrete)
    details = _decoded(collective)
    return Call(
        (op or "").split(".", 1)[0],
        kernel or "",
        parse_arguments(dims, types, strides),
        tuple(v if isinstance(v, str) else "" for v in values) if isinstance(values, list) else (),
        details if isinstance(details, dict) else {},
    )


def thousands(numbers: Iterable[int]) -> str:
    """Factors as one writes them: `495,552 x 1 x 576`."""
    return " x ".join(f"{n:,}" for n in numbers)


class Sheet:
    """Works out one kernel's traffic line by line. Bytes become unknown as soon as one element type is."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.moved: list[int] = []
        self.lines: list[str] = []
        self.assumptions: list[str] = []
        self.known = True

    def assume(self, text: str) -> None:
        """Note an assumption, once."""
        if text not in self.assumptions:
            self.assumptions.append(text)

    def move(self, verb: str, tensor: Tensor, element: str | None = None, role: str = "") -> None:
        """Add the bytes of a tensor that is read or written once; stride 0 counts once.

        `element` stands in for a type that was not recorded.
        """
        name = tensor.dtype or element
        size = size_of(name)
        if tensor.dtype is None and size is not None and element is not None:
            self.assume(f"element type {element}, from the kernel's name")
        if size is None:
            size, name = self._opaque()
        if size is None:
            self.known = False
            self.lines.append(
                f"{verb} {thousands(tensor.dims) or '1'} elements of unknown type{role and ' ' + role}"
            )
            return
        repeated = tensor.broadcast and verb == "read"
        count = tensor.stored if repeated else tensor.count
        dims = tensor.dims
        if repeated and tensor.strides is not None:
            dims = tuple(1 if s == 0 else d for d, s in zip(dims, tensor.strides, strict=True))
        shown = [*dims, size] if dims else [1, size]
        note = ", stride 0 counted once" if repeated else ""
        said = f"{verb}{role and ' ' + role}"
        self.lines.append(f"{said} {thousands(shown)} B ({name}){note} = {count * size:,} B")
        self.moved.append(count * size)

    def _opaque(self) -> tuple[int | None, str | None]:
        size = self.call.facts.element_bytes
        return (size, f"{size} B elements in the kernel's name") if size else (None, None)

    def read(self, tensor: Tensor | None, element: str | None = None, role: str = "") -> None:
        """A tensor that is read once; None is nothing."""
        if tensor is not None:
            self.move("read", tensor, element, role)

    def write(self, tensor: Tensor | None, element: str | None = None, role: str = "") -> None:
        """A tensor that is written once; None is nothing."""
        if tensor is not None:
            self.move("write", tensor, element, role)

    def total(self) -> int | None:
        """All bytes, with the sum as the last line; None where a type is unknown."""
        if not self.known or not self.moved:
            return None
        if len(self.moved) > 1:
            self.lines.append(f"bytes = {' + '.join(f'{m:,}' for m in self.moved)} = {sum(self.moved):,} B")
        return sum(self.moved)


@dataclass(frozen=True)
class Work:
    """What one kernel has to do. None: unknown.

    `bytes_low` is below `bytes` where the traffic is a range. `on_link`: the bytes cross links between
    devices, and `bus_bytes` is what each rank puts there. `compute_dtype` is the type whose peak FLOP rate
    bounds the kernel.
    """

    elements: int | None = None
    bytes: int | None = None
    bytes_low: int | None = None
    flops: int | None = None
    bus_bytes: int | None = None
    compute_dtype: str | None = None
    assumptions: tuple[str, ...] = ()
    working: tuple[str, ...] = ()
    on_link: bool = False


def finish(
    sheet: Sheet,
    elements: int | None,
    flops: int | None = None,
    how: str = "",
    compute_dtype: str | None = None,
    bytes_low: int | None = None,
) -> Work:
    """Close a sheet: `how` shows the FLOPs' factors, `2 x 4,096 x 4,096 x 4,096`."""
    moved = sheet.total()
    if flops is not None and how:
        sheet.lines.append(f"flops = {how} = {flops:,}" if how != f"{flops:,}" else f"flops = {how}")
    low = moved if bytes_low is None else bytes_low
    return Work(
        elements,
        moved,
        low if moved is not None else None,
        flops,
        None,
        compute_dtype,
        tuple(sheet.assumptions),
        tuple(sheet.lines),
    )
