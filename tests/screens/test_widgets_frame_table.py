"""The table over a frame: what is seen, what keys do, and that a million rows cost no more than a few."""

from collections.abc import Iterator

import polars as pl
import pytest
from textual.app import App, ComposeResult
from textual.message import Message

from tests.screens.driving import of_kind
from traceview.units import cell_width, fmt_ns
from traceview.widgets import frame_table
from traceview.widgets.columns import Column, bar, fit, place
from traceview.widgets.frame_table import FrameTable, row_order

FRAME = pl.DataFrame(
    {
        "id": [10, 11, 12, 13],
        "name": ["gemm", "核函数 🚀", "[/red] \x1b[31m", "GEMM two"],
        "dur": [5_000, None, 1_000, 9_000],
    }
)
COLUMNS = [
    Column("name", "name", 20, grow=True),
    Column("dur", "time", 9, "right", lambda values: [fmt_ns(value) for value in values]),
    Column("id", "number", 8, "right", priority=1),
]


class TableApp(App[None]):
    def __init__(self, table: FrameTable) -> None:
        super().__init__()
        self.table = table
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.focus()

    def on_frame_table_row_selected(self, message: FrameTable.RowSelected) -> None:
        self.told.append(message)

    def on_frame_table_row_marked(self, message: FrameTable.RowMarked) -> None:
        self.told.append(message)

    def on_frame_table_row_highlighted(self, message: FrameTable.RowHighlighted) -> None:
        self.told.append(message)

    def on_frame_table_order_changed(self, message: FrameTable.OrderChanged) -> None:
        self.told.append(message)


def seen(table: FrameTable) -> list[str]:
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


async def test_rows_are_aligned_and_hostile_text_is_harmless() -> None:
    async with TableApp(FrameTable(COLUMNS, FRAME, id_column="id")).run_test(size=(50, 10)) as pilot:
        table = pilot.app.query_one(FrameTable)
        lines = [table.render_line(y).text for y in range(5)]
        assert {cell_width(line) for line in lines} == {49}  # one column is kept for the scrollbar
        assert [line.split() for line in lines] == [
            ["name", "time", "number"],
            ["▸", "gemm", "5.00", "us", "10"],
            ["核函数", "🚀", "-", "11"],
            ["[/red]", r"\x1b[31m", "1.00", "us", "12"],
            ["GEMM", "two", "9.00", "us", "13"],
        ]


async def test_columns_go_by_priority_and_come_back_on_demand() -> None:
    async with TableApp(FrameTable(COLUMNS, FRAME)).run_test(size=(38, 10)) as pilot:
        table = pilot.app.query_one(FrameTable)
        assert seen(table)[0].split() == ["name", "time"]
        await pilot.press("w", "l")
        assert "number" in seen(table)[0]
        assert seen(table)[1].startswith("▸")  # the cursor's marker does not scroll away
        await pilot.press("w")
        assert seen(table)[0].split() == ["name", "time"]


async def test_enter_space_and_cursor_keys_tell_the_row_by_its_id() -> None:
    app = TableApp(FrameTable(COLUMNS, FRAME, id_column="id"))
    async with app.run_test() as pilot:
        await pilot.press("j", "down", "k", "enter", "space")
        assert [m.row_id for m in of_kind(app.told, FrameTable.RowHighlighted)][-3:] == [11, 12, 11]
        assert [m.row_id for m in of_kind(app.told, FrameTable.RowSelected)] == [11]
        assert [(m.row_id, m.marked) for m in of_kind(app.told, FrameTable.RowMarked)] == [(11, True)]
        assert seen(app.table)[2].startswith("▸●")
        await pilot.press("space")
        assert app.table.marks == set()


