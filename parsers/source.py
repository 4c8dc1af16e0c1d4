"""A trace's text, decompressed, addressed by place: from a file, gzip, zip, zstd, or standard input.

What cannot be a trace (a folder, an empty file, UTF-16, Perfetto's protobuf) is refused here with one line.
"""

import io
import os
import sys
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from traceview.errors import TraceError

# What zipfile raises for damage, and for what it cannot unpack.
_ZIP_DAMAGE: tuple[type[Exception], ...] = (zlib.error, zipfile.BadZipFile, EOFError)
with suppress(ImportError):  # a Python that was built without it
    from lzma import LZMAError

    _ZIP_DAMAGE = (*_ZIP_DAMAGE, LZMAError)
_ZIP_REFUSED: tuple[type[Exception], ...] = (
    *_ZIP_DAMAGE,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)

CHUNK = 1 << 18
_ZIP_CHUNK = 1 << 14  # zip's checksum is looked at with the last one: so much is lost where it is wrong
_GZIP_CHUNK = 1 << 15  # may become a thousand times as much text
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZIP_MAGIC = b"PK"
_CHECKPOINT = 16 << 20  # decompressed bytes between two places from which gzip can be read on


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

    def __init__(self, path: str, size: int, compression: str | None, pieces: "Pieces") -> None:
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


class Pieces:
    """Decompressed pieces of a file, front to back. `taken`: bytes of the file read so far."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.taken = 0
        self.damaged = False

    def next(self) -> bytes | None:
        """The next piece, None at the end (or where the damage begins: `damaged`)."""
        piece = self._file.read(CHUNK * 4)
        self.taken += len(piece)
        return piece or None

    def skip_to(self, offset: int) -> int:
        """Go on from a place at or before `offset`; 0 where none is known."""
        return 0

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class _Place:
    """From where gzip can be inflated on: places in text and file, and the state between them."""

    text: int
    file: int
    inflate: "zlib._Decompress"


# Of the files read last, by path, size and time.
_places: dict[tuple[str, int, int], list[_Place]] = {}
_FILES_KEPT = 4


class GzipPieces(Pieces):
    """gzip with any number of members. What stands before a damaged place is given out."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._inflate = zlib.decompressobj(wbits=31)
        self._produced = 0
        self._places = _places_of(file)

    def next(self) -> bytes | None:
        while not self.damaged:
            chunk = self._chunk()
            if chunk is None:
                return None
            before = self._inflate.copy()
            if self._places is not None and self._produced >= self._places[-1].text + _CHECKPOINT:
                self._places.append(_Place(self._produced, self._file.tell() - len(chunk), before.copy()))
            try:
                piece = self._inflate.decompress(chunk)
            except zlib.error:
                self.damaged = True
                piece = _until_damage(before, chunk)
            if piece:
                self._produced += len(piece)
                return piece
        return None

    def _chunk(self) -> bytes | None:
        """Compressed bytes for the member that is being read, or the next one; None at the end."""
        chunk = self._inflate.unused_data.lstrip(b"\0")
        if not chunk:
            chunk = self._file.read(_GZIP_CHUNK)
            self.taken += len(chunk)
        if not self._inflate.eof:
            self.damaged = not chunk  # the member has no end
            return chunk or None
        chunk = chunk.lstrip(b"\0")  # padding between members
        if not chunk:
            return None
        self._inflate = zlib.decompressobj(wbits=31)
        self.damaged = not chunk.startswith(GZIP_MAGIC[: len(chunk)])
        return None if self.damaged else chunk

    def skip_to(self, offset: int) -> int:
        known = [p for p in self._places or () if self._produced < p.text <= offset]
        if known:
            self._file.seek(known[-1].file)
            self._inflate = known[-1].inflate.copy()
            self._produced = known[-1].text
        return self._produced


def _places_of(file: BinaryIO) -> list[_Place] | None:
    """The places known of a file, to be added to; None of what cannot be read twice."""
    if isinstance(file, _Joined):
        return None
    status = os.fstat(file.fileno())
    key = (file.name, status.st_size, status.st_mtime_ns)
    places = _places.pop(key, None) or [_Place(0, 0, zlib.decompressobj(wbits=31))]
    _places[key] = places  # the newest last
    while len(_places) > _FILES_KEPT:
        del _places[next(iter(_places))]
    return places


def _until_damage(inflate: "zlib._Decompress", chunk: bytes) -> bytes:
    """All that can be had of a chunk in which the damage lies."""
    out = bytearray()
    rest = chunk
    step = 4096
    while rest and step:
        before = inflate.copy()
        try:
            piece = inflate.decompress(rest, step)
        except zlib.error:
            inflate, step = before, step // 2
            continue
        out += piece
        rest = inflate.unconsumed_tail
        if not piece and not rest:
            break
    return bytes(out)


class ZstdPieces(Pieces):
    """zstd, where this Python has it (3.14 and later)."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]

        self._reader = zstd.ZstdFile(file)
        self._error = zstd.ZstdError

    def next(self) -> bytes | None:
        try:
            piece: bytes = self._reader.read(CHUNK * 4)
        except (self._error, EOFError):
            self.damaged = True
            return None
        self.taken = self._file.tell()
        return piece or None


class ZipPieces(Pieces):
    """One member of a zip file."""

    def __init__(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
        super().__init__(archive.open(member))  # type: ignore[arg-type]
        self._ratio = member.compress_size / max(member.file_size, 1)
        self._archive = archive

    def next(self) -> bytes | None:
        piece = bytearray()
        try:
            while not self.damaged and len(piece) < CHUNK * 4 and (more := self._file.read(_ZIP_CHUNK)):
                piece += more
        except _ZIP_DAMAGE:
            self.damaged = True
        except OSError as error:
            if error.errno is not None:
                raise
            self.damaged = True  # bz2's word for it
        self.taken += int(len(piece) * self._ratio)
        return bytes(piece) or None

    def close(self) -> None:
        super().close()
        self._archive.close()


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
    except _ZIP_REFUSED:
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
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        why = str(error).split("\n")[0] or "damaged"
        raise TraceError(
            f"{name}: cannot be unpacked here ({why}); unpack it and open what is in it"
        ) from None


def pieces(text: Text, start: int, size: int) -> Iterator[tuple[int, bytes]]:
    """The text from `start` to its end, as (offset, bytes) of at most `size` bytes."""
    while data := text.read_at(start, size):
        yield start, data
        start += len(data)
