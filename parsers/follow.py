"""A document read by ijson, for what stands around the events: where in it one is, and the facts passed by.

ijson reads any form of document piece by piece, and gives up at damage. It doesn't say at which byte a value
stands: so whoever asks cuts the text where it may be, and looks whether it is.
"""

from typing import Any

import ijson

_MAX_DEPTH = 64  # deeper values are no facts, and break whoever writes them out again
EVENTS = "traceEvents"


class FollowError(Exception):
    """The document is damaged, or holds what cannot be a fact."""


class Follower:
    """Follows one document from its beginning. `holders` are the objects and lists that are open."""

    def __init__(self) -> None:
        self._found = ijson.sendable_list()
        self._parser = ijson.basic_parse_coro(self._found)
        self._key: str | None = None
        self._passing: int | None = None  # depth of a list of events that is not the one looked for
        self.holders: list[Any] = []
        self.whole: Any = None  # the document as far as it is known
        self.ended = False
        self.in_events = False  # what was read last is the opening bracket of a list of events

    def feed(self, text: bytes) -> None:
        """Read on. Raises FollowError; then nothing more can be read."""
        if not text:  # ijson would take it for the end
            return
        try:
            self._parser.send(text)
            for event, value in self._found:
                self._take(event, value)
        except (ijson.JSONError, SystemError, ValueError) as error:  # SystemError: a number of 5,000 digits
            raise FollowError(str(error)) from None
        self._found.clear()

    def _take(self, event: str, value: Any) -> None:
        self.in_events = False
        if event == "map_key":
            self._key = value
        elif event in ("end_map", "end_array"):
            self.holders.pop()
            self.ended = not self.holders
            if self._passing == len(self.holders):
                self._passing = None
        elif event in ("start_map", "start_array"):
            self.in_events = event == "start_array" and self._key == EVENTS and self._passing is None
            opened: Any = {} if event == "start_map" else []
            self._add(opened)
            if self.in_events:
                self._passing = len(self.holders)
            self.holders.append(opened)
            self._key = None
            if len(self.holders) > _MAX_DEPTH:
                raise ValueError("too deep")
        else:
            self._add(float(value) if event == "number" and not isinstance(value, int) else value)

    def _add(self, value: Any) -> None:
        if value in (float("inf"), -float("inf")):
            raise ValueError("too large")
        if not self.holders:
            self.whole = value
        elif self._passing is None:
            holder = self.holders[-1]
            if isinstance(holder, list):
                holder.append(value)
            else:
                holder[self._key] = value
