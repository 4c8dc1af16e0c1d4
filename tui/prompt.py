"""The line in which a filter, or something else, is typed."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static


class Prompt(Horizontal):
    """A one-line prompt at the bottom of a screen: hidden until it is opened."""

    DEFAULT_CSS = """
    Prompt {
        height: 1;
        dock: bottom;
        offset-y: -1;
        display: none;
        background: $surface;
        & > Static { width: auto; padding: 0 1; color: $text-accent; text-style: bold; }
        & > Input, & > Input:focus { width: 1fr; border: none; height: 1; padding: 0; background: $surface; }
        & > .says { color: $text-warning; text-style: none; }
        &.-open { display: block; }
    }
    """

    class Changed(Message):
        """Another text was typed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """Enter keeps the text, escape takes it back."""

        def __init__(self, kept: bool) -> None:
            super().__init__()
            self.kept = kept

    def __init__(self, hint: str, sign: str = "/") -> None:
        super().__init__()
        self._hint = hint
        self._sign = sign

    def compose(self) -> ComposeResult:
        """A sign, what is typed, and what is wrong with it."""
        yield Static(self._sign, markup=False)
        yield Input(placeholder=self._hint, select_on_focus=False)
        yield Static("", markup=False, classes="says")

    @property
    def text(self) -> str:
        """What has been typed."""
        return self.query_one(Input).value

    def open(self) -> None:
        """Show it and give it the keys; the text of last time is still there."""
        self.add_class("-open")
        self.query_one(Input).focus()

    def close(self, kept: bool) -> None:
        """Hide it."""
        self.remove_class("-open")
        if not kept:
            self.clear()
        self.post_message(self.Closed(kept))

    def clear(self) -> None:
        """Forget the text, without a message."""
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""
        self.say("")

    def say(self, text: str) -> None:
        """What is wrong with the text, beside it."""
        self.query_one(".says", Static).update(text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Each key filters anew."""
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter keeps the filter."""
        event.stop()
        self.close(kept=True)

    def on_key(self, event: events.Key) -> None:
        """Escape takes the filter back."""
        if event.key == "escape":
            event.stop()
            self.close(kept=False)
