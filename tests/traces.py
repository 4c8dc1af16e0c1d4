"""Tiny traces written by hand: one function an event, with the keys that the PyTorch profiler writes.

Times are microseconds, as in the files. Host events stand on thread 1 of process 100 unless a test says
otherwise; GPU events on the row (device, stream). A keyword that is not named here becomes one of `args`.
"""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from traceview.api import Session, open_session

Event = dict[str, Any]

HOST = 100
THREAD = 1
# A direct copy to bf16 that converts: the name as the profiler writes it.
CAST = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
    "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::"
    "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int>, "
    "TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, "
    "at::native::memory::StoreWithCast<1> >(int)"
)


def kernel(
    name: str,
    ts: float,
    dur: float,
    correlation: Any = None,
    *,
    device: Any = 0,
    stream: Any = 7,
    grid: tuple[int, ...] | None = (1, 1, 1),
    block: tuple[int, ...] | None = (128, 1, 1),
    external: Any = None,
    cat: str = "kernel",
    **args: Any,
) -> Event:
    """GPU work; the launch call is the one with the same correlation."""
    known = {"device": device, "stream": stream, "correlation": correlation, "External id": external}
    shape = {"grid": grid and list(grid), "block": block and list(block)}
    return _slice(cat, name, ts, dur, device, stream, {**known, **shape, **args})


def copy(
    name: str, ts: float, dur: float, correlation: Any = None, *, bytes: Any = None, **more: Any
) -> Event:
    """A copy on the GPU, such as `Memcpy HtoD (Pinned -> Device)`."""
    return kernel(name, ts, dur, correlation, grid=None, block=None, cat="gpu_memcpy", bytes=bytes, **more)


def fill(ts: float, dur: float, correlation: Any = None, **more: Any) -> Event:
    """A memset on the GPU."""
    return kernel("Memset (Device)", ts, dur, correlation, grid=None, block=None, cat="gpu_memset", **more)


def launch(
    ts: float,
    correlation: Any,
    *,
    dur: float = 5,
    name: str = "cudaLaunchKernel",
    external: Any = None,
    pid: Any = HOST,
    tid: Any = THREAD,
    **args: Any,
) -> Event:
    """A runtime call of the host that puts work on a GPU."""
    known = {"correlation": correlation, "External id": external}
    return _slice("cuda_runtime", name, ts, dur, pid, tid, {**known, **args})


def op(
    name: str,
    ts: float,
    dur: float,
    external: Any = None,
    *,
    dims: Any = None,
    types: Any = None,
    pid: Any = HOST,
    tid: Any = THREAD,
    **args: Any,
) -> Event:
    """A cpu_op, with shapes where given."""
    known = {"External id": external, "Input Dims": dims, "Input type": types}
    return _slice("cpu_op", name, ts, dur, pid, tid, {**known, **args})


def marker(
    name: str, ts: float, dur: float, *, pid: Any = HOST, tid: Any = THREAD, external: Any = None
) -> Event:
    """A user annotation on the host, such as `ProfilerStep#3`."""
    return _slice("user_annotation", name, ts, dur, pid, tid, {"External id": external})


def gpu_marker(
    name: str, ts: float, dur: float, *, device: Any = 0, stream: Any = 7, external: Any = None
) -> Event:
    """The copy of an annotation on a GPU row."""
    return _slice("gpu_user_annotation", name, ts, dur, device, stream, {"External id": external})


def frame(
    name: str,
    ts: float,
    dur: float,
    id: Any = None,
    parent: Any = None,
    *,
    pid: Any = HOST,
    tid: Any = THREAD,
) -> Event:
    """A Python frame, or with the name `nn.Module: X_0` a module's call."""
    known = {"Python id": id, "Python parent id": parent}
    return _slice("python_function", name, ts, dur, pid, tid, known)


def _slice(cat: str, name: str, ts: float, dur: float, pid: Any, tid: Any, args: dict[str, Any]) -> Event:
    given = {key: value for key, value in args.items() if value is not None}
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": given}


def steps(*begins: float, dur: float, first: int = 0) -> list[Event]:
    """Markers ProfilerStep#first, first + 1, ... of one length."""
    return [marker(f"ProfilerStep#{first + i}", ts, dur) for i, ts in enumerate(begins)]


def launched(name: str, at: float, ts: float, dur: float, correlation: int, **more: Any) -> list[Event]:
    """A launch call at `at` and its kernel, which runs [ts, ts + dur)."""
    return [launch(at, correlation), kernel(name, ts, dur, correlation, **more)]


def write(folder: Path, *events: Event, name: str = "trace.json", **header: Any) -> Path:
    """A trace file in the profiler's object form; `header` are its other top-level keys."""
    path = folder / name
    path.write_text(json.dumps({"schemaVersion": 1, **header, "traceEvents": list(events)}), encoding="utf-8")
    return path


def session(folder: Path, *events: Event, **header: Any) -> Session:
    """The questions of a trace made of these events."""
    return open_session(write(folder, *events, **header))


def opened(events: Iterable[Event]) -> Session:
    """The same where there is no folder at hand; the file is gone when this returns."""
    with tempfile.TemporaryDirectory() as folder:
        return session(Path(folder), *events)
