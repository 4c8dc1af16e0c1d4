"""Typed decoding of a block of events: the one list of the keys that the frames hold.

Values inside `args` are decoded as whatever they are, so one odd value never costs the block: the columns
(`traceview.parsers.columns`) turn them into their type, or into null. Keys that are not named here are
skipped; `raw_event` shows them on demand.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

NULL = Raw(b"null")
NO_ARGS = Raw(b"{}")


class Event(Struct, gc=False):
    """The keys of every event; `ts` and `dur` are microseconds, in any spelling of a number."""

    ph: str = ""
    cat: str | None = None
    name: str | int | float | None = None
    pid: int | str | float | None = None
    tid: int | str | float | None = None
    ts: int | float | str | None = None
    dur: int | float | str | None = None
    args: Raw = NO_ARGS


class Times(Struct, gc=False):
    """The two times as the file's own text, for digits that a double cannot hold."""

    ts: Raw = NULL
    dur: Raw = NULL


# The arguments of each frame: a field is a column of `schema`, or what one is made of; `name` is its key in
# the file, and `old_*` the key of files of 2021.


class GpuArgs(Struct, gc=False):
    external_id: Any = field(default=None, name="External id")
    device: Any = None
    stream: Any = None
    correlation: Any = None
    registers_per_thread: Any = field(default=None, name="registers per thread")
    shared_memory_bytes: Any = field(default=None, name="shared memory")
    grid: Any = None
    block: Any = None
    occupancy_pct: Any = field(default=None, name="est. achieved occupancy %")
    bytes: Any = None
    graph_id: Any = field(default=None, name="graph id")
    graph_node: Any = field(default=None, name="graph node id")
    collective_name: Any = field(default=None, name="Collective name")
    old_external_id: Any = field(default=None, name="external id")


class OpArgs(Struct, gc=False):
    external_id: Any = field(default=None, name="External id")
    sequence: Any = field(default=None, name="Sequence number")
    fwd_thread: Any = field(default=None, name="Fwd thread id")
    concrete_inputs: Raw = field(default=NULL, name="Concrete Inputs")
    input_types: Raw = field(default=NULL, name="Input type")
    input_strides: Raw = field(default=NULL, name="Input Strides")
    input_dims: Raw = field(default=NULL, name="Input Dims")
    old_input_dims: Raw = field(default=NULL, name="Input dims")
    kernel_file: Any = None
    kernel_kwargs: Any = None
    finished: Any = None
    collective_name: Any = field(default=None, name="Collective name")
    old_external_id: Any = field(default=None, name="external id")


class RuntimeArgs(Struct, gc=False):
    external_id: Any = field(default=None, name="External id")
    correlation: Any = None
    kernel: Any = None
    grid: Any = None
    block: Any = None
    old_external_id: Any = field(default=None, name="external id")


class AnnotationArgs(Struct, gc=False):
    external_id: Any = field(default=None, name="External id")
    old_external_id: Any = field(default=None, name="external id")


class PythonArgs(Struct, gc=False):
    python_parent_id: Any = field(default=None, name="Python parent id")
    python_id: Any = field(default=None, name="Python id")
    python_module_id: Any = field(default=None, name="Python module id")


class MemoryArgs(Struct, gc=False):
    total_reserved: Any = field(default=None, name="Total Reserved")
    total_allocated: Any = field(default=None, name="Total Allocated")
    bytes: Any = field(default=None, name="Bytes")
    device: Any = field(default=None, name="Device Id")
    device_type: Any = field(default=None, name="Device Type")
    address: Any = field(default=None, name="Addr")


class TrackArgs(Struct, gc=False):
    name: Any = None
    labels: Any = None
    sort_index: Any = None


LISTS = ("concrete_inputs", "input_types", "input_strides", "input_dims")  # kept as JSON text

ARGS: dict[str, type[Struct]] = {
    "gpu": GpuArgs,
    "ops": OpArgs,
    "runtime": RuntimeArgs,
    "annotations": AnnotationArgs,
    "python": PythonArgs,
    "memory": MemoryArgs,
    "tracks": TrackArgs,
}

