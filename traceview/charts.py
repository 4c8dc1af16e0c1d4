"""Numbers and a size in, drawn text out: the charts, and the only place that knows plotext.

Every function returns at most `height` lines of at most `width` cells and never raises for odd numbers:
unknown values (None, NaN, infinities) are dropped before plotext sees them, because one NaN in a line ends
the whole process there. `theme` is "dark", "light" or "ansi" (the terminal's own 16 colours). With
`color=False` or `plain=True` the text has no escape at all: families are told apart by their letters.
Times are durations or relative to a start, as plotext keeps positions in 32 bits.
"""

import threading
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from traceview.chart_frame import (
    RIGHTWARDS,
    UPWARDS,
    Layer,
    Numbers,
    Pen,
    band_letters,
    bars,
    durations,
    eighths,
    joined,
    known_or_zero,
    largest_bands,
    least_and_greatest,
    left,
    legend,
    matrix_of,
    one_line,
    right,
    stack_of,
    tick,
    with_gutter,
    x_axis,
    y_ticks,
)
from traceview.palette import THEMES, family_mark
from traceview.units import cell_width, fmt_count, fmt_ns, fmt_percent, shorten

NO_DATA = "no data"
MAX_STEPS = 200  # beyond this many, or beyond the columns there are, steps are binned by their mean

_drawing = threading.Lock()  # the figure is one for all, and an export may draw beside the screen


