"""The kernel tree: what each level splits by, its labels, and that nothing is lost on the way down."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, frame, kernel, launch, launched, op, session
from traceview.analysis import tree
from traceview.analysis.groups import GROUPINGS
from traceview.api import Session
from traceview.selection import EVERYTHING

SMALL: list[Event] = [
    op("aten::mm", 0, 20, dims=[[8, 16], [16, 4]]),
    *launched("sm90_gemm", 5, 100, 30, 1, grid=(64, 1, 1)),
    op("aten::mm", 30, 20, dims=[[9, 16], [16, 4]]),
    *launched("sm90_gemm", 35, 140, 50, 2, grid=(72, 1, 1)),
    launch(60, 3, name="cudaGraphLaunch"),
    kernel("rms_norm_kernel", 200, 15, 3),
    kernel("lost_kernel", 230, 5, 9, stream=20),
]


def labels(asked: Session, grouping: str, *path: Any) -> list[tuple[str, int]]:
    level = asked.tree(EVERYTHING, grouping, path)
    return list(level.select("label", "sum_ns").iter_rows())


def test_by_kernel_it_goes_from_family_to_kernel_to_variant(tmp_path: Path) -> None:
    asked = session(tmp_path, *SMALL)
    assert labels(asked, "kernel") == [("gemm", 80_000), ("norm", 15_000), ("other", 5_000)]
    (group,) = asked.tree(EVERYTHING, "kernel", ("gemm",)).iter_rows(named=True)
    assert (group["label"], group["calls"], group["variants"], group["expandable"]) == (
        "sm90_gemm",
        2,
        2,
        True,
    )
    variants = asked.tree(EVERYTHING, "kernel", ("gemm", group["key"]))
    assert variants["label"].to_list() == [
        "grid 72 block 128  [9,16] [16,4]",
        "grid 64 block 128  [8,16] [16,4]",
    ]
    assert not variants["expandable"].any()


def test_by_op_work_without_one_says_why(tmp_path: Path) -> None:
    assert labels(session(tmp_path, *SMALL), "op") == [
        ("aten::mm", 80_000),
        ("no op: inside a CUDA graph", 20_000),
    ]


def test_by_stream(tmp_path: Path) -> None:
    assert labels(session(tmp_path, *SMALL), "stream") == [
        ("GPU 0 stream 7", 95_000),
        ("GPU 0 stream 20", 5_000),
    ]


def test_the_launches_below_a_row_are_those_that_it_counts_in_time_order(tmp_path: Path) -> None:
    asked = session(tmp_path, *SMALL)
    below = asked.path_work(EVERYTHING, "op", ("aten::mm",))
    assert below["id"].to_list() == [0, 1]
    assert asked.path_work(EVERYTHING, "op", (None,))["id"].to_list() == [2, 3]


def test_rows_beyond_those_that_anyone_reads_are_added_up(tmp_path: Path) -> None:
    # 303 kernels of 1000, 999, ... ns: the last three, 700 + 699 + 698 ns, fall together.
    count = tree.MOST_ROWS + 3
    kernels = [kernel(f"k{i}", 10 * i + 1, (1000 - i) / 1000, grid=(i + 1, 1, 1)) for i in range(count)]
    asked = session(tmp_path, *kernels)
    level = asked.tree(EVERYTHING, "kernel", ("other",))
    assert level.height == tree.MOST_ROWS + 1
    last = level.row(-1, named=True)
    assert (last["label"], last["calls"], last["sum_ns"]) == (
        "everything else (3 more rows)",
        3,
        700 + 699 + 698,
    )
    assert not last["expandable"]
    assert level["share"].sum() == pytest.approx(1)


def test_shares_are_of_the_selection_on_every_level(tmp_path: Path) -> None:
    asked = session(tmp_path, *SMALL)
    assert asked.tree(EVERYTHING, "kernel")["share"].to_list() == pytest.approx([0.8, 0.15, 0.05])
    (group,) = asked.tree(EVERYTHING, "kernel", ("gemm",)).iter_rows(named=True)
    assert group["share"] == 0.8


ODD: list[Event] = [
    frame("", 0, 50, 1),
    op("", 1, 20, dims="x", types=5),
    *launched("", 5, 100, 30, 1, grid=None, block=None),
    {"ph": "X", "cat": "kernel", "ts": 150, "dur": 5},
    {"ph": "X", "cat": "gpu_memcpy", "name": "[/red]\x1b[31m", "ts": 160, "dur": 5, "args": {"grid": "x"}},
    kernel("untimed", 0, 0),
]


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize(
    "events", [SMALL, ODD, [], [op("aten::mm", 0, 5)]], ids=["small", "odd", "empty", "no work"]
)
def test_every_level_of_every_grouping_adds_up_to_the_row_above(
    tmp_path: Path, events: list[Event], grouping: str
) -> None:
    asked = session(tmp_path, *events)

    def descend(path: tuple[Any, ...], calls: int, total: int) -> None:
        level = asked.tree(EVERYTHING, grouping, path)
        assert (level["calls"].sum(), level["sum_ns"].sum()) == (calls, total)
        assert level["label"].null_count() == 0
        assert not level["label"].str.contains("None").any()
        for row in level.filter("expandable").iter_rows(named=True):
            descend((*path, row["key"]), row["calls"], row["sum_ns"])

    work = asked.work
    descend((), work.height, work.filter("timed")["dur_ns"].sum())
