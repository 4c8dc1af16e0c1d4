"""Choosing a file with the keyboard: a folder's traces and folders, narrowed by what is typed."""

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from traceview.units import fmt_bytes, safe_text

_ENDINGS = (".json", ".json.gz", ".zip", ".zst", ".gz")
_MOST = 500
UP = ".."


def listed(folder: Path, text: str) -> list[Path]:
    """Files that may be traces, then folders, whose names hold `text` in any case; at most a few hundred.

    Raises OSError where the folder cannot be read.
    """
    wanted = text.lower()
    entries = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    found = [path for path in entries if wanted in path.name.lower() and not path.name.startswith(".")]
    folders = [path for path in found if path.is_dir()]
    files = [path for path in found if path.name.lower().endswith(_ENDINGS) and path.is_file()]
    return [*files, *folders][:_MOST]


def split(folder: Path, typed: str) -> tuple[Path, str]:
    """Where a typed path leads from `folder`, and the part of a name at its end."""
    head, slash, name = typed.rpartition("/")
    if not slash and typed != "~":
        return folder, typed
    start = Path(f"{head}/" if slash else typed).expanduser()
    return (folder / start).resolve(), name


class Chooser(ModalScreen[Path | None]):
    """A line to type in, over the files that are meant; gives the chosen one, or None.

    Names off the disk are shown, and never put into the line: they may hold anything.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", show=False),
        Binding("up", "move('up')", "Up", show=False),
        Binding("down", "move('down')", "Down", show=False),
        Binding("tab", "enter_folder", "Into the folder", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    Chooser { align: center middle; background: $background 60%; }
    Chooser > .window { height: 80%; }
    Chooser Input, Chooser Input:focus { border: none; height: 1; padding: 0; background: $surface; }
    Chooser OptionList { height: 1fr; border: none; background: $surface; margin-top: 1; }
    Chooser .says { height: auto; color: $text-warning; }
    """

    def __init__(self, title: str, folder: Path, besides: Path) -> None:
        """Begins in `folder`; the file `besides` is not offered."""
        super().__init__()
        self._title = title
        self.folder = folder
        self._besides = besides
        self._shown: list[Path] = []

    def compose(self) -> ComposeResult:
        """A box with the line and the list."""
        with Vertical(classes="window") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("enter chooses, tab enters a folder, esc closes")
            yield Input(placeholder="part of a name, or a path")
            yield OptionList(markup=False)
            yield Static("", markup=False, classes="says")

    def on_mount(self) -> None:
        """The folder as it is."""
        self.query_one(Input).focus()
        self.narrow("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow while typing."""
        event.stop()
        self.narrow(event.value)

    def narrow(self, typed: str) -> None:
        """Show what `typed` means."""
        options = self.query_one(OptionList)
        options.clear_options()
        says = ""
        try:
            folder, part = split(self.folder, typed)
            self._shown = [path for path in listed(folder, part) if path != self._besides]
            if not part and folder.parent != folder:
                self._shown.append(folder.parent)
            says = "" if self._shown else f"nothing of that name in {folder}"
            options.add_options(Option(_line(path, folder)) for path in self._shown)
            options.highlighted = 0 if self._shown else None
        except (OSError, RuntimeError, ValueError) as error:  # no such folder, no such user, a zero byte
            self._shown = []
            says = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        where = split(self.folder, typed)[0] if not says else self.folder
        self.query_one(Static).update(safe_text(says or f"in {where}"))

    def action_move(self, way: str) -> None:
        """The list's cursor."""
        getattr(self.query_one(OptionList), f"action_cursor_{way}")()

    def action_enter_folder(self) -> None:
        """Into the folder under the cursor."""
        chosen = self.chosen
        if chosen is not None and chosen.is_dir():
            self.enter(chosen)
        else:
            self.app.bell()

    @property
    def chosen(self) -> Path | None:
        """What the cursor is on."""
        row = self.query_one(OptionList).highlighted
        return None if row is None else self._shown[row]

    def enter(self, folder: Path) -> None:
        """Show another folder."""
        self.folder = folder
        line = self.query_one(Input)
        with line.prevent(Input.Changed):
            line.value = ""
        self.narrow("")

    def choose(self, chosen: Path | None) -> None:
        """A folder is entered, a file is the answer."""
        if chosen is None:
            self.app.bell()
        elif chosen.is_dir():
            self.enter(chosen)
        else:
            self.dismiss(chosen)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The typed path where there is such a file, else what the cursor is on."""
        event.stop()
        typed = (self.folder / Path(event.value)).expanduser()
        self.choose(typed if event.value and _is_file(typed) else self.chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click, or enter in the list."""
        event.stop()
        self.choose(self._shown[event.option_index])

    def action_leave(self) -> None:
        """Without a choice."""
        self.dismiss(None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _line(path: Path, folder: Path) -> str:
    if path == folder.parent:
        return f"{UP}/"
    if path.is_dir():
        return safe_text(f"{path.name}/")
    return f"{safe_text(path.name)}  {fmt_bytes(path.stat().st_size)}"
