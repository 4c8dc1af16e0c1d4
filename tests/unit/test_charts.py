"""Charts as text: sensible pictures for any numbers and any size, and never an exception."""

import re
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from traceview import charts
from traceview.chart_frame import y_ticks
from traceview.palette import FAMILIES, family_mark
from traceview.units import cell_width

NAN, INF = float("nan"), float("inf")
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def lines_of(text: str) -> list[str]:
    return ESCAPE.sub("", text).split("\n")


def test_share_bars_are_as_long_as_their_shares() -> None:
    drawn = charts.share_bars(
        ["copy-cast", "gemm", "rest"], [0.6, 0.3, 0.1], ["57 ms", "28.5 ms", "9 ms"], 40, 3, plain=True
    )
    assert drawn.split("\n") == [
        "copy-cast ██████████████████████   57 ms",
        "gemm      ███████████            28.5 ms",
        "rest      ███▋                      9 ms",
    ]


def test_bars_that_find_no_row_are_added_up() -> None:
    drawn = charts.share_bars(
        ["a", "b", "c", "d"], [0.4, 0.3, 0.2, 0.1], ["1", "2", "3", "4"], 30, 3, plain=True
    )
    assert [line.split()[0] for line in drawn.split("\n")] == ["a", "b", "2"]
    assert drawn.endswith("30.0 %")


def test_wide_and_hostile_labels_keep_the_columns() -> None:
    labels = ["核函数_加法 🚀 kernel", "\x1b[31mred\x07", "x" * 10_000]
    drawn = charts.share_bars(labels, [0.5, 0.3, 0.2], ["1 ms"] * 3, 50, 3, plain=True)
    assert {cell_width(line) for line in drawn.split("\n")} == {50}
    assert "\x1b" not in drawn
    assert r"\x1b[31mred\x07" in drawn


def test_a_stack_has_its_largest_family_at_the_bottom() -> None:
    drawn = charts.stacked_steps(["0", "1"], ["gemm", "attention"], [[10, 30], [10, 30]], 30, 12, plain=True)
    rows = drawn.split("\n")
    assert rows[0] == "A attention  G gemm"
    assert [row.split("│")[-1].split("┤")[-1].strip()[:1] for row in rows[1:10]] == [*"GGAAAAAAA"]
    assert rows[10].lstrip().startswith("└")


def test_an_edge_inside_a_cell_has_the_colours_of_both_bands() -> None:
    # 12 of 20 ms in four rows end at 2.4: the third row is three eighths gemm, the rest of it moe.
    drawn = charts.stacked_steps(["0"], ["gemm", "moe"], [[12, 6]], 12, 6)
    gemm, moe = ";".join(map(str, family_mark("gemm").colour)), ";".join(map(str, family_mark("moe").colour))
    assert f"\x1b[38;2;{gemm}m\x1b[48;2;{moe}m▃" in drawn.split("\n")[1]


def test_moving_the_mark_draws_the_picture_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def stack(mark: int) -> str:
        return charts.stacked_steps(["a", "b"], ["gemm"], [[1.25], [2.5]], 41, 9, mark=mark)

    first = stack(0)
    monkeypatch.setattr(charts, "_plotext", None)
    assert stack(1) != first


def test_the_letters_beside_a_stack_name_its_bands() -> None:
    drawn = charts.stacked_steps(["0"], ["gemm", "attention"], [[10, 30]], 30, 12)
    beside = [line.rstrip()[-1:] for line in lines_of(drawn)[1:10]]
    assert [letter for letter in beside if letter in "GA"] == ["G", "A"]


def test_the_marked_step_is_pointed_at() -> None:
    labels = [f"s{i}" for i in range(30)]
    drawn = charts.stacked_steps(
        labels, ["gemm"], [[i + 1.0] for i in range(30)], 100, 10, mark=7, plain=True
    )
    axis, under = drawn.split("\n")[-2:]
    assert "s7" in under
    assert abs(axis.index("▲") - under.index("s7")) <= 1


def test_many_steps_are_binned_by_their_mean() -> None:
    # Every other step takes 20 ms, the others none: each bin of two has the mean 10 and no bar reaches 20.
    matrix = [[20.0 * (i % 2)] for i in range(400)]
    drawn = charts.stacked_steps([str(i) for i in range(400)], ["gemm"], matrix, 240, 12, plain=True)
    top, *_, bottom = (line for line in drawn.split("\n") if "┤" in line)
    assert "G" not in top
    assert bottom.count("G") == 200


def test_small_families_become_one_band() -> None:
    names = [*FAMILIES[:10], "other"]
    drawn = charts.stacked_steps(["0"], names, [[20, 10, 9, 8, 7, 6, 5, 1, 1, 1, 1]], 200, 20, plain=True)
    assert drawn.split("\n")[0].count("other") == 1
    assert "activation" not in drawn.split("\n")[0]


