"""What stands around the events, wherever in a document their list stands."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from traceview.parsers import document, load, raw_event
from traceview.trace import Trace

EVENTS = [
    {
        "ph": "X",
        "cat": "kernel",
        "name": f"k{i}",
        "pid": 0,
        "tid": 7,
        "ts": i,
        "dur": 1,
        "args": {"stream": 7},
    }
    for i in range(4)
]
TEXT = json.dumps(EVENTS)


def read(folder: Path, text: str | bytes) -> Trace:
    path = folder / "trace.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path, use_cache=False)


def codes(trace: Trace) -> set[str]:
    return {n.code for n in trace.notices} - {"no-shapes", "no-stacks"}


@pytest.mark.parametrize(
    "text",
    [
        '{"result": {"schemaVersion": 1, "traceEvents": @, "traceName": "t"}, "id": 3}',
        '{"a": {"b": {"schemaVersion": 1, "traceEvents": @, "traceName": "t"}, "x": []}}',
        '[{"schemaVersion": 1, "traceEvents": @, "traceName": "t"}]',
        '[[], {"x": 1}, {"schemaVersion": 1, "traceEvents": @, "traceName": "t"}, {"y": [{}]}]',
    ],
)
def test_a_trace_inside_another_document(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text.replace("@", TEXT))
    assert trace.gpu["name"].to_list() == ["k0", "k1", "k2", "k3"]
    assert trace.header == {"schemaVersion": 1, "traceName": "t"}
    assert (trace.complete, codes(trace)) == (True, set())
    assert raw_event(trace, *trace.gpu.select("offset", "length").row(2)) == EVENTS[2]


def test_a_trace_inside_another_document_that_is_cut_off(tmp_path: Path) -> None:
    text = '{"result": {"traceEvents": ' + TEXT
    trace = read(tmp_path, text)
    assert (trace.events.loaded, trace.complete, codes(trace)) == (4, True, {"damaged-tail"})
    trace = read(tmp_path, text[:-30])
    assert (trace.events.loaded, trace.complete) == (3, False)


def test_the_list_at_the_top_is_meant_not_one_further_in(tmp_path: Path) -> None:
    decoy = '{"traceEvents": [{"ph": "X", "traceEvents": [{}]}], "text": "\\"traceEvents\\": ["}'
    trace = read(tmp_path, f'{{"note": {decoy}, "schemaVersion": 1, "traceEvents": {TEXT}, "more": {decoy}}}')
    assert trace.events.in_file == 4
    assert (trace.header["note"]["text"], trace.header["more"]["text"]) == ('"traceEvents": [',) * 2


def test_an_array_whose_events_speak_of_trace_events(tmp_path: Path) -> None:
    event = {**EVENTS[0], "args": {"traceEvents": [{"ph": "X"}], "stream": 7}}
    trace = read(tmp_path, json.dumps([event, *EVENTS]))
    assert (trace.layout, trace.events.in_file) == ("array", 5)


@pytest.mark.parametrize("window", [70, 100, 333])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_header_larger_than_what_is_looked_at_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int, pack: Any
) -> None:
    monkeypatch.setattr(document, "_WINDOW", window)
    monkeypatch.setattr(document, "_OVERLAP", 40)
    facts = {"devices": [{"id": i, "name": "]}{"} for i in range(50)], "a": {"traceEvents": []}}
    trace = read(tmp_path, pack(json.dumps({**facts, "traceEvents": EVENTS, "log": ["x}"] * 50}).encode()))
    assert (trace.events.loaded, codes(trace)) == (4, set())
    assert trace.header == {**facts, "log": ["x}"] * 50}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1772366400000000.125", 1772366400000000.125),
        ("-0.5e-3", -0.0005),
        ('"\\u00e9\\ud83d\\ude00"', "\u00e9\U0001f600"),
        ("[null, true, {}]", [None, True, {}]),
    ],
)
@pytest.mark.parametrize("form", ['{"fact": @, "traceEvents": []}', '{"traceEvents": [], "fact": @}'])
def test_facts_are_what_json_says(tmp_path: Path, form: str, written: str, value: Any) -> None:
    trace = read(tmp_path, form.replace("@", written))
    assert trace.header == {"fact": value}
    assert type(trace.header["fact"]) is type(value)
    assert codes(trace) == {"no-gpu-work"}


@pytest.mark.parametrize(
    "damage",
    [
        "NaN",
        "1e400",
        "9" * 5000,
        "[" * 10_000 + "]" * 10_000,
        '"a "raw" quote"',
        '"\x01"',
        "007",
        '"\xff"',
        "[1,]",
    ],
    ids=["NaN", "1e400", "digits", "deep", "quote", "control byte", "zeros", "no UTF-8", "comma"],
)
@pytest.mark.parametrize("before", [True, False])
def test_a_damaged_fact_costs_itself(tmp_path: Path, damage: str, before: bool) -> None:
    members = ['"schemaVersion": 1', f'"traceEvents": {TEXT}', '"traceName": "t"']
    members.insert(1 if before else 2, f'"fact": {damage}')
    trace = read(tmp_path, ("{" + ", ".join(members) + "}").encode("latin-1"))
    assert trace.events.loaded == 4
    assert (trace.header["schemaVersion"], trace.header["traceName"]) == (1, "t")
    assert codes(trace) == {"damaged-header" if before else "damaged-tail"}
    json.dumps(trace.header)
