"""A process of its own that reads parts of the list of events; started and fed by `traceview.parsers.pool`.

Over its standard input come messages (length, msgpack, then plain bytes), over its standard output the
batches as Arrow streams. It ends when its input does.
"""

import gc
import io
import os
import sys
from collections.abc import Callable
from typing import IO

import msgspec
import polars as pl

from traceview.parsers.builder import Batch, Kinds, concat
from traceview.parsers.careful import Careful
from traceview.parsers.source import PlainText

_WINDOW = 3 << 20  # bytes decoded at once


class Setup(msgspec.Struct):
    """First message: the file to read from (path, device, inode), or None where the bytes come with each
    part; what divides events.
    """

    file: tuple[bytes, int, int] | None
    separator: bytes


class Part(msgspec.Struct):
    """Events from `begin` to `end`, where the next event begins; `size` bytes follow where there is no
    file.
    """

    begin: int
    end: int
    size: int = 0


class Answer(msgspec.Struct):
    """`fits`: the part begins and ends with an event. The frames' Arrow bytes follow, `sizes` long."""

    fits: bool
    kinds: list[tuple[str, str, int]] = []
    repaired: list[int] = []
    set_aside: list[int] = []
    sizes: dict[str, int] = {}


class _Section:
    """A Text of which nothing behind `end` can be read."""

    path, size = "", 0
    compression: str | None = None
    damaged_at: int | None = None

    def __init__(self, read_at: Callable[[int, int], bytes], end: int) -> None:
        self._read_at, self._end = read_at, end

    def read_at(self, offset: int, size: int) -> bytes:
        return self._read_at(offset, max(0, min(size, self._end - offset)))

    def forget(self, before: int) -> None:
        pass

    def consumed(self, offset: int) -> int:
        return offset

    def close(self) -> None:
        pass


def send(stream: IO[bytes], message: msgspec.Struct, *data: bytes) -> None:
    """Write a message and the bytes that follow it."""
    head = msgspec.msgpack.encode(message)
    stream.write(len(head).to_bytes(4, "little"))
    stream.write(head)
    for piece in data:
        stream.write(piece)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message's bytes; None at the end."""
    size = stream.read(4)
    return stream.read(int.from_bytes(size, "little")) if len(size) == 4 else None


def read_part(read_at: Callable[[int, int], bytes], part: Part, separator: bytes) -> Batch | None:
    """The batch of a part of the text that `read_at` (offset, size) reads; None where it does not fit."""
    batches: list[Batch] = []
    text = _Section(read_at, part.end + len(separator))
    careful = Careful(text, separator, lambda batch, _: batches.append(batch), None, _WINDOW)
    outcome = careful.read(part.begin, [part.end])
    if outcome.at != part.end or outcome.closed or outcome.ended:
        return None
    kinds: Kinds = Kinds()
    for batch in batches:
        kinds.update(batch.kinds)
    return Batch(
        concat(b.frames for b in batches),
        kinds,
        [o for b in batches for o in b.repaired],
        [o for b in batches for o in b.set_aside],
    )


def _within(data: bytes, offset: int) -> Callable[[int, int], bytes]:
    """How to read from bytes that stand at `offset` of the text."""
    return lambda at, size: data[at - offset : at - offset + size]


def main() -> None:
    """Serve parts until the input ends."""
    source, out = sys.stdin.buffer, sys.stdout.buffer
    first = receive(source)
    if first is None:
        return
    gc.disable()  # decoded events are in no cycles; looking for some would take a fifth of the time
    setup = msgspec.msgpack.decode(first, type=Setup)
    file = None
    if setup.file is not None:
        path, *identity = setup.file
        file = PlainText(os.fsdecode(path), os.open(path, os.O_RDONLY), 0)
        if file.identity != tuple(identity):  # another file stands there by now
            return
    while (message := receive(source)) is not None:
        part = msgspec.msgpack.decode(message, type=Part)
        read_at = file.read_at if file else _within(source.read(part.size), part.begin)
        batch = read_part(read_at, part, setup.separator)
        if batch is None:
            send(out, Answer(False))
            continue
        blobs = {name: _arrow(frame) for name, frame in batch.frames.items()}
        kinds = [(ph, cat, n) for (ph, cat), n in batch.kinds.items()]
        sizes = {name: len(blob) for name, blob in blobs.items()}
        send(out, Answer(True, kinds, batch.repaired, batch.set_aside, sizes), *blobs.values())


def _arrow(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.rechunk().write_ipc_stream(buffer, compat_level=pl.CompatLevel.newest())
    return buffer.getvalue()
