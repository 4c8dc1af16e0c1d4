"""The kernel tree's frames as rows of a tree-table, and the way back from a row to its keys."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from traceview.analysis.remarks import floor_word
from traceview.analysis.tree import REST
from traceview.report.text import fmt_per_step
from traceview.tui.leaning import NOT_LEANING, Leaning
from traceview.tui.state import TreePath
from traceview.units import UNKNOWN, cell_width, fmt_count, fmt_ns
from traceview.widgets.columns import Column
from traceview.widgets.tree_table import Path, TreeRow

# What `s` goes through: the frame's column and its title; the share is the order of the frame itself.
ORDERS = {
    "sum_ns": "share",
    "saves_ns": "saves \N{LESS-THAN OR EQUAL TO}",
    "calls_per_step": "calls/step",
    "mean_ns": "mean",
    "p95_ns": "p95",
    "max_ns": "max",
}
# The columns that the tree splits by: what one row is, what several are.
LEVEL_NAMES = {
    "family": ("family", "families"),
    "group": ("kernel", "kernels"),
    "variant": ("variant", "variants"),
    "op_name": ("op", "ops"),
    "module_path": ("module path", "module paths"),
    "module": ("module", "modules"),
    "call_site": ("Python line", "Python lines"),
    "annotation": ("annotation", "annotations"),
    "place": ("stream", "streams"),
}


BETWEEN = " \N{MIDDLE DOT} "  # the remarks of a row
ROOMY = 130  # cells from which the spread stands in the table too, and not only under the histogram
WIDE = 180  # cells from which there is also room for what the step could save


def columns(
    steps: int, width: int, order: str = "sum_ns", by_op: bool = False, leans: Leaning = NOT_LEANING
) -> tuple[Column, ...]:
    """The figures beside name and share; with one step, times and calls are simply its own.

    by_op: the first level are ops, whose own time is not all that lies below them. order: what is sorted by
    is always there.
    """
    one = steps == 1
    saves = Column("saves", ORDERS["saves_ns"], 8, "right", priority=5 if order != "saves_ns" else 0)
    found = [Column("per_step", "self" if by_op else "time" if one else "per step", 8, "right")]
    if by_op:
        found.append(Column("op_total", "op total", 8, "right", priority=1))
    if order == "saves_ns":
        found.append(saves)
    found += [
        Column("calls" if one else "calls_per_step", "calls" if one else "calls/step", 10, "right"),
        Column("mean", "mean", 7, "right", priority=1),
    ]
    if width >= ROOMY:
        found += [
            Column("p50", "p50", 7, "right", priority=4),
            Column("p95", "p95", 7, "right", priority=4),
            Column("max", "max", 7, "right", priority=3),
            Column("over_floor", leans.floor_title("x floor"), 8, "right", priority=3),
        ]
    if width >= WIDE and saves not in found:
        found.append(saves)
    return (
        *found,
        Column("op", leans.ops_title(), 16, priority=6, muted=True),
        # Where a column of its own carries the mark, the remarks need not.
        Column(
            "remark",
            leans.remark_title("what is odd") if width < ROOMY else "what is odd",
            _remark_width(width),
            priority=2,
            grow=True,
            muted=True,
        ),
    )


def _remark_width(width: int) -> int:
    """Cells that are left for remarks beside name, share and the first three figures."""
    return max(16, min(32, width - (88 if width >= 104 else 79)))


class KernelRows:
    """Children of a tree-table, out of the frames that `level` gives for a path of keys."""

    def __init__(
        self,
        level: Callable[[TreePath], pl.DataFrame],
        op_totals: Callable[[], Mapping[str, int]] = dict,
        steps: Callable[[], int] = lambda: 1,
    ) -> None:
        """op_totals: the total time in ns of each op; steps: how many are selected."""
        self._level = level
        self._op_totals = op_totals
        self._steps = steps
        self.order = "sum_ns"
        self._rows: dict[Path, dict[str, Any]] = {}
        self._cells: dict[Path, tuple[str, ...]] = {}
        self._keys: dict[Path, TreePath] = {(): ()}

    def children(self, path: Path, columns: Sequence[Column]) -> list[TreeRow]:
        """The rows under `path`, which the table has been given before."""
        table = self._level(self._keys[path])
        if self.order != "sum_ns":
            rest = pl.col("level") == REST
            table = table.sort(
                rest, self.order, descending=[False, True], nulls_last=True, maintain_order=True
            )
        return [self._row(path, row, columns) for row in table.iter_rows(named=True)]

    def _row(self, above: Path, row: dict[str, Any], columns: Sequence[Column]) -> TreeRow:
        rest = row["level"] == REST
        word = REST if rest else "none" if row["key"] is None else f"={row['key']}"
        path = (*above, word)
        self._rows[path] = row
        if row["level"] == "op_name":
            total = self._op_totals().get(str(row["key"]))
            row["op_total_ns"] = None if total is None else total / max(1, self._steps())
        self._cells[path] = tuple(_cell(column, row) for column in columns)
        if not rest:
            self._keys[path] = (*self._keys[above], row["key"])
        family = row["family"] if row["level"] != "family" else row["key"]
        return TreeRow(
            path,
            row["label"],
            self._cells[path],
            row["share"],
            row["expandable"],
            family,
        )

    def keys(self, path: Path) -> TreePath | None:
        """The keys that lead to a row; None for the row that stands for all the rest."""
        return self._keys.get(path)

    def cells(self, path: Path) -> tuple[str, ...]:
        """The figures of a row as they show."""
        return self._cells[path]

    def row(self, path: Path) -> dict[str, Any]:
        """A row's figures as the frame has them."""
        return self._rows[path]

    def path_of(self, keys: Sequence[Any]) -> Path:
        """The path of a row by its keys."""
        return tuple("none" if key is None else f"={key}" for key in keys)


def _cell(column: Column, row: dict[str, Any]) -> str:
    key = column.key
    if key == "calls":
        return fmt_count(row["calls"])
    if key == "calls_per_step":
        return fmt_per_step(row["calls_per_step"])
    if key == "over_floor":
        return UNKNOWN if row[key] is None else floor_word(row[key], row["suspect"], row["assumed"])
    if key == "op":
        others = row["ops"] - 1
        return UNKNOWN if row["op"] is None else f"{row['op']} +{others}" if others > 0 else str(row["op"])
    return _fitting(row["remark"], column.width) if key == "remark" else fmt_ns(row.get(f"{key}_ns"))


def _fitting(remark: str, width: int) -> str:
    """As many of the remarks as fit, the first, which is the most telling, in any case."""
    text, *others = remark.split(BETWEEN)
    for other in others:
        if cell_width(text) + len(BETWEEN) + cell_width(other) <= width:
            text += BETWEEN + other
    return text
