"""One damaged object's bytes mended: raw quotes, control bytes, bad escapes, bare words, holes.

A reader that accepts anything walks through the bytes and keeps what it understands; the result is
written as proper JSON and decoded again like every other event. Numbers keep their digits.
"""

import json
import re
from typing import Any

import msgspec
from msgspec import Raw

from traceview.parsers.events import COLLECTIVE, EVENT_KEYS, Event

_MAX_DEPTH = 64  # deeper values are given up; real arguments are three deep
ARG_KEYS = (
    *COLLECTIVE, "External id", "Record function id", "Ev Idx", "correlation", "cbid", "stream", "device",
    "context", "queued", "grid", "block", "bytes", "Python id", "Python parent id", "Python module id",
    "Input Dims", "Input Strides", "Input type", "Concrete Inputs", "Call stack", "Module Hierarchy",
    "Sequence number", "Fwd thread id", "registers per thread", "shared memory", "blocks per SM",
    "warps per SM", "est. achieved occupancy %", "finished", "kernel", "kind", "CallFrom",
)  # fmt: skip

_HEADER_KEYS = (
    "schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds",
    "traceName", "trace_id", "host_name", "record_shapes", "with_stack", "profile_memory", "with_flops",
    "with_modules", "cupti_version", "cuda_runtime_version", "cuda_driver_version", "hip_runtime_version",
    "hip_driver_version",
)  # fmt: skip


def _known(keys: tuple[str, ...]) -> bytes:
    return rb'"(?:' + b"|".join(re.escape(k.encode()) for k in keys) + rb')"\s*:'


