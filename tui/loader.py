"""Reads a trace beside the interface, in a thread that the person can leave at any moment."""

import gc
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual.message import Message

from traceview.errors import Cancelled, TraceError
from traceview.tui.messages import Advanced, Linking, Loaded, LoadFailed, NothingCame
from traceview.tui.so_far import SoFar, header_facts, look
from traceview.units import fmt_bytes, fmt_percent

if TYPE_CHECKING:
    from traceview.api import Progress, Selection, Session
    from traceview.trace import Trace

LOOK_EVERY = 0.5  # seconds between two looks at what has been read
LOOK_PART = 8  # a look waits for this many times what the last one took, so that reading is hardly slower

STOPPED = "stopped"  # the notice of a trace that was not read to its end

Reading = Callable[[], Mapping[str, Any]]  # makes keywords of api.open_session


@dataclass(frozen=True)
class Wish:
    """What to select when the trace is open: the command line's words."""

    steps: str | None = None
    phase: str | None = None
    device: int | None = None

    def selection(self, session: "Session") -> "Selection":
        """The selection of these words. Raises TraceError where they name no step."""
        from traceview.selection import Selection, parse_steps

        steps = None if self.steps is None else parse_steps(self.steps, session.step_names)
        return Selection(steps, self.phase, self.device)


NO_WISH = Wish()


class Loader:
    """One reading of one file. Posts Advanced, Linking and then Loaded or LoadFailed; nothing once cancelled.

    The thread is a daemon: quitting never waits for it.
    """

    def __init__(
        self,
        path: Path,
        post: Callable[[Message], bool],
        reading: Reading = dict,
        wish: Wish = NO_WISH,
    ) -> None:
        """`reading` is asked in the thread: what it makes may take time, and may fail."""
        self.path = path
        self._post = post
        self._reading = reading
        self._wish = wish
        self._last: Progress | None = None
        self._so_far = SoFar()
        self._next_look = 0.0
        self._silent = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="traceview-loader", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Stop at the next chance and open what came; NothingCame where that is nothing."""
        self._stop.set()

    def cancel(self) -> None:
        """Stop at the next chance, and say nothing more."""
        self._silent = True
        self._stop.set()

    def _run(self) -> None:
        try:
            session = self._load()
            loaded = Loaded(session, self._wish.selection(session))
        except Cancelled:
            return
        except TraceError as error:
            self._tell(LoadFailed(error.message, error.exit_code))
        except MemoryError:
            self._tell(LoadFailed(f"{self.path}: does not fit into the memory of this machine", 3))
        except Exception as error:  # whatever a file provokes must reach the screen, not die with the thread
            self._tell(LoadFailed(f"{self.path}: cannot be shown ({type(error).__name__}: {error})", 3))
        else:
            self._tell(loaded)
            with suppress(Exception):  # what fails here is told when it is asked for
                look_ahead(session)

    def _load(self) -> "Session":
        # Imported here, so that the first screen is drawn before polars is there.
        from traceview.api import open_session

        # The cyclic collector walks all that is being read, again and again, and finds nothing.
        gc.unfreeze()
        gc.disable()
        try:
            reading = self._reading()

            def report(progress: "Progress") -> None:
                self._progress(progress, reading)

            try:
                session = open_session(self.path, report, self._stop.is_set, **reading)
            except Cancelled:
                session = self._what_came(reading)
            self._tell(Linking())
            warm_up(session)
        finally:
            gc.enable()
        # What was read lives as long as the app: without this a collection now and then costs several frames.
        gc.collect()
        gc.freeze()
        return session

    def _what_came(self, reading: Mapping[str, Any]) -> "Session":
        """A session of what was read before the person stopped it. Raises Cancelled where that is nothing."""
        from traceview.api import Session

        last = self._last
        trace = None if last is None or self._silent else last.partial()
        if last is None or trace is None:
            self._tell(NothingCame())
            raise Cancelled
        kept = {name: value for name, value in reading.items() if name != "use_cache"}
        return Session(stopped(trace, last), **kept)

    def _progress(self, progress: "Progress", reading: Mapping[str, Any]) -> None:
        first, self._last = self._last is None, progress
        begin = monotonic()
        if begin >= self._next_look:
            trace = progress.partial()
            if trace is not None and first:  # at once, without the time that a look takes
                self._so_far = SoFar(header_facts(trace))
                self._tell(Advanced(progress, self._so_far))
            if trace is not None:
                self._so_far = look(trace, reading)
            end = monotonic()
            self._next_look = end + max(LOOK_EVERY, LOOK_PART * (end - begin))
        self._tell(Advanced(progress, self._so_far))

    def _tell(self, message: Message) -> None:
        if not self._silent:
            self._post(message)


def stopped(trace: "Trace", progress: "Progress") -> "Trace":
    """A partial trace that says so."""
    from traceview.trace import Notice

    part = fmt_bytes(progress.done_bytes)
    if progress.total_bytes:
        part = f"{fmt_percent(progress.done_bytes / progress.total_bytes)} of the file"
    said = f"reading was stopped after {part}: everything here is of that part"
    return replace(trace, notices=(*trace.notices, Notice(STOPPED, progress.events, said)))


def warm_up(session: "Session") -> None:
    """Asks what the first screens will ask, and imports what they draw with."""
    from traceview import charts
    from traceview.tui import card, host, places, steps  # noqa: F401

    charts.share_bars(["warm"], [1.0], ["up"], 20, 1)
    session.notices  # noqa: B018  (kept by the session once asked for)
    session.layers  # noqa: B018
    session.steps()


def look_ahead(session: "Session") -> None:
    """Asks, while the person reads the first screen, what later ones will ask: its links are kept."""
    if session.work.height:
        session.card(int(session.work["id"][0]))
    session.check()