# Arguments of a collective; torch writes them on record_param_comms and Kineto copies them to the kernel.
COLLECTIVE = (
    "Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "In split size",
    "Out split size", "Process Group Name", "Process Group Description", "Process Group Ranks",
    "Process Group ID", "Global rank start", "Global rank stride", "Rank", "Src Rank", "Dst Rank", "Seq",
    "Comms Id", "Is asynchronized op",
)  # fmt: skip

# Keys that may stand directly in an event; repairs use them to find where a broken string ends.
EVENT_KEYS = (
    "ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "id2", "bp", "s", "tts", "tdur", "bind_id",
    "scope", "cname", "stack", "sf", "esf", "icount", "tidelta", "flow_in", "flow_out",
)  # fmt: skip

# Categories of today and of 2021.
GPU_KINDS = {
    "kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset",
    "Kernel": "kernel", "Memcpy": "memcpy", "Memset": "memset",
}  # fmt: skip
OP_CATS = ("cpu_op", "Operator")
RUNTIME_CATS = (
    "cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "xpu_driver", "privateuse1_runtime",
    "privateuse1_driver",
)  # fmt: skip
ANNOTATION_CATS = ("user_annotation", "gpu_user_annotation")
INSTANT_CAT = "cpu_instant_event"
MEMORY_NAME = "[memory]"
MARKERS = ("ProfilerStep#", "Optimizer.", "enumerate(")  # Operator rows of 2021 that mark ranges

_X = {
    **dict.fromkeys(GPU_KINDS, "gpu"),
    **dict.fromkeys(OP_CATS, "ops"),
    **dict.fromkeys(RUNTIME_CATS, "runtime"),
    **dict.fromkeys(ANNOTATION_CATS, "annotations"),
    "python_function": "python",
    INSTANT_CAT: "instants",  # the Python exporter gives instants a meaningless duration
}
_PH = {
    "M": "tracks",
    "B": "pairs",
    "E": "pairs",
    "i": "instants",
    "I": "instants",
    "R": "instants",
    "C": "instants",
}


def frame_of(ph: str, cat: str | None) -> str | None:
    """The frame that events of this phase and category go to; None: they are counted only (flows, async)."""
    return _X.get(cat or "", "slices") if ph == "X" else _PH.get(ph)


_BYTE = re.compile(r"\(byte (\d+)\)")
_events = msgspec.json.Decoder(list[Event])
_times = msgspec.json.Decoder(list[Times])
_args = {kind: msgspec.json.Decoder(list[struct]) for kind, struct in ARGS.items()}  # type: ignore[valid-type]
_one_args = {kind: msgspec.json.Decoder(struct) for kind, struct in ARGS.items()}


def damaged_byte(error: Exception) -> int | None:
    """The place that a verdict of msgspec names, counted from where it began to decode."""
    place = _BYTE.search(str(error))
    return int(place[1]) if place else None


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are text: the decoder does not look at keys and at what it skips."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def listed(values: Sequence[bytes | memoryview | Raw]) -> bytes:
    """JSON values, or one text of several with commas between, as a JSON list."""
    if len(values) == 1:
        return b"".join((b"[", values[0], b"]"))  # one copy: a block is large
    return b"".join((b"[", b",".join(values), b"]"))


def decode_events(block: bytes) -> list[Event]:
    """Events of `block`, a JSON list. Raises msgspec.MsgspecError, RecursionError."""
    return _events.decode(block)


def decode_times(block: bytes) -> list[Times]:
    """The `ts` and `dur` of each event of `block` as text. Raises as decode_events."""
    return _times.decode(block)


def decode_args(kind: str, raws: list[Raw], mended: Callable[[bytes], bytes], lost: set[int]) -> list[Any]:
    """Arguments of the frame `kind`. Where they cannot be read as they are, what `mended` makes of them
    takes their place in `raws`, and the row is added to `lost`.
    """
    try:
        return _args[kind].decode(listed(raws))
    except (msgspec.MsgspecError, RecursionError):
        pass
    rows = []
    for i, raw in enumerate(raws):
        try:
            rows.append(_one_args[kind].decode(raw))
        except (msgspec.MsgspecError, RecursionError):
            text = bytes(raw)
            raws[i] = Raw(mended(text))
            rows.append(_one_args[kind].decode(raws[i]))
            if text != b"null":
                lost.add(i)
    return rows
