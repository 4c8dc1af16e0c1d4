"""Events one by one, for text in which a block does not decode: another layout than expected, or damage.

msgspec's own verdict on a value is the guide. "Trailing characters": the value ends there. "Truncated":
it goes on behind the bytes given. Anything else: it is damaged, and is mended up to the next boundary
that looks like the beginning of an event.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import numpy as np
from msgspec import Raw

from traceview.parsers.builder import Batch, WrongPlacesError, build
from traceview.parsers.events import EVENT_KEYS, Event, damaged_byte, is_utf8, listed
from traceview.parsers.repair import ARG_KEYS, mend
from traceview.parsers.source import Text
from traceview.parsers.splitter import elements, exact_places, places, skip_gap

WINDOW = 1 << 20
_LARGEST = 16 << 20  # a larger value in which events seem to begin has lost its end
_PATIENCE = 128 << 20  # how far the end of a damaged event is looked for
_MOST_MENDED = 4 << 20  # mending goes item by item: more would take longer than it is worth
_MOST_BRACKETS = 256  # so many brackets of a damaged event are looked at for the end of all events
_MOST_ODD = 1000  # so many values that are no events are counted one by one, those behind with the last
_LOOK = 64 << 10  # most values are far shorter than this
_KEY = rb'\{\s*"(?:' + b"|".join(k.encode() for k in EVENT_KEYS) + rb')"\s*:'
_OBJECT = re.compile(_KEY)
_DOCUMENT = re.compile(rb'\{\s*(?:"[^"]*"\s*:|\})|\[\s*[\[{\]]')
_NEXT_KEY = re.compile(rb'\s*,\s*("[^"]*"\s*:)')
_EVENTS_KEY = re.compile(b'"(?:' + b"|".join(re.escape(k).encode() for k in (*EVENT_KEYS, *ARG_KEYS)) + b')"')
_BOUNDARY = re.compile(rb"\}(\s*,?\s*)" + _KEY)
_STRAY = re.compile(rb'["\[]\s*' + _KEY)  # in the place of a comma
_FOLLOWS = re.compile(rb"\s*(?:[,\]]|$)")  # a value in a list
_CLOSING = re.compile(rb'\}(\s*,?\s*\]\s*(?:,\s*"|\}\s*$|$))')
_BRACE = ord("{")
_value = msgspec.json.Decoder(Raw)
_event = msgspec.json.Decoder(Event)


@dataclass
class Outcome:
    """Where the careful reading stopped, and why."""

    at: int
    closed: bool = False  # behind the list's closing bracket
    ended: bool = False  # at the end of the text, without one
    cut_at: int | None = None  # where an event begins that the text's end cuts off
    junk_at: int | None = None  # what is left is no event


@dataclass
class _Found:
    """An event of a damaged window: its place, and its bytes, mended or as they are."""

    begin: int
    end: int
    data: bytes
    damaged_at: int | None


class Careful:
    """Reads on from a place in the list of events, giving batches to `sink`."""

    def __init__(
        self,
        text: Text,
        separator: bytes | None,
        sink: Callable[[Batch, int], None],
        around: bytes | None,
        window: int = WINDOW,
    ) -> None:
        """`around`: what is open where the events begin. None: this is but a part of the text, in which every
        bracket counts as the list's end, for whoever sees the whole to decide.
        """
        self._text, self._separator, self._sink, self._window = text, separator, sink, window
        self._around = around
        self._odd = 0  # how many values were no events since the last event
        self._broken = False  # whether what comes may be the rest of a damaged event

    def read(self, at: int, stops: Sequence[int] = (), check: Callable[[], None] = lambda: None) -> Outcome:
        """Read from `at`, in the list, to its end, the text's, or an event that begins at one of `stops`.

        `stops` ascend. `check` is called now and then and may raise to cancel.
        """
        behind = len(self._separator) - self._separator.index(b"{") if self._separator else 0
        left = [s for s in stops if s > at]
        window = self._window
        while at not in stops:
            check()
            size = min(window, left[0] + behind - at) if left else window
            data = self._text.read_at(at, size)
            final = len(data) < size
            here = skip_gap(data, 0)
            if here == len(data) and final:
                return Outcome(at + here, ended=True)
            if self._closes(at, data, here):
                return Outcome(at + here + 1, closed=True)
            used = self._quick(at, data, here) or self._exact(at, data, here)
            if not used:
                used, outcome = self._walk(at, data, here, final)
                if outcome:
                    return outcome
            if used:
                at, window = at + used, self._window
            elif size < window:
                left.pop(0)  # an event reaches over this stop
            else:
                window *= 2
            left = [s for s in left if s > at]
        return Outcome(at)

    def _quick(self, at: int, data: bytes, begin: int) -> int:
        """Up to the last separator of the window, if all before is clean; 0 if not."""
        cut = data.rfind(self._separator, begin) if self._separator else -1
        return self._clean(at, data, begin, cut + 1) if cut > begin else 0

    def _exact(self, at: int, data: bytes, begin: int) -> int:
        """All complete events of the window by its structure, if they are clean; 0 if not."""
        ends = elements(data[begin:])[1]
        return self._clean(at, data, begin, begin + int(ends[-1])) if len(ends) else 0

    def _clean(self, at: int, data: bytes, begin: int, end: int) -> int:
        block = listed([memoryview(data)[begin:end]])
        if not is_utf8(block):  # the decoder does not look at keys and at what it skips
            return 0
        try:
            batch = _built(block, at + begin - 1)
        except (msgspec.MsgspecError, RecursionError):
            return 0
        self._sink(batch, at + end)
        return skip_gap(data, end)

    def _walk(self, at: int, data: bytes, begin: int, final: bool) -> tuple[int, Outcome | None]:
        """The window's events one by one. Gives how far it came, and the outcome where the list ends."""
        batch, found = Batch(), list[_Found]()
        outcome: Outcome | None = None
        here, n, bounded = begin, len(data), True
        last = data.rfind(self._separator) if self._separator else -1
        view = memoryview(data)
        while True:
            here = skip_gap(data, here)
            if here >= n:
                outcome = Outcome(at + n, ended=True) if final else None
                break
            if self._closes(at, data, here):
                outcome = Outcome(at + here + 1, closed=True)
                break
            if _STRAY.match(data, here):
                batch.repaired.append(at + here)
                here += 1
                continue
            if self._odd > _MOST_ODD and data[here] != _BRACE:
                brace = data.find(b"{", here)
                here = n if brace < 0 else brace
                continue
            end, bad = _value_end(data, view, here)
            if end is None and bad is None and not final and n - here < _LARGEST:
                break  # goes on behind the window
            # The rest of a broken event: a string that ends at the next one's first quote.
            if end is not None and data[here] != _BRACE and not _FOLLOWS.match(data, end):
                end, bad = None, end
            if end is not None:
                is_event = self._keep(found, batch, at, here, end, data[here:end])
                self._odd = 0 if is_event else self._odd + 1
                here = end
                continue
            boundary = self._boundary(data, here, last) if bounded else None
            bounded = boundary is not None  # where none is found, none is further on
            if boundary is None:
                further = next_event(data, here + 1)
                boundary = None if further is None else (further, further)
            if boundary is None and not final and n - here < _PATIENCE:
                break  # the boundary may be behind the window
            if boundary is None and final:
                outcome = self._last(found, batch, at, data, here, bad)
                here = n
                break
            if boundary is None:  # nothing near looks like an event: go on at the next object of any kind
                brace = data.find(b"{", max(here, bad or 0) + 1)
                boundary = (brace, brace) if brace > 0 else (n, n)
            stop, behind = boundary
            ending = self._end_inside(at, data, here, stop)
            stop, behind = (stop, behind) if ending is None else (ending, ending)
            intact = next_event(data, here + 1, stop)  # the boundary may be of, or in, a later event
            if intact is not None:
                stop = behind = intact
            damage = here if bad is None else bad
            if intact is None or b'"ph"' in data[here:stop]:
                self._keep(found, batch, at, here, stop, data[here:stop], damage)
            else:
                batch.repaired.append(at + damage)
            here = behind
        self._flush(batch, found, at + here)
        return (here if here > begin or outcome else 0), outcome

    def _closes(self, at: int, data: bytes, here: int) -> bool:
        """Whether the list ends at `here`: at a bracket with the rest of a document behind it.

        Damage can make a bracket inside of an event look like the end, and can damage the rest too. Then it
        is the end where a key follows that is none of an event's, or where no event does but another
        document's.
        """
        if data[here : here + 1] != b"]":
            return False
        if self._around is None or self._ends_document(at + here) is not False:
            return True
        behind = self._text.read_at(at + here + 1, _LOOK)
        key = _NEXT_KEY.match(behind)
        if key and not self._broken and not _EVENTS_KEY.match(key[1]):
            return True
        event = next_event(behind, 0)
        if event is None:
            behind = self._text.read_at(at + here + 1, WINDOW)
            event = next_event(behind, 0)
        return event is None or b'"traceEvents"' in behind[:event]

    def _ends_document(self, bracket: int, key: bytes = b"") -> bool | None:
        """Whether the document is whole if its list of events ends at `bracket`; None: that is out of sight.

        What may follow is another document (with `key` in it), not an event.
        """
        for size in (_LOOK, WINDOW):
            document = b"".join((self._around or b"", b"]", self._text.read_at(bracket + 1, size)))
            end, bad = _value_end(document, memoryview(document), 0, deep=False)
            if end is not None:
                rest = document[end:].lstrip()
                return not rest or bool(_DOCUMENT.match(rest) and not _OBJECT.match(rest) and key in rest)
            if bad is not None:
                return False
        return None

    def _end_inside(self, at: int, data: bytes, here: int, stop: int) -> int | None:
        """Where the list ends between `here` and `stop`, in which an event has lost its own end."""
        if self._around is None:
            return None
        for bracket in itertools.islice(re.finditer(rb"\]", data[here:stop]), _MOST_BRACKETS):
            place = here + bracket.start()
            key = _NEXT_KEY.match(data, place + 1)
            inside = key and _EVENTS_KEY.match(key[1])
            if not inside and self._ends_document(at + place, b'"traceEvents"'):
                return place
        return None

    def _boundary(self, data: bytes, here: int, last: int) -> tuple[int, int] | None:
        """Ends of a damaged event that begins at `here`: behind its brace, and the next event's beginning.

        last: the last separator's place in `data`.
        """
        if self._separator and here <= last:
            cut = data.find(self._separator, here)
            return cut + 1, cut + self._separator.index(b"{")
        match = _BOUNDARY.search(data, here)
        return (match.start() + 1, match.end(1)) if match else None

    def _last(
        self, found: list[_Found], batch: Batch, at: int, data: bytes, here: int, bad: int | None
    ) -> Outcome:
        """A damaged or unfinished value behind which no event begins any more."""
        closing = _CLOSING.search(data, here)
        if closing and bad is not None:
            piece = data[here : closing.start() + 1]
            if mend(piece) or b'"ph"' in piece:
                self._keep(found, batch, at, here, closing.start() + 1, piece, bad)
                return Outcome(at + data.index(b"]", closing.start()) + 1, closed=True)
        if b'"ph"' in data[here:] or data[here : here + 1] == b"{":
            return Outcome(at + len(data), ended=True, cut_at=at + here)
        return Outcome(at + len(data), ended=True, junk_at=at + here)

    def _keep(
        self,
        found: list[_Found],
        batch: Batch,
        at: int,
        begin: int,
        end: int,
        data: bytes,
        damaged_at: int | None = None,
    ) -> bool:
        """Add a piece to the events found, mended where it must be. False where it is no event.

        That is set aside, unless it is another piece of the damaged event before it.
        """
        counts = not self._broken or bool(_OBJECT.match(data))
        if damaged_at is None and data[0] == _BRACE:
            try:
                event = _event.decode(data)
                if is_utf8(data):
                    if event.ph:
                        self._broken = False
                    if event.ph or counts:
                        found.append(_Found(at + begin, at + end, data, None))
                    return bool(event.ph)
                damaged_at = begin
            except (msgspec.MsgspecError, RecursionError) as error:
                damaged_at = begin + (damaged_byte(error) or 0)
        mended = mend(data) if damaged_at is not None and len(data) <= _MOST_MENDED else None
        if mended is None and counts:
            batch.set_aside.append(at + (begin if damaged_at is None else damaged_at))
        elif mended is not None:
            found.append(_Found(at + begin, at + end, mended, at + (damaged_at or 0)))
        self._broken |= damaged_at is not None
        return mended is not None

    def _flush(self, batch: Batch, found: list[_Found], end: int) -> None:
        """Build the events found, all at once where that goes, else each for itself."""
        done = _build_found(found)
        if done is None:
            for one in found:
                single = _build_found([one])
                if single is None:
                    batch.set_aside.append(one.begin)
                else:
                    self._sink(single, one.end)
        else:
            done.set_aside = sorted(done.set_aside + batch.set_aside)
            done.repaired = sorted(done.repaired + batch.repaired)
            batch = done
        self._sink(batch, end)


