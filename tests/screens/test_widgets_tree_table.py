"""The tree with figures: folding, marks, filter and search by path."""

from textual.app import App, ComposeResult
from textual.message import Message

from tests.screens.driving import of_kind
from traceview.units import cell_width
from traceview.widgets.columns import Column
from traceview.widgets.tree_table import Path, TreeRow, TreeTable

NAMES = {
    (): ["copy-cast", "gemm"],
    ("copy-cast",): ["unrolled_kernel", "核函数 🚀", "[/red] \x1b[31m"],
    ("copy-cast", "unrolled_kernel"): ["grid 1", "grid 2"],
    ("gemm",): ["sgemm", "hgemm"],
}
COLUMNS = [Column("ms", "ms/step", 9, "right"), Column("op", "op", 12, priority=1, muted=True)]


class Shop:
    """Rows of NAMES, counting who was asked for."""

    def __init__(self) -> None:
        self.asked: list[Path] = []

    def children(self, path: Path) -> list[TreeRow]:
        self.asked.append(path)
        return [
            TreeRow((*path, name), name, ("65.8 ms", "aten::copy_"), 0.5, (*path, name) in NAMES, "copy-cast")
            for name in NAMES[path]
        ]


class TreeApp(App[None]):
    def __init__(self, tree: TreeTable) -> None:
        super().__init__()
        self.tree_table = tree
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.tree_table

    def on_mount(self) -> None:
        self.tree_table.focus()

    def on_tree_table_row_selected(self, message: TreeTable.RowSelected) -> None:
        self.told.append(message)

    def on_tree_table_row_marked(self, message: TreeTable.RowMarked) -> None:
        self.told.append(message)

    def on_tree_table_row_highlighted(self, message: TreeTable.RowHighlighted) -> None:
        self.told.append(message)


def app_over(shop: Shop) -> TreeApp:
    return TreeApp(TreeTable(COLUMNS, shop.children))


def seen(tree: TreeTable) -> list[str]:
    lines = [tree.render_line(y).text.rstrip() for y in range(tree.size.height)]
    return [line for line in lines[1:] if line]


def labels(tree: TreeTable) -> list[str]:
    return [line[3:28].rstrip() for line in seen(tree)]


async def test_right_opens_and_goes_down_left_closes_and_goes_up() -> None:
    shop = Shop()
    app = app_over(shop)
    async with app.run_test(size=(90, 20)) as pilot:
        tree = app.tree_table
        assert tree.row_count == 2
        assert shop.asked == [()]
        await pilot.press("right")
        assert tree.row_count == 5
        assert tree.cursor_path == ("copy-cast",)
        await pilot.press("l", "right", "right")
        assert tree.cursor_path == ("copy-cast", "unrolled_kernel", "grid 1")
        await pilot.press("left")
        assert tree.cursor_path == ("copy-cast", "unrolled_kernel")
        await pilot.press("h", "h", "h")
        assert tree.cursor_path == ("copy-cast",)
        assert tree.row_count == 2
        await pilot.press("left", "right")
        assert shop.asked.count(("copy-cast",)) == 1  # kept since it was first opened


async def test_a_line_has_guides_bar_share_and_figures_in_their_columns() -> None:
    app = app_over(Shop())
    async with app.run_test(size=(90, 20)) as pilot:
        await pilot.press("right", "down", "right")
        lines = [app.tree_table.render_line(y).text for y in range(8)]
        assert {cell_width(line) for line in lines} == {89}
        assert [line[:28].rstrip() for line in lines] == [
            "   name",
            "   ▾ T copy-cast",
            "▸  ├▾ unrolled_kernel",
            "   │ ├  grid 1",
            "   │ └  grid 2",
            "   ├  核函数 🚀",
            r"   └  [/red] \x1b[31m",
            "   ▸ T gemm",
        ]
        assert all(line.split("███")[1].split()[:4] == ["50.0", "%", "65.8", "ms"] for line in lines[1:])


