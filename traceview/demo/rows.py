"""The text of a Kineto trace: header, rows, and what stands between them.

The layout is the one that torch.profiler writes since Kineto's commit c51fcfea of April 2026: one key a line,
times in microseconds with three decimals. Times come in as whole nanoseconds.
"""

import json
from functools import cache
from typing import Any

from traceview.demo import model

PID = 52_417  # of the process, and the number of its one thread
DEVICE = 0
BASE_NS = 225 * 7_889_238 * 10**9  # Kineto rounds the base down to a multiple of 7,889,238 seconds
_GPUS_NAMED = 16  # Kineto names 16 GPUs, however many there are

# The card, as the profiler's header describes an H100 SXM.
_CARD = {
    "id": DEVICE,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85_018_279_936,
    "computeMajor": 9,
    "computeMinor": 0,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerBlock": 65_536,
    "warpSize": 32,
    "sharedMemPerBlock": 49_152,
    "numSms": 132,
    "regsPerMultiprocessor": 65_536,
    "sharedMemPerBlockOptin": 232_448,
    "sharedMemPerMultiprocessor": 233_472,
}
_SMS, _WARP = 132, 32
_THREADS, _REGISTERS, _SHARED_MEMORY, _BLOCKS = 2048, 65_536, 233_472, 32  # what one SM holds

_GROUP = ', "Process Group Name": "0", "Process Group Description": "default_pg"'


def us(ns: int) -> str:
    """Nanoseconds as the file spells a time."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def slice_row(
    category: str, name: str, pid: int | str, tid: int | str, begin: int, dur: int, args: str
) -> str:
    """A row with a duration; `args` is the inside of its args object."""
    where = f'"pid": {json.dumps(pid)},\n    "tid": {json.dumps(tid)}'
    return (
        f'  {{\n    "ph": "X",\n    "cat": "{category}",\n    "name": "{name}",\n    {where},\n'
        f'    "ts": {us(begin)},\n    "dur": {us(dur)}\n    ,\n    "args": {{\n      {args}\n    }}\n  }}'
    )


def instant_row(
    category: str, scope: str, name: str, pid: int | str, tid: int | str, at: int, args: str = ""
) -> str:
    """A moment without a duration."""
    category = f'"cat": "{category}",\n    ' if category else ""
    args = f',\n    "args": {{\n      {args}\n    }}' if args else ""
    return (
        f'  {{\n    "ph": "i",\n    \n    {category}"s": "{scope}",\n    "name": "{name}",\n'
        f'    "pid": {json.dumps(pid)},\n    "tid": {json.dumps(tid)},\n    "ts": {us(at)}\n    {args}\n  }}'
    )


def flow_row(phase: str, number: int, pid: int, tid: int, at: int) -> str:
    """One end of the arrow from a launch (phase s) to its work (phase f)."""
    tail = ', "bp": "e"' if phase == "f" else ""
    return (
        f'  {{\n    "ph": "{phase}",\n    "id": {number},\n    "pid": {pid},\n    "tid": {tid},\n'
        f'    "ts": {us(at)},\n    "cat": "ac2g",\n    "name": "ac2g"\n    {tail}\n  }}'
    )


def _track_row(what: str, pid: int | str, tid: int, at: int, key: str, value: int | str) -> str:
    return (
        f'  {{\n    "ph": "M",\n    "name": "{what}",\n    "ts": {us(at)},\n    "pid": {json.dumps(pid)},\n'
        f'    "tid": {tid},\n    "args": {{\n      "{key}": {json.dumps(value)}\n    }}\n  }}'
    )


def track_rows(at: int) -> list[str]:
    """The names of processes and threads."""
    processes = [(PID, "CPU", PID)] + [(gpu, f"GPU {gpu}", 5_000_000 + gpu) for gpu in range(_GPUS_NAMED)]
    rows = []
    for pid, label, order in processes:
        rows.append(_track_row("process_name", pid, 0, at, "name", "python"))
        rows.append(_track_row("process_labels", pid, 0, at, "labels", label))
        rows.append(_track_row("process_sort_index", pid, 0, at, "sort_index", order))
    threads = [(PID, PID, f"thread {PID} (python)")]
    threads += [(0, stream, f"stream {stream} ") for stream in (model.COMPUTE, model.COMMUNICATION)]
    for pid, tid, name in threads:
        rows.append(_track_row("thread_name", pid, tid, at, "name", name))
        rows.append(_track_row("thread_sort_index", pid, tid, at, "sort_index", tid))
    rows.append(_track_row("process_sort_index", "Spans", 0, at, "sort_index", 536_870_912))
    return rows


def header(stacks: bool) -> str:
    """Everything before the first row."""
    ranks = list(range(model.RANKS))
    group = {
        "pg_name": "0",
        "pg_desc": "default_pg",
        "backend_config": "cuda:nccl",
        "pg_size": len(ranks),
        "ranks": ranks,
    }
    facts: dict[str, Any] = {
        "trace_id": "6D0A51C7E2F84B93A1C85D7F30B94E62",
        "cupti_version": 26,
        "cuda_runtime_version": 12_080,
        "cuda_driver_version": 12_080,
        "record_shapes": 1,
        "profile_memory": 1,
        "distributedInfo": {
            "backend": "nccl",
            "rank": 0,
            "world_size": len(ranks),
            "pg_count": 1,
            "pg_config": [group],
            "nccl_version": "2.27.3",
        },
    }
    if stacks:
        facts["with_stack"] = 1
    lines = "".join(f'      "{key}": {json.dumps(value)},\n' for key, value in facts.items())
    return (
        f' {{\n    "schemaVersion": 1,\n    "deviceProperties": [\n      {json.dumps(_CARD)}\n    ],\n    \n'
        f'{lines}    "displayTimeUnit": "ms",\n    "baseTimeNanoseconds": {BASE_NS},\n'
        '    "traceEvents": [\n    \n'
    )


FOOTER = '\n  ],"traceName": "demo-decode.pt.trace.json" }\n'


def in_one_line(text: str) -> str:
    """The same JSON as tools write it that read a trace and write it again. No text holds a line end."""
    return "".join(line.strip() for line in text.split("\n"))


def _shape(given: model.Tensor | tuple[model.Tensor, ...] | str, what: str) -> Any:
    if isinstance(given, model.Tensor):
        return getattr(given, what)
    return [] if isinstance(given, str) else [getattr(tensor, what) for tensor in given]


def _type(given: model.Tensor | tuple[model.Tensor, ...] | str) -> str:
    if isinstance(given, model.Tensor):
        return given.type
    return ("Scalar" if given else "") if isinstance(given, str) else "TensorList"


@cache
def op_args(op: model.Op) -> str:
    """The operator's recorded inputs."""
    values = {
        "Concrete Inputs": [given if isinstance(given, str) else "" for given in op.inputs],
        "Input type": [_type(given) for given in op.inputs],
        "Input Strides": [_shape(given, "steps") for given in op.inputs],
        "Input Dims": [_shape(given, "dims") for given in op.inputs],
    }
    return "".join(f', "{key}": {json.dumps(value)}' for key, value in values.items())


