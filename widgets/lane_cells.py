"""One lane of the timeline as cells: two bins a cell, shaded by how busy, and names where there is room."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from traceview.palette import THEMES, Colour, family_mark
from traceview.units import cell_width, shorten
from traceview.widgets.look import rich_color
from traceview.widgets.viewport import Ints, Lane, View, bin_edges, binned

SHADES = 4
NAMED = 7  # cells from which an event carries its name
MANY = 4_000  # events in sight beyond which none can be wide enough to be worth looking for
RGB = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Paint:
    """What the terminal can show. `background` is None where shades cannot be mixed: 16 colours or none."""

    theme: str
    color: bool
    background: RGB | None
    families: tuple[str, ...]  # of the colour numbers

    @property
    def bins_a_cell(self) -> int:
        """Half blocks need two colours in a cell."""
        return 1 if self.background is None else 2


def lane_segments(
    lane: Lane, view: View, columns: int, paint: Paint, base: Style, name_of: Callable[[int], str] | None
) -> list[Segment]:
    """`columns` cells of one lane. `name_of` gives the name of an event by its place in the lane."""
    busy, colour = binned(lane, bin_edges(view, columns * paint.bins_a_cell))
    # 0 is empty, else colour and shade: the few distinct codes keep the styles few.
    shade = np.clip(np.ceil(busy * SHADES), 1, SHADES).astype(np.int64)
    codes = np.where(colour < 0, 0, colour * SHADES + shade)
    if paint.background is None:
        texts, styles = _letters(codes, paint, base)
    else:
        texts, styles = _half_blocks(codes.reshape(-1, 2), paint, base)
    if name_of is not None:
        _write_names(texts, styles, lane, view, paint, base, name_of)
    return _joined(texts, styles)


def _joined(texts: list[str], styles: list[Style]) -> list[Segment]:
    segments: list[Segment] = []
    start = 0
    for place in range(1, len(texts) + 1):
        if place == len(texts) or styles[place] is not styles[start]:
            segments.append(Segment("".join(texts[start:place]), styles[start]))
            start = place
    return segments


def _half_blocks(pairs: Ints, paint: Paint, base: Style) -> tuple[list[str], list[Style]]:
    texts: list[str] = []
    styles: list[Style] = []
    for left, right in pairs.tolist():
        if left == right:
            texts.append(" ")
            styles.append(base if not left else _on(_shaded(left, paint), base))
        else:
            texts.append("▌")
            styles.append(_over(_shaded(left, paint), _shaded(right, paint), base))
    _mark_runs(texts, styles, pairs, paint, base)
    return texts, styles


def _mark_runs(texts: list[str], styles: list[Style], pairs: Ints, paint: Paint, base: Style) -> None:
    """The family's letter in the middle of a run of one family, so that colour is not all that tells it."""
    family = np.where((pairs > 0).all(axis=1), (pairs[:, 0] - 1) // SHADES, -1)
    family[(pairs[:, 0] - 1) // SHADES != (pairs[:, 1] - 1) // SHADES] = -1
    starts = np.flatnonzero(np.diff(family, prepend=-2))
    for start, end in zip(starts, [*starts[1:], len(family)], strict=True):
        middle = int(start + (end - start) // 2)
        if family[start] >= 0 and end - start >= 3 and pairs[middle, 0] == pairs[middle, 1]:
            texts[middle] = family_mark(paint.families[family[start]]).letter
            shown = _shaded(int(pairs[middle, 0]), paint)
            styles[middle] = _over(rich_color(THEMES[paint.theme].on_family), shown, base)


def _letters(codes: Ints, paint: Paint, base: Style) -> tuple[list[str], list[Style]]:
    """Without shades: a capital where a bin is at least half busy, else a small letter."""
    texts: list[str] = []
    styles: list[Style] = []
    for code in codes.tolist():
        if not code:
            texts.append(" ")
            styles.append(base)
            continue
        mark = family_mark(paint.families[(code - 1) // SHADES], paint.theme)
        full = (code - 1) % SHADES >= SHADES // 2
        texts.append(mark.letter if full else mark.letter.lower())
        if not paint.color:
            styles.append(base)
        elif full:
            styles.append(_over(rich_color(THEMES[paint.theme].on_family), rich_color(mark.colour), base))
        else:
            styles.append(_in(rich_color(mark.colour), base))
    return texts, styles


def _write_names(
    texts: list[str],
    styles: list[Style],
    lane: Lane,
    view: View,
    paint: Paint,
    base: Style,
    name_of: Callable[[int], str],
) -> None:
    columns = len(texts)
    first = int(np.searchsorted(lane.latest, view.begin, side="right"))
    last = int(np.searchsorted(lane.begin, view.end))
    if last - first > MANY:
        return
    begin = np.maximum(lane.begin[first:last], view.begin)
    end = np.minimum(lane.end[first:last], view.end)
    for event in np.flatnonzero((end - begin) * columns >= NAMED * view.span).tolist():
        # Whole cells only, one left free at the right so that neighbours stay apart.
        left = -((view.begin - int(begin[event])) * columns // view.span)
        right = (int(end[event]) - view.begin) * columns // view.span - 1
        name = shorten(name_of(first + event), right - left)
        mark = family_mark(paint.families[int(lane.colour[first + event])], paint.theme)
        style = base
        if paint.color:
            style = _over(rich_color(THEMES[paint.theme].on_family), rich_color(mark.colour), base)
        place = left
        for char in name:
            wide = cell_width(char)
            if wide and place + wide <= right:
                texts[place : place + wide] = [char, *[""] * (wide - 1)]
                styles[place : place + wide] = [style] * wide
                place += wide


@lru_cache(maxsize=4096)
def _shaded(code: int, paint: Paint) -> Color:
    background = paint.background or (0, 0, 0)
    if not code:
        return Color.from_rgb(*background)
    colour: Colour = family_mark(paint.families[(code - 1) // SHADES], paint.theme).colour
    assert isinstance(colour, tuple)  # shades are mixed in the RGB themes only
    part = (0.4, 0.6, 0.8, 1.0)[(code - 1) % SHADES]
    return Color.from_rgb(*(b + (c - b) * part for c, b in zip(colour, background, strict=True)))


@lru_cache(maxsize=8192)
def _over(foreground: Color, background: Color, base: Style) -> Style:
    return base + Style(color=foreground, bgcolor=background)


@lru_cache(maxsize=4096)
def _on(background: Color, base: Style) -> Style:
    return base + Style(bgcolor=background)


@lru_cache(maxsize=256)
def _in(foreground: Color, base: Style) -> Style:
    return base + Style(color=foreground)
