"""Decoded blocks -> batches of frames -> the frames of a Trace."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from traceview import schema
from traceview.parsers import columns, events
from traceview.parsers.pairs import PAIRS, paired

IntArray = npt.NDArray[np.int64]
Frames = dict[str, pl.DataFrame]
Kinds = Counter[tuple[str, str]]  # events by (ph, cat)

_event_fields = attrgetter("ph", "cat", "name", "pid", "tid", "ts", "dur", "args")
_CONVERT: dict[Any, Callable[[Sequence[Any], set[int]], pl.Series]] = {
    pl.Int64: columns.integers,
    pl.Float64: columns.floats,
    pl.Boolean: columns.booleans,
    pl.String: columns.strings,
    pl.Categorical: columns.texts,
    pl.List: columns.integer_lists,
}
_IDS = ("external_id", "correlation")
_NAMES = ("gpu", "ops", "runtime", "annotations", "python", "slices", "memory", "instants", "tracks", "pairs")
_SCHEMAS = {n: PAIRS if n == "pairs" else schema.FRAMES[n] for n in _NAMES}


@dataclass
class Batch:
    """The events of some bytes: frames in file order (without `id`), counts, and what was lost."""

    frames: Frames = field(default_factory=dict)
    kinds: Kinds = field(default_factory=Counter)
    repaired: list[int] = field(default_factory=list)  # offsets of events of which a value was lost or mended
    set_aside: list[int] = field(default_factory=list)  # offsets of objects that are no events


@dataclass
class _Rows:
    """The events of one block, column by column, and the places of those that lost a value."""

    cat: Sequence[str | None]
    ph: Sequence[str]
    name: Sequence[Any]
    pid: pl.Series
    tid: pl.Series
    begin: pl.Series
    dur: pl.Series
    args: Sequence[msgspec.Raw]
    offset: pl.Series
    length: pl.Series
    lost: set[int]

    def common(self, kind: str, at: list[int]) -> dict[str, pl.Series]:
        """The columns that any event may have, for the rows `at`, as far as the frame `kind` has them."""
        wanted, rows = _SCHEMAS[kind], pl.Series(at, dtype=pl.UInt32)
        lost: set[int] = set()
        made = {
            "begin_ns": self.begin, "dur_ns": self.dur, "pid": self.pid, "tid": self.tid,
            "offset": self.offset, "length": self.length,
        }  # fmt: skip
        out = {c: s.gather(rows) for c, s in made.items() if c in wanted}
        if "name" in wanted:
            out["name"] = columns.texts([self.name[i] for i in at], lost)
        for column, values in (("cat", self.cat), ("ph", self.ph)):
            if column in wanted:
                out[column] = columns.texts([values[i] for i in at], lost)
        return out


def build(block: bytes, offsets: IntArray, lengths: IntArray) -> Batch:
    """Decode `block` (events with commas between) and put its events into frames.

    `offsets` and `lengths` are each event's place in the file. Raises msgspec.MsgspecError or RecursionError
    where the block is not made of well-formed events.
    """
    decoded = events.decode_events(block)
    if len(decoded) != len(offsets):
        raise msgspec.DecodeError(f"{len(decoded)} events where {len(offsets)} were expected")
    batch = Batch()
    if not decoded:
        return batch
    ph, cat, name, pid, tid, ts, dur, args = zip(*map(_event_fields, decoded), strict=True)
    at: dict[tuple[str, str | None], list[int]] = {}
    for i, kind in enumerate(zip(ph, cat, strict=True)):
        if kind in at:
            at[kind].append(i)
        else:
            at[kind] = [i]
    lost: set[int] = set()
    begin = columns.nanoseconds(ts, block, lambda: [t.ts for t in events.decode_times(block)], lost)
    length = columns.nanoseconds(dur, block, lambda: [t.dur for t in events.decode_times(block)], lost)
    rows = _Rows(
        cat, ph, name, columns.lane(pid), columns.lane(tid), begin, length, args,
        pl.Series(offsets), pl.Series(lengths), lost,
    )  # fmt: skip
    of_frame: dict[str, list[int]] = {}
    for (phase, category), indices in at.items():
        if not phase:
            odd = [i for i in indices if not _is_blank(decoded[i])]
            batch.set_aside += [int(offsets[i]) for i in odd]
            if len(odd) == len(indices):
                continue
            batch.kinds["", ""] += len(indices) - len(odd)
            continue
        batch.kinds[phase, category or ""] += len(indices)
        for kind, some in _routes(events.frame_of(phase, category), indices, name, category):
            if some:
                of_frame.setdefault(kind, []).extend(some)
    for kind, indices in of_frame.items():
        batch.frames[kind] = _frame(kind, rows, sorted(indices))
    batch.repaired = [int(offsets[i]) for i in sorted(lost)]
    return batch


def _is_blank(event: events.Event) -> bool:
    """`{}`: some writers begin or end the list with one."""
    return event == events.Event(args=event.args) and len(event.args) <= 2


def _routes(
    kind: str | None, indices: list[int], name: Sequence[Any], cat: str | None
) -> Iterable[tuple[str, list[int]]]:
    """Which frame takes which rows, where the name decides too."""
    if kind == "instants" and cat == events.INSTANT_CAT:
        memory = [i for i in indices if name[i] == events.MEMORY_NAME]
        return ("memory", memory), ("instants", [i for i in indices if name[i] != events.MEMORY_NAME])
    if cat == "Operator" and kind == "ops":
        text = pl.Series([str(name[i]) for i in indices], dtype=pl.String)
        marks = text.str.contains(events.MARKER).to_list()
        return (
            ("annotations", [i for i, marker in zip(indices, marks, strict=True) if marker]),
            ("ops", [i for i, marker in zip(indices, marks, strict=True) if not marker]),
        )
    return () if kind is None else ((kind, indices),)


def _frame(kind: str, rows: _Rows, at: list[int]) -> pl.DataFrame:
    """The frame `kind` of the rows `at`, every column of its schema but `id`."""
    made = rows.common(kind, at)
    raws = [rows.args[i] for i in at]
    lost: set[int] = set()
    if kind in events.ARGS:
        made |= _arguments(kind, raws, made, rows, at, lost)
    elif kind == "instants":
        made["args"] = pl.Series(columns.compact_json(raws), dtype=pl.String)
    if kind == "annotations":
        made["on_gpu"] = pl.Series([rows.cat[i] == "gpu_user_annotation" for i in at], dtype=pl.Boolean)
    if kind == "tracks":
        made["what"] = made.pop("name") if "name" in made else columns.texts([rows.name[i] for i in at], lost)
    rows.lost.update(at[i] for i in lost)
    wanted = _SCHEMAS[kind]
    return pl.DataFrame(
        [
            (made[c].alias(c) if c in made else pl.Series(c, [None], dtype=t).new_from_index(0, len(at)))
            for c, t in wanted.items()
            if c != "id"
        ]
    )


def _arguments(
    kind: str, raws: list[msgspec.Raw], made: dict[str, pl.Series], rows: _Rows, at: list[int], lost: set[int]
) -> dict[str, pl.Series]:
    decoded = events.decode_args(kind, raws, lost)
    fields = events.ARGS[kind].__struct_fields__
    values = dict(zip(fields, zip(*map(attrgetter(*fields), decoded), strict=True), strict=True))
    wanted = _SCHEMAS[kind]
    _older_spellings(values)
    out = {}
    for column, column_values in values.items():
        if column in wanted:
            shape = events.ARGS[kind].__annotations__[column] is msgspec.Raw
            make = columns.compact_lists if shape else _CONVERT[wanted[column].base_type()]
            out[column] = make(column_values, lost)
    for column in _IDS:
        if column in out:
            out[column] = out[column].replace(0, None)
    if "collective_name" in values:
        out["collective"] = _collectives(values["collective_name"], raws)
    if kind == "gpu":
        out["kind"] = pl.Series([events.GPU_KINDS[rows.cat[i] or ""] for i in at], dtype=schema.KIND)
        out |= _gpu_ids(out, made, rows, at)
    if kind == "tracks":
        value = [next((v for v in (e.name, e.labels, e.sort_index) if v is not None), None) for e in decoded]
        out = {"value": columns.strings(value, lost)}
    return out


def _older_spellings(values: dict[str, Any]) -> None:
    """Fill a key's gaps from its spelling in older files (fields `old_*`)."""
    for old in [c for c in values if c.startswith("old_")]:
        new, olds = old.removeprefix("old_"), values.pop(old)
        empty = olds[0] if isinstance(olds[0], msgspec.Raw) else None
        missing = (None,) if empty is None else (None, events.NULL)
        if any(v is not None and v is not events.NULL for v in olds):
            values[new] = tuple(
                o if any(v is m for m in missing) else v for v, o in zip(values[new], olds, strict=True)
            )


