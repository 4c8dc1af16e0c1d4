"""Damage: what is mended, what is counted, and what the person is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from traceview.parsers import load, raw_event
from traceview.parsers.repair import mend
from traceview.trace import Notice, Trace

EVENT = '{"ph": "X", "cat": "kernel", "name": %s, "pid": 0, "tid": 7, "ts": %s, "dur": 2, "args": %s}'
GOOD = EVENT % ('"good"', "1.5", '{"stream": 7}')


def read(folder: Path, text: str | bytes) -> Trace:
    path = folder / "trace.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path, use_cache=False)


def notices(trace: Trace) -> dict[str, Notice]:
    return {notice.code: notice for notice in trace.notices}


def around(event: str) -> str:
    """A file with an event between two good ones, and a proper end."""
    return '{"schemaVersion": 1, "traceEvents": [\n' + f"{GOOD},\n{event},\n{GOOD}\n" + '], "traceName": "t"}'


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"{"device": "cuda", "dtype": "x"}(12): run"', '{"device": "cuda", "dtype": "x"}(12): run'),
        ('"first\nsecond\x01"', "first\nsecond\x01"),
        (r'"torch\cuda\_init.py\name"', r"torch\cuda\_init.py\name"),
        (r'"lone \ud800 half"', "lone � half"),
        ('"no closing quote', "no closing quote"),
    ],
)
def test_broken_names_cost_nothing(tmp_path: Path, written: str, name: str) -> None:
    trace = read(tmp_path, around(EVENT % (written, "3.25", '{"stream": 9}')))
    assert trace.gpu.select("name", "begin_ns", "stream").rows() == [
        ("good", 1500, 7), (name, 3250, 9), ("good", 1500, 7),
    ]  # fmt: skip
    assert (trace.events.loaded, trace.events.repaired, trace.events.set_aside) == (3, 1, 0)
    assert notices(trace)["damaged-events"].count == 1
    assert trace.complete
    assert trace.header["traceName"] == "t"


def test_only_invalid_bytes_of_a_name_are_replaced(tmp_path: Path) -> None:
    text = around(EVENT % ('"@@"', "3", "{}")).encode().replace(b"@@", "é".encode() + b"\xff" + "ö".encode())
    assert read(tmp_path, text).gpu["name"].to_list()[1] == "é�ö"


@pytest.mark.parametrize("word", ["inf", "-nan", "NaN", "N/A", "", "Infinity", "undefined"])
def test_a_bare_word_costs_its_value_only(tmp_path: Path, word: str) -> None:
    args = f'{{"bytes": {word}, "stream": 9, "correlation": 4}}'
    trace = read(tmp_path, around(EVENT % ('"k"', "3", args)))
    assert trace.gpu.select("bytes", "stream", "correlation").row(1) == (None, 9, 4)
    assert trace.events.repaired == 1


@pytest.mark.parametrize(
    ("args", "column", "value"),
    [
        ('{"correlation": "77"}', "correlation", 77),
        ('{"stream": "stream 7"}', "stream", 7),
        ('{"grid": "[4, 5, 6]"}', "grid", [4, 5, 6]),
        ('{"registers per thread": 32.0}', "registers_per_thread", 32),
        ('{"est. achieved occupancy %": "12.5"}', "occupancy_pct", 12.5),
    ],
)
def test_numbers_as_text_are_no_damage(tmp_path: Path, args: str, column: str, value: Any) -> None:
    trace = read(tmp_path, around(EVENT % ('"k"', "3", args)))
    assert trace.gpu[column].to_list()[1] == value
    assert trace.events.repaired == 0


@pytest.mark.parametrize(
    "args",
    [
        '{"bytes": 123456789012345678901234567890, "stream": 9}',
        '{"bytes": [1], "stream": 9}',
        '{"bytes": {"a": 1}, "stream": 9}',
        '{"bytes": true, "stream": 9}',
        '{"bytes": 1e400, "stream": 9}',
        '{"deep": ' + "[" * 10_000 + "]" * 10_000 + ', "stream": 9}',
    ],
)
def test_a_value_of_a_wrong_kind_costs_itself(tmp_path: Path, args: str) -> None:
    trace = read(tmp_path, around(EVENT % ('"k"', "3", args)))
    assert trace.gpu.select("name", "bytes", "stream").row(1) == ("k", None, 9)
    assert (trace.events.loaded, trace.events.repaired) == (3, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"pid": 0', '"pid": {"a": 1}'),
        ('"args": {"stream": 9}', '"args": [1, 2]'),
        ('"cat": "kernel", ', '"cat": ["x"], '),
    ],
)
def test_a_wrong_kind_in_the_event_itself(tmp_path: Path, old: str, new: str) -> None:
    trace = read(tmp_path, around((EVENT % ('"k"', "3", '{"stream": 9}')).replace(old, new)))
    assert (trace.events.loaded, trace.events.repaired, trace.events.set_aside) == (3, 1, 0)


def test_a_collective_with_an_unreadable_argument_is_kept(tmp_path: Path) -> None:
    args = '{"Collective name": "allreduce", "deep": ' + "[" * 10_000 + "]" * 10_000 + "}"
    trace = read(tmp_path, around(EVENT % ('"k"', "3", args)))
    assert trace.gpu["collective"].to_list() == [None, '{"Collective name":"allreduce"}', None]
    assert (trace.events.repaired, trace.events.set_aside) == (1, 0)


@pytest.mark.parametrize("rest", ['": 7}}', 'ker", "pid": 0}', "7}}", "}", ']}, "dur": 3}'])
def test_the_rest_of_a_broken_event_does_not_take_the_next_one_with_it(tmp_path: Path, rest: str) -> None:
    trace = read(tmp_path, '{"traceEvents": [' + f"{GOOD}, {rest}, {GOOD}, {GOOD}" + "]}")
    assert trace.gpu["name"].to_list() == ["good"] * 3


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("old", "new"), [('"host": "a"', '"host: "a"'), ('"host": "a"', '"host": \0'), ('"bad"', '"bad')]
)
def test_a_list_of_objects_in_a_broken_event_is_no_list_of_events(
    tmp_path: Path, indent: int | None, old: str, new: str
) -> None:
    event, hosts = json.loads(GOOD), [{"rank": rank, "host": host} for rank, host in enumerate("abc")]
    bad = {**event, "name": "bad", "args": {"hosts": hosts, "extra": 1}}
    text = json.dumps({"traceEvents": [event, bad, *[event] * 5], "traceName": "t"}, indent=indent)
    trace = read(tmp_path, text.replace(old, new))
    assert (trace.events.in_file, trace.events.loaded, trace.gpu["name"].to_list().count("good")) == (7, 7, 6)
    assert trace.header["traceName"] == "t"


@pytest.mark.parametrize("stray", ["}]", "}]}", "]}}", "]"])
def test_stray_brackets_in_an_event_do_not_end_the_file(tmp_path: Path, stray: str) -> None:
    trace = read(tmp_path, around(GOOD.replace('"dur": 2,', f'"dur": 2{stray}, ')))
    assert trace.gpu["name"].to_list()[-1] == "good"
    assert len(trace.gpu) >= 2
    assert trace.events.repaired + trace.events.set_aside >= 1
    assert trace.header["traceName"] == "t"


LIKE = json.loads(GOOD) | {"name": "like an event"}
TAILS = {
    "short": {"extra": [LIKE]},
    "long": {"extra": [LIKE] * 1_000, "traceName": "t"},
    "with a second key": {"extra": LIKE, "pad": "x" * 70_000, "events": {"traceEvents": [LIKE]}},
}


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("damage", ["none", "a trailing comma", "a zero byte", "cut off", "the last event"])
def test_what_looks_like_events_behind_the_list_is_none(tmp_path: Path, tail: str, damage: str) -> None:
    text = json.dumps({"schemaVersion": 1, "traceEvents": [json.loads(GOOD)] * 3, **TAILS[tail]})
    trace = read(
        tmp_path,
        {
            "none": text,
            "a trailing comma": text[:-1] + ",}",
            "a zero byte": text[:-1] + "\0}",
            "cut off": text[:-20],
            "the last event": text.replace('"stream": 7}}], "extra"', '"stream": 7], "extra"'),
        }[damage],
    )
    assert trace.gpu["name"].to_list() == ["good"] * 3
    assert (trace.events.in_file, trace.events.repaired) == (3, int(damage == "the last event"))
    assert ("damaged-tail" in notices(trace)) == (damage in ("a trailing comma", "a zero byte", "cut off"))


@pytest.mark.parametrize(
    "nested", ['[{"traceEvents": [@]}, {"ph": "X"}]', '{"a": {"traceEvents": [@]}, "b": [@]}']
)
def test_what_stands_around_the_document_is_none_of_it(tmp_path: Path, nested: str) -> None:
    trace = read(tmp_path, nested.replace("@", GOOD))
    assert (trace.events.in_file, trace.events.repaired, trace.complete) == (1, 0, True)


def test_damage_at_the_end_of_a_trace_does_not_add_the_next_one(tmp_path: Path) -> None:
    first = json.dumps({"traceEvents": [json.loads(GOOD)] * 3, "traceName": "t"})
    trace = read(tmp_path, first.replace('"dur": 2, "args": {"stream": 7}}]', '"dur"": 2}]') + first)
    assert (trace.events.in_file, trace.events.repaired) == (3, 1)
    assert "several-documents" in notices(trace)


def test_a_damaged_key_is_counted(tmp_path: Path) -> None:
    trace = read(tmp_path, around(GOOD).encode().replace(b'"name"', b'"n\x83me"', 1))
    assert trace.gpu["name"].to_list() == [None, "good", "good"]
    assert trace.events.repaired == 1


def test_what_is_no_object_is_set_aside(tmp_path: Path) -> None:
    trace = read(tmp_path, around('null,\n17,\n"text",\n[1, 2]'))
    assert (trace.events.in_file, trace.events.loaded, trace.events.set_aside) == (6, 2, 4)


def test_trailing_and_missing_commas(tmp_path: Path) -> None:
    trace = read(tmp_path, f'{{"traceEvents": [{GOOD}\n{GOOD},,{GOOD},]}}')
    assert trace.events.loaded == 3
    assert trace.complete


def test_a_file_cut_in_an_event_keeps_all_before(tmp_path: Path) -> None:
    text = around(GOOD)[: -len(GOOD)]
    trace = read(tmp_path, text)
    assert (trace.events.in_file, trace.events.loaded, trace.events.set_aside) == (3, 2, 1)
    assert (notices(trace)["truncated"].byte, trace.complete) == (len(text), False)


def test_a_file_cut_between_events(tmp_path: Path) -> None:
    trace = read(tmp_path, '{"traceEvents": [' + GOOD + ",\n")
    assert (trace.events.in_file, trace.events.set_aside, trace.complete) == (1, 0, False)


@pytest.mark.parametrize("end", ["", ",", "\n\n", ",\n"])
def test_an_array_may_be_open(tmp_path: Path, end: str) -> None:
    trace = read(tmp_path, "\ufeff[" + GOOD + end)
    assert trace.complete
    assert not set(notices(trace)) & {"truncated", "damaged-tail", "damaged-events"}


def test_a_damaged_tail_costs_no_event(tmp_path: Path) -> None:
    text = around(GOOD).replace('"traceName": "t"', '"INFO": ["a "raw" quote"], "baseTimeNanoseconds": 17')
    trace = read(tmp_path, text)
    assert (trace.events.loaded, trace.events.repaired, trace.complete) == (3, 0, True)
    assert text[: notices(trace)["damaged-tail"].byte or 0].endswith('["a "')
    assert trace.header["baseTimeNanoseconds"] == 17


def test_a_tail_that_is_cut_off(tmp_path: Path) -> None:
    trace = read(tmp_path, around(GOOD)[:-8])
    assert (trace.events.loaded, trace.complete) == (3, True)
    assert "damaged-tail" in notices(trace)


def test_several_documents_are_named(tmp_path: Path) -> None:
    trace = read(tmp_path, around(GOOD) * 3)
    notice = notices(trace)["several-documents"]
    assert (trace.events.loaded, notice.count, notice.byte) == (3, 2, len(around(GOOD)))


def test_a_damaged_beginning_costs_no_event(tmp_path: Path) -> None:
    trace = read(tmp_path, around(GOOD).replace('"traceEvents": [', '"traceEv\x01nts": ['))
    assert trace.events.loaded == 3
    assert "damaged-header" in notices(trace)


def test_the_last_of_equal_keys_wins(tmp_path: Path) -> None:
    trace = read(tmp_path, around(EVENT % ('"k"', "3", '{"stream": 8, "stream": 9}')))
    assert trace.gpu["stream"].to_list()[1] == 9


def test_a_damaged_event_is_given_with_what_it_still_says(tmp_path: Path) -> None:
    trace = read(tmp_path, around(EVENT % ('"a "b" c"', "3.125", '{"rate": inf, "kept": [1, "x"]}')))
    place = trace.gpu.select("offset", "length").row(1)
    event = raw_event(trace, *place)
    assert (event["name"], event["ts"], event["args"]) == ('a "b" c', 3.125, {"rate": None, "kept": [1, "x"]})


@pytest.mark.parametrize(
    "data", [b"", b"{", b"}", b'{"a": 1}', b'{"ph": 3}', b'{"ph": ""}', b"\x00\xff", b'"ph']
)
def test_what_has_no_phase_cannot_be_mended(data: bytes) -> None:
    assert mend(data) is None


def test_numbers_keep_their_digits_when_mended() -> None:
    mended = mend(b'{"ph": "X", "ts": 1772366400000000.123, "dur": +.5, "name": "a"b"}')
    assert mended == b'{"ph":"X","ts":1772366400000000.123,"dur":0.5,"name":"a\\"b"}'
    assert json.loads(mended)["name"] == 'a"b'
