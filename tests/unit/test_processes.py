"""Workers are begun before the libraries are there, for a file that is worth it, and never left over."""

from pathlib import Path

import pytest

from traceview import processes
from traceview.indexes import FOLDER_VARIABLE, index_of


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file that counts as large, on a machine of two cores; workers that nobody took are ended."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(processes, "LARGE", 100)
    monkeypatch.setattr(processes, "cores", lambda: 2)
    path = tmp_path / "a.json"
    path.write_bytes(b" " * 101)
    return str(path)


def test_begun_workers_are_the_ones_that_are_used(trace: str) -> None:
    processes.begin(trace, use_index=True)
    begun = list(processes._begun)
    used = processes.started(2)
    processes.end(used)
    assert (len(begun), used, processes._begun) == (2, begun, [])


def test_what_is_missing_is_started_and_what_is_too_much_is_ended(trace: str) -> None:
    processes.begin(trace, use_index=True)
    first, second = processes._begun
    one = processes.started(1)
    processes.dismiss()
    assert one == [first]
    assert second.poll() is not None
    assert first.poll() is None
    more = processes.started(2)
    processes.end([*one, *more])
    assert len(more) == 2
    assert all(process.poll() is not None for process in (first, *more))


def test_no_worker_is_begun_where_none_is_needed(trace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    index_of(trace).parent.mkdir()
    index_of(trace).touch()
    processes.begin(trace, use_index=True)  # the index will do
    for path in ("-", "/nowhere", str(Path(trace).parent)):
        processes.begin(path, use_index=False)
    Path(trace).write_bytes(b" " * 100)  # small
    processes.begin(trace, use_index=False)
    monkeypatch.setattr(processes, "cores", lambda: 1)
    Path(trace).write_bytes(b" " * 101)
    processes.begin(trace, use_index=False)
    assert processes._begun == []


def test_a_compressed_file_is_larger_than_it_looks(tmp_path: Path, trace: str) -> None:
    packed = tmp_path / "a.json.gz"
    packed.write_bytes(b" " * 13)
    processes.begin(str(packed), use_index=False)
    assert len(processes._begun) == 2
    processes.dismiss()
    assert processes._begun == []
