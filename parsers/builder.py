"""Decoded blocks -> batches of frames -> the frames of a Trace."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import polars as pl

from traceview import schema
from traceview.parsers import columns, events
from traceview.parsers.columns import IntArray
from traceview.parsers.pairs import PAIRS, paired
from traceview.parsers.repair import mend_members

Frames = dict[str, pl.DataFrame]
Kinds = Counter[tuple[str, str]]  # events by (ph, cat)

_CONVERT: dict[Any, Callable[[Sequence[Any], set[int]], pl.Series]] = {
    pl.Int64: columns.integers,
    pl.Float64: columns.floats,
    pl.Boolean: columns.booleans,
    pl.String: columns.strings,
    pl.Categorical: columns.texts,
    pl.List: columns.integer_lists,
}
_OF_LANE = {"of_pid": "device", "of_tid": "stream"}  # numbers in pid and tid, where no argument says it
_IDS = ("external_id", "correlation")
_EMPTY = len('{"":1}') - 1  # an object of so many bytes holds nothing
_SCHEMAS = {**schema.FRAMES, "pairs": PAIRS}


@dataclass
class Batch:
    """The events of some bytes: frames in file order (without `id`), counts, and what was lost."""

    frames: Frames = field(default_factory=dict)
    kinds: Kinds = field(default_factory=Counter)
    repaired: list[int] = field(default_factory=list)  # offsets of events of which a value was lost or mended
    set_aside: list[int] = field(default_factory=list)  # offsets of objects that are no events


class WrongPlacesError(msgspec.DecodeError):
    """The places given are not those of the block's events."""


@dataclass
class _Block:
    """Decoded events of one block, and the few combinations of what says where an event belongs."""

    name: list[Any]
    args: list[msgspec.Raw]
    common: pl.DataFrame  # begin_ns, dur_ns, offset, length
    codes: IntArray  # the combination of each event: a row of `lanes`
    lanes: pl.DataFrame
    lost: set[int]  # rows of which a value could not be kept


def build(block: bytes, offsets: IntArray, lengths: IntArray) -> Batch:
    """Decode `block` (a JSON list of events) and put its events into frames.

    `offsets` and `lengths` are each event's place in the file. Raises msgspec.MsgspecError or RecursionError
    where the block is not made of well-formed events, WrongPlacesError where it is, and of more or fewer.
    """
    decoded = events.decode_events(block)
    if len(decoded) != len(offsets):
        raise WrongPlacesError(f"{len(decoded)} events, {len(offsets)} places")
    batch = Batch()
    if not decoded:
        return batch
    numbered = columns.Numbered()  # few distinct combinations, so what follows looks at each once
    codes = numbered.codes([(e.ph, e.cat, e.pid, e.tid) for e in decoded])
    lost: set[int] = set()
    ts, dur = [e.ts for e in decoded], [e.dur for e in decoded]
    common = pl.DataFrame(
        {
            "begin_ns": columns.nanoseconds(
                ts, block, lambda: [t.ts for t in events.decode_times(block)], lost, columns.FARTHEST_NS
            ),
            "dur_ns": columns.nanoseconds(
                dur, block, lambda: [t.dur for t in events.decode_times(block)], lost, columns.LONGEST_NS
            ),
            "offset": offsets,
            "length": lengths,
        }
    )
    name = [e.name for e in decoded]
    rows = _Block(name, [e.args for e in decoded], common, codes, _lanes(list(numbered)), lost)
    for kind, at in _routed(list(numbered), codes, name).items():
        batch.frames[kind] = _frame(kind, rows, at)
    for (ph, cat, _, _), count in zip(numbered, np.bincount(codes).tolist(), strict=True):
        batch.kinds[ph, cat or ""] += count
    if any(not ph for ph, *_ in numbered):
        _set_aside(batch, decoded, offsets, lengths)
    batch.repaired = offsets[sorted(lost)].tolist()
    return batch


def _set_aside(batch: Batch, decoded: list[events.Event], offsets: IntArray, lengths: IntArray) -> None:
    """Objects without a phase are no events; `{}` is let pass: some writers put one at an end."""
    for kind in [k for k in batch.kinds if not k[0]]:
        del batch.kinds[kind]
    for event, offset, length in zip(decoded, offsets.tolist(), lengths.tolist(), strict=True):
        if not event.ph:
            if length <= _EMPTY:
                batch.kinds["", ""] += 1
            else:
                batch.set_aside.append(offset)


