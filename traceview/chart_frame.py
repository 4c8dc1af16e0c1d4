"""The parts of a chart that need no plotext: numbers made fit to draw, axes, labels and legend as text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from traceview.palette import THEMES, family_mark, sgr
from traceview.units import cell_width, fmt_ns, shorten

LARGEST = 1e18  # thirty years of nanoseconds: beyond that, sums and 32-bit positions would overflow
MAX_BANDS = 8  # families a stack shows one by one; the smaller rest is one band

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Numbers = Iterable[float | None]


def known_or_zero(values: Numbers) -> Floats:
    """Values as an array; None, NaN and infinities are 0."""
    found = np.array([*values], dtype=np.float64)
    return np.where(np.isfinite(found), found, 0.0).clip(max=LARGEST)


def durations(values: Numbers) -> Floats:
    """The known values that are not negative, in their order."""
    # An array or a series of a million values goes over whole; only a plain iterable is walked.
    found = np.asarray(values if hasattr(values, "__array__") else [*values], dtype=np.float64)
    return found[np.isfinite(found) & (found >= 0)].clip(max=LARGEST)


def matrix_of(rows: Iterable[Iterable[float | None]], steps: int, families: int) -> Floats:
    """Rows of `families` values, at most `steps` of them; unknown values are 0."""
    found = np.array([[*row] for row in rows], dtype=np.float64)
    found = found.reshape(-1, families) if families else np.empty((0, 0))
    return np.where(np.isfinite(found), found, 0.0)[:steps].clip(max=LARGEST / 1e6)


def largest_bands(families: Sequence[str], matrix: Floats) -> tuple[list[str], Floats]:
    """Columns by their totals, the greatest first; beyond `MAX_BANDS` the smaller are added up as "other"."""
    totals = matrix.sum(axis=0)
    order = sorted(np.flatnonzero(totals).tolist(), key=lambda i: (families[i] == "other", -totals[i]))
    if len(order) <= MAX_BANDS:
        return [families[i] for i in order], matrix[:, order]
    kept, rest = order[: MAX_BANDS - 1], order[MAX_BANDS - 1 :]
    names = [*(families[i] for i in kept), "other"]
    return names, np.column_stack([matrix[:, kept], matrix[:, rest].sum(axis=1)])


def least_and_greatest(values: Floats, columns: int) -> tuple[list[float], list[float]]:
    """Place and value of each point, or, of more than two a column, of the least and the greatest."""
    if len(values) <= 2 * columns:
        return [*map(float, range(len(values)))], values.tolist()
    starts = np.linspace(0, len(values), columns + 1).round().astype(int)[:-1]
    pairs = np.column_stack([np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)])
    return np.repeat(starts.astype(float), 2).tolist(), pairs.ravel().tolist()


class Layer(NamedTuple):
    """Points that plotext draws with one symbol in a family's colour, over what was drawn before.

    `symbol` is one character, a code of plotext's, or "letter" for the family's own letter. `fill` draws from
    each point down to the x axis ("x") or across to the y axis ("y"); without it, codes are joined by lines.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    symbol: str
    family: str
    behind: str | None = None  # the family whose colour shows beside a part of a block
    fill: str = ""


UPWARDS = " ▁▂▃▄▅▆▇"  # eighths of a cell
RIGHTWARDS = " ▏▎▍▌▋▊▉"


def eighths(cells: Floats) -> Ints:
    """Lengths in cells as eighths of a cell; anything above 0 is at least one."""
    return np.where(cells > 0, np.maximum(1, np.rint(cells * 8)), 0).astype(np.int64)


def bars(places: Ints, lengths: Ints, blocks: str, family: str, behind: str | None = None) -> list[Layer]:
    """Bars at these columns (rows, where they go rightwards) of these lengths in eighths of a cell."""
    whole, part = np.divmod(lengths, 8)
    layers = [_layer(places[whole > 0], whole[whole > 0] - 1, "█", family, blocks, filled=True)]
    for eighth in range(1, 8):
        here = part == eighth
        layers.append(_layer(places[here], whole[here], blocks[eighth], family, blocks, behind))
    return [layer for layer in layers if layer.xs]


def stack_of(places: Ints, upto: Floats, families: Sequence[str], letters: bool) -> list[Layer]:
    """Bars on bars: `upto` is columns x bands, the upper end of each band in cells.

    Drawn from the whole stack down to the lowest band, each over the one before: edges are rounded once. A
    cell has two colours at most, so the uppermost one shows the band that has most of it.
    """
    if letters:
        tops = np.rint(upto).astype(np.int64)
        filled = (
            _layer(places[t > 0], t[t > 0] - 1, "letter", f, UPWARDS, filled=True)
            for t, f in zip(tops.T, families, strict=True)
        )
        return [layer for layer in reversed([*filled]) if layer.xs]
    ends = eighths(upto)
    total = ends[:, -1]
    last_cell = total[:, None] // 8 * 8
    begins = np.column_stack([np.zeros_like(total), ends[:, :-1]])
    most = np.argmax(ends - np.maximum(begins, last_cell), axis=1)
    layers = []
    for i in np.unique(most).tolist():
        layers += bars(places[most == i], total[most == i], UPWARDS, families[i])
    ends = np.minimum(ends, last_cell)
    for i in reversed(range(len(families))):
        above = np.full(len(places), -1)  # the band that shows over this one's upper edge
        for other in reversed(range(i + 1, len(families))):
            above[ends[:, other] > ends[:, i]] = other
        for other in np.unique(above).tolist():
            here = above == other
            layers += bars(
                places[here], ends[here, i], UPWARDS, families[i], None if other < 0 else families[other]
            )
    return layers


