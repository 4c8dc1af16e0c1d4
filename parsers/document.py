"""What stands around the events: the document's form, its other keys, and what follows its end.

ijson reads it, wherever in a document the list of events stands. Where it is damaged, what can be understood
of it is read leniently.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw

from traceview.errors import TraceError
from traceview.parsers.careful import next_event
from traceview.parsers.events import damaged_byte
from traceview.parsers.follow import EVENTS, Follower, FollowError
from traceview.parsers.repair import mend_object
from traceview.parsers.source import Text

_WINDOW = 4 << 20
_OVERLAP = 4096  # more than stands between the key of the events and their bracket
_LIMIT = 256 << 20  # header and tail are not looked at beyond
_UTF8_MARK = b"\xef\xbb\xbf"
_KEY = re.compile(rb'"traceEvents"\s*:\s*')
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
_NESTED = re.compile(rb"\s*\{")  # what a list begins with that is not in its usual place
_LAST_KEY = re.compile(rb',?\s*"?[^"]*"?\s*:?\s*\[?\s*$')
_ENDING = re.compile(rb"[\]}]")


@dataclass
class Start:
    """Where the events begin. `damaged_at`: the first byte of the header that could not be read."""

    layout: str  # array | object
    events_at: int  # behind the opening bracket of the list
    header: dict[str, Any] = field(default_factory=dict)
    damaged_at: int | None = None
    around: bytes = b'{"traceEvents":['  # what is open where the events begin, outermost first


@dataclass
class End:
    """What follows the events."""

    header: dict[str, Any] = field(default_factory=dict)
    damaged_at: int | None = None  # the first byte that could not be read
    cut: bool = False  # the file ends before the document does
    next_document_at: int | None = None
    further_documents: int = 0


def find_events(text: Text, check: Callable[[], None] = lambda: None) -> Start:
    """Find the list of events. `check` is called now and then and may raise to cancel.

    Raises TraceError where the text is no trace.
    """
    head = text.read_at(0, _WINDOW)
    if not head.strip():
        what = "is empty" if not head else "holds only blanks"
        what += " after decompression" if text.compression else ""
        raise TraceError(f"{text.path}: {what}; record or copy the trace again")
    begin = len(_UTF8_MARK) if head.startswith(_UTF8_MARK) else 0
    begin += len(head[begin:]) - len(head[begin:].lstrip())
    first = head[begin : begin + 1]
    if first == b"[" and head[begin + 1 :].lstrip()[:1] in (b"{", b"]", b""):
        key = _LIST.search(head)
        event = next_event(head, begin) if key else None
        if not key or (event is not None and event < key.start()):
            return Start("array", begin + 1)
    if first in (b"{", b"["):
        found = _followed(text, begin, check)
        if found is not None:
            return found
    return _salvaged(text, head, begin)


def _followed(text: Text, begin: int, check: Callable[[], None]) -> Start | None:
    """The list under the top-level key traceEvents, else under the first such key anywhere."""
    document, nested, at = Follower(), None, begin
    try:
        while not document.ended and at - begin < _LIMIT:
            check()
            data, fed = text.read_at(at, _WINDOW), 0
            for bracket in _LIST.finditer(data):
                document.feed(data[fed : bracket.end()])
                fed = bracket.end()
                if document.in_events:
                    start = _start(document, at + fed)
                    if len(document.holders) == 2 and isinstance(document.whole, dict):
                        return start
                    if nested is None and _NESTED.match(data, fed):
                        nested = start
            stop = len(data) if len(data) < _WINDOW else max(fed, len(data) - _OVERLAP)
            document.feed(data[fed:stop])
            at += stop
            if len(data) < _WINDOW:
                break
    except FollowError:
        return nested
    if nested is None and isinstance(document.whole, dict) and EVENTS in document.whole:
        raise TraceError(f"{text.path}: traceEvents is no list, expected a list of events; no profiler trace")
    return nested


def _start(document: Follower, events_at: int) -> Start:
    """The events begin here; what stands beside them is the header."""
    header = {k: v for k, v in document.holders[-2].items() if k != EVENTS}
    around = [b'{"traceEvents":' if isinstance(holder, dict) else b"[" for holder in document.holders[:-1]]
    return Start("object", events_at, header, around=b"".join((*around, b"[")))


def _salvaged(text: Text, head: bytes, begin: int) -> Start:
    """A trace whose beginning is damaged, known by its key or its events; anything else is refused."""
    key, first = _LIST.search(head), next_event(head, 0)
    if key and (first is None or first > key.start()):
        whole = head[begin : key.start()].rstrip().rstrip(b",") + b"}"
        header, damaged_at = _lenient(whole)
        return Start("object", key.end(), header, begin + damaged_at)
    if first is not None:
        before = _LAST_KEY.sub(b"", head[begin:first])
        if b'"' not in before:
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


def _lenient(members: bytes) -> tuple[dict[str, Any], int]:
    """What can be understood of an object, and its first byte that is not JSON."""
    try:
        msgspec.json.decode(members, type=Raw)
    except msgspec.DecodeError as error:
        place = damaged_byte(error)
        return mend_object(members), len(members) if place is None else place
    except RecursionError:
        pass
    return mend_object(members), 0


def read_end(text: Text, at: int, start: Start) -> End:
    """Read what stands behind the closing bracket of the events (at `at`)."""
    end = End()
    behind = at if start.layout == "array" else _tail(text, at, start, end)
    rest = text.read_at(behind, _LIMIT)
    following = rest.lstrip()
    if following:
        place = behind + len(rest) - len(following)
        if following[:1] in (b"{", b"["):
            end.next_document_at = place
            end.further_documents = max(1, len(_KEY.findall(following)))
        elif end.damaged_at is None:
            end.damaged_at = place
    return end


def _tail(text: Text, at: int, start: Start, end: End) -> int:
    """Read the members behind the events into `end`; the place behind the document."""
    document = Follower()
    document.feed(start.around)
    beside = document.holders[-2]
    document.feed(b"]")
    del beside[EVENTS]
    end.header = beside
    place = at
    try:
        while data := text.read_at(place, _WINDOW):
            fed = 0
            for ending in _ENDING.finditer(data):
                document.feed(data[fed : ending.end()])
                fed = ending.end()
                if document.ended:
                    return place + fed
            document.feed(data[fed:])
            place += len(data)
        end.cut = True
    except FollowError:
        pass
    rest = text.read_at(at, _LIMIT)
    body = rest.lstrip().removeprefix(b",")
    end.header, damaged_at = _lenient(b"{" + body)
    end.damaged_at = at + len(rest) - len(body) - 1 + damaged_at
    return at + len(rest)
