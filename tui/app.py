"""The terminal app: opens a trace, then holds the stack of screens that leads down into it."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App, SystemCommand
from textual.screen import Screen

from traceview.errors import TraceError
from traceview.stderr import python_only
from traceview.tui import messages
from traceview.tui.commands import EVERYWHERE, bindings
from traceview.tui.loader import NO_WISH, STOPPED, Loader, Reading, Wish
from traceview.tui.opening import Loading, Opening, Picker, Problem
from traceview.tui.palette import Commands
from traceview.tui.themes import THEMES

if TYPE_CHECKING:
    from traceview.tui.among import Among
    from traceview.tui.level import Level
    from traceview.tui.state import State, TreePath


def run(
    path: str,
    steps: str | None = None,
    phase: str | None = None,
    device: int | None = None,
    reading: Reading = dict,
) -> int:
    """Open the terminal UI on a trace, or on a folder of them, until the person quits; the exit code.

    steps, phase and device select as the command line's options do; `reading` makes the keywords for
    api.open_session (step_marker, overrides, model, use_cache) once the first screen is there. Raises
    TraceError for a path that is not there and for a folder without a trace.
    """
    for stream in (sys.__stdout__, sys.__stderr__):
        # The screen is drawn on standard error: a locale without box characters would spell them out.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    paths = paths_of(Path(path))
    with python_only():  # or a library's words would lie over the screen
        app = TraceApp(paths, Wish(steps, phase, device), reading)
        return app.run() or app.exit_code


def paths_of(place: Path) -> list[Path]:
    """The traces that a path means. Raises TraceError where there are none."""
    if not place.exists():
        raise TraceError(f"{place}: no such file")
    if not place.is_dir():
        return [place]
    from traceview.api import find_trace, traces_in

    return traces_in(place) or [find_trace(place)]


class TraceApp(App[int]):
    """Loading, then Steps > Kernels > Launches > Card as a stack of screens, with Trust beside them."""

    TITLE = "traceview"
    CSS_PATH = "traceview.tcss"
    COMMANDS = App.COMMANDS | {Commands}
    BINDINGS = bindings(EVERYWHERE)

    def __init__(self, paths: Sequence[Path], wish: Wish = NO_WISH, reading: Reading = dict) -> None:
        super().__init__()
        self.paths = paths
        self.wish = wish
        self.reading = reading
        self.exit_code = 0
        self.state: State | None = None
        self._loader: Loader | None = None
        for theme in THEMES:
            self.register_theme(theme)
        # Terminals that say which colours they use end with the background's: 7 and 15 are the whites.
        light = os.environ.get("COLORFGBG", "").rsplit(";", 1)[-1] in ("7", "15")
        self.theme = THEMES[light].name

    def on_mount(self) -> None:
        """Read the only trace, or ask which one."""
        if len(self.paths) == 1:
            self.open(self.paths[0])
        else:
            self.push_screen(Picker(self.paths))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Of Textual's own commands only what is not ours in other words."""
        yield SystemCommand("Theme", "Other colours, dark or light", self.action_change_theme)

    # --- opening -------------------------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        """Read a trace beside the interface, once its first frame is drawn."""
        self._loader = Loader(path, self.post_message, self.reading, self.wish)
        self.push_screen(loading := Loading(path))
        loading.call_after_refresh(self._loader.start)

    def on_picker_chosen(self, message: Picker.Chosen) -> None:
        """One trace of the folder."""
        self.open(message.path)

    def on_advanced(self, message: messages.Advanced) -> None:
        """More has been read."""
        if isinstance(self.screen, Loading):
            self.screen.advance(message)

    def on_loading_stopped(self, message: Loading.Stopped) -> None:
        """What has come is enough."""
        if self._loader is not None:
            self._loader.stop()

    def on_nothing_came(self, message: messages.NothingCame) -> None:
        """Nothing to show."""
        if isinstance(self.screen, Loading):
            self.screen.action_leave()

    def on_linking(self, message: messages.Linking) -> None:
        """All has been read."""
        if isinstance(self.screen, Loading):
            self.screen.link()

    def on_load_failed(self, message: messages.LoadFailed) -> None:
        """It cannot be read."""
        self.exit_code = message.exit_code
        self._in_place_of_loading(Problem(message.text))

    def on_loaded(self, message: messages.Loaded) -> None:
        """The first screen of the trace."""
        from traceview.tui.host import Host
        from traceview.tui.state import State
        from traceview.tui.steps import Steps

        self.exit_code = 0
        self.state = State(message.session, message.selection)
        first = Steps if message.session.work.height else Host
        self._in_place_of_loading(first(self.state))
        for notice in self.state.session.trace.notices:
            if notice.code == STOPPED:
                self.notify(notice.message, severity="warning", timeout=8, markup=False)

    def _in_place_of_loading(self, screen: Screen[Any]) -> None:
        # A help window may lie over the loading.
        while not isinstance(self.screen, Loading):
            self.pop_screen()
        self.switch_screen(screen)

    def on_opening_left(self, message: Opening.Left) -> None:
        """Back to the list of traces, or out."""
        if self._loader is not None:
            self._loader.cancel()
        if len(self.paths) > 1 and not isinstance(self.screen, Picker):
            self.exit_code = 0
            self.pop_screen()
        else:
            self.exit(self.exit_code)

    async def action_quit(self) -> None:
        """Out at once; the reading thread is not waited for."""
        if self._loader is not None:
            self._loader.cancel()
        self.exit(self.exit_code)

    # --- the way down --------------------------------------------------------------------------------------

    @property
    def levels(self) -> list["Level"]:
        """The screens of the trace, the uppermost last."""
        from traceview.tui.level import Level

        return [screen for screen in self.screen_stack if isinstance(screen, Level)]

    def go(self, place: int, fresh: bool = False) -> None:
        """To the screen with this number: back to it where it is above us, else down from the first one.

        With `fresh` a new one is made in any case.
        """
        from traceview.tui.places import NEED_GPU_WORK, SCREENS

        if self.state is None:
            return
        made = SCREENS.get(place)
        levels = self.levels
        wanted = levels[0] if made is None else next((s for s in levels if isinstance(s, made)), None)
        if wanted is not None and not fresh:
            self._back_to(wanted)
        elif made is not None and (place not in NEED_GPU_WORK or self.state.session.work.height):
            if place == 2:
                self._back_to(levels[0])
            self.push_screen(made(self.state))
        else:
            self.notify("No GPU work in this file, so no kernels", severity="warning", markup=False)

    def _back_to(self, level: "Level") -> None:
        while self.screen is not level:
            self.pop_screen()

    def show_launches(self, keys: "TreePath", names: Sequence[str], row: dict[str, Any]) -> None:
        """The launches below a row of the kernel tree."""
        from traceview.tui.launches import Launches

        if self.state is not None:
            self.push_screen(Launches(self.state, self.state.grouping, keys, names, row))

    def show_card(self, launch_id: int, among: "Among") -> None:
        """One launch."""
        from traceview.tui.card import Card

        if self.state is not None:
            self.push_screen(Card(self.state, launch_id, among))

    def action_help(self) -> None:
        """What the keys do here."""
        from traceview.tui.help import Help

        self.push_screen(Help(self.screen, getattr(self.screen, "HAS", ())))