def _layer(
    places: Ints,
    ends: Ints,
    symbol: str,
    family: str,
    blocks: str,
    behind: str | None = None,
    filled: bool = False,
) -> Layer:
    points = tuple(places.astype(float).tolist()), tuple(ends.astype(float).tolist())
    xs, ys = points if blocks is UPWARDS else points[::-1]
    return Layer(xs, ys, symbol, family, behind, ("x" if blocks is UPWARDS else "y") if filled else "")


@dataclass(frozen=True)
class Pen:
    """The theme of `palette.THEMES` to draw in; without `color` no escape is written at all."""

    theme: str
    color: bool

    def painted(self, text: str, code: str) -> str:
        """`text` between the escape sequence `code` and a reset."""
        return f"{code}{text}\x1b[0m" if self.color else text


def one_line(text: str, width: int, height: int) -> str:
    """A chart's stand-in where there is nothing to draw or no room for it."""
    return shorten(text, width) if height > 0 else ""


def joined(lines: list[str], height: int, pen: Pen) -> str:
    """The first `height` lines as one text; without colour they carry no trailing blanks."""
    return "\n".join(line if pen.color else line.rstrip() for line in lines[:height])


def left(text: str, width: int) -> str:
    """`text` shortened or filled up to exactly `width` cells, at the left."""
    text = shorten(text, width)
    return text + " " * (width - cell_width(text))


def right(text: str, width: int) -> str:
    """`text` shortened or filled up to exactly `width` cells, at the right."""
    text = shorten(text, width)
    return " " * (width - cell_width(text)) + text


def with_gutter(canvas: Sequence[str], ticks: Mapping[int, str], gutter: int, pen: Pen) -> list[str]:
    """The canvas behind a vertical axis with labels (row from the top -> text), `gutter` + 1 columns wide."""
    axis = sgr(THEMES[pen.theme].axis)
    return [
        pen.painted(f"{ticks[row]:>{gutter - 1}}┤" if row in ticks else " " * (gutter - 1) + "│", axis)
        + cells
        for row, cells in enumerate(canvas)
    ]


def x_axis(
    labels: Mapping[int, str],
    pointed: int | None,
    columns: int,
    gutter: int,
    width: int,
    pen: Pen,
) -> list[str]:
    """The axis and, under it, the labels (column -> text) that find room, in the order given."""
    rule = ["─"] * columns
    row = [" "] * (width - gutter)
    spans = []
    for column, label in labels.items():
        text = shorten(label, max(1, len(row) - 2))
        room = cell_width(text)
        start = min(max(0, column - room // 2), len(row) - room)
        if any(row[i] != " " for i in range(max(0, start - 1), min(len(row), start + room + 1))):
            continue
        row[start : start + room] = [text, *[""] * (room - 1)]
        rule[column] = "┬"
        if column == pointed:
            spans.append((start, text))
    if pointed is not None:
        rule[pointed] = "▲"
    axis, accent = sgr(THEMES[pen.theme].axis), sgr(THEMES[pen.theme].accent, bold=True)
    if pen.color and pointed is not None:
        rule[pointed] = f"{accent}▲\x1b[0m{axis}"
        for start, text in spans:
            row[start] = f"{accent}{text}\x1b[0m{axis}"
    blank = " " * (gutter - 1)
    return [
        pen.painted(f"{blank}└{''.join(rule)}", axis),
        pen.painted(f"{blank} {''.join(row)}", axis),
    ]


def legend(families: Sequence[str], width: int, pen: Pen) -> str:
    """The families in the order of the stack, as many as find room, each with its letter."""
    parts: list[str] = []
    left_over = width
    for family in families:
        mark = family_mark(family, pen.theme)
        name = shorten(family, 24)
        chip = f" {mark.letter} " if pen.color else mark.letter
        left_over -= len(chip) + 1 + cell_width(name)
        if left_over < 0:
            break
        parts.append(pen.painted(chip, sgr(THEMES[pen.theme].on_family, mark.colour)) + f" {name}")
        left_over -= 2
    return "  ".join(parts)


def band_letters(families: Sequence[str], last: Floats, top: float, rows: int, pen: Pen) -> list[str]:
    """For each row the letter of the band whose middle lies there in the last column, else a blank."""
    letters = [" "] * rows
    upper = np.cumsum(last)
    for family, middle, size in zip(families, upper - last / 2, last, strict=True):
        row = rows - 1 - int(middle / top * rows)
        if size / top * rows >= 0.5 and 0 <= row < rows and letters[row] == " ":
            mark = family_mark(family, pen.theme)
            letters[row] = pen.painted(mark.letter, sgr(mark.colour, bold=True))
    return letters


def y_ticks(top_ns: float, rows: int) -> dict[int, float]:
    """Row from the top -> round value in ns, at most one every third row, 0 at the bottom."""
    wanted = max(1, min(5, rows // 3))
    rough = top_ns / wanted
    if rough < 1e-3 or rows < 2:
        return {}
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(float(power * m) for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    values = [step * i for i in range(int(np.ceil(top_ns / step - 1e-9)) + 1)]
    return {round((1 - value / values[-1]) * (rows - 1)): value for value in values}


def tick(value_ns: float) -> str:
    """A round duration without trailing zeros: `50 ms`."""
    number, unit = fmt_ns(value_ns).split(" ")
    return "0" if value_ns == 0 else f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"