def test_a_histogram_has_its_percentiles_on_the_axis() -> None:
    drawn = charts.histogram(range(1_000_000, 1_101_000, 1_000), 80, 8, plain=True)
    assert re.search(r"1\.00 ms +p50 1\.05 ms +p95 1\.10 ms", drawn.split("\n")[-1]) or "p50 1.05 ms" in drawn
    assert "(log)" not in drawn
    assert "(log)" in charts.histogram([1_000, 2_000, 3_000, 900_000], 80, 8, plain=True)


def test_alike_durations_are_said_not_drawn() -> None:
    assert charts.histogram([828_000] * 2_340, 80, 8) == "all 2,340 alike: 828 us"


def test_one_outlier_among_a_million_stays_visible() -> None:
    values = np.full(1_000_000, 1_000.0)
    values[500_000] = 9_000.0
    top = charts.line(values, 80, 12, plain=True).split("\n")[0]
    assert any(
        "\u2800" < char <= "\u28ff" for char in top + charts.line(values, 80, 12, plain=True).split("\n")[1]
    )


def test_round_values_stand_on_the_vertical_axis() -> None:
    assert y_ticks(95e6, 13) == {0: 100e6, 3: 75e6, 6: 50e6, 9: 25e6, 12: 0.0}
    assert y_ticks(0.0, 13) == {}


NUMBERS = [
    [],
    [0],
    [5],
    [7, 7, 7],
    [None, NAN, INF, -INF],
    [None, 3, NAN, 2e9, INF, 0, -4],
    [1, 10**15],
    [*range(10_000)],
]
SIZES = [(0, 0), (1, 1), (2, 40), (5, 3), (13, 4), (80, 1), (80, 24), (200, 50)]
DRAWINGS: list[Callable[..., str]] = [
    charts.histogram,
    charts.line,
    lambda values, width, height, **look: charts.share_bars(
        [str(v) for v in values], values, [str(v) for v in values], width, height, **look
    ),
    lambda values, width, height, **look: charts.stacked_steps(
        [str(v) for v in values], ["gemm", "moe"], [[v, v] for v in values], width, height, mark=0, **look
    ),
]


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("values", NUMBERS, ids=lambda v: f"{len(v)} values, {v[:3]}")
def test_any_numbers_in_any_size_stay_inside(draw: Callable[..., str], values: list[float | None]) -> None:
    for width, height in SIZES:
        for theme, color in (("dark", True), ("ansi", True), ("light", False)):
            drawn = draw(values, width, height, theme=theme, color=color)
            rows = lines_of(drawn)
            assert len(rows) <= max(1, height)
            assert all(cell_width(row) <= width for row in rows)
            if not color:
                assert drawn.isprintable() or "\x1b" not in drawn
                assert all(row == row.rstrip() for row in drawn.split("\n"))


def test_a_series_with_nulls_is_taken_as_it_is() -> None:
    assert charts.histogram(pl.Series([None, 828_000]), 80, 8) == "all 1 alike: 828 us"
    assert charts.histogram([828_000, INF, NAN, -1], 80, 8) == "all 1 alike: 828 us"
    assert charts.line(pl.Series([], dtype=pl.Int64), 80, 8) == "no data"


def test_the_background_is_left_to_the_terminal() -> None:
    assert "\x1b[48" not in charts.line([1, 2, 3], 60, 10)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_families_differ_by_letter_and_by_colour(theme: str) -> None:
    marks = [family_mark(name, theme) for name in FAMILIES]
    assert len({mark.letter for mark in marks}) == len(FAMILIES)
    assert len({mark.colour for mark in marks}) == len(FAMILIES)
    for mark in marks:
        assert isinstance(mark.colour, tuple)
        grey = len(set(mark.colour)) == 1 and (mark.colour[0] - 8) % 10 == 0
        assert grey or set(mark.colour) <= {0, 95, 135, 175, 215, 255}  # exact in 256 colours


def test_an_unknown_family_is_other() -> None:
    assert family_mark("mystery") == family_mark("other")


def test_the_top_of_a_stack_is_where_the_total_is() -> None:
    # 18.5 of 20 ms in four rows end at 3.7: six eighths of the top row, of which moe has the most.
    drawn = charts.stacked_steps(["0"], ["gemm", "moe", "norm"], [[12, 6, 0.5]], 12, 6)
    moe = ";".join(map(str, family_mark("moe").colour))
    assert f"\x1b[0m\x1b[38;2;{moe}m▆▆▆\x1b[0m" in drawn.split("\n")[0]
