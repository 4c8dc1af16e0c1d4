"""Who encloses whom on a thread, drawn as bars. Times are nanoseconds unless a test says otherwise."""

import numpy as np
import polars as pl
import pytest

from traceview.analysis.nesting import NONE, Nest, chains, nest

US = 1_000


def slices(*rows: tuple[int, int] | tuple[int, int, int]) -> pl.DataFrame:
    """Rows of (begin, end) or (begin, end, thread), in file order."""
    return pl.DataFrame(
        {
            "id": range(len(rows)),
            "begin_ns": [row[0] for row in rows],
            "dur_ns": [row[1] - row[0] for row in rows],
            "thread": [row[2] if len(row) > 2 else 0 for row in rows],
        },
        schema={"id": pl.Int64, "begin_ns": pl.Int64, "dur_ns": pl.Int64, "thread": pl.Int64},
    )


def parents(*rows: tuple[int, ...]) -> list[int]:
    return nest(slices(*rows)).parent_row.tolist()


def around(found: Nest, *moments: int, thread: int = 0) -> list[int]:
    return found.around(np.full(len(moments), thread), np.array(moments)).tolist()


@pytest.mark.parametrize(
    ("rows", "parent"),
    [
        pytest.param([(0, 100), (10, 20), (30, 40)], [NONE, 0, 0], id="two children of one parent"),
        pytest.param([(0, 100), (10, 50), (20, 30)], [NONE, 0, 1], id="the nearest one encloses"),
        pytest.param([(20, 30), (10, 50), (0, 100)], [1, 2, NONE], id="the file's order does not matter"),
        pytest.param([(0, 10), (10, 20)], [NONE, NONE], id="touching is not enclosing"),
        pytest.param([(0, 100), (0, 50)], [NONE, 0], id="of equal begins the longer one is outside"),
        pytest.param([(0, 50), (0, 100)], [1, NONE], id="also where it stands later in the file"),
        pytest.param([(0, 50), (0, 50)], [NONE, 0], id="of equal slices the first in the file is outside"),
        pytest.param([(0, 100), (50, 50)], [NONE, 0], id="a slice of no length has a parent"),
        pytest.param([(0, 0), (0, 10)], [1, NONE], id="a slice of no length at its parent's begin"),
        pytest.param([(0, 0), (0, 0)], [NONE, NONE], id="slices of no length enclose nothing"),
        pytest.param([(0, 100), (10, 20, 1)], [NONE, NONE], id="another thread encloses nothing"),
    ],
)
def test_the_parent_is_the_innermost_slice_that_is_still_open(
    rows: list[tuple[int, ...]], parent: list[int]
) -> None:
    assert parents(*rows) == parent


def test_a_child_may_end_one_tick_of_a_microsecond_clock_after_its_parent() -> None:
    assert parents((0, 10 * US), (5 * US, 11 * US)) == [NONE, 0]


def test_a_slice_that_ends_later_than_that_belongs_to_the_next_one_outside() -> None:
    # The second outlasts the first by 2 us; the third outlasts all.
    outer, first, second = (0, 100 * US), (10 * US, 20 * US), (15 * US, 22 * US)
    assert parents(outer, first, second) == [NONE, 0, 0]
    assert parents(first, second) == [NONE, NONE]


def test_slices_without_a_time_take_no_part() -> None:
    frame = slices((0, 100), (10, 20), (30, 40)).with_columns(
        dur_ns=pl.Series([100, None, -1], dtype=pl.Int64), begin_ns=pl.Series([0, 10, 30])
    )
    assert nest(frame).parent_row.tolist() == [NONE, NONE, NONE]


def test_the_innermost_slice_around_a_moment() -> None:
    #  0 ........................ 100   row 0
    #     10 .......... 50              row 1
    #         20 .. 30                  row 2
    found = nest(slices((0, 100), (10, 50), (20, 30)))
    assert around(found, 5, 25, 30, 49, 50, 99, 100, -1) == [0, 2, 1, 1, 0, 0, NONE, NONE]
    assert around(found, 25, thread=1) == [NONE]


def test_a_slice_of_no_length_holds_no_moment() -> None:
    assert around(nest(slices((0, 100), (50, 50))), 50) == [0]


def test_moments_may_come_in_any_order_and_many_at_once() -> None:
    found = nest(slices((0, 10), (20, 30)))
    assert around(found, 25, 5, 15, 5) == [1, 0, NONE, 0]


def test_nothing_nests_in_an_empty_frame() -> None:
    found = nest(slices())
    assert found.parent_row.tolist() == []
    assert around(found, 5) == [NONE]


def test_chains_lead_from_the_inside_out() -> None:
    # 2 lies in 1, 1 in 0; 3 stands alone.
    found = chains(np.array([NONE, 0, 1, NONE]), np.array([2, 3]))
    lists = found.group_by("start", maintain_order=True).agg("row")
    assert sorted(lists.rows()) == [(2, [2, 1, 0]), (3, [3])]


def test_ten_thousand_levels_are_no_problem() -> None:
    deep = 10_000
    found = nest(slices(*((i, 3 * deep - i) for i in range(deep))))
    assert found.parent_row.tolist() == [NONE, *range(deep - 1)]
