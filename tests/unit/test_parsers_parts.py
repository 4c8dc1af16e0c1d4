"""Large files are read in parts by several processes; small parts show here that nothing depends on it."""

import gzip
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from traceview import processes, schema
from traceview.errors import Cancelled
from traceview.parsers import Progress, load, loader, pool
from traceview.trace import Trace

PART = 40_000


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers for files of any size, in small parts."""
    monkeypatch.setattr(processes, "LARGE", 0)
    monkeypatch.setattr(loader, "_PART", PART)
    monkeypatch.setattr(loader, "_SAMPLE", 4_000)
    monkeypatch.setattr(processes, "cores", lambda: 2)


def kernel(i: int, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "kernel", "name": f"kernel {i % 50}", "pid": 0, "tid": 7, "ts": i, "dur": 0.125,
        "args": {"correlation": i + 1, "grid": [i, 1, 1], **args},
    }  # fmt: skip


def write(path: Path, events: list[dict[str, Any]], **style: Any) -> Path:
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events, "traceName": "t"}, **style))
    return path


def noted(batch: Any, fitting: list[bool]) -> Any:
    fitting.append(batch is not None)
    return batch


def same(a: Trace, b: Trace) -> None:
    for frame in schema.FRAMES:
        assert getattr(a, frame).equals(getattr(b, frame)), frame
    assert (a.events, a.notices, a.header) == (b.events, b.notices, b.header)


@pytest.mark.parametrize("indent", [None, 1])
def test_parts_give_the_same_trace(
    tmp_path: Path, parts: None, monkeypatch: pytest.MonkeyPatch, indent: int | None
) -> None:
    path = write(tmp_path / "a.json", [kernel(i) for i in range(3000)], indent=indent)
    fitting: list[bool] = []
    answer = pool._answer
    monkeypatch.setattr(pool, "_answer", lambda process: noted(answer(process), fitting))
    in_parts = load(path, use_cache=False)
    assert len(fitting) > 3
    assert all(fitting)
    (tmp_path / "a.gz").write_bytes(gzip.compress(path.read_bytes()))
    from_gzip = load(tmp_path / "a.gz", use_cache=False)
    monkeypatch.setattr(processes, "LARGE", 1 << 40)
    alone = load(path, use_cache=False)
    assert alone.gpu["correlation"].to_list() == list(range(1, 3001))
    same(in_parts, alone)
    same(from_gzip, alone)


def test_a_cut_inside_an_event_is_noticed(tmp_path: Path, parts: None) -> None:
    """What looks like the space between two events stands inside one, over several parts."""
    inner = [{"ph": "X", "cat": "kernel", "name": "inner", "ts": i, "dur": 1} for i in range(4000)]
    events = [kernel(0), kernel(1), kernel(2, list=inner), kernel(3)]
    trace = load(write(tmp_path / "a.json", [*events, *map(kernel, range(4, 2000))]), use_cache=False)
    assert trace.gpu["correlation"].to_list() == list(range(1, 2001))
    assert (trace.events.repaired, trace.events.set_aside) == (0, 0)


def test_what_looks_like_events_behind_the_list_is_none(tmp_path: Path, parts: None) -> None:
    events = [kernel(i) for i in range(2000)]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"traceEvents": events, "extra": events}))
    trace = load(path, use_cache=False)
    assert (trace.events.in_file, trace.events.repaired) == (2000, 0)
    assert trace.gpu["correlation"].to_list() == list(range(1, 2001))


def test_damage_in_a_part_stays_there(tmp_path: Path, parts: None) -> None:
    path = write(tmp_path / "a.json", [kernel(i) for i in range(3000)])
    text = path.read_text().replace('"kernel 17"', '"kernel "17""')
    path.write_text(text)
    trace = load(path, use_cache=False)
    assert (trace.events.loaded, trace.events.repaired) == (3000, 60)
    assert trace.gpu["name"].to_list()[17] == 'kernel "17"'


def test_a_worker_that_dies_costs_nothing(
    tmp_path: Path, parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, count = pool.Pool.submit, 0

    def killing(self: pool.Pool, *part: Any) -> Any:
        nonlocal count
        count += 1
        if count == 3:
            os.kill(self._processes[0].pid, signal.SIGKILL)
        return submit(self, *part)

    monkeypatch.setattr(pool.Pool, "submit", killing)
    trace = load(write(tmp_path / "a.json", [kernel(i) for i in range(3000)]), use_cache=False)
    assert trace.gpu["correlation"].to_list() == list(range(1, 3001))


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_a_name_that_is_no_text(tmp_path: Path, parts: None) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xe9.json"))
    trace = load(write(path, [kernel(i) for i in range(3000)]), use_cache=False)
    assert trace.events.loaded == 3000


def test_a_file_that_takes_the_place_of_the_one_that_is_read(
    tmp_path: Path, parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.json", [kernel(i) for i in range(3000)])
    made = loader.Pool

    def replaced(*how: Any) -> pool.Pool:
        write(tmp_path / "b.json", [kernel(i + 10_000) for i in range(3000)]).rename(path)
        return made(*how)

    monkeypatch.setattr(loader, "Pool", replaced)
    assert load(path, use_cache=False).gpu["correlation"].to_list() == list(range(1, 3001))


def test_without_workers_the_file_is_read_all_the_same(
    tmp_path: Path, parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("subprocess.Popen", refused)
    trace = load(write(tmp_path / "a.json", [kernel(i) for i in range(3000)]), use_cache=False)
    assert trace.events.loaded == 3000


@pytest.mark.parametrize("large", [True, False])
def test_progress_grows_into_the_whole(
    tmp_path: Path, parts: None, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    monkeypatch.setattr(processes, "LARGE", 0 if large else 1 << 40)
    monkeypatch.setattr(loader, "_PROGRESS_EVERY", 0.0001)
    seen: list[tuple[Progress, Trace | None]] = []
    path = write(tmp_path / "a.json", [kernel(i) for i in range(20_000)])
    trace = load(path, lambda p: seen.append((p, p.partial())), use_cache=False)
    events = [p.events for p, _ in seen]
    assert events == sorted(events)
    assert all(0 <= p.done_bytes <= p.total_bytes == path.stat().st_size for p, _ in seen)
    assert (events[-1], seen[-1][0].kinds) == (20_000, {"kernel": 20_000})
    partial = seen[0][1]
    assert partial is not None
    assert 0 < len(partial.gpu) == events[0] < 20_000
    assert partial.gpu.equals(trace.gpu.head(len(partial.gpu)))
    assert partial.header["schemaVersion"] == 1
    assert not partial.complete
    assert seen[0][0].partial() is None


@pytest.mark.parametrize("large", [True, False])
def test_cancelling(tmp_path: Path, parts: None, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    monkeypatch.setattr(processes, "LARGE", 0 if large else 1 << 40)
    asked = iter([False, True])
    with pytest.raises(Cancelled):
        load(
            write(tmp_path / "a.json", [kernel(i) for i in range(20_000)]),
            None,
            lambda: next(asked),
            use_cache=False,
        )