async def test_narrow_screens_keep_name_share_and_what_has_priority() -> None:
    app = app_over(Shop())
    async with app.run_test(size=(60, 10)):
        assert app.tree_table.render_line(0).text.split() == ["name", "share", "ms/step"]


async def test_keys_tell_the_path() -> None:
    app = app_over(Shop())
    async with app.run_test() as pilot:
        await pilot.press("down", "enter", "space", "space")
        assert [m.path for m in of_kind(app.told, TreeTable.RowSelected)] == [("gemm",)]
        marked = [(m.path, m.marked) for m in of_kind(app.told, TreeTable.RowMarked)]
        assert marked == [(("gemm",), True), (("gemm",), False)]
        assert of_kind(app.told, TreeTable.RowHighlighted)[-1].path == ("gemm",)


async def test_selecting_a_path_opens_what_is_above_it() -> None:
    app = app_over(Shop())
    async with app.run_test() as pilot:
        tree = app.tree_table
        assert tree.select_path(("copy-cast", "unrolled_kernel", "grid 2"))
        assert tree.cursor_path == ("copy-cast", "unrolled_kernel", "grid 2")
        await pilot.press("space")
        assert not tree.select_path(("copy-cast", "nowhere", "grid 2"))
        assert not tree.select_path(("nowhere",))
        await pilot.resize_terminal(60, 6)
        await pilot.pause()
        assert tree.cursor_path == ("copy-cast", "unrolled_kernel", "grid 2")
        assert any(line.startswith("▸●") for line in seen(tree))


async def test_reload_keeps_what_is_open_and_the_cursor_or_the_nearest_row_above() -> None:
    app = app_over(Shop())
    async with app.run_test():
        tree = app.tree_table
        tree.select_path(("copy-cast", "unrolled_kernel", "grid 2"))
        tree.reload()
        assert tree.cursor_path == ("copy-cast", "unrolled_kernel", "grid 2")

        def without_variants(path: Path) -> list[TreeRow]:
            return [row for row in Shop().children(path) if not row.label.startswith("grid")]

        tree.reload(without_variants)
        assert tree.cursor_path == ("copy-cast", "unrolled_kernel")
        tree.reload(lambda path: [])
        assert tree.cursor_path is None


async def test_a_filter_shows_matches_with_what_is_above_and_below() -> None:
    app = app_over(Shop())
    async with app.run_test() as pilot:
        tree = app.tree_table
        tree.set_filter("GEMM")
        assert labels(tree) == ["▸ T gemm"]
        await pilot.press("right")
        assert labels(tree) == ["▾ T gemm", "├  sgemm", "└  hgemm"]
        tree.set_filter("[/red]")
        assert labels(tree) == ["▾ T copy-cast", r"└  [/red] \x1b[31m"]
        tree.set_filter("no such thing")
        await pilot.press("down", "right", "left", "enter", "space", "n")
        assert tree.row_count == 0
        tree.set_filter("")
        assert tree.row_count == 4


async def test_search_goes_through_the_rows_that_are_seen() -> None:
    app = app_over(Shop())
    async with app.run_test() as pilot:
        tree = app.tree_table
        tree.select_path(("gemm", "sgemm"))
        assert tree.search("gemm") == 3
        await pilot.press("n")
        assert tree.cursor_path == ("gemm", "hgemm")
        await pilot.press("n")
        assert tree.cursor_path == ("gemm",)
        await pilot.press("N")
        assert tree.cursor_path == ("gemm", "hgemm")


async def test_a_row_with_twenty_thousand_children_opens_and_closes() -> None:
    def children(path: Path) -> list[TreeRow]:
        if not path:
            return [TreeRow((name,), name, opens=True) for name in ("many", "after")]
        return [TreeRow((*path, str(i)), f"kernel {i}") for i in range(20_000)]

    app = TreeApp(TreeTable([], children))
    async with app.run_test() as pilot:
        await pilot.press("right", "end")
        assert app.tree_table.row_count == 20_002
        assert app.tree_table.cursor_path == ("after",)
        await pilot.press("up", "left", "left")
        assert app.tree_table.row_count == 2