def _lanes(distinct: list[tuple[str, str | None, Any, Any]]) -> pl.DataFrame:
    """What follows from each combination of ph, cat, pid and tid: these, and columns of some frames."""
    texts = {
        name: [None if key[i] is None else str(key[i]) for key in distinct]
        for i, name in enumerate(("ph", "cat", "pid", "tid"))
    }
    return pl.DataFrame(
        {
            **{name: pl.Series(values, dtype=schema.TEXT) for name, values in texts.items()},
            "kind": pl.Series(
                [events.GPU_KINDS.get(cat or "") for _, cat, _, _ in distinct], dtype=schema.KIND
            ),
            "on_gpu": [cat == "gpu_user_annotation" for _, cat, _, _ in distinct],
            "of_pid": columns.last_numbers(texts["pid"]),
            "of_tid": columns.last_numbers(texts["tid"]),
        }
    )


def _routed(
    distinct: list[tuple[str, str | None, Any, Any]], codes: IntArray, name: list[Any]
) -> dict[str, IntArray]:
    """The rows of each frame; for some categories the name decides too."""
    taken: dict[str, list[int]] = {}
    for code, (ph, cat, _, _) in enumerate(distinct):
        kind = events.frame_of(ph, cat)
        if kind == "instants" and cat == events.INSTANT_CAT:
            kind = "instants or memory"
        elif kind == "ops" and cat == "Operator":
            kind = "ops or annotations"
        if kind:
            taken.setdefault(kind, []).append(code)
    at = {}
    for kind, some in taken.items():
        belongs = np.zeros(len(distinct), dtype=bool)
        belongs[some] = True
        at[kind] = np.flatnonzero(belongs[codes])
    _by_name(at, "memory", "instants", name, lambda n: n == events.MEMORY_NAME)
    _by_name(at, "annotations", "ops", name, lambda n: isinstance(n, str) and n.startswith(events.MARKERS))
    return {kind: some for kind, some in at.items() if len(some)}


def _by_name(
    at: dict[str, IntArray], special: str, usual: str, name: list[Any], is_special: Callable[[Any], bool]
) -> None:
    """Divide the rows that may belong to either of two frames."""
    either = at.pop(f"{usual} or {special}", None)
    if either is not None:
        chosen = np.array([is_special(name[i]) for i in either], dtype=bool)
        for kind, some in ((special, either[chosen]), (usual, either[~chosen])):
            at[kind] = np.union1d(at[kind], some) if kind in at else some


def _frame(kind: str, rows: _Block, at: IntArray) -> pl.DataFrame:
    """The frame `kind` of the rows `at`, every column of its schema but `id`."""
    lost: set[int] = set()
    wanted = _SCHEMAS[kind]
    lanes = rows.lanes[[c for c in rows.lanes.columns if c in wanted or (c in _OF_LANE and kind == "gpu")]]
    made = {**rows.common[at].to_dict(), **lanes[rows.codes[at]].to_dict()}
    indices = at.tolist()
    if "name" in wanted or kind == "tracks":
        made["what" if kind == "tracks" else "name"] = columns.texts([rows.name[i] for i in indices], lost)
    if kind in events.ARGS:
        made |= _arguments(kind, [rows.args[i] for i in indices], lost)
    elif kind == "instants":
        made["args"] = pl.Series(
            columns.compact_json(events.listed([rows.args[i] for i in indices])), dtype=pl.String
        )
    if kind == "gpu":
        for lane, column in _OF_LANE.items():
            made[column] = made[column].fill_null(made[lane]) if column in made else made[lane]
    rows.lost.update(indices[i] for i in lost)
    # Columns without any value come back at the end (`_in_one_piece`): half of them are empty in most files.
    return pl.DataFrame(
        [
            made[c].alias(c)
            for c in wanted
            if c in made and (c in ("what", "offset") or made[c].null_count() < len(at))
        ]
    )


def _arguments(kind: str, raws: list[msgspec.Raw], lost: set[int]) -> dict[str, pl.Series]:
    """The columns that come from the arguments."""
    struct, wanted = events.ARGS[kind], _SCHEMAS[kind]
    decoded = events.decode_args(kind, raws, mend_members, lost)
    fields = struct.__struct_fields__
    values = dict(zip(fields, zip(*map(msgspec.structs.astuple, decoded), strict=True), strict=True))
    if kind == "tracks":
        value = [
            next((v for v in row if v is not None), None)
            for row in zip(values["name"], values["labels"], values["sort_index"], strict=True)
        ]
        return {"value": columns.strings(value, lost)}
    _older_spellings(values)
    listed = {c: values.pop(c) for c in events.LISTS if c in values}
    out = columns.lists(listed, lost) if listed else {}
    for column, some in values.items():
        if column in wanted and not columns.all_missing(some):
            out[column] = _CONVERT[wanted[column].base_type()](some, lost)
    if not columns.all_missing(values.get("collective_name", ())):
        out["collective"] = _collectives(values["collective_name"], raws)
    return out


