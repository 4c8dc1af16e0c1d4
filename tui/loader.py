"""Reads a trace beside the interface, in a thread that the person can leave at any moment."""

import gc
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.message import Message

from traceview.errors import Cancelled, TraceError
from traceview.tui.messages import Advanced, Linking, Loaded, LoadFailed

if TYPE_CHECKING:
    from traceview.api import Progress, Selection, Session


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
        reading: Mapping[str, Any],
        wish: Wish = NO_WISH,
    ) -> None:
        """`reading` are keywords of api.open_session."""
        self.path = path
        self._post = post
        self._reading = reading
        self._wish = wish
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="traceview-loader", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def cancel(self) -> None:
        """Stop at the next chance, and say nothing more."""
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
            session = open_session(self.path, self._progress, self._stop.is_set, **self._reading)
            self._tell(Linking())
            warm_up(session)
        finally:
            gc.enable()
        # What was read lives as long as the app: without this a collection now and then costs several frames.
        gc.collect()
        gc.freeze()
        return session

    def _progress(self, progress: "Progress") -> None:
        self._tell(Advanced(progress))

    def _tell(self, message: Message) -> None:
        if not self._stop.is_set():
            self._post(message)


def warm_up(session: "Session") -> None:
    """Asks what the first screens will ask, and imports what they draw with."""
    from traceview import charts
    from traceview.tui import card, host, kernels, launches, steps, trust  # noqa: F401

    charts.share_bars(["warm"], [1.0], ["up"], 20, 1)
    session.notices  # noqa: B018  (kept by the session once asked for)
    session.layers  # noqa: B018
    session.steps()


def look_ahead(session: "Session") -> None:
    """Asks, while the person reads the first screen, what later ones will ask: its links are kept."""
    if session.work.height:
        session.card(int(session.work["id"][0]))
    session.check()
