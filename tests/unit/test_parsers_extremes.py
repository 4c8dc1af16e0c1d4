"""Sizes that break readers: long names, many names, many threads, large and deep events, none at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from traceview.parsers import careful, load, raw_event
from traceview.trace import Trace


def read(folder: Path, events: list[dict[str, Any]] | str) -> Trace:
    path = folder / "trace.json"
    path.write_text(events if isinstance(events, str) else json.dumps({"traceEvents": events}))
    return load(path, use_cache=False)


def op(name: str, ts: float = 1, dur: float = 1, tid: int = 1, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "pid": 1,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


@pytest.mark.parametrize(
    "document", ["[]", '{"traceEvents": []}', '{"traceEvents":[\n\n]\n}\n', '{"traceEvents": [ ,]}']
)
def test_no_events(tmp_path: Path, document: str) -> None:
    trace = read(tmp_path, document)
    assert (trace.events.in_file, trace.complete, len(trace.gpu)) == (0, True, 0)


def test_a_long_name_is_kept_whole(tmp_path: Path) -> None:
    name = "void kernel<" + "int, " * 120_000 + ">"
    assert read(tmp_path, [op("a"), op(name), op("b")]).ops["name"].to_list() == ["a", name, "b"]


def test_many_distinct_names(tmp_path: Path) -> None:
    trace = read(tmp_path, [op(f"op {i}") for i in range(200_000)])
    assert trace.ops["name"].n_unique() == 200_000


def test_many_threads(tmp_path: Path) -> None:
    trace = read(tmp_path, [op("a", tid=i) for i in range(1000)])
    assert trace.ops["tid"].to_list() == [str(i) for i in range(1000)]


def test_an_event_larger_than_any_window(tmp_path: Path) -> None:
    stack = "frame\n" * 8_000_000  # 56 MB as JSON spells it
    trace = read(tmp_path, [op("a"), op("large", **{"Call stack": stack, "External id": 4}), op("b")])
    assert trace.ops.select("name", "external_id").rows() == [("a", None), ("large", 4), ("b", None)]
    event = raw_event(trace, *trace.ops.select("offset", "length").row(1))
    assert event["args"]["Call stack"] == stack


def test_a_damaged_event_too_large_to_mend_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(careful, "_MOST_MENDED", 1_000)
    names = ["a", 'short "quoted"', "b", 'long "quoted" ' + "x" * 1_000, "c"]
    text = json.dumps({"traceEvents": [op(name) for name in names]}).replace('\\"', '"')
    trace = read(tmp_path, text)
    assert trace.ops["name"].to_list() == ["a", 'short "quoted"', "b", "c"]
    assert (trace.events.in_file, trace.events.set_aside, trace.events.repaired) == (5, 1, 1)


def test_values_that_are_no_events_are_counted_one_by_one_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(careful, "_MOST_ODD", 10)
    ones = ", ".join("1" * 5_000)
    few = ", ".join("1" * 7)
    a, b, c = (json.dumps(op(name)) for name in "abc")
    trace = read(tmp_path, f'{{"traceEvents": [{a}, {ones}, {b}, {few}, {c}]}}')
    assert trace.ops["name"].to_list() == ["a", "b", "c"]
    assert trace.events.set_aside == 11 + 7


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_ten_thousand_deep_costs_its_argument(tmp_path: Path, opening: str) -> None:
    deep = opening * 10_000 + "1" + {"[": "]"}.get(opening, "}") * 10_000
    text = json.dumps([op("a"), op("deep", **{"External id": 4, "x": "@"}), op("b")]).replace('"@"', deep)
    trace = read(tmp_path, text)
    assert trace.ops.select("name", "external_id").rows() == [("a", None), ("deep", 4), ("b", None)]


def test_ops_nested_ten_thousand_deep(tmp_path: Path) -> None:
    trace = read(tmp_path, [op("a", i, 20_001 - 2 * i) for i in range(10_000)])
    assert len(trace.ops) == 10_000


def whole(large: Any = None, *more: dict[str, Any]) -> list[dict[str, Any]]:
    """A launch with its kernel, under an op; `large` is an argument of the op and the kernel."""
    ids = {"correlation": 1, "External id": 1}
    return [
        op("outer", 0, 90, **ids, x=large),
        {**op("cudaLaunchKernel", 1, **ids), "cat": "cuda_runtime"},
        {**op("kernel", 5, tid=7, **ids, stream=7, x=large), "cat": "kernel"},
        *more,
    ]


EXTREMES: dict[str, list[dict[str, Any]]] = {
    "no events": [],
    "a long name": whole(None, op("k<" + "int, " * 120_000 + ">")),
    "many names": whole(None, *(op(f"op {i}", i) for i in range(5_000))),
    "many threads": whole(None, *(op("a", i, tid=i) for i in range(1_000))),
    "a large event": whole("frame\n" * 800_000),
    "deep": whole("@"),
    "ops in ops": whole(None, *(op("a", i, 20_001 - 2 * i) for i in range(10_000))),
}


@pytest.mark.parametrize("what", EXTREMES)
def test_the_commands_take_it_too(run: Any, tmp_path: Path, what: str) -> None:
    path = tmp_path / "trace.json"
    text = json.dumps({"traceEvents": EXTREMES[what]})
    path.write_text(text.replace('"@"', "[" * 10_000 + "]" * 10_000))
    for command in ("summary", "launches"):
        assert run(command, path, "--no-cache").code == 0
        done = run(command, path, "--no-cache", "--format", "json")
        assert done.code == 0
        answer = done.json()
    assert answer["total"] == (1 if EXTREMES[what] else 0)