def _collectives(names: Sequence[Any], raws: list[msgspec.Raw]) -> pl.Series:
    """JSON text of the arguments of a collective, where the event has any."""
    out: list[str | None] = [None] * len(raws)
    for i, name in enumerate(names):
        if name is not None:
            args = msgspec.json.decode(raws[i], type=dict[str, msgspec.Raw])
            kept = {k: args[k] for k in events.COLLECTIVE if k in args}
            out[i] = msgspec.json.format(msgspec.json.encode(kept), indent=-1).decode("utf-8", "replace")
    return pl.Series(out, dtype=pl.String)


def _gpu_ids(
    out: dict[str, pl.Series], made: dict[str, pl.Series], rows: _Rows, at: list[int]
) -> dict[str, pl.Series]:
    """Device and stream: the arguments', else pid and tid; graph ids: 0 is none, the node's low 32 bits count."""
    frame = pl.DataFrame(
        {
            "device": out["device"],
            "stream": out["stream"],
            "pid": made["pid"],
            "tid": rows.tid.gather(at),
            "graph_id": out["graph_id"],
            "graph_node": out["graph_node"],
        }
    ).select(
        pl.col("device").fill_null(
            pl.col("pid").cast(pl.String).str.extract(r"(-?\d+)\D*$").cast(pl.Int64, strict=False)
        ),
        pl.col("stream").fill_null(
            pl.col("tid").cast(pl.String).str.extract(r"(-?\d+)\D*$").cast(pl.Int64, strict=False)
        ),
        pl.col("graph_id").replace(0, None),
        pl.when(pl.col("graph_id").fill_null(1) != 0)
        .then(pl.col("graph_node") & 0xFFFFFFFF)
        .alias("graph_node"),
    )
    return frame.to_dict()