# What stands between quotes. Possessive, as the engine would else remember each character to come back to.
_INSIDE = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'
# Of an event's own members, and of arguments and headers: a key, and what ends a broken string before it.
_KEYS = [_known(EVENT_KEYS), _known((*EVENT_KEYS, *ARG_KEYS, *_HEADER_KEYS))]
_KNOWN_KEY = [re.compile(keys) for keys in _KEYS]
_BROKEN_END = [
    re.compile(rb'"?(?=\s*,\s*' + keys + rb')|"(?=\s*\}\s*,\s*' + keys + rb"|[\s}]*\}[\s}]*$)")
    for keys in _KEYS
]
_AFTER_VALUE = [
    re.compile(rb'\s*(?:,\s*"' + _INSIDE + rb'"\s*:|' + keys + rb"|,?\s*\}|,?\s*$)") for keys in _KEYS
]
_BLANK = re.compile(rb"[\s,]*")
_KEY = re.compile(rb'"([^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+)"\s*:')
_STRING = re.compile(rb'"([^"\\\x00-\x1f]*+(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*+)*+)"')
_AFTER_ITEM = re.compile(rb'\s*(?:,\s*["\[\]{}\d\-tfnN]|\])')
_ANY_END = re.compile(rb'"(?=\s*[,}\]])')
_WORD = re.compile(rb"[^,}\]\n]*")
_JSON_NUMBER = re.compile(rb"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_LOOSE_NUMBER = re.compile(rb"([-+]?)0*(\d*)(?:\.(\d*))?")
_TOKEN = re.compile(rb'"' + _INSIDE + rb'"|[\[\]{}]')
_BAD_ESCAPE = re.compile(rb'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_LITERALS = {b"true": True, b"false": False, b"null": None}
_HOLE = object()


def mend(data: bytes) -> bytes | None:
    """The event in `data` as proper JSON with the known keys' right types; None where it is no event.

    What cannot be understood is left out: an argument, not the event. An event is what has a phase.
    """
    found, _ = _Lenient(data).members(_first_key(data), 0)
    if not isinstance(found.get("ph"), str) or not found["ph"]:
        return None
    if not isinstance(found.get("args", {}), dict):
        del found["args"]
    for key in Event.__struct_fields__:
        value = found.get(key)
        kept = (str,) if key in ("ph", "cat") else (str, Raw)
        if key != "args" and value is not None and not isinstance(value, kept):
            del found[key]
    return _encode(found)


def mend_members(data: bytes) -> bytes:
    """What can be understood of an object's members, e.g. of arguments, as proper JSON."""
    return _encode(_Lenient(data).members(_first_key(data), 1)[0])


def mend_object(data: bytes) -> dict[str, Any]:
    """What can be understood of an object's members, e.g. of a damaged header, decoded."""
    decoded: dict[str, Any] = msgspec.json.decode(mend_members(data))
    return decoded


def _encode(found: dict[str, Any]) -> bytes:
    return msgspec.json.encode(found)


def _first_key(data: bytes) -> int:
    brace, key = data.find(b"{"), data.find(b'"')
    return brace + 1 if 0 <= brace < key or key < 0 else 0


def _utf8(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _string(body: bytes) -> str:
    """A string's text. With an escape that JSON does not know, all its backslashes are plain characters."""
    if b"\\" not in body or _BAD_ESCAPE.search(body):
        return _utf8(body)
    try:
        text = json.loads(b'"' + re.sub(rb'(?<!\\)((?:\\\\)*)"', rb'\1\\"', body) + b'"', strict=False)
    except ValueError:
        return _utf8(body)
    return str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number(word: bytes) -> Raw | None:
    """A number as JSON spells it, from a loose spelling; None for inf, NaN, N/A and the like."""
    if not _JSON_NUMBER.fullmatch(word):
        loose = _LOOSE_NUMBER.fullmatch(word)
        if not loose or not (loose[2] or loose[3]):
            zero = re.fullmatch(rb"[-+]?0+", word)
            return Raw(b"0") if zero else None
        word = (
            (b"-" if loose[1] == b"-" else b"") + (loose[2] or b"0") + (b"." + loose[3] if loose[3] else b"")
        )
    try:
        return Raw(word) if abs(float(word)) < float("inf") else None
    except ValueError:
        return None


class _Lenient:
    """Reads JSON and what resembles it. Each method gets the place to start at and gives the place behind."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def _skip(self, at: int) -> int:
        blank = _BLANK.match(self.data, at)
        return blank.end() if blank else at

    def members(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        """Members of an object from behind its brace to behind its closing one, or to the end."""
        out: dict[str, Any] = {}
        data = self.data
        while (at := self._skip(at)) < len(data):
            if data[at] == 125:  # }
                return out, at + 1
            key = _KEY.match(data, at)
            if not key:
                known = _KNOWN_KEY[depth > 0].search(data, at)
                close = data.find(b"}", at)
                if known and (close < 0 or known.start() < close or depth == 0):
                    at = known.start()
                    continue
                return out, len(data) if close < 0 else close + 1
            value, at = self.value(key.end(), depth, in_object=True)
            if value is not _HOLE:
                out[_string(key[1])] = value
        return out, at

    def items(self, at: int, depth: int) -> tuple[list[Any], int]:
        """Items of a list from behind its bracket to behind its closing one, or to the end."""
        out: list[Any] = []
        data = self.data
        while (at := self._skip(at)) < len(data):
            if data[at] == 93:  # ]
                return out, at + 1
            if data[at] == 125:  # the bracket is missing
                return out, at
            value, behind = self.value(at, depth, in_object=False)
            out.append(None if value is _HOLE else value)
            at = max(behind, at + 1)
        return out, at

    def value(self, at: int, depth: int, in_object: bool) -> tuple[Any, int]:
        """One value; `_HOLE` where there is none."""
        data = self.data
        while at < len(data) and data[at] in b" \t\r\n":
            at += 1
        first = data[at : at + 1]
        if first in (b"{", b"["):
            if depth >= _MAX_DEPTH:
                return None, self._behind(at)
            return self.members(at + 1, depth + 1) if first == b"{" else self.items(at + 1, depth + 1)
        if first == b'"':
            return self._text(at, depth, in_object)
        word = _WORD.match(data, at)
        token = word.group().strip() if word else b""
        end = word.end() if word else at + 1
        if not token:
            return _HOLE, end
        if token in _LITERALS:
            return _LITERALS[token], end
        return _number(token), end

    def _text(self, at: int, depth: int, in_object: bool) -> tuple[str, int]:
        data = self.data
        whole = _STRING.match(data, at)
        after = _AFTER_VALUE[depth > 0] if in_object else _AFTER_ITEM
        if whole and after.match(data, whole.end()):
            return _string(whole[1]), whole.end()
        end = _BROKEN_END[depth > 0].search(data, at + 1) if in_object else _ANY_END.search(data, at + 1)
        if end:
            return _string(data[at + 1 : end.start()]), end.end()
        line = data.find(b"\n", at)
        stop = len(data) if line < 0 else line
        return _string(data[at + 1 : stop].rstrip(b'," ')), stop

    def _behind(self, at: int) -> int:
        """The place behind the bracketed value at `at`, however deep it is."""
        depth = 0
        for token in _TOKEN.finditer(self.data, at):
            c = token.group()
            depth += c in (b"{", b"[")
            depth -= c in (b"}", b"]")
            if depth == 0:
                return token.end()
        return len(self.data)
