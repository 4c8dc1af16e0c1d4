"""Where events begin and end in bytes of any JSON layout.

Two ways. The quick one looks for the bytes that stand between the first events of the file (`separator`) and
cuts there: whether such a cut is right shows when the block decodes, since a block that starts at an event
and is a well-formed list of values ends at an event. The exact one (`elements`) follows quotes, escapes and
depth with numpy.
"""

import re
from collections import Counter

import msgspec
import numpy as np
import numpy.typing as npt

from traceview.parsers.columns import IntArray

_STEP = np.zeros(256, dtype=np.int8)
_STEP[[ord("{"), ord("[")]] = 1
_STEP[[ord("}"), ord("]")]] = -1
_BETWEEN = re.compile(rb'\}\s*,\s*\{\s*"')
_BETWEEN_EVENTS = re.compile(_BETWEEN.pattern + rb'(?=(?:ph|cat|name|pid|tid|ts|dur)"\s*:)')
_GAP = re.compile(rb"\s*,?\s*")


def elements(data: bytes) -> tuple[IntArray, IntArray]:
    """Begins and ends of the complete objects and lists directly in the list that `data` starts inside of."""
    text = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    if b"\\" in data:
        quotes = _unescaped(text, quotes)
    steps = _STEP[text]
    at = np.flatnonzero(steps)
    at = at[np.searchsorted(quotes, at) % 2 == 0]  # outside strings
    depth = np.cumsum(steps[at], dtype=np.int64)
    closing = np.flatnonzero(depth < 0)
    n = int(closing[0]) if len(closing) else len(at)
    at, depth = at[:n], depth[:n]
    opening = steps[at] == 1
    begins = at[opening & (depth == 1)]
    ends = at[~opening & (depth == 0)] + 1
    return begins[: len(ends)], ends


def _unescaped(text: npt.NDArray[np.uint8], quotes: IntArray) -> IntArray:
    """The quotes that no backslash escapes."""
    slashes = np.flatnonzero(text == ord("\\"))
    breaks = np.flatnonzero(np.diff(slashes) != 1)
    first = slashes[np.concatenate(([0], breaks + 1))]
    last = slashes[np.concatenate((breaks, [len(slashes) - 1]))]
    escaped = last[(last - first) % 2 == 0] + 1  # behind an odd number of backslashes
    return np.setdiff1d(quotes, escaped, assume_unique=True)


def learn_separator(sample: bytes) -> bytes | None:
    """The bytes that stand most often between two events: a brace to the next event's first quote.

    `sample` starts inside the list of events. Where it is damaged, brackets and strings cannot be told apart
    from there on, and events are known by their keys.
    """
    ends = elements(sample)[1][:500].tolist()
    between = [_BETWEEN.match(sample, end - 1) for end in ends]
    try:
        msgspec.json.decode(b"[" + sample[: ends[-1] if ends else 0] + b"]", type=list[msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError):
        between = []
    if not any(between):
        between = list(_BETWEEN_EVENTS.finditer(sample))
    seen = Counter(match.group() for match in between if match)
    return seen.most_common(1)[0][0] if seen else None


def places(block: bytes) -> tuple[IntArray, IntArray]:
    """Begin and length of each event of `block`, a JSON list that begins and ends with an event. Quickly.

    Taken for the space between two events is every `}, {`, however it is spelled. Since each such space is
    one, these are the right places where there are as many of them as the block decodes to.
    """
    text = np.frombuffer(block, dtype=np.uint8)
    braces = np.flatnonzero(text == ord("{"))
    commas = _before(text, braces)
    followed = text[commas] == ord(",")
    ends = _before(text, commas[followed])
    between = text[ends] == ord("}")
    begins = np.concatenate(([1], braces[followed][between]))
    return begins, np.concatenate((ends[between] + 1, [len(text) - 1])) - begins


def exact_places(block: bytes) -> tuple[IntArray, IntArray]:
    """As `places`, right in any case, and slow."""
    begins, ends = elements(block[1:])
    return begins + 1, ends - begins


def _before(text: npt.NDArray[np.uint8], at: IntArray) -> IntArray:
    """The place of the byte before each place, blanks left out. `text` begins with no blank."""
    at = at - 1
    while (blank := text[at] <= ord(" ")).any():
        at = at - blank
    return at


def skip_gap(data: bytes, at: int) -> int:
    """The place behind blanks and one comma."""
    gap = _GAP.match(data, at)
    return gap.end() if gap else at
