"""Damage at several places, in events whose names and arguments look like events and the spaces between."""

import json
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.parsers_damage import read

PATH = Path(mkdtemp()) / "trace.json"
LOOKS = [
    "k",
    "}, {",
    "},{",
    '"},\n  {"ph"',
    '"traceEvents": [',
    '"]}',
    "[{",
    "\\",
    "}\n,",
    '{"ph": "X"}',
    "é",
]
TEXT = st.lists(st.sampled_from(LOOKS), max_size=3).map("".join)
ARGS = st.fixed_dictionaries(
    {},
    optional={
        "x": TEXT,
        "list": st.lists(st.fixed_dictionaries({"name": TEXT, "id": st.just(1)}), max_size=3),
    },
)
BYTE = st.sampled_from(b'"\\{}[],:0\n\x00\xff')
DAMAGE = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), BYTE), min_size=1, max_size=3)


@given(
    named=st.lists(st.tuples(TEXT, ARGS), min_size=2, max_size=12),
    between=st.sampled_from([", ", ",", ",\n", ",\n  "]),
    indent=st.sampled_from([None, 1]),
    damage=DAMAGE,
)
def test_only_the_damaged_events_may_be_lost(
    named: list[tuple[str, dict[str, Any]]],
    between: str,
    indent: int | None,
    damage: list[tuple[float, float, int]],
) -> None:
    data, spans = bytearray(b'{"schemaVersion": 1, "traceEvents": ['), list[tuple[int, int]]()
    for i, (name, args) in enumerate(named):
        event = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": i, "dur": 1}
        text = json.dumps({**event, "args": {"correlation": i + 1, **args}}, indent=indent).encode()
        data += between.encode() if i else b""
        spans.append((len(data), len(text)))
        data += text
    data += b'], "traceName": "t"}'
    touched = set()
    for which, where, value in damage:
        i = min(int(which * len(named)), len(named) - 1)
        begin, length = spans[i]
        data[begin + 1 + int(where * (length - 3))] = value
        touched.add(i)
    trace = read(PATH, bytes(data))
    assert trace is not None
    found = {row[0]: row[1:] for row in trace.gpu.select("offset", "name", "correlation").rows()}
    for i, (name, _) in enumerate(named):
        if i not in touched:
            assert found.get(spans[i][0]) == (name, i + 1)
