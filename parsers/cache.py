"""The saved index: the frames of a trace on disk, so that its second opening takes no reading.

One file a trace, written aside and moved into place: a line of magic, a JSON head with its length and
checksum, then each frame as a compressed Arrow file, which is decompressed when it is first asked for.
Nothing in it is executed or unpickled. A file that is damaged, foreign or of another version is thrown away.
A folder that cannot be written costs the index, nothing else.
"""

import hashlib
import io
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl

from traceview import schema
from traceview.indexes import SUFFIX, cache_folder, index_of
from traceview.trace import EventCounts, Notice, Trace

SMALLEST = 256 << 10  # smaller files are read as fast as an index
LARGEST_FOLDER = 4 << 30  # bytes; beyond, the indexes not used for longest go
_MAGIC = b"traceview index\n"
_ENDS = 64 << 10  # bytes at both ends of a file that tell it from another of equal size and time


@dataclass(frozen=True)
class CacheInfo:
    """Where the indexes lie, how many there are, and their size in bytes together."""

    folder: Path
    files: int
    bytes: int


def cache_info() -> CacheInfo:
    """What the saved indexes take."""
    sizes = [s.st_size for _, s in _indexes()]
    return CacheInfo(cache_folder(), len(sizes), sum(sizes))


def clear_cache() -> CacheInfo:
    """Remove all saved indexes. Gives what there was."""
    before = cache_info()
    for path, _ in _indexes():
        with suppress(OSError):
            path.unlink()
    return before


def saved(path: str, key: list[Any]) -> tuple[Trace | None, Notice | None]:
    """The trace of the file at `path` from its index, if there is one that fits `key` (`file_key`).

    A notice where there was an index that had to be thrown away.
    """
    index = index_of(path)
    try:
        if not index.is_file():
            return None, None
        with index.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise ValueError("foreign")
            size = int.from_bytes(file.read(8), "little")
            if not 0 < size <= os.fstat(file.fileno()).st_size:
                raise ValueError("cut off")
            crc = int.from_bytes(file.read(4), "little")
            text = file.read(size)
            if zlib.crc32(text) != crc:
                raise ValueError("damaged")
            head = json.loads(text)
            if head["key"] != key:
                return None, None  # the file or the program has changed since
            frames = {name: _checked(name, file.read(length), crc) for name, length, crc in head["frames"]}
        trace = _trace(path, head["trace"], frames)
    except OSError:  # none that can be read
        return None, None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, pl.exceptions.PolarsError):
        with suppress(OSError):
            index.unlink()
        return None, Notice(
            "index-rebuilt", 0, "the saved index of this file was damaged and has been made anew"
        )
    with suppress(OSError):
        os.utime(index)  # it is in use: others go first
    return trace, None


def save(trace: Trace, key: list[Any]) -> None:
    """Keep the frames of `trace` for its next opening, if the disk lets us; old indexes make room.

    key: `file_key` before the file was read. One that has changed meanwhile gets no index.
    """
    if trace.bytes < SMALLEST:
        return
    folder = cache_folder()
    try:
        if file_key(trace.path) != key:
            return
        blobs = {name: _blob(getattr(trace, name)) for name in schema.FRAMES}
        head = json.dumps(
            {
                "key": key,
                "trace": _facts(trace),
                "frames": [(name, len(blob), zlib.crc32(blob)) for name, blob in blobs.items()],
            }
        ).encode()
        folder.mkdir(parents=True, exist_ok=True)
        if not _make_room(len(head) + sum(map(len, blobs.values()))):
            return
        handle, aside = tempfile.mkstemp(dir=folder, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                check = zlib.crc32(head).to_bytes(4, "little")
                file.writelines((_MAGIC, len(head).to_bytes(8, "little"), check, head, *blobs.values()))
            os.replace(aside, index_of(trace.path))
        except BaseException:
            with suppress(OSError):
                os.unlink(aside)
            raise
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError):
        return


def _indexes() -> list[tuple[Path, os.stat_result]]:
    """All indexes and what a crash left of one, those not used for longest first."""
    found = []
    with suppress(OSError):
        for path in cache_folder().iterdir():
            if path.suffix == SUFFIX or path.name.startswith("new-"):
                with suppress(OSError):
                    found.append((path, path.stat()))
    return sorted(found, key=lambda item: item[1].st_mtime)


def _make_room(size: int) -> bool:
    """Remove indexes until `size` more bytes fit. False if they never do."""
    indexes = _indexes()
    total = sum(status.st_size for _, status in indexes)
    for path, status in indexes:
        if total + size <= LARGEST_FOLDER:
            break
        with suppress(OSError):
            path.unlink()
        total -= status.st_size
    return total + size <= LARGEST_FOLDER


def file_key(path: str) -> list[Any]:
    """What must be the same for an index to be that of a file: the file, and the program that read it.

    Raises OSError where the file cannot be read.
    """
    status = os.stat(path)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(0, status.st_size - _ENDS))
        digest.update(file.read(_ENDS))
    return [os.path.realpath(path), status.st_size, status.st_mtime_ns, digest.hexdigest(), _reader()]


@cache
def _reader() -> str:
    """Stands for the schema and the modules that fill it: another version's index is not used."""
    digest = hashlib.sha256(repr(schema.FRAMES).encode() + pl.__version__.encode())
    for module in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(module.read_bytes())
    return digest.hexdigest()


def _facts(trace: Trace) -> dict[str, Any]:
    return {
        "bytes": trace.bytes,
        "compression": trace.compression,
        "layout": trace.layout,
        "header": trace.header,
        "events": asdict(trace.events),
        "complete": trace.complete,
        "notices": [asdict(notice) for notice in trace.notices],
    }


def _trace(path: str, facts: dict[str, Any], blobs: dict[str, bytes]) -> Trace:
    known = {**facts, "events": EventCounts(**facts["events"])}
    known["notices"] = tuple(Notice(**notice) for notice in facts["notices"])
    frames = {name: partial(_frame, name, blobs[name]) for name in schema.FRAMES}
    return Trace.on_demand({**frames, **_ahead(frames)}, path=path, **known)


def _ahead(frames: Mapping[str, Callable[[], pl.DataFrame]]) -> Mapping[str, Callable[[], pl.DataFrame]]:
    """The frames that every question needs, already being read in a thread."""
    thread = ThreadPoolExecutor(1)
    asked = {name: thread.submit(frames[name]).result for name in ("gpu", "runtime", "ops")}
    thread.shutdown(wait=False)
    return asked


def _blob(frame: pl.DataFrame) -> bytes:
    """The frame without what `_frame` knows: row numbers, and columns without any value."""
    kept = [c for c in frame.columns if c != "id" and (frame[c].null_count() < len(frame) or not len(frame))]
    buffer = io.BytesIO()
    frame.select(kept).write_ipc(buffer, compression="zstd")
    return buffer.getvalue()


def _frame(name: str, blob: bytes) -> pl.DataFrame:
    kept = pl.read_ipc(blob)
    others = {"id": pl.int_range(pl.len(), dtype=pl.Int64)}
    return kept.select(
        pl.col(c) if c in kept.columns else others.get(c, pl.lit(None, dtype)).alias(c)
        for c, dtype in schema.FRAMES[name].items()
    )


def _checked(name: str, blob: bytes, crc: int) -> bytes:
    if zlib.crc32(blob) != crc:
        raise ValueError("damaged")
    declared = schema.FRAMES[name]
    if any(declared.get(c) != dtype for c, dtype in pl.read_ipc_schema(io.BytesIO(blob)).items()):
        raise ValueError("of another schema")
    return blob