def share_bars(
    labels: Sequence[str],
    shares: Numbers,
    values_text: Sequence[str],
    width: int,
    height: int,
    theme: str = "dark",
    color: bool = True,
    *,
    plain: bool = False,
    families: Sequence[str] | None = None,
) -> str:
    """Horizontal bars, one a row in the order given: label, bar, value at the right edge.

    `shares` are fractions and the longest bar fills the room; where the rows do not suffice, the last says
    how many there are more and their share. `families` (one for each bar) gives the bars their colours.
    """
    pen = Pen(theme, color and not plain)
    sizes = np.clip(known_or_zero(shares), 0.0, None)
    count = min(len(labels), len(sizes), len(values_text))
    if not count or width < 1 or height < 1:
        return one_line(NO_DATA, width, height)
    names, texts = [*labels[:count]], [*values_text[:count]]
    kinds = [*(families or ["gemm"] * count)][:count]
    if count > height:
        rest = float(sizes[height - 1 : count].sum())
        names[height - 1 :] = [f"{count - height + 1} more"]
        texts[height - 1 :] = [fmt_percent(rest)]
        kinds[height - 1 :] = ["other"]
        sizes[height - 1] = rest
    count = len(names)
    sizes = sizes[:count]
    names, texts = (
        [shorten(name, width) for name in names],
        [shorten(text, max(0, width - 10)) for text in texts],
    )
    value_width = max(map(cell_width, texts))
    label_width = min(max(map(cell_width, names)), max(6, (width - value_width) * 2 // 5))
    bar_width = width - label_width - value_width - 2
    if bar_width < 1:
        return joined(
            [shorten(f"{name} {text}", width) for name, text in zip(names, texts, strict=True)], height, pen
        )
    cells = sizes / (float(sizes.max()) or 1.0) * bar_width
    layers: list[Layer] = []
    for row, (length, kind) in enumerate(zip(eighths(cells), kinds, strict=True)):
        layers += bars(np.array([count - 1 - row]), np.array([length]), RIGHTWARDS, kind)
    canvas = _canvas(bar_width, count, pen, tuple(layers))
    lines = [
        f"{left(name, label_width)} {bar} {right(text, value_width)}"
        for name, bar, text in zip(names, canvas, texts, strict=True)
    ]
    return joined(lines, height, pen)


def stacked_steps(
    step_labels: Sequence[str],
    families: Sequence[str],
    matrix_ms: Iterable[Iterable[float | None]],
    width: int,
    height: int,
    theme: str = "dark",
    color: bool = True,
    *,
    mark: int | None = None,
    plain: bool = False,
) -> str:
    """Time per step as stacked columns, the largest family at the bottom.

    `matrix_ms` is steps x families in milliseconds. More than MAX_STEPS steps, or more than there are
    columns, are binned by their mean. `mark` is the index of the step to point at. The letters at the right
    edge name the bands.
    """
    pen = Pen(theme, color and not plain)
    matrix = np.clip(matrix_of(matrix_ms, len(step_labels), len(families)), 0.0, None)
    if not matrix.size or width < 1 or height < 1 or matrix.sum() <= 0:
        return one_line(NO_DATA, width, height)
    families, matrix = largest_bands(families, matrix)
    top = float(matrix.sum(axis=1).max())
    with_axis, with_legend = height >= 4, height >= 7
    rows = height - 2 * with_axis - with_legend
    ticks = y_ticks(top * 1e6, rows)
    top_ms = max(top, *(value / 1e6 for value in ticks.values())) if ticks else top
    gutter = max((len(tick(value)) for value in ticks.values()), default=0) + 1
    columns = width - gutter - 2  # one column for the letters, one to stand off
    if columns < 1 or rows < 1:
        return one_line(f"{fmt_count(len(step_labels))} steps, up to {fmt_ns(top * 1e6)}", width, height)
    bins = min(len(matrix), MAX_STEPS, columns)
    edges = np.linspace(0, len(matrix), bins + 1).round().astype(int)
    stack = np.add.reduceat(matrix, edges[:-1], axis=0) / np.diff(edges)[:, None]
    pitch = min(columns // bins, 12)
    bar = max(1, pitch - 1)
    canvas_width = bins * pitch
    places = (np.arange(bins)[:, None] * pitch + np.arange(bar)).ravel()
    cells = np.repeat(np.cumsum(stack, axis=1) / top_ms * rows, bar, axis=0)
    layers = stack_of(places, cells, families, letters=not pen.color or theme == "ansi")
    canvas = _canvas(canvas_width, rows, pen, tuple(layers))
    letters = band_letters(families, stack[-1], top_ms, rows, pen)
    lines = with_gutter(
        [f"{cells} {letter}" for cells, letter in zip(canvas, letters, strict=True)],
        {row: tick(value) for row, value in ticks.items()},
        gutter,
        pen,
    )
    if with_axis:
        centres = [i * pitch + (bar - 1) // 2 for i in range(bins)]
        labels = {centre: step_labels[first] for centre, first in zip(centres, edges, strict=False)}
        pointed = None
        if mark is not None and 0 <= mark < len(matrix):
            pointed = centres[int(np.searchsorted(edges, mark, side="right")) - 1]
            labels.pop(pointed)
            labels = {pointed: step_labels[mark], **labels}  # first, so that it finds room
        lines += x_axis(labels, pointed, canvas_width, gutter, width, pen)
    if with_legend:
        lines.insert(0, legend(families, width, pen))
    return joined(lines, height, pen)


def histogram(
    values_ns: Numbers,
    width: int,
    height: int,
    theme: str = "dark",
    color: bool = True,
    *,
    plain: bool = False,
) -> str:
    """How the durations of one group are spread: how many launches in each bin of time.

    The time axis is logarithmic, and says so, where the longest is over 20 times the shortest. Under it
    stand the least, the median (p50), p95 and the greatest value.
    """
    pen = Pen(theme, color and not plain)
    values = durations(values_ns)
    if not len(values) or width < 1 or height < 1:
        return one_line(NO_DATA, width, height)
    low, high = float(values.min()), float(values.max())
    if high - low <= max(1e-3, high * 1e-9):  # too close for bins
        return one_line(f"all {fmt_count(len(values))} alike: {fmt_ns(low)}", width, height)
    rows = height - 2
    logarithmic = low > 0 and high > 20 * low
    gutter = len(fmt_count(len(values))) + 1
    columns = width - gutter
    p50, p95 = (float(np.quantile(values, q)) for q in (0.5, 0.95))
    if rows < 1 or columns < 8:
        return one_line(f"p50 {fmt_ns(p50)}, p95 {fmt_ns(p95)}, max {fmt_ns(high)}", width, height)
    scaled = np.log(values) if logarithmic else values
    counts, bounds = np.histogram(scaled, bins=min(columns, max(8, round(len(values) ** 0.5) * 2)))
    pitch = columns // len(counts)
    canvas_width = pitch * len(counts)
    heights = np.repeat(counts / counts.max() * rows, pitch)
    canvas = _canvas(
        canvas_width, rows, pen, tuple(bars(np.arange(canvas_width), eighths(heights), UPWARDS, "gemm"))
    )
    lines = with_gutter(canvas, {0: fmt_count(int(counts.max())), rows - 1: "0"}, gutter, pen)

    def column(value: float) -> int:
        place = np.log(value) if logarithmic else value
        part = (place - bounds[0]) / (bounds[-1] - bounds[0])
        return int(np.clip(part * canvas_width, 0, canvas_width - 1))

    unit = " (log)" if logarithmic else ""
    labels = {
        column(p50): f"p50 {fmt_ns(p50)}",
        canvas_width - 1: f"{fmt_ns(high)}{unit}",
        0: fmt_ns(low),
    }
    if column(p95) not in labels:
        labels[column(p95)] = f"p95 {fmt_ns(p95)}"
    lines += x_axis(labels, None, canvas_width, gutter, width, pen)
    return joined(lines, height, pen)


def line(
    values_ns: Numbers,
    width: int,
    height: int,
    theme: str = "dark",
    color: bool = True,
    *,
    plain: bool = False,
) -> str:
    """Durations in the order given, as a line from 0 up; unknown ones are left out.

    More points than two a column are drawn as the least and the greatest of each column, so that a single
    outlier among a million stays visible.
    """
    pen = Pen(theme, color and not plain)
    values = durations(values_ns)
    if not len(values) or width < 1 or height < 1:
        return one_line(NO_DATA, width, height)
    rows = height - 2
    high = float(values.max()) or 1.0
    ticks = y_ticks(high, rows)
    top = max([high, *ticks.values()])
    gutter = max((len(tick(value)) for value in ticks.values()), default=0) + 1
    columns = width - gutter
    if rows < 1 or columns < 8:
        return one_line(f"{fmt_count(len(values))} values, up to {fmt_ns(high)}", width, height)
    xs, ys = least_and_greatest(values, columns)
    canvas = _canvas(
        columns,
        rows,
        pen,
        (Layer(tuple(xs), tuple(ys), "braille", "gemm"),),
        _edges(0.0, float(max(1, len(values) - 1)), columns),
        _edges(0.0, top, rows),
    )
    lines = with_gutter(canvas, {row: tick(value) for row, value in ticks.items()}, gutter, pen)
    labels = {0: "launch 1", columns - 1: fmt_count(len(values))}
    lines += x_axis(labels, None, columns, gutter, width, pen)
    return joined(lines, height, pen)


# --- plotext -----------------------------------------------------------------------------------------------


@cache
def _plotext() -> tuple[Any, Any]:
    """The module and one figure of our own, whose size is not clipped to the terminal's."""
    import plotext  # 0.1 to 0.25 s, so only for the first chart

    terminal = type(plotext.terminal)()
    terminal.limit(False, False)
    terminal.prompt(0)
    for name, colours in THEMES.items():
        # canvas=None leaves the background to the terminal
        plotext.add_theme(
            f"traceview-{name}", canvas=None, text=plotext.pixel(colours.axis), sequence=[colours.axis]
        )
    return plotext, terminal._master


@lru_cache(maxsize=32)
def _canvas(
    width: int,
    height: int,
    pen: Pen,
    layers: tuple[Layer, ...],
    x_limits: tuple[float, float] | None = None,
    y_limits: tuple[float, float] | None = None,
) -> tuple[str, ...]:
    """`height` lines of `width` cells. Without limits, points are columns from the left and rows from below.

    Axes and labels are not plotext's: it counts characters where a label needs cells. Kept, so that moving
    the mark under a chart draws nothing anew.
    """
    with _drawing:
        plotext, figure = _plotext()
        figure.clear()  # forgets size and theme too: set them before every draw
        figure.plot_size(width, height)
        figure.theme(f"traceview-{pen.theme}")
        figure.axes(False)
        for layer in layers:
            signal = figure.signal([*layer.xs], [*layer.ys], marker=_marker(plotext, layer, pen))
            if layer.fill:
                signal = signal.fillx() if layer.fill == "x" else signal.filly()
            elif len(layer.symbol) > 1 and len(layer.xs) > 1:
                signal = signal.lines()
            figure.draw(signal)
        figure.ruler("both", "both").ticks([], [])
        figure.ruler("x").lim(*(x_limits or _centres(width)))
        figure.ruler("y").lim(*(y_limits or _centres(height)))
        text: str = figure.build().string(colorless=not pen.color)
    lines = text.split("\n")[:height]
    return (*lines, *[" " * width] * (height - len(lines)))


def _marker(plotext: Any, layer: Layer, pen: Pen) -> Any:
    mark = family_mark(layer.family, pen.theme)
    if layer.symbol == "letter":
        return plotext.marker(mark.letter, plotext.pixel(THEMES[pen.theme].on_family, mark.colour))
    behind = None if layer.behind is None else family_mark(layer.behind, pen.theme).colour
    return plotext.marker(layer.symbol, plotext.pixel(mark.colour, behind))


def _edges(low: float, high: float, cells: int) -> tuple[float, float]:
    """Limits that put `low` and `high` on the outer edges: plotext puts limits on the cells' middles."""
    half = (high - low) / cells / 2
    return (low + half, high - half) if cells > 1 else (low, high)


def _centres(cells: int) -> tuple[float, float]:
    return (0.0, float(cells - 1)) if cells > 1 else (-1.0, 1.0)
