"""Facts about a trace as a whole: who wrote it, which rank, which devices, what was recorded."""

import re
from pathlib import PurePath
from typing import Any

import polars as pl

from traceview.trace import Trace

_RANK = re.compile(r"(?:rank|-TP-)[_-]?(\d+)")
_PYTORCH_KINDS = {"cpu_op", "kernel", "cuda_runtime", "Operator", "Kernel", "Runtime", "python_function"}


def producer(trace: Trace) -> str | None:
    """Who wrote the file, as far as its layout and its categories tell."""
    kinds = set(trace.kinds["cat"].cast(pl.String))
    return "PyTorch profiler" if trace.layout == "kineto" or kinds & _PYTORCH_KINDS else None


def rank(trace: Trace) -> int | None:
    """The rank: of distributedInfo, else of the file's name."""
    value = _info(trace).get("rank")
    if isinstance(value, int):
        return value
    found = _RANK.search(PurePath(trace.path).name)
    return int(found[1]) if found else None


def world_size(trace: Trace) -> int | None:
    """The number of ranks, from distributedInfo."""
    value = _info(trace).get("world_size")
    return value if isinstance(value, int) else None


def _info(trace: Trace) -> dict[str, Any]:
    info = trace.header.get("distributedInfo")
    return info if isinstance(info, dict) else {}


def clock_base_ns(trace: Trace) -> int | None:
    """baseTimeNanoseconds: nanoseconds since 1970 at which the trace's clock is 0. Never added to times."""
    value = trace.header.get("baseTimeNanoseconds")
    return value if isinstance(value, int) else None


def device_properties(trace: Trace) -> dict[int, dict[str, Any]]:
    """deviceProperties by id, as the header has them; entries that are not of that form are left out."""
    listed = trace.header.get("deviceProperties")
    if not isinstance(listed, list):
        return {}
    return {d["id"]: d for d in listed if isinstance(d, dict) and isinstance(d.get("id"), int)}


def devices(trace: Trace) -> list[dict[str, Any]]:
    """The devices of the header and those that GPU work names: id, name, multiprocessors (null: unknown).

    A ROCm trace numbers its work by agent, not by the header's ids: both are shown, none is guessed.
    """
    known = device_properties(trace)
    seen = set(trace.gpu["device"].drop_nulls().unique())
    return [
        {
            "id": i,
            "name": known.get(i, {}).get("name") or None,
            "multiprocessors": known.get(i, {}).get("numSms"),
        }
        for i in sorted(seen | set(known))
    ]


def recorded(trace: Trace) -> dict[str, bool]:
    """What the profiler was asked to record, by the rows that are there or the header's word."""
    flag = trace.header.get
    return {
        "shapes": bool(trace.ops["input_dims"].is_not_null().any()) or flag("record_shapes") == 1,
        "stacks": trace.python.height > 0 or flag("with_stack") == 1,
        "memory": trace.memory.height > 0 or flag("profile_memory") == 1,
    }
