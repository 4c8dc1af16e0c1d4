"""A part of a trace as a Chrome trace of its own: valid JSON, arrows and names of threads made anew."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from traceview.report.plain import json_value

Row = dict[str, Any]  # of analysis.cut.Part.events
_NOTE = "traceview_cut"


def written(
    rows: Iterable[Row],
    events: Iterable[tuple[bytes, dict[str, Any]]],
    tracks: Iterable[Row],
    header: dict[str, Any],
    layout: str,
    note: dict[str, Any],
) -> Iterator[bytes]:
    """The text of the smaller trace, piece by piece.

    rows and events go together: a row and its event's JSON text with what it says. tracks: rows of
    Trace.tracks; those of processes that have an event are written. header: the top-level keys; `note`
    (what was cut) joins them. An array stays an array, which has no room for either.
    """
    yield b"[\n" if layout == "array" else _head(header, note)
    pids: dict[str, Any] = {}
    threads: dict[tuple[str, str], Any] = {}
    between = b""
    for row, (text, event) in zip(rows, events, strict=True):
        pid, tid = event.get("pid"), event.get("tid")
        pids.setdefault(str(pid), pid)
        threads.setdefault((str(pid), str(tid)), tid)
        yield between + _slice(row, text, event)
        between = b",\n"
        if row["flow"] is not None:
            yield between + _flow(row, pid, tid)
    for track in tracks:
        lane = str(track["pid"]), str(track["tid"])
        if lane[0] in pids and (lane in threads or track["what"].startswith("process")):
            yield between + _track(track, pids[lane[0]], threads.get(lane, track["tid"]))
            between = b",\n"
    yield b"\n]\n" if layout == "array" else b"\n]\n}\n"


def _head(header: dict[str, Any], note: dict[str, Any]) -> bytes:
    lines = [f"{json.dumps(k)}: {json.dumps(json_value(v))},\n" for k, v in {**header, _NOTE: note}.items()]
    return ("{\n" + "".join(lines) + '"traceEvents": [\n').encode()


def _slice(row: Row, text: bytes, event: dict[str, Any]) -> bytes:
    """The event as it is; a begin whose end was found becomes a slice, as its end is another event."""
    if event.get("ph") != "B" or row["dur_ns"] is None:
        return text
    return json.dumps(json_value({**event, "ph": "X", "dur": _number(row["dur_ns"])})).encode()


def _number(ns: int) -> int | float:
    return ns // 1000 if ns % 1000 == 0 else ns / 1000


def _microseconds(ns: int) -> str:
    """Exact, where a float would not be."""
    sign, size = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{size // 1000}.{size % 1000:03d}"


def _flow(row: Row, pid: Any, tid: Any) -> bytes:
    """One end of the arrow from a launch call to its GPU work; it is bound by where its slice begins."""
    ends = {"ph": row["flow"], "id": row["flow_id"], "pid": pid, "tid": tid, "cat": "ac2g", "name": "ac2g"}
    if row["flow"] == "f":
        ends["bp"] = "e"
    return f'{json.dumps(ends)[:-1]}, "ts": {_microseconds(row["begin_ns"])}}}'.encode()


def _track(track: Row, pid: Any, tid: Any) -> bytes:
    what, value = track["what"], track["value"]
    key = "labels" if what.endswith("labels") else "sort_index" if what.endswith("sort_index") else "name"
    args = {key: int(value) if key == "sort_index" and _whole(value) else value}
    named = {
        "ph": "M",
        "name": what,
        "pid": pid,
        "tid": int(tid) if _whole(tid) else tid,
        "ts": 0,
        "args": args,
    }
    return json.dumps(named).encode()


def _whole(text: Any) -> bool:
    return (
        isinstance(text, str) and len(text) < 19 and text.lstrip("-").isascii() and text.lstrip("-").isdigit()
    )
