"""The timeline's axis: round ticks, their labels, step boundaries, marks and the cursor."""

from collections.abc import Sequence

from traceview.widgets.lines import Piece
from traceview.widgets.viewport import Ints, View, column_of

LABEL = 16  # cells between ticks at least


def tick_distance(span: int, columns: int) -> int:
    """A round number of nanoseconds (1, 2 or 5 and zeros) that is at least `LABEL` cells wide."""
    least = max(1, span * LABEL // max(1, columns))
    power = int(10 ** (len(str(least)) - 1))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)


def position(ns: int, step: int, largest: int) -> str:
    """A time since the start, with the digits that a distance of `step` needs.

    All positions up to `largest` have the same unit, so that they can be compared at a glance.
    """
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if size <= largest and step * 1_000 >= size:
            return f"{ns / size:,.{max(0, len(str(size)) - len(str(step)))}f} {unit}"
    return f"{ns:,} ns"


def ticks(view: View, columns: int) -> list[tuple[int, int]]:
    """Time and column of each tick in sight."""
    step = tick_distance(view.span, columns)
    first = -(-(view.begin - view.low) // step) * step + view.low
    return [(time, column_of(view, time, columns)) for time in range(first, view.end, step)]


def tick_labels(view: View, columns: int) -> str:
    """The line over the axis: times since its low end, each beginning over its tick."""
    step = tick_distance(view.span, columns)
    row = [" "] * columns
    for time, column in ticks(view, columns):
        text = position(time - view.low, step, view.high - view.low)
        if column + len(text) < columns:
            row[column : column + len(text)] = text
    return "".join(row)


def axis(
    view: View, columns: int, boundaries: Ints, marks: Sequence[int | None], cursor_column: int
) -> list[Piece]:
    """The axis, cell by cell: `boundaries` as heavy ticks, the marks A and B and what is between them."""
    row = ["─"] * columns
    tones = ["axis"] * columns
    for _time, column in ticks(view, columns):
        row[column] = "┬"
    inside = boundaries[(boundaries >= view.begin) & (boundaries < view.end)]
    if len(inside) * 3 <= columns:  # more would hide the axis
        for time in inside.tolist():
            row[column_of(view, time, columns)] = "┃"
    places = [None if time is None else column_of(view, time, columns) for time in marks]
    if None not in places:
        first, last = sorted(place for place in places if place is not None)
        for column in range(max(0, first), min(columns, last + 1)):
            row[column], tones[column] = "━", "mark"
    for letter, place in zip("AB", places, strict=True):
        if place is not None and 0 <= place < columns:
            row[place], tones[place] = letter, "mark"
    row[cursor_column], tones[cursor_column] = "▼", "here"
    return [*zip(row, tones, strict=True)]
