"""Driving the app in tests: open a trace, press keys, read what is on the screen."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from textual.message import Message
from textual.pilot import Pilot

from traceview.tui.app import TraceApp, paths_of
from traceview.tui.opening import Loading

Kind = TypeVar("Kind", bound=Message)


@asynccontextmanager
async def opened(path: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[int]]:
    """The app with the trace loaded and its first screen drawn."""
    async with TraceApp(paths_of(path)).run_test(size=size) as pilot:
        await loaded(pilot)
        yield pilot


async def loaded(pilot: Pilot[int]) -> None:
    """Waits until the reading is over."""
    while isinstance(pilot.app.screen, Loading):
        await pilot.pause(0.01)
    await settled(pilot)


async def settled(pilot: Pilot[int]) -> None:
    """Waits for threads and for the screen."""
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def press(pilot: Pilot[int], *keys: str) -> str:
    """Presses keys and gives what is then on the screen."""
    await pilot.press(*keys)
    await settled(pilot)
    return seen(pilot)


def seen(pilot: Pilot[int]) -> str:
    """The screen as text, a line each."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


def place(pilot: Pilot[int]) -> str:
    """The breadcrumb."""
    return " > ".join(pilot.app.screen.query_one("Breadcrumb").parts)  # type: ignore[attr-defined]


def of_kind(told: Iterable[Message], kind: type[Kind]) -> list[Kind]:
    """The messages of one kind, in the order in which they came."""
    return [message for message in told if isinstance(message, kind)]
