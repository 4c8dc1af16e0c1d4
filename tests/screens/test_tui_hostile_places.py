"""Names that attack the terminal, on the timeline, among the findings, in SQL and in a comparison."""

from pathlib import Path

import pytest

from tests.screens.driving import opened, press, seen, settled
from tests.screens.test_tui_hostile import NAMES, hostile
from traceview.tui.compare import Compare
from traceview.tui.timeline import TimelineLevel

__all__ = ["hostile"]


def harmless(texts: list[str]) -> str:
    """The texts together, none of which holds a control character or a bidirectional override."""
    for text in texts:
        assert not any((ord(char) < 32 and char != "\n") or ord(char) == 0x202E for char in text)
    return "\n".join(texts)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_timeline_and_findings(hostile: Path, size: tuple[int, int]) -> None:
    async with opened(hostile, size) as pilot:
        texts = [await press(pilot, "3")]
        screen = pilot.app.screen
        assert isinstance(screen, TimelineLevel)
        for row in range(len(NAMES)):
            screen.table().select_row_id(10 * row)  # a launch, then its op
            texts.append(await press(pilot, "plus"))
            screen.table().select_row_id(10 * row + 2)
            texts.append(await press(pilot, "enter"))
            texts.append(await press(pilot, "escape"))
        screen.table()._go(0, 100_000)
        texts.append(await press(pilot, "enter"))
        texts.append(await press(pilot, "escape", "4"))
        texts.append(await press(pilot, "x"))
    whole = harmless(texts)
    assert "[/red] closing" in whole
    assert r"\x1b[31mred" in whole


async def test_sql_and_comparison(hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "other.json").write_bytes(hostile.read_bytes().replace(b"closing", b"opening"))
    async with opened(hostile) as pilot:
        await press(pilot, "colon")
        texts = [await press(pilot, *'SELECT name AS "[/b]" FROM kernels', "enter"), await press(pilot, "x")]
        await press(pilot, "escape", "6")
        texts.append(await press(pilot, "o", *"other", "enter"))
        screen = pilot.app.screen
        assert isinstance(screen, Compare)
        while screen.is_reading:
            await pilot.pause(0.01)
        await settled(pilot)
        texts += [seen(pilot), await press(pilot, "i")]
        texts += [await press(pilot, "escape", "enter"), await press(pilot, "enter")]
    whole = harmless(texts)
    assert "[/red] opening" in whole
    assert "[/b]" in whole
