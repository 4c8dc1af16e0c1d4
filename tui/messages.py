"""What the loader's thread tells the app."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from traceview.api import Progress, Selection, Session
    from traceview.tui.so_far import SoFar


class Advanced(Message):
    """How far the file has been read. A newer one replaces one that still waits."""

    def __init__(self, progress: "Progress", so_far: "SoFar") -> None:
        super().__init__()
        self.progress = progress
        self.so_far = so_far

    def can_replace(self, message: Message) -> bool:
        """Only the newest matters."""
        return isinstance(message, Advanced)


class Linking(Message):
    """The file is read; kernels are being linked to their launches, ops and steps."""


class Loaded(Message):
    """The trace is ready for questions."""

    def __init__(self, session: "Session", selection: "Selection") -> None:
        """selection: what the person asked for when starting."""
        super().__init__()
        self.session = session
        self.selection = selection


class NothingCame(Message):
    """Reading was stopped before there was anything to show."""


class LoadFailed(Message):
    """The trace cannot be read: one plain line, and the exit code that goes with it."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__()
        self.text = text
        self.exit_code = exit_code
