"""Decoded blocks -> batches of frames -> the frames of a Trace."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from traceview import schema
from traceview.parsers import columns, events
from traceview.parsers.pairs import PAIRS, paired
from traceview.parsers.repair import mend_members

IntArray = npt.NDArray[np.int64]
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


class WrongPlacesError(msgspec.DecodeError):
    """The places given are not those of the block's events."""


class _Numbered(dict[Any, int]):
    """Distinct keys, numbered as they come."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


@dataclass
class _Block:
    """Decoded events of one block: what stays a list, and columns of what every event has."""

    name: list[Any]
    args: list[msgspec.Raw]
    common: dict[str, pl.Series]  # begin_ns, dur_ns, pid, tid, ph, cat, offset, length
    lost: set[int]  # rows of which a value could not be kept


def build(block: bytes, offsets: IntArray, lengths: IntArray) -> Batch:
    """Decode `block` (events with commas between) and put its events into frames.

    `offsets` and `lengths` are each event's place in the file. Raises msgspec.MsgspecError or RecursionError
    where the block is not made of well-formed events, WrongPlacesError where it is, and of more or fewer.
    """
    decoded = events.decode_events(block)
    if len(decoded) != len(offsets):
        raise WrongPlacesError(f"{len(decoded)} events, {len(offsets)} places")
    batch = Batch()
    if not decoded:
        return batch
    numbered = _Numbered()  # few distinct combinations, so what follows looks at each once
    keys = [(e.ph, e.cat, e.pid, e.tid) for e in decoded]
    codes = np.fromiter(map(numbered.__getitem__, keys), dtype=np.int64, count=len(keys))
    lost: set[int] = set()
    ts, dur = [e.ts for e in decoded], [e.dur for e in decoded]
    common = {
        **_lanes(list(numbered), codes),
        "begin_ns": columns.nanoseconds(ts, block, lambda: [t.ts for t in events.decode_times(block)], lost),
        "dur_ns": columns.nanoseconds(dur, block, lambda: [t.dur for t in events.decode_times(block)], lost),
        "offset": pl.Series(offsets),
        "length": pl.Series(lengths),
    }
    rows = _Block([e.name for e in decoded], [e.args for e in decoded], common, lost)
    for kind, at in _routed(list(numbered), codes, rows.name).items():
        batch.frames[kind] = _frame(kind, rows, at)
    for (ph, cat, _, _), count in zip(numbered, np.bincount(codes).tolist(), strict=True):
        batch.kinds[ph, cat or ""] += count
    if any(not ph for ph, *_ in numbered):
        _set_aside(batch, decoded, offsets)
    batch.repaired = offsets[sorted(lost)].tolist()
    return batch


def _set_aside(batch: Batch, decoded: list[events.Event], offsets: IntArray) -> None:
    """Objects without a phase are no events; `{}` is let pass: some writers put one at an end."""
    for kind in [k for k in batch.kinds if not k[0]]:
        del batch.kinds[kind]
    for event, offset in zip(decoded, offsets.tolist(), strict=True):
        if not event.ph:
            if event == events.Event(args=event.args) and len(bytes(event.args)) <= 2:
                batch.kinds["", ""] += 1
            else:
                batch.set_aside.append(offset)


def _lanes(distinct: list[tuple[str, str | None, Any, Any]], codes: IntArray) -> dict[str, pl.Series]:
    """Columns ph, cat, pid, tid (Categorical) of each row, from its code."""
    table = {
        name: [None if key[i] is None else str(key[i]) for key in distinct]
        for i, name in enumerate(("ph", "cat", "pid", "tid"))
    }
    return {name: pl.Series(texts, dtype=schema.TEXT)[codes] for name, texts in table.items()}


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
    at = {kind: np.flatnonzero(np.isin(codes, some)) for kind, some in taken.items()}
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
    common = {c: s[at] for c, s in rows.common.items() if c in wanted or c in ("cat", "tid")}
    made = {c: s for c, s in common.items() if c in wanted}
    indices = at.tolist()
    if "name" in wanted or kind == "tracks":
        made["what" if kind == "tracks" else "name"] = columns.texts([rows.name[i] for i in indices], lost)
    if kind in events.ARGS:
        made |= _arguments(kind, [rows.args[i] for i in indices], common, lost)
    elif kind == "instants":
        made["args"] = pl.Series(columns.compact_json([rows.args[i] for i in indices]), dtype=pl.String)
    if kind == "annotations":
        made["on_gpu"] = common["cat"] == "gpu_user_annotation"
    rows.lost.update(indices[i] for i in lost)
    # Columns without any value come back at the end (`_in_one_piece`): half of them are empty in most files.
    return pl.DataFrame(
        [
            made[c].alias(c)
            for c in wanted
            if c in made and (made[c].null_count() < len(at) or c in ("what", "offset"))
        ]
    )


def _arguments(
    kind: str, raws: list[msgspec.Raw], common: dict[str, pl.Series], lost: set[int]
) -> dict[str, pl.Series]:
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
    out = {}
    for column, some in values.items():
        if column not in wanted:
            continue
        if struct.__annotations__[column] is msgspec.Raw:
            out[column] = columns.spellings(some, lost)
        elif some.count(None) == len(some):
            out[column] = columns.nulls(wanted[column], len(some))
        else:
            out[column] = _CONVERT[wanted[column].base_type()](some, lost)
    if "collective_name" in values:
        out["collective"] = _collectives(values["collective_name"], raws)
    if kind == "gpu":
        out["kind"] = common["cat"].cast(pl.String).replace_strict(events.GPU_KINDS, return_dtype=schema.KIND)
        out |= _gpu_ids(out, common)
    return out


def _older_spellings(values: dict[str, Any]) -> None:
    """Fill a key's gaps from its spelling in older files (fields `old_*`)."""
    for old in [c for c in values if c.startswith("old_")]:
        new, olds = old.removeprefix("old_"), values.pop(old)
        missing = events.NULL if isinstance(olds[0], msgspec.Raw) else None
        if olds.count(missing) < len(olds):
            values[new] = tuple(o if v is missing else v for v, o in zip(values[new], olds, strict=True))


