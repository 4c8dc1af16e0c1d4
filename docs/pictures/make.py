"""Draws the pictures of docs/ with the program itself: the screens of the demo as SVG files, beside this one.

The files need nothing from elsewhere: text is set in whatever monospace font there is and stretched to its
cells, and block characters and lines are drawn as rectangles, so that they have no seams.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.color import blend_rgb
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME as THEME
from textual.pilot import Pilot
from textual.strip import Strip

from traceview.demo import save_demo
from traceview.tui.app import TraceApp
from traceview.tui.opening import Loading
from traceview.units import cell_width

HERE = Path(__file__).resolve().parent
TRACE = Path("demo-decode.pt.trace.json")
SIZE = (120, 40)
# The way through the screens: a picture's name, and the keys that lead to it from the one before.
WALK = {
    "steps": (),
    "kernels": ("enter",),
    "launches": ("enter",),
    "card": ("enter",),
    "timeline": ("1", "3"),
    "findings": ("4",),
    "trust": ("5",),
}
WIDE, HIGH, FONT, EDGE = 8.4, 18, 14, 10  # of a cell, the letters, and the margin
FAMILY = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
# Block characters as rectangles: left, top, width and height in parts of the cell.
LOWER = {char: (0, 1 - n / 8, 1, n / 8) for n, char in enumerate("▁▂▃▄▅▆▇█", 1)}
LEFT = {char: (0, 0, n / 8, 1) for n, char in enumerate("▏▎▍▌▋▊▉", 1)}
BLOCKS = {**LOWER, **LEFT, "▐": (0.5, 0, 0.5, 1), "▀": (0, 0, 1, 0.5)}
QUADRANTS = {"▘": "1000", "▝": "0100", "▖": "0010", "▗": "0001", "▚": "1001", "▞": "0110", "▙": "1011"}
QUADRANTS |= {"▛": "1110", "▜": "1101", "▟": "0111"}
# Lines as rectangles from the middle of the cell to its left, right, upper and lower edge.
ARMS = {"─": "lr", "│": "ud", "┤": "udl", "├": "udr", "┬": "lrd", "┴": "lru", "┼": "lrud"}
ARMS |= {"└": "ur", "┘": "ul", "┌": "dr", "┐": "dl", "╴": "l", "╶": "r", "╵": "u", "╷": "d"}
THIN_X, THIN_Y = 1 / WIDE, 1 / HIGH
EDGES = {
    "l": (0, 0.5 - THIN_Y / 2, 0.5, THIN_Y),
    "r": (0.5, 0.5 - THIN_Y / 2, 0.5, THIN_Y),
    "u": (0.5 - THIN_X / 2, 0, THIN_X, 0.5),
    "d": (0.5 - THIN_X / 2, 0.5, THIN_X, 0.5),
}


def main() -> None:
    """Draw all of them, in all colours whatever terminal this runs in."""
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    os.environ.pop("NO_COLOR", None)
    with TemporaryDirectory() as folder:
        os.chdir(folder)  # so that the path on the screens is the name alone
        save_demo(TRACE)
        found = asyncio.run(drawn(TRACE))
    for name, svg in found.items():
        path = HERE / f"{name}.svg"
        path.write_text(svg, encoding="utf-8")
        print(f"{path.name}: {len(svg.encode()) / 1e3:.0f} KB")


async def drawn(trace: Path) -> dict[str, str]:
    """The screens of WALK as SVG, by name."""
    found = {}
    async with TraceApp([trace], reading=lambda: {"use_cache": False}).run_test(size=SIZE) as pilot:
        while isinstance(pilot.app.screen, Loading):
            await pilot.pause(0.01)
        await settled(pilot)
        for name, keys in WALK.items():
            for key in keys:
                await pilot.press(key)
                await settled(pilot)
            found[name] = picture(pilot.app.screen._compositor.render_strips())
    return found


async def settled(pilot: Pilot[int]) -> None:
    """Wait for threads, for charts that follow the cursor, and for the screen."""
    for _ in range(2):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause(0.1)


def picture(strips: Iterable[Strip]) -> str:
    """Lines of a screen as one SVG."""
    lines = [*strips]
    width, height = SIZE[0] * WIDE + 2 * EDGE, SIZE[1] * HIGH + 2 * EDGE
    ground = colours(lines[1]._segments[0].style or Style())[1]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'font-family="{FAMILY}" font-size="{FONT}" xml:space="preserve">',
        "<style>.b { font-weight: bold } .i { font-style: italic }</style>",
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{ground}"/>',
    ]
    for row, line in enumerate(lines):
        parts += drawn_line(line, EDGE + row * HIGH, ground)
    return "\n".join([*parts, "</svg>\n"])


def drawn_line(line: Strip, top: float, ground: str) -> Iterator[str]:
    """Backgrounds and letters of one line."""
    left = 0
    for segment in Segment.simplify(line):
        text, style, _ = segment
        fore, back = colours(style or Style())
        cells = cell_width(text)
        if back != ground:
            yield rect(left, top, (0, 0, cells, 1), back)
        yield from letters(text, left, top, fore, style or Style())
        left += cells


def letters(text: str, left: int, top: float, fore: str, style: Style) -> Iterator[str]:
    """Runs of letters as text, each block or line, or run of equal ones, as rectangles."""
    run, at = "", left
    for char in f"{text}\0":
        whole = char in "█─" and set(run) == {char}
        if run and not whole and (char == "\0" or is_block(char) or is_block(run[0])):
            yield from shown(run, at, top, fore, style)
            run, at = "", at + cell_width(run)
        run += char


def is_block(char: str) -> bool:
    """Whether it is drawn as rectangles."""
    return char in BLOCKS or char in QUADRANTS or char in ARMS


def shown(run: str, left: int, top: float, fore: str, style: Style) -> Iterator[str]:
    """One run, at its cell."""
    if run[0] in BLOCKS:
        x, y, wide, high = BLOCKS[run[0]]
        yield rect(left, top, (x, y, wide * len(run), high), fore)
    elif run[0] in QUADRANTS:
        for n, there in enumerate(QUADRANTS[run[0]]):
            if there == "1":
                yield rect(left, top, (n % 2 / 2, n // 2 / 2, 0.5, 0.5), fore)
    elif set(run) == {"─"}:
        yield rect(left, top, (0, EDGES["l"][1], len(run), THIN_Y), fore)
    elif run[0] in ARMS:
        for arm in ARMS[run[0]]:
            yield rect(left, top, EDGES[arm], fore)
    elif stripped := run.strip():
        start = left + cell_width(run[: len(run) - len(run.lstrip())])
        kind = "".join(name for name, has in (("b", style.bold), ("i", style.italic)) if has)
        kinds = f' class="{" ".join(kind)}"' if kind else ""
        yield (
            f'<text x="{EDGE + start * WIDE:g}" y="{top + HIGH * 0.75:g}" fill="{fore}"{kinds} '
            f'textLength="{cell_width(stripped) * WIDE:g}" lengthAdjust="spacingAndGlyphs">'
            f"{escape(stripped, quote=False)}</text>"
        )


def rect(left: int, top: float, part: tuple[float, float, float, float], fill: str) -> str:
    """A rectangle, in parts of the cell at `left`."""
    x, y, wide, high = part
    return (
        f'<rect x="{EDGE + (left + x) * WIDE:g}" y="{top + y * HIGH:g}" width="{wide * WIDE:g}" '
        f'height="{high * HIGH:g}" fill="{fill}" shape-rendering="crispEdges"/>'
    )


def colours(style: Style) -> tuple[str, str]:
    """Foreground and background as they are seen."""
    fore = style.color.get_truecolor(THEME) if style.color else THEME.foreground_color
    back = style.bgcolor.get_truecolor(THEME, False) if style.bgcolor else THEME.background_color
    if style.reverse:
        fore, back = back, fore
    if style.dim:
        fore = blend_rgb(fore, back, 0.5)
    return fore.hex, back.hex


if __name__ == "__main__":
    main()