def collective_args(collective: model.Collective, sequence: int) -> str:
    """What the profiler notes of a collective, on its operator and on its kernel."""
    ranks = list(range(model.RANKS))
    return (
        f', "Collective name": "{collective.name}", "dtype": "BFloat16", "In msg nelems": {collective.sent}'
        f', "Out msg nelems": {collective.received}, "In split size": "[]", "Out split size": "[]"'
        f', "Group size": {model.RANKS}{_GROUP}, "Process Group Ranks": "{ranks}", "Seq": {sequence}'
    )


@cache
def kernel_args(work: model.Work) -> str:
    """A kernel's launch shape and what follows from it.

    The occupancy is the share of an SM's 2,048 threads that the blocks fit (by threads, registers and shared
    memory, and no more than the launch has for each SM), as Kineto works it out, in whole percent.
    """
    blocks = work.grid[0] * work.grid[1] * work.grid[2] / _SMS
    threads = work.block[0] * work.block[1] * work.block[2]
    fit = min(
        _BLOCKS,
        _THREADS // threads,
        _REGISTERS // (work.registers * threads),
        _SHARED_MEMORY // (work.shared_memory + 1024),  # CUDA keeps 1 KiB of every block for itself
    )
    occupancy = round(100 * min(fit, blocks) * threads / _THREADS)
    return (
        f', "registers per thread": {work.registers}, "shared memory": {work.shared_memory},\n'
        f'      "blocks per SM": {blocks:.6f}, "warps per SM": {blocks * threads / _WARP:.6f},\n'
        f'      "grid": {list(work.grid)}, "block": {list(work.block)},\n'
        f'      "est. achieved occupancy %": {occupancy}'
    )
