"""What stands around the events: the document's form, its other top-level keys, and what follows its end."""

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw

from traceview.errors import TraceError
from traceview.parsers.repair import mend_object
from traceview.parsers.source import Text, pieces
from traceview.parsers.splitter import structure

_WINDOW = 4 << 20
_LIMIT = 256 << 20  # header and tail larger than this are not kept
_UTF8_MARK = b"\xef\xbb\xbf"
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*')
_EVENT = re.compile(rb'\{\s*"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp|s)"\s*:')
_PHASE = re.compile(rb'"ph"\s*:\s*"')
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_AT_BYTE = re.compile(r"\(byte (\d+)\)")


@dataclass
class Start:
    """Where the events begin. `damaged_at`: the first byte of the header that could not be read."""

    layout: str  # array | object
    events_at: int  # behind the opening bracket of the list
    header: dict[str, Any] = field(default_factory=dict)
    damaged_at: int | None = None


@dataclass
class End:
    """What follows the events."""

    header: dict[str, Any] = field(default_factory=dict)
    damaged_at: int | None = None  # the first byte that could not be read
    cut: bool = False  # the file ends before the document does
    next_document_at: int | None = None
    further_documents: int = 0


def find_events(text: Text) -> Start:
    """Find the list of events. Raises TraceError where the text is no trace."""
    head = text.read_at(0, _WINDOW)
    if not head.strip():
        what = "is empty" if not head else "holds only blanks"
        raise TraceError(f"{text.path}: {what} after decompression; record or copy the trace again"
                         if text.compression else f"{text.path}: {what}; record or copy the trace again")  # fmt: skip
    _refuse_other_formats(text.path, head)
    begin = len(_UTF8_MARK) if head.startswith(_UTF8_MARK) else 0
    begin += len(head[begin:]) - len(head[begin:].lstrip())
    first = head[begin : begin + 1]
    if first == b"[":
        return Start("array", begin + 1)
    if first == b"{":
        found = _listed(text, begin)
        if found is not None:
            return found
    return _salvaged(text, head, begin)


def _refuse_other_formats(path: str, head: bytes) -> None:
    if (
        head[:2] in (b"\xff\xfe", b"\xfe\xff")
        or head[:64].count(0) * 3 >= len(head[:64]) > 3
        and b"{" in head[:64]
    ):
        raise TraceError(f"{path}: is UTF-16 text; convert it with: iconv -f UTF-16 -t UTF-8")
    if path.endswith((".pftrace", ".perfetto-trace")) or head[:1] == b"\n" and 0 in head[:256]:
        raise TraceError(f"{path}: is a Perfetto protobuf trace, not JSON; export the profile as .json")
    if 0 in head[:256] and not head.lstrip().startswith((b"{", b"[")):
        raise TraceError(f"{path}: is a binary file, not a JSON trace; check which file this is")


def _listed(text: Text, begin: int) -> Start | None:
    """The list under the top-level key traceEvents, found by following the document's structure."""
    depth, in_string, escaped = 0, False, False
    kept = bytearray()
    for offset, data in pieces(text, begin, _WINDOW):
        here = structure(data, depth, in_string, escaped)
        base = len(kept)
        kept += data
        for match in _EVENTS.finditer(kept, max(0, base - 64)):
            at = match.start() - base
            level = int(here.depth[here.at < at][-1]) if (here.at < at).any() else depth
            # The value's bracket counts as structure exactly where the key is no part of a string.
            if level == 1 and (here.at == match.end() - base).any():
                if kept[match.end()] == 91:  # [
                    header, damage = _header(bytes(kept[: match.start()]))
                    where = None if damage is None else begin + damage
                    return Start("object", begin + match.end() + 1, header, where)
                raise TraceError(
                    f"{text.path}: traceEvents is an object, expected a list; not a profiler trace"
                )
        depth = here.end_depth if here.end_depth is not None else depth
        in_string, escaped = here.in_string, here.escaped
        if depth <= 0 or len(kept) > _LIMIT:
            return None
    return None


def _salvaged(text: Text, head: bytes, begin: int) -> Start:
    """A trace whose beginning is damaged, known by its events; anything else is refused."""
    key = re.search(rb'"traceEvents"\s*:\s*\[', head)
    if key:
        header, _ = _header(b"{" + head[begin : key.start()].lstrip(b"{"))
        return Start("object", key.end(), header, begin)
    event = _EVENT.search(head)
    nodes = b'"nodes"' in head[:_WINDOW] and b'"schema"' in head[:4096]
    if nodes and not (event and _PHASE.search(head)):
        raise TraceError(
            f"{text.path}: is a PyTorch execution trace, not a profiler trace; open the file of export_chrome_trace"
        )
    if (
        event
        and _PHASE.search(head, event.start())
        and (b"," in head[: event.start()] or event.start() - begin < 4096)
    ):
        header, _ = _header(b"{" + head[begin : event.start()].lstrip(b"{"))
        return Start("object", event.start(), header, begin)
    if head[begin : begin + 1] != b"{":
        raise TraceError(f"{text.path}: is not JSON; a profiler trace begins with {{ or [")
    raise TraceError(
        f"{text.path}: has no traceEvents: not a profiler trace, or cut off before its first event"
    )


def _header(data: bytes) -> tuple[dict[str, Any], int | None]:
    """Top-level members before the events, decoded; and the first byte that is not JSON."""
    whole = data.rstrip().rstrip(b",") + b"}"
    try:
        return msgspec.json.decode(whole, type=dict[str, Any]), None
    except (msgspec.MsgspecError, RecursionError) as error:
        found = mend_object(whole)
        place = _AT_BYTE.search(str(error))
        return found, int(place[1]) if place else 0


def read_end(text: Text, at: int, layout: str) -> End:
    """Read what stands behind the closing bracket of the events (at `at`)."""
    rest = text.read_at(at, _LIMIT)
    end = End()
    if layout == "array":
        behind = 0
    else:
        behind = _tail(rest, at, end)
    following = rest[behind:].lstrip()
    if following:
        place = at + len(rest) - len(following)
        if following[:1] in (b"{", b"["):
            end.next_document_at = place
            end.further_documents = max(1, len(_EVENTS.findall(following)))
        elif end.damaged_at is None:
            end.damaged_at = place
    return end


def _tail(rest: bytes, at: int, end: End) -> int:
    """Decode the members behind the events into `end`; the place behind the document's closing brace."""
    body = rest.lstrip()
    if body[:1] == b",":
        body = body[1:]
    shift = len(rest) - len(body)
    document = b"{" + body
    length = len(document)
    try:
        msgspec.json.decode(document, type=Raw)
    except msgspec.DecodeError as error:
        trailing = _TRAILING.search(str(error))
        if not trailing:
            place = _AT_BYTE.search(str(error))
            end.header = mend_object(document)
            end.cut = place is None
            end.damaged_at = at + shift - 1 + (int(place[1]) if place else length)
            return len(rest)
        length = int(trailing[1]) - 1  # the verdict counts the first byte behind
    except RecursionError:
        end.header, end.damaged_at = mend_object(document), at
        return len(rest)
    try:
        end.header = msgspec.json.decode(document[:length], type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        end.header = mend_object(document[:length])
        end.damaged_at = at
    return min(shift - 1 + length, len(rest))