async def test_a_pinned_row_has_the_cursor_first_and_never_scrolls() -> None:
    frame = pl.DataFrame({"id": range(100), "name": [f"step {i}" for i in range(100)], "dur": [1] * 100})
    app = TableApp(FrameTable(COLUMNS, frame, pinned={"name": "all 100 steps"}))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("enter", "space")
        assert [m.row_id for m in of_kind(app.told, FrameTable.RowSelected)] == [None]
        assert app.table.marks == set()
        await pilot.press("end")
        assert "all 100 steps" in seen(app.table)[1]
        assert app.table.cursor_row_id == 99
        assert "step 99" in seen(app.table)[-1]
        await pilot.press("g", "g")
        assert app.table.cursor_row_id is None
        assert seen(app.table)[1].startswith("▸")
        assert "step 0" in seen(app.table)[2]


async def test_sort_goes_through_the_columns_and_says_so() -> None:
    app = TableApp(FrameTable(COLUMNS, FRAME, id_column="id"))
    async with app.run_test() as pilot:
        await pilot.press("s", "s")
        assert [line.split()[-1] for line in seen(app.table)[1:5]] == ["13", "10", "12", "11"]  # unknown last
        assert "time▾" in seen(app.table)[0]
        last = of_kind(app.told, FrameTable.OrderChanged)[-1]
        assert (last.key, last.descending, last.shown) == ("dur", True, 4)
        await pilot.press("S")
        assert [line.split()[-1] for line in seen(app.table)[1:5]] == ["12", "10", "13", "11"]
        await pilot.press("s", "s")
        assert app.table.sort_key is None


async def test_a_filter_keeps_the_cursor_on_its_row() -> None:
    app = TableApp(FrameTable(COLUMNS, FRAME, id_column="id"))
    async with app.run_test() as pilot:
        app.table.select_row_id(13)
        app.table.set_filter(pl.col("name").str.contains("(?i)gemm"))
        await pilot.pause()
        assert app.table.row_count == 2
        assert app.table.cursor_row_id == 13
        app.table.set_filter(pl.col("name") == "none")
        await pilot.press("down", "enter", "space", "n")
        assert app.table.cursor_row_id is None
        assert of_kind(app.told, FrameTable.RowSelected) == []
        with pytest.raises(pl.exceptions.PolarsError):
            app.table.set_filter(pl.col("nowhere") > 1)
        app.table.set_filter(None)
        assert app.table.row_count == 4


async def test_back_restores_the_row_and_a_row_that_is_gone_is_refused() -> None:
    app = TableApp(FrameTable(COLUMNS, FRAME, id_column="id"))
    async with app.run_test():
        assert app.table.select_row_id(12)
        app.table.set_frame(FRAME.reverse())
        assert app.table.cursor_row_id == 12
        assert not app.table.select_row_id(99)
        assert not app.table.select_row_id(None)
        assert app.table.cursor_row_id == 12


async def test_search_goes_round_without_regard_to_case_or_meaning() -> None:
    app = TableApp(FrameTable(COLUMNS, FRAME, id_column="id", search_column="name"))
    async with app.run_test() as pilot:
        assert app.table.search("gemm") == 2
        assert app.table.cursor_row_id == 10
        await pilot.press("n")
        assert app.table.cursor_row_id == 13
        await pilot.press("n")
        assert app.table.cursor_row_id == 10
        await pilot.press("N")
        assert app.table.cursor_row_id == 13
        app.table.sort_by("dur", descending=True)
        assert app.table.search("gemm") == 2
        await pilot.press("n")
        assert app.table.cursor_row_id == 10
        assert app.table.search("[/red]") == 1  # text, not a pattern
        assert app.table.search("") == 0


