"""A trace's text, decompressed, addressed by place: from a file, gzip, zip, zstd, or standard input.

What cannot be a trace (a folder, an empty file, UTF-16, Perfetto's protobuf) is refused here with one line.
"""

import io
import os
import sys
import zipfile
from collections import deque
from pathlib import Path
from typing import BinaryIO, Protocol

from traceview.errors import TraceError
from traceview.parsers.inflate import GZIP_MAGIC, ZIP_REFUSED, GzipPieces, Pieces, ZipPieces, ZstdPieces

CHUNK = 1 << 18
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZIP_MAGIC = b"PK"


class Text(Protocol):
    """Decompressed text. `damaged_at` is where it could not be decompressed any further."""

    path: str
    size: int  # bytes on disk; 0 where unknown
    compression: str | None
    damaged_at: int | None

    def read_at(self, offset: int, size: int) -> bytes:
        """`size` bytes from `offset`, fewer only at the end. Offsets before `forget`'s are gone."""

    def forget(self, before: int) -> None:
        """Nothing before this offset will be asked for again."""

    def consumed(self, offset: int) -> int:
        """How many bytes of the file on disk lie before `offset` of the text, roughly."""

    def close(self) -> None:
        """Close the file."""


class PlainText:
    """An uncompressed file, read at any place."""

    compression: str | None = None
    damaged_at: int | None = None

    def __init__(self, path: str, handle: int, size: int) -> None:
        self.path, self.size, self._handle = path, size, handle

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode: what tells the open file from one that has taken its place."""
        status = os.fstat(self._handle)
        return status.st_dev, status.st_ino

    def read_at(self, offset: int, size: int) -> bytes:
        data = os.pread(self._handle, size, offset)
        while len(data) < size:
            more = os.pread(self._handle, size - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data

    def forget(self, before: int) -> None:
        pass

    def consumed(self, offset: int) -> int:
        return min(offset, self.size)

    def close(self) -> None:
        os.close(self._handle)


class StreamText:
    """Text that comes in pieces, front to back; pieces are kept until they are forgotten."""

    def __init__(self, path: str, size: int, compression: str | None, pieces: Pieces) -> None:
        self.path, self.size, self.compression = path, size, compression
        self.damaged_at: int | None = None
        self._pieces = pieces
        self._kept: deque[bytes] = deque()
        self._start = self._end = 0  # of what is kept

    def read_at(self, offset: int, size: int) -> bytes:
        while self._end < offset + size:
            piece = self._pieces.next()
            if piece is None:
                if self._pieces.damaged:
                    self.damaged_at = self._end
                break
            self._kept.append(piece)
            self._end += len(piece)
        at, found = self._start, []
        for piece in self._kept:
            if at >= offset + size:
                break
            found.append(memoryview(piece)[max(0, offset - at) : offset + size - at])
            at += len(piece)
        return b"".join(found)

    def forget(self, before: int) -> None:
        while self._kept and self._start + len(self._kept[0]) <= before:
            self._start += len(self._kept.popleft())

    def skip_to(self, offset: int) -> int:
        """Go on from the last known place at or before `offset`, if that is ahead. Gives the place."""
        place = self._pieces.skip_to(offset)
        if place > self._end:
            self._kept.clear()
            self._start = self._end = place
        return self._start

    def consumed(self, offset: int) -> int:
        return int(self._pieces.taken * offset / self._end) if self._end else 0

    def close(self) -> None:
        self._pieces.close()


def open_text(path: str | Path) -> Text:
    """Open the trace at `path` ("-": standard input). Raises TraceError where it cannot be one."""
    name = str(path)
    if name == "-":
        return _opened(name, _Joined(sys.stdin.buffer), 0)
    if os.path.isdir(name):
        raise TraceError(f"{name}: is a folder; name one of its trace files")
    try:
        file = open(name, "rb")  # noqa: SIM115 - the text closes it
    except OSError as error:
        raise TraceError(f"{name}: cannot be opened: {error.strerror}; check the path") from None
    status = os.fstat(file.fileno())
    if not os.path.isfile(name):  # a pipe or a device
        return _opened(name, _Joined(file), 0)
    try:
        return _opened(name, file, status.st_size)
    except BaseException:
        file.close()
        raise


class _Joined(io.RawIOBase):
    """A stream that cannot be read twice, with its first bytes looked at."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._head = stream, b""
        self._taken = 0

    def peek(self, size: int) -> bytes:
        while len(self._head) < size:
            more = self._stream.read(size - len(self._head))
            if not more:
                break
            self._head += more
        return self._head

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        head, self._head = self._head, b""
        if size < 0:
            head += self._stream.read()
        data = head or self._stream.read(size)
        self._taken += len(data)
        return data

    def tell(self) -> int:
        return self._taken


def _opened(name: str, file: "BinaryIO | _Joined", size: int) -> Text:
    try:
        head = file.peek(CHUNK) if isinstance(file, _Joined) else os.pread(file.fileno(), CHUNK, 0)
    except OSError as error:
        raise TraceError(f"{name}: cannot be read: {error.strerror}") from None
    if not head:
        raise TraceError(f"{name}: is empty (0 bytes); record or copy the trace again")
    stream: BinaryIO = file  # type: ignore[assignment]
    if head.startswith(GZIP_MAGIC):
        return StreamText(name, size, "gzip", GzipPieces(stream))
    if head.startswith(ZSTD_MAGIC):
        try:
            return StreamText(name, size, "zstd", ZstdPieces(stream))
        except ImportError:
            raise TraceError(
                f"{name}: zstd is not supported by this Python; unpack it with: zstd -d"
            ) from None
    if head.startswith(ZIP_MAGIC):
        return _zipped(name, file, size)
    if isinstance(file, _Joined):
        return StreamText(name, size, None, Pieces(stream))
    text = PlainText(name, os.dup(file.fileno()), size)
    file.close()
    return text


def _zipped(name: str, file: "BinaryIO | _Joined", size: int) -> Text:
    try:
        archive = zipfile.ZipFile(io.BytesIO(file.read()) if isinstance(file, _Joined) else file)
    except ZIP_REFUSED:
        raise TraceError(f"{name}: is a damaged zip file; unpack or copy it again") from None
    members = [m for m in archive.infolist() if not m.is_dir()]
    traces = [m for m in members if ".json" in m.filename.lower()] or members
    if len(traces) != 1:
        raise TraceError(f"{name}: is a zip file of {len(traces)} files; unpack it and open one of them")
    if traces[0].flag_bits & 1:
        raise TraceError(f"{name}: is an encrypted zip file; unpack it and open what is in it")
    inner = traces[0].filename.lower()
    if inner.endswith((".gz", ".zst")):
        raise TraceError(f"{name}: holds a compressed file ({traces[0].filename}); unpack the zip file first")
    try:
        return StreamText(name, size, "zip", ZipPieces(archive, traces[0]))
    except ZIP_REFUSED as error:
        why = str(error).split("\n")[0] or "damaged"
        raise TraceError(
            f"{name}: cannot be unpacked here ({why}); unpack it and open what is in it"
        ) from None
