"""What can be done on a screen. One definition feeds its key, the footer, the palette and the help."""

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True)
class Command:
    """One thing that a person can ask for.

    `action` is Textual's action on the screen; `title` says what it does, in the palette and the help. `keys`
    are bound to it (none: the table below has the key, or only the palette leads here) and `key` is how they
    are written. A command with a `label` stands in the footer, as long as there is room. One that goes
    `first` takes its key even from the widget that has the keys.
    """

    action: str
    title: str
    keys: str = ""
    key: str = ""
    label: str = ""
    first: bool = False

    @property
    def key_text(self) -> str:
        """The key as it is written: `e`, `esc`, `[ ]`; empty where no key leads here."""
        return self.key or self.keys.split(",")[0]


def bindings(commands: Iterable[Command]) -> list[BindingType]:
    """Textual's bindings of the commands that have keys."""
    return [
        Binding(command.keys, command.action, command.title, show=False, priority=command.first)
        for command in commands
        if command.keys
    ]


EVERYWHERE = (
    Command("app.help", "What the keys do here", "question_mark", "?", "help"),
    Command("app.command_palette", "All commands", "", "ctrl+p"),
    Command("app.suspend_process", "Back to the shell, `fg` returns", "ctrl+z"),
    Command("app.quit", "Quit", "q", label="quit"),
)

BACK = Command("back", "Close the innermost thing, else up one level", "escape,backspace", "esc", "back")
GO = (
    Command("go(1)", "Steps: where does a step's time go", "1"),
    Command("go(2)", "Kernels of the selected steps", "2"),
    Command("go(3)", "Timeline: what ran when, and what the host did in the gaps", "3"),
    Command("go(4)", "Findings: what stands out, and what it could save", "4"),
    Command("go(5)", "Trust: what this trace can and cannot tell", "5"),
    Command("go(6)", "Compare: what changed against another trace", "6"),
    Command("go(0)", "SQL: ask the trace's tables anything", "colon", ":"),
)
FILTER = Command("filter", "Only rows with a text; launches also by an expression", "slash", "/", "filter")
MARK = Command("mark", "Mark or unmark the row", "", "space", "mark")
SORT = Command("sort", "Sort by the next column, S for the other way", "", "s", "sort")
EXPORT = Command("export", "Write the marked rows, or else this screen, as markdown", "e", label="export")
COPY = Command("copy", "Copy the row as markdown", "y", label="copy")
HEADLESS = Command("headless", "The command that prints this screen's numbers", "x")
CHART = Command("chart", "The chart on the whole screen", "c", label="chart")
PHASE = Command("phase", "Only steps of the next phase, after the last one all", "f", label="phase")
DEVICE = Command("device", "Only the next device, after the last one all")
STEP_BACK = Command("step(-1)", "Select the previous step", "left_square_bracket", "[")
STEP_ON = Command("step(1)", "Select the next step", "right_square_bracket", "]", "step")
ALL_STEPS = Command("all_steps", "Select all steps")
NOT_FIRST = Command("not_first", "Select all steps but the first")
NO_MARKS = Command("no_marks", "Remove all marks")
