"""Everything about one launch: its neighbours on the stream, its size, its device."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import kernel, session, steps
from traceview.api import Session
from traceview.errors import TraceError

LANE = [kernel("a", 0, 10), kernel("other stream", 12, 5, stream=20), kernel("b", 15, 10), kernel("c", 22, 5)]


def beside(asked: Session, launch_id: int) -> dict[str, Any]:
    """The neighbours' names and the gaps in ns."""
    found = asked.card(launch_id)["neighbours"]
    return {side: row and (row["name"], row["gap_ns"]) for side, row in found.items()}


def test_neighbours_are_those_of_the_same_stream_with_the_gap_between(tmp_path: Path) -> None:
    # a [0,10), b [15,25), c [22,27): 5 us idle, then 3 us of overlap.
    asked = session(tmp_path, *LANE)
    assert beside(asked, 2) == {"previous": ("a", 5_000), "next": ("c", -3_000)}
    assert beside(asked, 0) == {"previous": None, "next": ("b", 5_000)}
    assert beside(asked, 1) == {"previous": None, "next": None}


def test_an_equal_stream_number_of_another_device_is_no_neighbour(tmp_path: Path) -> None:
    asked = session(tmp_path, kernel("a", 0, 10), kernel("b", 20, 10, device=1))
    assert beside(asked, 0) == {"previous": None, "next": None}


def test_untimed_work_has_no_neighbours_and_is_none(tmp_path: Path) -> None:
    asked = session(tmp_path, kernel("a", 5, 10), kernel("untimed", 0, 0), kernel("b", 20, 10))
    assert beside(asked, 1) == {"previous": None, "next": None}
    assert beside(asked, 2) == {"previous": ("a", 5_000), "next": None}


def test_the_grid_is_counted_in_blocks_threads_and_waves(tmp_path: Path) -> None:
    # 8 x 33 = 264 blocks of 32 x 4 = 128 threads; 264 / 132 multiprocessors = 2 waves of one block each.
    asked = session(
        tmp_path,
        kernel("k", 0, 10, grid=(8, 33, 1), block=(32, 4, 1)),
        deviceProperties=[{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}],
    )
    card = asked.card(0)
    assert (card["blocks"], card["threads"], card["waves"]) == (264, 128, 2)
    assert card["device"]["name"] == "NVIDIA H100 80GB HBM3"


def test_an_unknown_grid_or_device_leaves_them_unknown(tmp_path: Path) -> None:
    card = session(tmp_path, kernel("k", 0, 10, grid=None, block=None)).card(0)
    assert (card["blocks"], card["threads"], card["waves"]) == (None, None, None)


def test_the_step_has_its_name(tmp_path: Path) -> None:
    asked = session(tmp_path, *steps(0, dur=100, first=7), kernel("in", 10, 5), kernel("out", 200, 5))
    assert [asked.card(i)["step_name"] for i in (0, 1)] == ["ProfilerStep#7", None]


def test_a_launch_that_is_not_there_gets_a_line_with_the_ids(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no launch 4; ids run from 0 to 3") as caught:
        session(tmp_path, *LANE).card(4)
    assert caught.value.exit_code == 2
