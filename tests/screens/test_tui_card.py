"""The launch card: the arithmetic behind its figures, the file's own events, and what can be typed in."""

from pathlib import Path

import pytest

from tests.screens.driving import opened, press, seen
from tests.traces import Event, launched, op, steps, write
from traceview.tui.card import Card
from traceview.tui.kernels import Kernels

CAST = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(X)::"
    "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>, 4, Y>(int)"
)
H100 = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]
TALL = (120, 130)
SIZE = 1 << 24
GRID = (SIZE // 512, 1, 1)


def copied(folder: Path, dims: object, types: object) -> Path:
    """One cast of 16,777,216 elements; its step ends before it does."""
    events: list[Event] = [
        *steps(0, dur=100),
        op("aten::copy_", 0, 20, dims=dims, types=types, **{"Sequence number": 5}),
        *launched(CAST, 5, 90, 20, 1, grid=GRID, note="[/red] of the file"),
    ]
    return write(folder, *events, deviceProperties=H100)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return copied(tmp_path, [[SIZE], [SIZE]], ["c10::BFloat16", "c10::Float8_e4m3fn"])


@pytest.fixture
def silent(tmp_path: Path) -> Path:
    return copied(tmp_path, None, None)


async def test_the_floor_is_worked_out_as_on_paper(recorded: Path) -> None:
    async with opened(recorded, TALL) as pilot:
        text = await press(pilot, "enter", "enter", "enter")
        assert "read 16,777,216 x 1 B (float8_e4m3fn) = 16,777,216 B" in text
        assert "grid 32,768 x 128 x 4 = 16,777,216, equal to the shapes" in text
        assert "memory floor = 50,331,648 B / 3,350 GB/s = 15,024 ns" in text
        assert "peak bandwidth 3,350 GB/s:" in text
        assert "begins or ends outside of the step's window" in text
        assert "ncu --set full" in text


async def test_the_files_own_events_come_when_asked_for(recorded: Path) -> None:
    async with opened(recorded, TALL) as pilot:
        text = await press(pilot, "enter", "enter", "enter")
        assert "reads this launch's events back from the file" in text
        assert "[/red] of the file" not in text
        text = await press(pilot, "r")
        assert '"[/red] of the file"' in text
        assert "Sequence number" in text
        assert "reads this launch's events" not in text


async def test_a_file_that_is_gone_is_said_in_place_of_its_events(recorded: Path) -> None:
    async with opened(recorded, TALL) as pilot:
        await press(pilot, "enter", "enter", "enter")
        recorded.unlink()
        text = await press(pilot, "r")
        assert "not there" in text
        assert "trace.json" in text


async def test_what_is_typed_in_gives_a_floor_that_is_marked_everywhere(silent: Path) -> None:
    async with opened(silent, (200, 60)) as pilot:
        text = await press(pilot, "enter", "enter", "enter", "a", *"types=bf16 fp8")
        assert "types: fp8 is not one" in text
        await press(pilot, "escape", "a")
        text = await press(pilot, *f"[{SIZE}] [{SIZE}] types=bf16 float8_e4m3fn", "enter")
        card = pilot.app.screen
        assert isinstance(card, Card)
        assert card.card["launch"]["bytes_from"] == "assumed"
        assert "memory floor = 50,331,648 B / 3,350 GB/s = 15,024 ns" in text
        assert "≈ rests on what was typed in" in text
        assert "≈15.0 us" in await press(pilot, "escape")
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, Kernels)
        assert "≈1.3x" in seen(pilot)


async def test_an_empty_line_takes_it_back(silent: Path) -> None:
    async with opened(silent, TALL) as pilot:
        before = await press(pilot, "enter", "enter", "enter")
        await press(pilot, "a", *f"[{SIZE}] [{SIZE}]", "enter")
        assert seen(pilot) != before
        assert await press(pilot, "a", "enter") == before


async def test_what_the_file_says_is_not_assumed_away(recorded: Path) -> None:
    async with opened(recorded, TALL) as pilot:
        text = await press(pilot, "enter", "enter", "enter", "a", *"[7]")
        assert "dims: the file has them, nothing to assume" in text
