"""A process of its own that reads parts of the list of events; started and fed by `traceview.parsers.pool`.

Over its standard input come messages (length, msgpack, then plain bytes), over its standard output the
batches as Arrow streams. It ends when its input does.
"""

import io
import os
import sys
from typing import IO

import msgspec
import polars as pl

from traceview.parsers.builder import Batch, Kinds, concat
from traceview.parsers.careful import Careful
from traceview.parsers.source import PlainText

WORKER_WINDOW = 2 << 20


class Setup(msgspec.Struct):
    """First message: the file to read from, or None where the bytes come with each part; what divides
    events.
    """

    path: str | None
    separator: bytes | None


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


class Held:
    """A part's bytes as a text."""

    path, size = "", 0
    compression: str | None = None
    damaged_at: int | None = None

    def __init__(self, offset: int, data: bytes) -> None:
        self._offset, self._data = offset, data

    def read_at(self, offset: int, size: int) -> bytes:
        begin = offset - self._offset
        return self._data[begin : begin + size]

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


def read_part(data: bytes, part: Part, separator: bytes | None) -> Batch | None:
    """The batch of a part whose bytes (and the first of what follows) are `data`; None where it does not
    fit.
    """
    batches: list[Batch] = []
    text = Held(part.begin, data)
    careful = Careful(text, separator, lambda batch, _: batches.append(batch), WORKER_WINDOW)
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


def main() -> None:
    """Serve parts until the input ends."""
    source, out = sys.stdin.buffer, sys.stdout.buffer
    first = receive(source)
    if first is None:
        return
    setup = msgspec.msgpack.decode(first, type=Setup)
    text = None
    if setup.path is not None:
        handle = os.open(setup.path, os.O_RDONLY)
        text = PlainText(setup.path, handle, os.fstat(handle).st_size)
    behind = len(setup.separator or b"")
    while (message := receive(source)) is not None:
        part = msgspec.msgpack.decode(message, type=Part)
        data = text.read_at(part.begin, part.end - part.begin + behind) if text else source.read(part.size)
        batch = read_part(data, part, setup.separator)
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
