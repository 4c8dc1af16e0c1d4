"""Every frame's columns and types, declared once and never inferred from data.

Units are in the names: `*_ns` are whole nanoseconds on the trace's own clock, `*_bytes` and `bytes` are
bytes. A null is "the file does not say"; it is never 0. `name` columns hold the file's own text and must
pass through `units.safe_text` before they reach a terminal. `offset` and `length` are the event's place in
the decompressed file. Rows stand in file order, and `id` is the row number.
"""

import polars as pl
from polars.datatypes import DataType, DataTypeClass

Columns = dict[str, DataType | DataTypeClass]

KIND = pl.Enum(["kernel", "memcpy", "memset"])
TEXT = pl.Categorical()  # repeated text: names, threads, shapes

_SLICE: Columns = {"id": pl.Int64, "name": TEXT, "begin_ns": pl.Int64, "dur_ns": pl.Int64}
_PLACE: Columns = {"offset": pl.Int64, "length": pl.Int64}
_THREAD: Columns = {"pid": TEXT, "tid": TEXT}

GPU = pl.Schema(
    {
        **_SLICE,  # dur_ns is null where the file has none that can be read
        "kind": KIND,
        "timed": pl.Boolean,  # false: no usable time (ts 0 with dur 0 among timed work, or dur below 0)
        "pid": TEXT,
        "device": pl.Int64,
        "stream": pl.Int64,
        "correlation": pl.Int64,  # null where the file has 0 or none
        "external_id": pl.Int64,  # likewise
        "grid": pl.List(pl.Int64),  # as the file has it: blocks, or work-items for some ROCm kernels
        "block": pl.List(pl.Int64),
        "registers_per_thread": pl.Int64,
        "shared_memory_bytes": pl.Int64,
        "occupancy_pct": pl.Float64,  # "est. achieved occupancy %": theoretical, from the launch shape
        "bytes": pl.Int64,  # of copies and sets
        "graph_id": pl.Int64,
        "graph_node": pl.Int64,  # low 32 bits of the node id
        "collective": pl.String,  # JSON object of the collective's arguments, as the file has them
        **_PLACE,
    }
)

OPS = pl.Schema(
    {
        **_SLICE,
        **_THREAD,
        "external_id": pl.Int64,
        "sequence": pl.Int64,  # autograd sequence number
        "fwd_thread": pl.Int64,
        "input_dims": TEXT,  # compact JSON, e.g. [[8,16],[]]
        "input_types": TEXT,  # compact JSON list of strings
        "input_strides": TEXT,
        "concrete_inputs": TEXT,
        "kernel_file": TEXT,  # Inductor's generated source
        "kernel_kwargs": TEXT,
        "finished": pl.Boolean,
        "collective": pl.String,
        **_PLACE,
    }
)

RUNTIME = pl.Schema(
    {
        **_SLICE,
        **_THREAD,
        "correlation": pl.Int64,
        "external_id": pl.Int64,
        "kernel": TEXT,  # ROCm writes the kernel's name and shape on its launch call
        "grid": pl.List(pl.Int64),
        "block": pl.List(pl.Int64),
        **_PLACE,
    }
)

ANNOTATIONS = pl.Schema({**_SLICE, **_THREAD, "on_gpu": pl.Boolean, "external_id": pl.Int64, **_PLACE})

PYTHON = pl.Schema(
    {
        **_SLICE,
        **_THREAD,
        "python_id": pl.Int64,
        "python_parent_id": pl.Int64,
        "python_module_id": pl.Int64,
        **_PLACE,
    }
)

# Everything else with a duration: overhead, synchronisation, foreign slices, B/E pairs made into one.
SLICES = pl.Schema({**_SLICE, **_THREAD, "cat": TEXT, **_PLACE})

MEMORY = pl.Schema(
    {
        "begin_ns": pl.Int64,
        **_THREAD,
        "device_type": pl.Int64,  # 0 CPU, 1 CUDA, 6 HIP
        "device": pl.Int64,
        "address": pl.Int64,
        "bytes": pl.Int64,  # negative: freed
        "total_allocated": pl.Int64,
        "total_reserved": pl.Int64,
        **_PLACE,
    }
)

# Instants (ph i, I, R) and counters (ph C); `args` is compact JSON.
INSTANTS = pl.Schema(
    {"begin_ns": pl.Int64, "ph": TEXT, "cat": TEXT, "name": TEXT, **_THREAD, "args": pl.String, **_PLACE}
)

# Names of processes and threads, from metadata rows (ph M): what = process_name, thread_name, ...
_TRACK: Columns = {"what": TEXT, **_THREAD, "value": pl.String}
TRACKS = pl.Schema(_TRACK)

# How many loaded events there are of each kind.
_KIND: Columns = {"ph": TEXT, "cat": TEXT, "count": pl.Int64}
KINDS = pl.Schema(_KIND)

FRAMES = {
    "gpu": GPU,
    "ops": OPS,
    "runtime": RUNTIME,
    "annotations": ANNOTATIONS,
    "python": PYTHON,
    "slices": SLICES,
    "memory": MEMORY,
    "instants": INSTANTS,
    "tracks": TRACKS,
    "kinds": KINDS,
}


def empty(name: str) -> pl.DataFrame:
    """An empty frame of the schema called `name` (a key of FRAMES)."""
    return pl.DataFrame(schema=FRAMES[name])
