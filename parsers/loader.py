"""Reads a trace file whole and puts its events into the frames of the schema."""

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from traceview import schema
from traceview.errors import TraceError
from traceview.trace import EventCounts, Trace


@dataclass(frozen=True)
class Progress:
    """How far the reading is: bytes of the file on disk, events so far, and their kinds."""

    done_bytes: int
    total_bytes: int
    events: int
    kinds: dict[str, int]


OP_MARKERS = re.compile(r"ProfilerStep#|Optimizer\.|enumerate\(")
COLLECTIVE = ("Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "Process Group Name", "Seq")


def _ns(value: Any) -> int | None:
    return None if value is None else int((Decimal(str(value)) * 1000).to_integral_value())


def _int(value: Any) -> int | None:
    found = re.search(r"-?\d+", str(value)) if value is not None else None
    return int(found.group()) if found else None


def _id(value: Any) -> int | None:
    return _int(value) or None


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, separators=(",", ":"))


def load(
    path: str | Path,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Trace:
    """Read the trace at `path`.

    `progress` is called now and then from this thread; `cancelled` is asked now and then, and stops the
    reading with `Cancelled`. Raises TraceError where nothing can be read.
    """
    file = Path(path)
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise TraceError(f"{file}: cannot be read: {error.strerror}") from None
    compression = "gzip" if raw[:2] == b"\x1f\x8b" else None
    text = (gzip.decompress(raw) if compression else raw).decode("utf-8", "replace")
    try:
        document = json.loads(text, parse_float=Decimal)
    except ValueError:
        raise TraceError(f"{file}: not JSON") from None
    events = document if isinstance(document, list) else document.get("traceEvents")
    if not isinstance(events, list):
        raise TraceError(f"{file}: not a trace: no traceEvents")
    header = {} if isinstance(document, list) else {k: v for k, v in document.items() if k != "traceEvents"}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    kinds: Counter[tuple[str, str]] = Counter()
    for e in events:
        ph, cat, args = e.get("ph"), e.get("cat") or "", e.get("args") or {}
        kinds[ph, cat] += 1
        slice_ = {"name": e.get("name"), "begin_ns": _ns(e.get("ts")), "dur_ns": _ns(e.get("dur")),
                  "pid": str(e.get("pid")), "tid": str(e.get("tid")), "external_id": _id(args.get("External id", args.get("external id"))),
                  "correlation": _id(args.get("correlation"))}  # fmt: skip
        collective = {k: args[k] for k in COLLECTIVE if k in args}
        extra = {"collective": _text(collective) if collective else None}
        if ph == "X" and cat.lower().removeprefix("gpu_") in ("kernel", "memcpy", "memset"):
            rows["gpu"].append({**slice_, **extra, "kind": cat.lower().removeprefix("gpu_"), "timed": True,
                "device": _int(args.get("device", e.get("pid"))), "stream": _int(args.get("stream", e.get("tid"))),
                "grid": args.get("grid"), "block": args.get("block"), "registers_per_thread": args.get("registers per thread"),
                "shared_memory_bytes": args.get("shared memory"), "bytes": args.get("bytes"),
                "graph_id": args.get("graph id"), "graph_node": args.get("graph node id")})  # fmt: skip
        elif ph == "X" and cat in ("cpu_op", "Operator") and not (cat == "Operator" and OP_MARKERS.match(e["name"])):
            rows["ops"].append({**slice_, **extra, "input_dims": _text(args.get("Input Dims", args.get("Input dims"))),
                "input_types": _text(args.get("Input type")), "input_strides": _text(args.get("Input Strides")),
                "concrete_inputs": _text(args.get("Concrete Inputs")), "finished": args.get("finished"),
                "sequence": args.get("Sequence number"), "fwd_thread": args.get("Fwd thread id")})  # fmt: skip
        elif ph == "X" and cat in ("cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "privateuse1_runtime"):
            rows["runtime"].append({**slice_, "kernel": args.get("kernel")})
        elif ph == "X" and cat in ("user_annotation", "gpu_user_annotation", "Operator"):
            rows["annotations"].append({**slice_, "on_gpu": cat == "gpu_user_annotation"})
        elif ph == "X" and cat == "python_function":
            rows["python"].append({**slice_, "python_id": args.get("Python id"),
                "python_parent_id": args.get("Python parent id"), "python_module_id": args.get("Python module id")})  # fmt: skip
        elif ph == "X" and "dur" in e:
            rows["slices"].append({**slice_, "cat": cat})
    frames = {}
    for name, columns in schema.FRAMES.items():
        dicts = rows[name]
        frames[name] = pl.DataFrame(
            {c: [i if c == "id" else d.get(c) for i, d in enumerate(dicts)] for c in columns}, schema=columns, strict=False
        )
    frames["kinds"] = pl.DataFrame([(p, c, n) for (p, c), n in kinds.items()], schema=schema.KINDS, orient="row")
    layout = "array" if isinstance(document, list) else "kineto" if "schemaVersion" in document else "object"
    header = json.loads(json.dumps(header, default=float))
    return Trace(str(path), len(raw), compression, layout, header, EventCounts(len(events), len(events)), **frames)
