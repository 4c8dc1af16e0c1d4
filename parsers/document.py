"""What stands around the events: the document's form, its other top-level keys, and what follows its end."""

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw

from traceview.errors import TraceError
from traceview.parsers.careful import next_event
from traceview.parsers.repair import mend_object
from traceview.parsers.source import Text, pieces
from traceview.parsers.splitter import structure

_WINDOW = 4 << 20
_LIMIT = 256 << 20  # header and tail larger than this are not kept
_UTF8_MARK = b"\xef\xbb\xbf"
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*')
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
_LAST_KEY = re.compile(rb',?\s*"?[^"]*"?\s*:?\s*\[?\s*$')
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
        what += " after decompression" if text.compression else ""
        raise TraceError(f"{text.path}: {what}; record or copy the trace again")
    begin = len(_UTF8_MARK) if head.startswith(_UTF8_MARK) else 0
    begin += len(head[begin:]) - len(head[begin:].lstrip())
    first = head[begin : begin + 1]
    if first == b"[" and head[begin + 1 :].lstrip()[:1] in (b"{", b"]", b"") and not _LIST.search(head):
        return Start("array", begin + 1)
    if first == b"{":
        found = _listed(text, begin)
        if found is not None:
            return found
    return _salvaged(text, head, begin)


def _listed(text: Text, begin: int) -> Start | None:
    """The list under the top-level key traceEvents, found by following the document's structure."""
    depth, in_string, escaped = 0, False, False
    kept = bytearray()
    for _, data in pieces(text, begin, _WINDOW):
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
    """A trace whose beginning is damaged, known by its key or its events; anything else is refused."""
    key = _LIST.search(head)
    first = key.end() if key else next_event(head, 0)
    if first is not None:
        before = _LAST_KEY.sub(b"", head[begin : key.start() if key else first])
        if b'"' not in before and not key:
            return Start("array", first, {}, begin)
        return Start("object", first, mend_object(b"{" + before.lstrip(b"{ ")), begin)
    raise TraceError(f"{text.path}: {_instead(text.path, head, head[begin : begin + 1])}")


def _instead(path: str, head: bytes, first: bytes) -> str:
    """What a file is that is no trace, and what to do."""
    wide = len(head) > 3 and (not head[1:64:2].strip(b"\0") or not head[0:64:2].strip(b"\0"))
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or wide:
        return "is UTF-16 text; convert it with: iconv -f UTF-16 -t UTF-8"
    if path.endswith((".pftrace", ".perfetto-trace")) or (head[:1] == b"\n" and 0 in head[:256]):
        return "is a Perfetto protobuf trace, not JSON; export the profile as .json"
    if 0 in head[:256]:
        return "is a binary file, not a JSON trace; check which file this is"
    if b'"nodes"' in head and b'"schema"' in head[:4096]:
        return "is a PyTorch execution trace, not a profiler trace; open what export_chrome_trace wrote"
    if first not in (b"{", b"["):
        return "is not JSON; a profiler trace begins with { or ["
    return "has no traceEvents: not a profiler trace, or cut off before its first event"


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
    behind = 0 if layout == "array" else _tail(rest, at, end)
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
