"""Containers that are opened, and files that are refused in one line."""

import gzip
import io
import json
import os
import threading
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from traceview.errors import TraceError
from traceview.parsers import details, inflate, load, raw_event, source
from traceview.parsers.folder import find_trace

EVENTS = [
    {
        "ph": "X",
        "cat": "kernel",
        "name": f"k{i}",
        "pid": 0,
        "tid": 7,
        "ts": i,
        "dur": 1,
        "args": {"queued": i},
    }
    for i in range(3000)
]
TEXT = json.dumps({"schemaVersion": 1, "traceEvents": EVENTS, "traceName": "t"}).encode()


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, TEXT)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "compression"),
    [
        (TEXT, None),
        (gzip.compress(TEXT), "gzip"),
        (gzip.compress(TEXT[:70_000]) + gzip.compress(TEXT[70_000:]), "gzip"),
        (gzip.compress(TEXT) + b"\0" * 512, "gzip"),
        (zipped("trace.json"), "zip"),
        (zipped("trace.json", "read.me"), "zip"),
    ],
    ids=["plain", "gzip", "two members", "padded gzip", "zip", "zip with another file"],
)
def test_containers(tmp_path: Path, data: bytes, compression: str | None) -> None:
    trace = load(write(tmp_path / "a.trace", data), use_cache=False)
    assert (trace.events.loaded, trace.compression, trace.bytes) == (3000, compression, len(data))
    assert trace.complete
    for row in (0, 1500, 2999):
        place = trace.gpu.select("offset", "length").row(row)
        assert raw_event(trace, *place) == EVENTS[row]


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_damaged_zip_keeps_what_was_before_or_is_refused_in_one_line(tmp_path: Path, method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("trace.json", TEXT)
    whole, path = buffer.getvalue(), tmp_path / "a.zip"
    for at in [*range(0, 60), len(whole) // 2, *range(len(whole) - 90, len(whole))]:
        write(path, whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with suppress(TraceError):
            assert load(path, use_cache=False).events.loaded <= 3000


def test_what_stands_behind_a_gzip_member_is_told_and_costs_nothing(tmp_path: Path) -> None:
    trace = load(write(tmp_path / "a.gz", gzip.compress(TEXT) + b"garbage"), use_cache=False)
    assert (trace.events.loaded, trace.complete) == (3000, True)
    assert "damaged-tail" in {n.code for n in trace.notices}


def test_a_file_called_like_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("-"), TEXT)
    assert load(find_trace("./-"), use_cache=False).events.loaded == 3000
    assert str(find_trace("-")) == "-"


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK", 1_000)  # each is longer than what is looked at first
    for data in (TEXT, gzip.compress(TEXT), zipped("trace.json")):
        with write(tmp_path / "a", data).open("rb") as file:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
            trace = load("-")
        assert (trace.path, trace.events.loaded, trace.header["traceName"]) == ("-", 3000, "t")
        with pytest.raises(TraceError, match="cannot be read twice"):
            raw_event(trace, 0, 10)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(TEXT,))
    writer.start()
    assert load(pipe).events.loaded == 3000
    writer.join()


def test_gzip_that_ends_early_keeps_what_was_before(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT, 1)
    trace = load(write(tmp_path / "a.gz", packed[: len(packed) // 2]), use_cache=False)
    inflated = zlib.decompressobj(wbits=31).decompress(packed[: len(packed) // 2])
    assert trace.events.loaded == inflated.count(b"}}, {") + inflated.endswith(b"}}")
    assert not trace.complete
    assert "truncated" in {n.code for n in trace.notices}


def test_details_of_gzip_are_read_from_the_nearest_known_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inflate, "_GZIP_CHUNK", 1024)
    monkeypatch.setattr(inflate, "_CHECKPOINT", 10_000)
    trace = load(write(tmp_path / "a.gz", gzip.compress(TEXT)), use_cache=False)
    taken: list[int] = []
    close = source.StreamText.close

    def noted(text: source.StreamText) -> None:
        taken.append(text._pieces.taken)
        close(text)

    monkeypatch.setattr(source.StreamText, "close", noted)
    for row in (2999, 5, 2000):
        assert raw_event(trace, *trace.gpu.select("offset", "length").row(row)) == EVENTS[row]
    assert max(taken) < trace.bytes / 2


def test_details_of_a_changed_file_are_refused(tmp_path: Path) -> None:
    trace = load(write(tmp_path / "a.json", TEXT), use_cache=False)
    place = trace.gpu.select("offset", "length").row(0)
    write(tmp_path / "a.json", b"[" * len(TEXT))
    with pytest.raises(TraceError, match="has changed"):
        raw_event(trace, *place)
    write(tmp_path / "a.json", TEXT + b" ")
    with pytest.raises(TraceError, match="has changed"):
        details.raw_event(trace, *place)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n", "only blanks"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"hello\n", "is not JSON"),
        (b'{"a": 1}', "no traceEvents"),
        (b"[1, 2, 3]", "no traceEvents"),
        (b'{"traceEvents": {"traceEvents": []}}', "expected a list"),
        (b'{"traceEvents": 3}', "expected a list"),
        (b'{"schemaVersion": 1, "deviceProp', "cut off before its first event"),
        ("[]".encode("utf-16"), "UTF-16"),
        ('{"traceEvents": []}'.encode("utf-16-le"), "UTF-16"),
        (b"\n\x1a\x08\x01\x12\x00\x00", "Perfetto protobuf"),
        (b"\x7fELF\x00\x01", "binary file"),
        (b'{"schema": "1.1.1-chakra", "pid": 3, "nodes": [{"id": 1, "name": "a"}]}', "execution trace"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd"),
        (zipped("rank0.json", "rank1.json"), "zip file of 2 files"),
        (b"PK\x03\x04damaged", "damaged zip"),
        (zipped("trace.json.gz"), "unpack the zip file first"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_what_is_no_trace_is_named(tmp_path: Path, data: bytes, says: str) -> None:
    path = write(tmp_path / "file.json", data)
    with pytest.raises(TraceError, match=says) as raised:
        load(path)
    assert raised.value.message.startswith(f"{path}: ")
    assert "\n" not in raised.value.message
    assert raised.value.exit_code == 3


def test_a_disk_that_fails_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    path = write(tmp_path / "a.json", TEXT)
    monkeypatch.setattr(source.PlainText, "read_at", broken)
    with pytest.raises(TraceError, match="Input/output error"):
        load(path, use_cache=False)


def test_missing_files_folders_and_forbidden_files(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="No such file"):
        load(tmp_path / "missing.json")
    with pytest.raises(TraceError, match="is a folder"):
        load(tmp_path)
    if os.geteuid():
        path = write(tmp_path / "a.json", TEXT)
        path.chmod(0)
        with pytest.raises(TraceError, match="Permission denied"):
            load(path)
