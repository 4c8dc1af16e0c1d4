"""Single events with everything that the file says of them, read back from their places.

A plain file is read at that place. A gzip file is inflated from the nearest place that an earlier
reading kept (every 16 MB of text), or from the beginning the first time after an index was used; zip and
zstd always so.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from traceview.errors import TraceError
from traceview.parsers.source import StreamText, Text, open_text
from traceview.trace import Trace

_STEP = 4 << 20


def raw_event(trace: Trace, offset: int, length: int) -> dict[str, Any]:
    """The event at `offset` of the decompressed file, `length` bytes long, with all its keys and arguments.

    What a damaged event still says is given. Raises TraceError where the file is gone, has changed, or
    cannot be read twice (standard input).
    """
    return next(raw_events(trace, [(offset, length)]))[1]


def raw_events(trace: Trace, places: Iterable[tuple[int, int]]) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The events at these places (offset, length; offsets ascending): their JSON text, and what it says.

    The text is the file's own, byte for byte, but for events that are damaged there. Raises as raw_event.
    """
    if trace.path == "-":
        raise TraceError("-: standard input cannot be read twice; save it to a file and open that")
    text = open_text(trace.path)
    try:
        if text.size != trace.bytes:
            raise TraceError(f"{trace.path}: has changed since it was opened; open it again")
        for offset, length in places:
            data = _bytes_at(text, offset, length)
            try:
                yield data, msgspec.json.decode(data, type=dict[str, Any])
            except (msgspec.MsgspecError, RecursionError):
                event = _mended(trace, data)
                yield msgspec.json.encode(event), event
    finally:
        text.close()


def _mended(trace: Trace, data: bytes) -> dict[str, Any]:
    """What a damaged event still says."""
    if data[:1] not in (b"{", b'"'):
        raise TraceError(f"{trace.path}: has changed since it was opened; open it again")
    from traceview.parsers.repair import mend, mend_object  # rarely needed, and it takes long to import

    mended = mend(data)
    return msgspec.json.decode(mended, type=dict[str, Any]) if mended else mend_object(data)


def _bytes_at(text: Text, offset: int, length: int) -> bytes:
    if isinstance(text, StreamText):
        for place in range(text.skip_to(offset), offset, _STEP):
            text.read_at(place, 1)
            text.forget(place)
    return text.read_at(offset, length)
