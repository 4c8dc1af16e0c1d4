"""The quick road and plain JSON reading agree, whatever the events hold and however the file is laid out."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from traceview.parsers import load, raw_event
from traceview.parsers.splitter import elements

PATH = Path(mkdtemp()) / "trace.json"
MARK = "\ue000"  # stands around decimals until they are spelled out
TEXT = st.text(st.characters(codec="utf-8", exclude_characters=MARK), max_size=12) | st.sampled_from(
    ['}, {"ph": "X"', "]}", '\\"', "\\\\", '{"', '"traceEvents": [', "},\n  {\n", "\u2028"]
)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
# Decimal microseconds with at most three decimals, up to the absolute times of old files.
TIME = st.integers(0, 2 * 10**18).map(lambda ns: Decimal(ns) / 1000)
DURATION = st.integers(0, 2 * 10**15).map(lambda ns: Decimal(ns) / 1000)
CAT = st.sampled_from(["cpu_op", "kernel", "cuda_runtime", "python_function", "user_annotation", "other", ""])


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    """An event of any phase with any arguments; keys in any order."""
    event: dict[str, Any] = {"ph": draw(st.sampled_from("XXXXiCsfM")), "cat": draw(CAT), "name": draw(TEXT)}
    event |= {"pid": draw(st.integers(-3, 3) | TEXT), "tid": draw(st.integers(0, 3)), "ts": draw(TIME)}
    if event["ph"] == "X":
        event["dur"] = draw(DURATION)
    if draw(st.booleans()):
        event["args"] = draw(st.dictionaries(TEXT, VALUE, max_size=4))
    order = draw(st.permutations(sorted(event)))
    return {key: event[key] for key in order}


def text_of(document: Any, style: dict[str, Any]) -> str:
    """JSON with decimals spelled out in full."""
    text = json.dumps(document, default=lambda d: f"{MARK}{d:f}{MARK}", **style)
    return text.replace("\\ue000", MARK).replace('"' + MARK, "").replace(MARK + '"', "")


STYLE = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, None, 0, 1, 2, 4, "\t"]),
        "separators": st.sampled_from([None, (",", ":"), (", ", ": "), (" ,", " : ")]),
        "sort_keys": st.booleans(),
        "ensure_ascii": st.booleans(),
    }
)
FORM = st.sampled_from(["array", "header first", "events first", "between"])


def laid_out(listed: list[dict[str, Any]], form: str, style: dict[str, Any]) -> str:
    """The file's text: an array, or an object with the events at one of its places."""
    facts: dict[str, Any] = {"schemaVersion": 1, "note": {"traceEvents": [{"ph": "X"}], "x": "}]"}}
    more: dict[str, Any] = {"traceName": "t", "baseTimeNanoseconds": 17}
    document: Any = {
        "array": listed,
        "header first": {**facts, **more, "traceEvents": listed},
        "events first": {"traceEvents": listed, **facts, **more},
        "between": {**facts, "traceEvents": listed, **more},
    }[form]
    return text_of(document, style)


@given(listed=st.lists(events(), max_size=12), form=FORM, style=STYLE)
def test_every_event_is_read_as_plain_json_reads_it(
    listed: list[dict[str, Any]], form: str, style: dict[str, Any]
) -> None:
    PATH.write_text(laid_out(listed, form, style), encoding="utf-8")
    trace = load(PATH, use_cache=False)
    assert (trace.events.in_file, trace.events.loaded) == (len(listed), len(listed))
    assert trace.complete
    assert not {n.code for n in trace.notices} & {"truncated", "damaged-tail", "damaged-header"}
    wanted = Counter((e["ph"], e["cat"]) for e in listed)
    assert {(ph, cat): n for ph, cat, n in trace.kinds.rows()} == wanted
    slices = Counter(
        (e["name"], int(e["ts"] * 1000), int(e["dur"] * 1000), str(e["pid"]), str(e["tid"]))
        for e in listed
        if e["ph"] == "X" and e["cat"] in ("cpu_op", "cuda_runtime", "other", "")
    )
    read = Counter[tuple[Any, ...]]()
    for frame in (trace.ops, trace.runtime, trace.slices):
        read += Counter(frame.select("name", "begin_ns", "dur_ns", "pid", "tid").rows())
    assert read == slices
    if form != "array":
        assert (trace.header["traceName"], trace.header["baseTimeNanoseconds"]) == ("t", 17)
        assert trace.header["note"]["x"] == "}]"


@given(listed=st.lists(events(), min_size=1, max_size=8), form=FORM, style=STYLE)
def test_every_place_gives_its_event_back(
    listed: list[dict[str, Any]], form: str, style: dict[str, Any]
) -> None:
    text = laid_out(listed, form, style)
    PATH.write_text(text, encoding="utf-8")
    trace = load(PATH, use_cache=False)
    plain = json.loads(text)
    plain = plain if form == "array" else plain["traceEvents"]
    for frame in (trace.gpu, trace.ops, trace.slices, trace.instants):
        for offset, length in frame.select("offset", "length").rows():
            assert raw_event(trace, offset, length) in plain


@given(items=st.lists(st.dictionaries(TEXT, VALUE, max_size=3), max_size=6), style=STYLE)
def test_the_exact_cutter_finds_every_object(items: list[dict[str, Any]], style: dict[str, Any]) -> None:
    data = json.dumps(items, **style).encode()
    cut = [json.loads(data[1:][b:e]) for b, e in zip(*elements(data[1:]), strict=True)]
    assert cut == items