def concat(frames: Iterable[Frames]) -> Frames:
    """Frames one after another, without copying."""
    parts: dict[str, list[pl.DataFrame]] = {}
    for some in frames:
        for kind, frame in some.items():
            parts.setdefault(kind, []).append(frame)
    return {kind: pl.concat(some, rechunk=False) for kind, some in parts.items()}


def finished(frames: Frames, kinds: Kinds) -> Frames:
    """The frames of a Trace from all batches: pairs made into slices, ids, and what needs the whole file."""
    frames = dict(frames)
    pairs = frames.pop("pairs", None)
    if pairs is not None:
        slices = [frames["slices"]] if "slices" in frames else []
        frames["slices"] = pl.concat([*slices, paired(pairs)]).sort("offset", maintain_order=True)
    if "gpu" in frames:
        frames["gpu"] = frames["gpu"].with_columns(timed=_timed(frames["gpu"]))
    if "ops" in frames:
        frames["ops"] = frames["ops"].with_columns(
            finished=pl.when(pl.col("dur_ns") < 0).then(pl.lit(False)).otherwise(pl.col("finished"))
        )
    for kind in ("ops", "runtime", "annotations", "python", "slices"):
        if kind in frames:
            frames[kind] = frames[kind].with_columns(
                dur_ns=pl.when(pl.col("dur_ns") >= 0).then(pl.col("dur_ns"))
            )
    frames["kinds"] = pl.DataFrame(
        [(ph, cat, count) for (ph, cat), count in kinds.items()], schema=schema.KINDS, orient="row"
    )
    out = {}
    for kind, declared in schema.FRAMES.items():
        frame = frames.pop(kind, None)
        if frame is None:
            frame = schema.empty(kind)
        elif "id" in declared:
            frame = frame.with_columns(id=pl.int_range(pl.len(), dtype=pl.Int64))
        out[kind] = frame.select(list(declared)).rechunk()
    return out


def _timed(gpu: pl.DataFrame) -> pl.Series:
    """Whether each row has a usable time: not ts 0 with dur 0 where other GPU work has times, dur not negative."""
    zero = (gpu["begin_ns"] == 0) & (gpu["dur_ns"] == 0)
    usable = gpu["begin_ns"].is_not_null() & (gpu["dur_ns"] >= 0).fill_null(False)
    others_have_times = bool((usable & ~zero.fill_null(False)).any())
    return usable & ~zero.fill_null(False) if others_have_times else usable