def _collectives(names: tuple[Any, ...], raws: list[msgspec.Raw]) -> pl.Series:
    """JSON text of the arguments of a collective, where the event has any."""
    out: list[str | None] = [None] * len(raws)
    if names.count(None) < len(names):
        for i, name in enumerate(names):
            if name is not None:
                args = msgspec.json.decode(raws[i], type=dict[str, msgspec.Raw])
                kept = {k: args[k] for k in events.COLLECTIVE if k in args}
                out[i] = msgspec.json.format(msgspec.json.encode(kept), indent=-1).decode("utf-8", "replace")
    return pl.Series(out, dtype=pl.String)


def _gpu_ids(out: dict[str, pl.Series], common: dict[str, pl.Series]) -> dict[str, pl.Series]:
    """Device and stream: the arguments', else those of pid and tid."""
    ids = {}
    for column, lane in (("device", "pid"), ("stream", "tid")):
        ids[column] = out[column]
        if ids[column].has_nulls():
            number = common[lane].cast(pl.String).str.extract(r"(-?\d+)\D*$").cast(pl.Int64, strict=False)
            ids[column] = ids[column].fill_null(number)
    return ids


def concat(frames: Iterable[Frames]) -> Frames:
    """Frames one after another, without copying."""
    parts: dict[str, list[pl.DataFrame]] = {}
    for some in frames:
        for kind, frame in some.items():
            parts.setdefault(kind, []).append(frame)
    return {kind: pl.concat(some, how="diagonal", rechunk=False) for kind, some in parts.items()}


def finished(frames: Frames, kinds: Kinds) -> tuple[Frames, list[int]]:
    """The frames of a Trace from all batches, rows numbered; `frames` is emptied on the way to save memory.

    Pairs become slices, equal shapes get one spelling, and what needs the whole file is found out. Also
    the offsets of events whose shapes were no lists.
    """
    odd: list[int] = []
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
            out[kind] = _completed(kind, _in_one_piece(frames, kind), odd).select(list(declared))
        elif kind not in out:
            out[kind] = schema.empty(kind)
    return out, odd


def _in_one_piece(frames: Frames, kind: str) -> pl.DataFrame:
    """Take a frame out and copy it together column by column, letting each piece go at once.

    Columns of the schema that no batch had a value for are added.
    """
    pieces = frames.pop(kind)
    length, whole = len(pieces), []
    for column, dtype in _SCHEMAS[kind].items():
        if column in pieces.columns:
            whole.append(pieces[column].rechunk())
            pieces = pieces.drop(column)
        elif column != "id":
            whole.append(columns.nulls(dtype, length).alias(column))
    return pl.DataFrame(whole)


_NO_NEGATIVE = pl.when(pl.col("dur_ns") >= 0).then(pl.col("dur_ns"))


def _completed(kind: str, frame: pl.DataFrame, odd: list[int]) -> pl.DataFrame:
    """One frame's columns that depend on other columns or on the whole file."""
    declared = schema.FRAMES[kind]
    if kind == "ops":
        for column in ("input_dims", "input_types", "input_strides", "concrete_inputs"):
            compact, no_list = columns.compact_lists(frame[column])
            odd += frame["offset"].filter(no_list).to_list()
            frame = frame.with_columns(compact.alias(column))
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