async def test_resizing_keeps_the_cursor_in_sight() -> None:
    frame = pl.DataFrame({"id": range(500), "name": ["x"] * 500, "dur": [1] * 500})
    app = TableApp(FrameTable(COLUMNS, frame))
    async with app.run_test(size=(100, 40)) as pilot:
        app.table.select_row_id(250)
        for size in ((60, 8), (120, 50), (30, 4)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert app.table.cursor_row_id == 250
            assert sum(line.startswith("▸") for line in seen(app.table)) == 1


async def test_a_table_may_be_empty() -> None:
    app = TableApp(FrameTable(COLUMNS, FRAME.clear()))
    async with app.run_test() as pilot:
        await pilot.press("down", "up", "end", "home", "enter", "space", "s", "n", "pagedown")
        assert app.table.cursor_row_id is None


@pytest.fixture
def in_background() -> Iterator[None]:
    kept, frame_table.IN_BACKGROUND = frame_table.IN_BACKGROUND, 2
    yield
    frame_table.IN_BACKGROUND = kept


@pytest.mark.usefixtures("in_background")
async def test_a_large_frame_is_sorted_beside_the_interface() -> None:
    app = TableApp(FrameTable(COLUMNS, FRAME, id_column="id"))
    async with app.run_test() as pilot:
        app.table.sort_by("dur", descending=False)
        app.table.sort_by("id", descending=True)  # the later request is the one that counts
        while not of_kind(app.told, FrameTable.OrderChanged):
            await pilot.pause(0.01)
        assert [m.key for m in of_kind(app.told, FrameTable.OrderChanged)] == ["id"]
        assert [app.table.row_id(row) for row in range(4)] == [13, 12, 11, 10]


@pytest.mark.usefixtures("in_background")
async def test_an_order_that_comes_late_is_not_put_on_other_rows() -> None:
    app = TableApp(FrameTable(COLUMNS, FRAME, id_column="id"))
    async with app.run_test() as pilot:
        app.table.sort_by("id", descending=True)
        app.table.set_frame(FRAME.head(2))  # few enough to be sorted at once
        await pilot.pause(0.2)
        assert [app.table.row_id(row) for row in range(app.table.row_count)] == [11, 10]


async def test_only_seen_rows_are_ever_formatted() -> None:
    formatted = 0

    def counted(values: pl.Series) -> list[str]:
        nonlocal formatted
        formatted += len(values)
        return [str(value) for value in values]

    frame = pl.DataFrame({"n": pl.int_range(2_000_000, eager=True)})
    app = TableApp(FrameTable([Column("n", "n", 10, format=counted)], frame))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end")
        assert "1999999" in seen(app.table)[-1]
        assert 0 < formatted <= 10 * frame_table.PAGE


def test_order_is_stable_with_unknown_values_last() -> None:
    frame = pl.DataFrame({"a": [2, None, 1, 2], "b": ["x", "y", "z", "x"]})
    order = row_order(frame, None, "a", descending=True)
    assert order is not None
    assert order.to_list() == [0, 3, 2, 1]
    filtered = row_order(frame, pl.col("b") == "x", "a", descending=False)
    assert filtered is not None
    assert filtered.to_list() == [0, 3]
    assert row_order(frame, None, None, descending=True) is None


def test_a_growing_column_gives_way_only_when_nothing_else_can() -> None:
    columns = [Column("a", "a", 30, grow=True), Column("b", "b", 10), Column("c", "c", 10, priority=2)]
    assert [(p.column.key, p.width) for p in place(columns, 60)] == [("a", 38), ("b", 10), ("c", 10)]
    assert [(p.column.key, p.width) for p in place(columns, 45)] == [("a", 34), ("b", 10)]
    assert [(p.column.key, p.width) for p in place(columns, 35)] == [("a", 24), ("b", 10)]
    assert [(p.column.key, p.width) for p in place(columns, 5)] == [("a", 16), ("b", 10)]


def test_cells_and_bars_have_the_width_that_was_asked_for() -> None:
    assert fit("核函数", 5) == "核…数"
    assert fit("7", 3, "right") == "  7"
    assert bar(0.5, 4) == "██  "
    assert bar(0.001, 4) == "▏   "
    assert bar(None, 2) == bar(0.0, 2) == bar(float("nan"), 2) == "  "
    assert bar(7.0, 2) == "██"
