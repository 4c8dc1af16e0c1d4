"""The screens before a trace is open: choosing one of a folder, reading, and what went wrong."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from traceview.tui.bars import KeyBar
from traceview.tui.commands import EVERYWHERE, Command, bindings
from traceview.tui.messages import Advanced
from traceview.tui.so_far import SoFarView
from traceview.units import fmt_bytes, safe_text
from traceview.widgets.load_progress import LoadProgress, Reading


class Opening(Screen[None]):
    """A screen without a trace: `esc` leaves it."""

    HAS: ClassVar[tuple[Command, ...]] = (Command("leave", "Leave", "escape,backspace", "esc", "leave"),)
    BINDINGS = bindings(HAS)

    class Left(Message):
        """The person wants to be elsewhere."""

    def action_leave(self) -> None:
        """The app knows where that is."""
        self.post_message(self.Left())


class Loading(Opening):
    """How far the file has been read, and what it tells so far. Every key works."""

    HAS = (
        Command("stop", "Stop reading, open what has come", "escape", "esc", "open what has come"),
        Command("leave", "Leave", "backspace"),
    )
    BINDINGS = bindings(HAS)
    MOST_KINDS = 6

    class Stopped(Message):
        """The person wants to see what has come."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._since = monotonic()
        self._last = Reading(path.name, bytes_total=_size(path))

    def compose(self) -> ComposeResult:
        """Progress, and under it what the file tells so far."""
        with Vertical(id="opening", classes="-reading"):
            yield LoadProgress()
            yield SoFarView()
        yield KeyBar([*self.HAS, *EVERYWHERE])

    def on_mount(self) -> None:
        """Something to see at once."""
        self.query_one(LoadProgress).show(self._last)

    def advance(self, message: Advanced) -> None:
        """A later moment."""
        progress = message.progress
        kinds = sorted(progress.kinds.items(), key=lambda kind: -kind[1])
        self._last = Reading(
            self._path.name,
            progress.done_bytes,
            progress.total_bytes or None,
            monotonic() - self._since,
            progress.events,
            found=dict(kinds[: self.MOST_KINDS]),
        )
        self.query_one(LoadProgress).show(self._last)
        self.query_one(SoFarView).show(message.so_far)

    def action_stop(self) -> None:
        """The first time ask for what has come, the second time leave."""
        if self._last.stage == "stopping":
            self.action_leave()
            return
        self._last = replace(self._last, stage="stopping")
        self.query_one(LoadProgress).show(self._last)
        self.post_message(self.Stopped())

    def link(self) -> None:
        """All is read."""
        last = self._last
        total = last.bytes_total or last.bytes_read
        self.query_one(LoadProgress).show(
            Reading(
                "kernels to their launches, ops and steps",
                total,
                total,
                monotonic() - self._since,
                last.events,
                found=last.found,
                stage="linking",
            )
        )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size or None
    except OSError:
        return None


class Problem(Opening):
    """One plain line in place of a trace."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """The line."""
        with Vertical(id="opening"):
            yield Static("This cannot be opened", markup=False, classes="title")
            yield Static(safe_text(self._text), markup=False, id="problem")
        yield KeyBar([*self.HAS, *EVERYWHERE])


class Picker(Opening):
    """The traces of a folder."""

    HAS = (Command("choose", "Open this trace", "", "enter", "open"), *Opening.HAS)

    class Chosen(Message):
        """This one."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__()
        self._paths = paths

    def compose(self) -> ComposeResult:
        """A list."""
        with Vertical(id="opening"):
            yield Static(
                f"{len(self._paths)} traces in {safe_text(str(self._paths[0].parent))}: which one?",
                markup=False,
                classes="title",
            )
            yield OptionList(*(Option(_line(path)) for path in self._paths), markup=False)
        yield KeyBar([*self.HAS, *EVERYWHERE])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open it."""
        event.stop()
        self.post_message(self.Chosen(self._paths[event.option_index]))

    def action_choose(self) -> None:
        """What enter does."""
        self.query_one(OptionList).action_select()


def _line(path: Path) -> str:
    size = _size(path)
    return f"{safe_text(path.name)}  {'' if size is None else fmt_bytes(size)}"
