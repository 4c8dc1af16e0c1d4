"""What a collective moves: the algorithm's bytes and the bytes on the bus.

Both as NCCL's tests define them (nccl-tests, doc/PERFORMANCE.md): the algorithm's bytes are the size of the
data that is reduced, gathered or sent; the bus bytes are what each rank must put on its link at least.
"""

from dataclasses import replace
from fractions import Fraction

from traceview.analysis.calls import Call, Sheet, Work, finish
from traceview.analysis.dtypes import dtype, size_of

# name -> whose size counts, and how often (p - 1) / p of it crosses a rank's link; 0: all of it, once
_FACTORS = {
    "allreduce": ("In", 2),
    "allgather": ("Out", 1),
    "reducescatter": ("In", 1),
    "alltoall": ("In", 1),
    "broadcast": ("In", 0),
    "reduce": ("In", 0),
    "send": ("In", 0),
    "recv": ("Out", 0),
    "gather": ("Out", 1),
    "scatter": ("In", 1),
}
_SIZES = {"In": "In msg nelems", "Out": "Out msg nelems"}


def _known(name: str) -> str | None:
    """The collective behind `_allgather_base`, `all_gather_into_tensor_coalesced`, `all_to_allv`."""
    bare = name.lower().replace("_", "")
    return next((key for key in sorted(_FACTORS, key=len, reverse=True) if key in bare), None)


def collective(call: Call) -> Work | None:
    """The work of a collective kernel from its recorded arguments; None where they do not suffice.

    Files without them have the tensor among the operator's inputs: the largest one is the data as a whole.
    """
    details = call.collective
    kind = _known(str(details.get("Collective name", "")))
    element = dtype(str(details.get("dtype", "")))
    size, ranks = size_of(element), details.get("Group size")
    if kind is None or size is None or type(ranks) is not int or ranks < 1:
        return None if details else _from_inputs(call)
    whose, factor = _FACTORS[kind]
    count = details.get(_SIZES[whose])
    if type(count) is not int or count < 0:
        return None
    moved = count * size
    over, under = (factor * (ranks - 1), ranks) if factor else (1, 1)
    bus = round(Fraction(moved * over, under))  # half to even
    lines = (
        f"{kind} of {count:,} x {size} B ({element}) = {moved:,} B (algorithm)",
        f"on the bus of each of {ranks} ranks: {moved:,} x {over} / {under} = {bus:,} B",
    )
    return Work(count, moved, moved, 0, bus, working=lines, on_link=True)


def _from_inputs(call: Call) -> Work | None:
    largest = max((t for t in call.tensors() if t.dims), key=lambda t: t.count, default=None)
    if largest is None or size_of(largest.dtype) is None:
        return None
    sheet = Sheet(call)
    sheet.assume(
        "the largest recorded tensor is the data as a whole; how many ranks share it is not recorded"
    )
    sheet.move("move", largest)
    return replace(finish(sheet, largest.count, 0), on_link=True)
