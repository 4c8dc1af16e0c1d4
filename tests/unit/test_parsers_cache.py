"""The saved index: the same trace the second time, and no harm from a damaged one."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from traceview import schema
from traceview.indexes import cache_folder, index_of
from traceview.parsers import cache, cache_info, clear_cache, load, loader
from traceview.trace import Trace


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the indexes, which even tiny traces get here."""
    monkeypatch.setenv("TRACEVIEW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "SMALLEST", 0)
    return tmp_path / "cache"


def write(path: Path, name: str = "k") -> Path:
    """A trace with shapes, a collective and a notice."""
    args = {"Input Dims": [[1, 2], []], "Collective name": "allreduce", "grid": [1, 2, 3]}
    event = {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "pid": 0,
        "tid": 7,
        "ts": 1772366400000000,
        "dur": 1,
        "args": args,
    }
    header = {"schemaVersion": 1, "big": 2**70, "nested": {"a": [1.5, None]}}
    path.write_text(json.dumps({**header, "traceEvents": [event, {**event, "cat": "kernel"}]}))
    return path


def was_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Trace, bool]:
    """The trace, and whether the file was read for it."""
    opened = []
    open_text = loader.open_text
    monkeypatch.setattr(loader, "open_text", lambda p: opened.append(p) or open_text(p))
    trace = load(path)
    monkeypatch.setattr(loader, "open_text", open_text)
    return trace, bool(opened)


def test_the_second_opening_gives_the_same_trace_without_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.json")
    first, second = load(path), was_read(path, monkeypatch)
    assert not second[1]
    for frame in schema.FRAMES:
        assert getattr(second[0], frame).equals(getattr(first, frame))
        assert getattr(second[0], frame).schema == schema.FRAMES[frame]
    for fact in ("path", "bytes", "compression", "layout", "header", "events", "complete", "notices"):
        assert getattr(second[0], fact) == getattr(first, fact)


def test_a_frame_is_read_from_the_index_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.json")
    load(path)
    frames_read: list[str] = []
    frame = cache._frame
    monkeypatch.setattr(cache, "_frame", lambda name, blob: frames_read.append(name) or frame(name, blob))
    trace = load(path)
    assert trace.events.loaded == 2
    assert trace.gpu.height + trace.runtime.height + trace.ops.height == 2
    assert sorted(frames_read) == ["gpu", "ops", "runtime"]  # what every question needs is read ahead
    assert trace.tracks is trace.tracks
    assert frames_read[3:] == ["tracks"]
    assert replace(trace, complete=False).ops.equals(trace.ops)
    with pytest.raises(AttributeError, match="gpus"):
        trace.gpus  # type: ignore[attr-defined]  # noqa: B018


def test_an_index_with_other_columns_is_made_anew(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.json")
    monkeypatch.setattr(
        cache, "_blob", lambda frame, blob=cache._blob: blob(frame.rename({frame.columns[0]: "x"}))
    )
    load(path)
    trace, read = was_read(path, monkeypatch)
    assert read
    assert "index-rebuilt" in {n.code for n in trace.notices}


def test_without_cache_nothing_is_written_or_used(tmp_path: Path, folder: Path) -> None:
    load(write(tmp_path / "a.json"), use_cache=False)
    assert not folder.exists()


def test_a_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.json")
    load(path)
    status = path.stat()
    write(path, "K")  # as long as before
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # and as old
    trace, read = was_read(path, monkeypatch)
    assert read
    assert trace.ops["name"].to_list() == ["K"]
    assert "index-rebuilt" not in {n.code for n in trace.notices}


@pytest.mark.parametrize(
    "damage", ["cut", "flipped", "another count", "foreign", "empty", "another file's", "not JSON"]
)
def test_a_damaged_index_is_made_anew_with_a_notice(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    path = write(tmp_path / "a.json")
    whole = load(path)
    (index,) = folder.iterdir()
    data = index.read_bytes()
    index.write_bytes(
        {
            "cut": data[:-100],
            "flipped": data[:-300] + bytes([data[-300] ^ 1]) + data[-299:],
            "another count": data.replace(b'"loaded": 2', b'"loaded": 3'),
            "foreign": b"PAR1" + data,
            "empty": b"",
            "another file's": data[:24] + b"{}".ljust(len(data)),
            "not JSON": data[:24] + b"\xff" + data[25:],
        }[damage]
    )
    trace, read = was_read(path, monkeypatch)
    assert read
    assert [n.code for n in trace.notices] == [*(n.code for n in whole.notices), "index-rebuilt"]
    again, read = was_read(path, monkeypatch)
    assert not read
    assert again.notices == whole.notices


def test_an_index_of_another_version_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.json")
    load(path)
    monkeypatch.setattr(cache, "_reader", lambda: "another")
    trace, read = was_read(path, monkeypatch)
    assert read
    assert "index-rebuilt" not in {n.code for n in trace.notices}


def test_the_folder_has_a_limit_and_the_oldest_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write(tmp_path / f"{i}.json") for i in range(3)]
    load(paths[0])
    monkeypatch.setattr(cache, "LARGEST_FOLDER", int(cache_info().bytes * 2.5))
    load(paths[1])
    for age, index in enumerate(sorted(cache_folder().iterdir(), key=lambda p: p.stat().st_mtime_ns)):
        os.utime(index, (age, age))
    load(paths[0])  # used last now
    load(paths[2])
    assert [was_read(path, monkeypatch)[1] for path in (paths[0], paths[2])] == [False, False]
    assert cache_info().files == 2
    monkeypatch.setattr(cache, "LARGEST_FOLDER", 10)
    load(paths[1])
    assert not list(cache_folder().glob("new-*"))


def test_a_file_that_changes_while_it_is_read_gets_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.json")
    read_file = loader.read
    monkeypatch.setattr(loader, "read", lambda *how: (read_file(*how), write(path, "other"))[0])
    assert load(path).ops["name"].to_list() == ["k"]
    monkeypatch.setattr(loader, "read", read_file)
    assert load(path).ops["name"].to_list() == ["other"]


@pytest.mark.parametrize(
    "folder_is", ["a file", "below a file", "a loop", "too long", "no folder for the index"]
)
def test_without_a_place_for_indexes_there_is_nothing_to_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder_is: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    places = {"a file": "file", "below a file": "file/x", "a loop": "loop", "too long": "x" * 300}
    monkeypatch.setenv("TRACEVIEW_CACHE_DIR", str(tmp_path / places.get(folder_is, "cache")))
    path = write(tmp_path / "a.json")
    if folder_is not in places:
        index_of(str(path)).mkdir(parents=True)
    assert load(path).notices == load(path, use_cache=False).notices


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path, folder: Path) -> None:
    folder.write_text("a file in its place")
    assert load(write(tmp_path / "a.json")).events.loaded == 2
    assert cache_info().files == 0


def test_a_disk_that_fills_up_leaves_nothing_behind(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert load(write(tmp_path / "a.json")).events.loaded == 2
    assert list(folder.iterdir()) == []


def test_clearing(tmp_path: Path) -> None:
    load(write(tmp_path / "a.json"))
    load(write(tmp_path / "b.json"))
    assert clear_cache().files == 2
    assert cache_info().files == 0
