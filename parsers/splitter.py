"""Where events begin and end in bytes of any JSON layout.

Two ways. The quick one looks for the bytes that stand between the first events of the file (`separator`) and
cuts there: whether such a cut is right shows when the block decodes, since a block that starts at an event
and is a well-formed list of values ends at an event. The exact one (`elements`) follows quotes, escapes and
depth with numpy.
"""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

_STEP = np.zeros(256, dtype=np.int8)
_STEP[[ord("{"), ord("[")]] = 1
_STEP[[ord("}"), ord("]")]] = -1
_BETWEEN = re.compile(rb'\}\s*,\s*\{\s*"')
_GAP = re.compile(rb"\s*,?\s*")


@dataclass(frozen=True)
class Structure:
    """Brackets outside strings: their places, and the depth after each, from the depth at the start."""

    at: IntArray
    depth: IntArray
    in_string: bool  # whether the bytes end inside a string
    escaped: bool  # whether they end behind a backslash that escapes what follows

    @property
    def end_depth(self) -> int | None:
        """Depth after the last bracket; None without any."""
        return int(self.depth[-1]) if len(self.depth) else None


def structure(data: bytes, depth: int = 0, in_string: bool = False, escaped: bool = False) -> Structure:
    """Follow quotes, escapes and brackets through `data`, whose start is at `depth`, in a string or not."""
    text = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(text == 34)
    ends_escaped = False
    if escaped or b"\\" in data:
        quotes, ends_escaped = _unescaped(text, quotes, escaped)
    steps = _STEP[text]
    at = np.flatnonzero(steps)
    outside = (np.searchsorted(quotes, at) + in_string) % 2 == 0
    at = at[outside]
    depths = depth + np.cumsum(steps[at], dtype=np.int64)
    return Structure(at, depths, bool((len(quotes) + in_string) % 2), ends_escaped)


def _unescaped(text: npt.NDArray[np.uint8], quotes: IntArray, escaped: bool) -> tuple[IntArray, bool]:
    """The quotes that no backslash escapes; and whether the text ends behind an odd run of backslashes."""
    slashes = np.flatnonzero(text == 92)
    if escaped:
        slashes = np.concatenate(([-1], slashes))
    breaks = np.flatnonzero(np.diff(slashes) != 1)
    first = slashes[np.concatenate(([0], breaks + 1))]
    last = slashes[np.concatenate((breaks, [len(slashes) - 1]))]
    targets = last[(last - first) % 2 == 0] + 1
    return np.setdiff1d(quotes, targets, assume_unique=True), bool(len(targets) and targets[-1] == len(text))


@dataclass(frozen=True)
class Elements:
    """Places of the complete objects and lists in a list, and where it is closed, if it is."""

    begins: IntArray
    ends: IntArray
    closed: int | None


def elements(data: bytes) -> Elements:
    """The complete objects and lists directly in the list that `data` starts inside of."""
    found = structure(data)
    closing = np.flatnonzero(found.depth < 0)
    n = int(closing[0]) if len(closing) else len(found.at)
    at, depth = found.at[:n], found.depth[:n]
    opening = _STEP[np.frombuffer(data, dtype=np.uint8)[at]] == 1
    begins = at[opening & (depth == 1)]
    ends = at[~opening & (depth == 0)] + 1
    return Elements(begins[: len(ends)], ends, int(found.at[n]) if len(closing) else None)


def learn_separator(sample: bytes) -> bytes | None:
    """The bytes that stand most often between two events: a brace to the next event's first quote.

    `sample` starts inside the list of events.
    """
    seen: Counter[bytes] = Counter()
    for end in elements(sample).ends[:500].tolist():
        between = _BETWEEN.match(sample, end - 1)
        if between:
            seen[between.group()] += 1
    return seen.most_common(1)[0][0] if seen else None


def places(block: bytes, separator: bytes | None) -> tuple[IntArray, IntArray]:
    """Begin and length of each event of `block`, a JSON list that begins and ends with an event.

    Quickly, by the separator; exactly, without one. The quick way is right where it finds as many events as
    the block decodes to.
    """
    if not separator:
        found = elements(block[1:])
        return found.begins + 1, found.ends - found.begins
    text = np.frombuffer(block, dtype=np.uint8)
    brace = separator.index(b"{")
    at = np.flatnonzero(text[: len(text) - len(separator) + brace + 1] == separator[brace]) - brace
    at = at[at >= 0]
    for i, byte in enumerate(separator):
        at = at[text[at + i] == byte]
    begins = np.concatenate(([1], at + brace))
    return begins, np.concatenate((at + 1, [len(text) - 1])) - begins


def skip_gap(data: bytes, at: int) -> int:
    """The place behind blanks and one comma."""
    gap = _GAP.match(data, at)
    return gap.end() if gap else at