def _older_spellings(values: dict[str, Any]) -> None:
    """Fill a key's gaps from its spelling in older files (fields `old_*`)."""
    for old in [c for c in values if c.startswith("old_")]:
        new, olds = old.removeprefix("old_"), values.pop(old)
        missing = events.NULL if isinstance(olds[0], msgspec.Raw) else None
        if olds.count(missing) < len(olds):
            values[new] = tuple(o if v is missing else v for v, o in zip(values[new], olds, strict=True))


def _collectives(names: tuple[Any, ...], raws: list[msgspec.Raw]) -> pl.Series:
    """JSON text of the arguments of a collective, where the event is one."""
    at = [i for i, name in enumerate(names) if name is not None]
    every = msgspec.json.decode(events.listed([raws[i] for i in at]), type=list[dict[str, msgspec.Raw]])
    kept = [{k: args[k] for k in events.COLLECTIVE if k in args} for args in every]
    out: list[str | None] = [None] * len(raws)
    for i, text in zip(at, columns.compact_json(msgspec.json.encode(kept)), strict=True):
        out[i] = text
    return pl.Series(out, dtype=pl.String)


def concat(frames: Iterable[Frames]) -> Frames:
    """Frames one after another, without copying."""
    parts: dict[str, list[pl.DataFrame]] = {}
    for some in frames:
        for kind, frame in some.items():
            parts.setdefault(kind, []).append(frame)
    return {kind: pl.concat(some, how="diagonal", rechunk=False) for kind, some in parts.items()}


def finished(frames: Frames, kinds: Kinds) -> Frames:
    """The frames of a Trace from all batches, rows numbered; `frames` is emptied on the way to save memory.

    Pairs become slices, and what needs the whole file is found out.
    """
    if "pairs" in frames:
        slices = [_in_one_piece(frames, "slices")] if "slices" in frames else []
        slices.append(paired(_in_one_piece(frames, "pairs")))
        frames["slices"] = pl.concat(slices).sort("offset", maintain_order=True)
    out = {
        "kinds": pl.DataFrame(
            [(ph, cat, count) for (ph, cat), count in kinds.items()], schema=schema.KINDS, orient="row"
        )
    }
    for kind, declared in schema.FRAMES.items():
        if kind in frames:
            out[kind] = _completed(kind, _in_one_piece(frames, kind)).select(list(declared))
        elif kind not in out:
            out[kind] = schema.empty(kind)
    return out


def _in_one_piece(frames: Frames, kind: str) -> pl.DataFrame:
    """Take a frame out and copy it together, two columns at a time, letting each piece go at once.

    Columns of the schema that no batch had a value for are added.
    """
    frame = frames.pop(kind)
    length, pieces = len(frame), frame.to_dict()
    del frame

    def whole(column: str) -> pl.Series:
        if column in pieces:
            return pieces.pop(column).rechunk()
        return columns.nulls(_SCHEMAS[kind][column], length).alias(column)

    with ThreadPoolExecutor(2) as threads:
        return pl.DataFrame(list(threads.map(whole, [c for c in _SCHEMAS[kind] if c != "id"])))


_NO_NEGATIVE = pl.when(pl.col("dur_ns") >= 0).then(pl.col("dur_ns"))


def _completed(kind: str, frame: pl.DataFrame) -> pl.DataFrame:
    """One frame's columns that depend on other columns or on the whole file."""
    declared = schema.FRAMES[kind]
    if kind == "ops":
        frame = frame.with_columns(
            finished=pl.when(pl.col("dur_ns") < 0).then(pl.lit(False)).otherwise(pl.col("finished"))
        )
    if kind == "gpu":
        graph = pl.col("graph_id")
        frame = frame.with_columns(
            timed=_timed(frame),
            graph_id=graph.replace(0, None),
            graph_node=pl.when(graph.fill_null(1) != 0).then(pl.col("graph_node") & 0xFFFFFFFF),
        )
    elif "dur_ns" in declared:
        frame = frame.with_columns(dur_ns=_NO_NEGATIVE)
    if "id" in declared:
        frame = frame.with_columns(id=pl.int_range(pl.len(), dtype=pl.Int64))
    return frame.with_columns(pl.col(c).replace(0, None) for c in _IDS if c in declared)


def _timed(gpu: pl.DataFrame) -> pl.Series:
    """Whether each row has a usable time: no negative dur, no ts 0 with dur 0 where others have times."""
    zero = (gpu["begin_ns"] == 0) & (gpu["dur_ns"] == 0)
    usable = gpu["begin_ns"].is_not_null() & (gpu["dur_ns"] >= 0).fill_null(False)
    others_have_times = bool((usable & ~zero.fill_null(False)).any())
    return usable & ~zero.fill_null(False) if others_have_times else usable
