"""Facts about a trace as a whole: who wrote it, which rank, which devices, what was recorded."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import polars as pl

from traceview.analysis.gpus import Gpu, plausible
from traceview.trace import Notice, Trace

_RANK = re.compile(r"(?:rank|-TP-)[_-]?(\d+)")
_PYTORCH_KINDS = {"cpu_op", "kernel", "cuda_runtime", "Operator", "Kernel", "Runtime", "python_function"}


def producer(trace: Trace) -> str | None:
    """Who wrote the file, as far as its layout and its categories tell."""
    kinds = set(trace.kinds["cat"].cast(pl.String))
    return "PyTorch profiler" if trace.layout == "kineto" or kinds & _PYTORCH_KINDS else None


def rank(trace: Trace) -> int | None:
    """The rank: of distributedInfo, else of the file's name."""
    value = _whole(_info(trace).get("rank"))
    if value is not None:
        return value
    found = _RANK.search(PurePath(trace.path).name)
    return int(found[1]) if found else None


def world_size(trace: Trace) -> int | None:
    """The number of ranks, from distributedInfo."""
    return _whole(_info(trace).get("world_size"))


def _info(trace: Trace) -> dict[str, Any]:
    info = trace.header.get("distributedInfo")
    return info if isinstance(info, dict) else {}


def clock_base_ns(trace: Trace) -> int | None:
    """baseTimeNanoseconds: nanoseconds since 1970 at which the trace's clock is 0. Never added to times."""
    return _whole(trace.header.get("baseTimeNanoseconds"))


def _whole(value: Any) -> int | None:
    """`value` where it is a whole number of 64 bits (JSON's true is none)."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and -(1 << 63) <= value < 1 << 63 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def device_properties(trace: Trace) -> dict[int, dict[str, Any]]:
    """deviceProperties by id, as the header has them; entries that are not of that form are left out."""
    listed = trace.header.get("deviceProperties")
    if not isinstance(listed, list):
        return {}
    return {d["id"]: d for d in listed if isinstance(d, dict) and _whole(d.get("id")) is not None}


def devices(trace: Trace) -> list[dict[str, Any]]:
    """The devices that GPU work names, else the header's: id, name, multiprocessors (null: unknown)."""
    seen = sorted(trace.gpu["device"].drop_nulls().unique()) or sorted(device_properties(trace))
    return [
        {"id": i, "name": _text(known.get("name")), "multiprocessors": plausible(known.get("numSms"))}
        for i in seen
        for known in [properties_of(trace, i)]
    ]


def properties_of(trace: Trace, device: int | None) -> dict[str, Any]:
    """The header's properties of a device that GPU work names; empty where they are not known.

    ROCm numbers its work by agent and not by the header's ids, so there an id says nothing; but where all
    listed devices are alike, any of them speaks for each.
    """
    known = device_properties(trace)
    if not is_rocm(trace):
        return {} if device is None else known.get(device, {})
    alike = {repr([d.get(k) for k in ("name", "numSms", "totalGlobalMem")]) for d in known.values()}
    return next(iter(known.values())) if len(alike) == 1 else {}


def is_rocm(trace: Trace) -> bool:
    """True where the header names AMD's runtime or profiler."""
    return any(key.startswith(("hip_", "roctracer", "rocprofiler")) for key in trace.header)


def facts(trace: Trace, notices: Sequence[Notice], gpus: Mapping[int | None, Gpu | None]) -> dict[str, Any]:
    """The contract's `trace` object. gpus: the GPU behind each device, with its peaks."""
    events = trace.events
    return {
        "path": trace.path,
        "bytes": trace.bytes,
        "compression": trace.compression,
        "layout": trace.layout,
        "producer": producer(trace),
        "clock_base_ns": clock_base_ns(trace),
        "events": {
            "in_file": events.in_file,
            "loaded": events.loaded,
            "set_aside": events.set_aside,
            "repaired": events.repaired,
        },
        "complete": trace.complete,
        "rank": rank(trace),
        "world_size": world_size(trace),
        "devices": [{**device, **_peaks(gpus.get(device["id"]))} for device in devices(trace)],
        "recorded": recorded(trace),
        "notices": [notice.as_dict() for notice in notices],
    }


def _peaks(gpu: Gpu | None) -> dict[str, Any]:
    figure = gpu and gpu.bandwidth_gbs
    return {
        "peak_bandwidth_gbs": figure.value if figure else None,
        "peak_source": figure.source if figure else None,
        "peak_confidence": figure.confidence if figure else None,
        "peak_tflops": {kind: rate.value for kind, rate in gpu.tflops.items()} if gpu else {},
        "peak_notes": list(gpu.notes) if gpu else [],
    }


def recorded(trace: Trace) -> dict[str, bool]:
    """What the profiler was asked to record, by the rows that are there or the header's word."""
    flag = trace.header.get
    return {
        "shapes": bool(trace.ops["input_dims"].is_not_null().any()) or flag("record_shapes") == 1,
        "stacks": trace.python.height > 0 or flag("with_stack") == 1,
        "memory": trace.memory.height > 0 or flag("profile_memory") == 1,
    }