def _built(block: bytes, offset: int) -> Batch:
    """The batch of a block whose bracket stands for the byte at `offset`."""
    begins, lengths = places(block)
    try:
        return build(block, begins + offset, lengths)
    except WrongPlacesError:
        begins, lengths = exact_places(block)
    return build(block, begins + offset, lengths)


def _build_found(found: list[_Found]) -> Batch | None:
    if not found:
        return Batch()
    begins = np.array([f.begin for f in found], dtype=np.int64)
    lengths = np.array([f.end - f.begin for f in found], dtype=np.int64)
    try:
        batch = build(listed([f.data for f in found]), begins, lengths)
    except (msgspec.MsgspecError, RecursionError):
        return None
    mended = {f.begin: f.damaged_at for f in found if f.damaged_at is not None}
    batch.repaired = sorted([*mended.values(), *(o for o in batch.repaired if o not in mended)])
    return batch


def next_event(data: bytes, at: int, stop: int | None = None) -> int | None:
    """Where the first undamaged object that has a phase begins, from `at` on and before `stop`."""
    view = memoryview(data)
    found = _OBJECT.finditer(data, at, len(data) if stop is None else stop)
    for match in itertools.islice(found, 1_000):
        end, _ = _value_end(data, view, match.start(), deep=False)
        if end is not None:
            with suppress(msgspec.MsgspecError, RecursionError):
                if _event.decode(view[match.start() : end]).ph:
                    return match.start()
    return None


def _value_end(data: bytes, view: memoryview, here: int, deep: bool = True) -> tuple[int | None, int | None]:
    """(end, None) of a well-formed value at `here`; (None, place) of damage; (None, None): it goes on.

    Without `deep` a value deeper than the decoder goes counts as damaged.
    """
    size = _LOOK
    while True:
        piece = view[here : here + size]
        complete = here + size >= len(data)
        try:
            _value.decode(piece)
            return here + len(piece), None
        except RecursionError:
            if not deep:
                return None, here
            ends = elements(data[here:])[1]
            return (here + int(ends[0]), None) if len(ends) else (None, None)
        except msgspec.DecodeError as error:
            place = damaged_byte(error)
            if place is not None and "trailing characters" in str(error):
                # The verdict counts up to the first byte that does not belong; blanks before it are no
                # part either.
                return here + len(data[here : here + place - 1].rstrip()), None
            if place is not None:
                return None, here + place
            if complete:
                return None, None
        size *= 8
