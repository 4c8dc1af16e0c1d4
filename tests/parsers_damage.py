"""Damage to a small trace, and what reading must still give.

A reader may lose what a damaged byte touches, and nothing else. So every event that the damage leaves alone
has to be there with all its values, whatever the layout of the file.
"""

import io
import json
import time
import zlib
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from traceview import schema
from traceview.cli import main
from traceview.errors import TraceError
from traceview.parsers import load
from traceview.trace import Trace

SECONDS = 5.0  # no damage may make the reading of a small trace hang
_IGNORED = ("id", "offset", "length", "timed")  # they follow from the place, or from other events


def some_events(count: int = 8) -> list[dict[str, Any]]:
    """A trace's events of every frame but slices of begin and end, whose rows need two events each."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0.5, "args": {"name": "python {a}"}}
    ]
    dims = {
        "Input Dims": [[8, 1], [1, 8], []],
        "Input type": ["float", "float", ""],
        "Concrete Inputs": ['{["}'],
    }
    memory = {"Bytes": -512, "Device Type": 1, "Device Id": 0, "Addr": 1 << 40, "nested": [{"ph": 1}]}
    launch = {"device": 0, "stream": 7, "block": [128, 1, 1], "est. achieved occupancy %": 50}
    for i in range(count):
        at = 6435112234.125 + 100 * i
        where = {"pid": 7, "tid": 71}
        ids = {"External id": i + 1, "correlation": i + 1}
        events += [
            {"ph": "X", "cat": "python_function", "name": f'a "b" \\ {{c}}[{i}]', **where, "ts": at,
             "dur": 90.5, "args": {"Python id": i, "Python parent id": None, "Ev Idx": i}},
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", **where, "ts": at + 1, "dur": 50.25,
             "args": {"External id": i + 1, **dims, "Ev Idx": i}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunch", **where, "ts": at + 2, "dur": 3.375,
             "args": {**ids, "cbid": 211}},
            {"ph": "s", "id": i + 1, **where, "ts": at + 2, "cat": "ac2g", "name": "ac2g"},
            {"ph": "X", "cat": "kernel", "name": f"gemm<{i % 3}, {{int}}>", "pid": 0, "tid": 7, "ts": at + 9,
             "dur": 80.125, "args": {**ids, **launch, "grid": [i + 1, 1, 1]}},
            {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", **where, "ts": at + 3, "s": "t",
             "args": memory},
        ]  # fmt: skip
    return events


def layouts(events: list[dict[str, Any]]) -> dict[str, bytes]:
    """The same events in every layout that is known to be written."""
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "with_stack": 1}
    tail = {"traceName": "a]b}.json", "displayTimeUnit": "ms"}
    lines = ",\n".join(json.dumps(e, separators=(",", ":")) for e in events)
    blocks = ",\n".join(
        "  {\n    " + json.dumps(e)[1:-1].replace(', "ts"', ',\n    "ts"') + "\n  }" for e in events
    )
    start, end = json.dumps(head)[:-1], json.dumps(tail)[1:]
    texts = {
        "kineto": f'{start},\n  "traceEvents": [\n{blocks}\n  ],\n{end}',
        "python exporter": f'{start},\n"traceEvents": [\n{lines}\n],\n{end}',
        "one line": json.dumps({**head, "traceEvents": events, **tail}),
        "minified": json.dumps({**head, "traceEvents": events, **tail}, separators=(",", ":")),
        "indented": json.dumps({**head, "traceEvents": events, **tail}, indent=1),
        "events first": json.dumps({"traceEvents": events, **head, **tail}, indent=4),
        "keys sorted": json.dumps({**head, "traceEvents": events, **tail}, sort_keys=True),
        "array": json.dumps(events, indent=2),
    }
    return {name: text.encode() for name, text in texts.items()}


def rows(trace: Trace, untouched: tuple[int, int] | None = None) -> "Counter[tuple[Any, ...]]":
    """Every row of every frame as values; only of events that lie outside the bytes `untouched`, if given."""
    out: Counter[tuple[Any, ...]] = Counter()
    for name in schema.FRAMES:
        frame = getattr(trace, name)
        if "offset" not in frame.columns:
            continue
        places = zip(frame["offset"].to_list(), frame["length"].to_list(), strict=True)
        columns = [c for c in frame.columns if c not in _IGNORED]
        for values, (offset, length) in zip(frame.select(columns).rows(), places, strict=True):
            if untouched is None or offset >= untouched[1] or offset + length <= untouched[0]:
                out[name, str(values)] += 1
    return out


def read(path: Path, data: bytes) -> Trace | None:
    """The trace of these bytes; None where it is refused in one plain line. No other error, and in time."""
    path.write_bytes(data)
    begin = time.perf_counter()
    try:
        trace = load(path, use_cache=False)
    except TraceError as error:
        plain = error.exit_code == 3 and "\n" not in error.message and path.name in error.message
        if not plain:
            raise AssertionError(error) from error
        trace = None
    assert time.perf_counter() - begin < SECONDS
    if trace is not None:
        counts = trace.events
        assert counts.in_file == counts.loaded + counts.set_aside
        assert counts.loaded == trace.kinds["count"].sum()
    return trace


def check_damage(path: Path, whole: Trace, data: bytes, original: tuple[int, int]) -> None:
    """Reading `data`, damaged at the place `original` of the whole, loses nothing that it does not touch."""
    trace = read(path, data)
    assert trace is not None, "refused"
    missing = rows(whole, original) - rows(trace)
    assert not missing, f"{sum(missing.values())} missing, first {next(iter(missing))}"


def check_cut(path: Path, whole: Trace, data: bytes, end: int) -> None:
    """The first `end` bytes give every event that is complete in them."""
    trace = read(path, data[:end])
    missing = rows(whole, (end, len(data))) - (rows(trace) if trace else Counter())
    assert not missing, f"cut at {end}: {sum(missing.values())} missing"


def check_gzip_damage(path: Path, whole: Trace, packed: bytes, at: int, value: int) -> None:
    """A damaged byte of a gzip file costs nothing of what can be inflated before it."""
    before = zlib.decompressobj(wbits=31).decompress(packed[:at])
    trace = read(path, packed[:at] + bytes([value]) + packed[at + 1 :])
    missing = rows(whole, (len(before), 1 << 62)) - (rows(trace) if trace else Counter())
    assert not missing, f"{sum(missing.values())} of what was before the damage missing"


def check_program(path: Path, data: bytes) -> None:
    """The commands answer what can be read of these bytes, or refuse it in one plain line."""
    path.write_bytes(data)
    for command in ("summary", "launches"):
        begin = time.perf_counter()
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([command, str(path), "--no-cache", "--format", "json"])
        assert time.perf_counter() - begin < SECONDS
        if code:
            assert (code, out.getvalue(), err.getvalue().count("\n")) == (3, "", 1)
        else:
            json.loads(out.getvalue(), parse_constant=lambda word: pytest.fail(f"{word} in the JSON"))
