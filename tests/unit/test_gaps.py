"""Idle time of the GPU: which gaps there are, and what is made of their causes."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, kernel, launch, session


def gap_of(tmp_path: Path, *events: Event) -> dict[str, Any]:
    """The only gap of a trace of two kernels."""
    document = session(tmp_path, *events).gaps_document()
    (row,) = document["rows"]
    assert document["idle_ns"] == row["dur_ns"] == document["causes"][0]["sum_ns"]
    return row


def synchronize(at: float, dur: float) -> Event:
    """A call in which the host waits for the GPU."""
    return {**launch(at, 99), "name": "cudaStreamSynchronize", "dur": dur}


# The first kernel runs from 10 to 20 us, the second from 60 to 70: a gap of 40 us.
FIRST = (launch(1, 1), kernel("first", 10, 10, 1))
SECOND = kernel("second", 60, 10, 2)


@pytest.mark.parametrize(
    ("called_at", "cause"),
    [
        (5, "queued"),  # long before the gap began
        (30, "queued"),  # 10 us into the gap: the GPU made it wait for the other 30
        (55, "host was late"),  # 35 of the 40 us were the host's
    ],
)
def test_the_larger_part_of_a_gap_is_its_cause(tmp_path: Path, called_at: float, cause: str) -> None:
    row = gap_of(tmp_path, *FIRST, launch(called_at, 2), SECOND)
    assert (row["dur_ns"], row["cause"], row["next_name"]) == (40_000, cause, "second")


def test_a_host_that_had_waited_for_the_gpu_is_named(tmp_path: Path) -> None:
    row = gap_of(tmp_path, *FIRST, synchronize(12, 10), launch(55, 2), SECOND)
    assert (row["cause"], row["wait_name"]) == ("after a sync", "cudaStreamSynchronize")


def test_a_wait_that_ended_long_before_is_no_cause(tmp_path: Path) -> None:
    assert gap_of(tmp_path, synchronize(-100, 50), *FIRST, launch(55, 2), SECOND)["cause"] == "host was late"


def test_without_the_launch_the_cause_is_unknown(tmp_path: Path) -> None:
    assert gap_of(tmp_path, *FIRST, SECOND)["cause"] == "unknown"


def test_work_that_touches_leaves_no_gap(tmp_path: Path) -> None:
    document = session(tmp_path, kernel("a", 0, 10, 1), kernel("b", 10, 5, 2)).gaps_document()
    assert (document["idle_ns"], document["total"], document["causes"]) == (0, 0, [])
