"""Decompressed pieces of a file, front to back: gzip, zstd, one member of a zip, or the file as it is."""

import os
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

# What zipfile raises for damage, and for what it cannot unpack.
_ZIP_DAMAGE: tuple[type[Exception], ...] = (zlib.error, zipfile.BadZipFile, EOFError)
with suppress(ImportError):  # a Python that was built without it
    from lzma import LZMAError

    _ZIP_DAMAGE = (*_ZIP_DAMAGE, LZMAError)
ZIP_REFUSED: tuple[type[Exception], ...] = (
    *_ZIP_DAMAGE,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)

GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 20
_ZIP_CHUNK = 1 << 14  # zip's checksum is looked at with the last one: so much is lost where it is wrong
_GZIP_CHUNK = 1 << 15  # may become a thousand times as much text
_CHECKPOINT = 16 << 20  # decompressed bytes between two places from which gzip can be read on


class Pieces:
    """Decompressed pieces of a file, front to back. `taken`: bytes of the file read so far."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.taken = 0
        self.damaged = False

    def next(self) -> bytes | None:
        """The next piece, None at the end (or where the damage begins: `damaged`)."""
        piece = self._file.read(_CHUNK)
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
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return None
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
            piece: bytes = self._reader.read(_CHUNK)
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
            while not self.damaged and len(piece) < _CHUNK and (more := self._file.read(_ZIP_CHUNK)):
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
