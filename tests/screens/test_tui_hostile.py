"""Names that attack the terminal: shown as they are, on every screen, with no effect."""

from pathlib import Path

import pytest

from tests.screens.driving import opened, press, seen
from tests.traces import launched, op, steps, write

NAMES = [
    "[/red] closing",
    "open [b",
    "[@click=app.quit]x[/]",
    "\x1b[31mred\x1b[0m\x07",
    "a|b`c`<T>",
    "核\u202e函",
    "X" * 10_000,
]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Each name as a kernel, an op, a type and a shape; the step has one too."""
    events = [*steps(0, dur=1000)]
    for number, name in enumerate(NAMES):
        at = 10 + 100 * number
        events.append(op(name, at, 50, dims=[[name]], types=[name], **{"Concrete Inputs": [name]}))
        events += launched(name, at + 1, at + 60, 10 + number, number + 1)
    return write(
        tmp_path, *events, name="[red]\x1b[5mtrace.json", deviceProperties=[{"id": 0, "name": "[/x]\x1b[2J"}]
    )


async def test_every_screen_shows_hostile_names_harmlessly(hostile: Path) -> None:
    async with opened(hostile) as pilot:
        texts = [seen(pilot)]
        await press(pilot, "enter", "right", "right")
        texts += [await press(pilot, "down") for _ in NAMES]
        texts.append(await press(pilot, "x"))
        texts.append(await press(pilot, "escape", "home", "down", "enter"))
        texts.append(await press(pilot, "enter"))
        texts += [await press(pilot, "right") for _ in NAMES]
        texts.append(await press(pilot, "enter"))
        texts.append(await press(pilot, "5"))
        texts.append(await press(pilot, "y", "question_mark"))
    for text in texts:
        assert not any((ord(char) < 32 and char != "\n") or ord(char) == 0x202E for char in text)
    whole = "\n".join(texts)
    assert "[/red] closing" in whole
    assert r"\x1b[31mred" in whole
