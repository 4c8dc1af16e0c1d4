"""The notices: what a person should know before trusting the numbers. One small trace each."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, kernel, launch, launched, marker, op, session, steps
from traceview.trace import Notice

H100 = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]
FINE = [
    *steps(0, dur=1000),
    op("aten::mm", 1, 9, 1, dims=[[8]]),
    launch(5, 1, external=1),
    kernel("k", 20.5, 5, 1, external=1),
]


def notices(folder: Path, *events: Event, **header: Any) -> dict[str, Notice]:
    found = session(folder, *events, **{"deviceProperties": H100, "with_stack": 1, **header}).notices
    assert len({notice.code for notice in found}) == len(found)
    return {notice.code: notice for notice in found}


def test_a_sound_trace_has_none(tmp_path: Path) -> None:
    assert notices(tmp_path, *FINE) == {}


@pytest.mark.parametrize(
    ("code", "count", "event"),
    [
        ("launches-without-work", 1, [launch(30, 7)]),
        ("negative-delay", 1, launched("early", 40, 39, 5, 7)),
        ("untimed-events", 2, [kernel("k", 0, 0), kernel("k", 9, -1)]),
        ("unfinished-ops", 1, [op("aten::cut", 50, -1)]),
        (
            "suspect-duration",
            1,
            [kernel("wild", 100, 900), *(kernel("k", 200 + 200 * i, 200) for i in range(4))],
        ),
    ],
)
def test_each_oddity_is_counted(tmp_path: Path, code: str, count: int, event: list[Event]) -> None:
    assert notices(tmp_path, *FINE, *event)[code].count == count


def test_a_trace_without_steps_says_how_to_mark_them(tmp_path: Path) -> None:
    assert "prof.step()" in notices(tmp_path, *FINE[1:])["no-steps"].message


def test_untimed_work_is_no_disagreement_of_clocks(tmp_path: Path) -> None:
    # Its time 0 lies before its launch call, and before everything.
    assert "negative-delay" not in notices(tmp_path, *FINE, *launched("untimed", 30, 0, 0, 7))


def test_gpus_that_the_file_does_not_name_are_counted(tmp_path: Path) -> None:
    assert notices(tmp_path, *FINE, kernel("k", 90, 5, device=1))["unknown-device"].count == 1


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("no-gpu-work", [op("aten::mm", 0, 5, dims=[[8]])]),
        ("no-shapes", [op("aten::mm", 0, 5), kernel("k", 1, 2)]),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, name: str, what: list[Event]) -> None:
    assert name in notices(tmp_path, *what)


def test_no_stacks_are_said_where_they_were_not_asked_for(tmp_path: Path) -> None:
    assert "no-stacks" in notices(tmp_path, *FINE, with_stack=0)


def test_a_trace_without_gpu_work_lacks_no_launches(tmp_path: Path) -> None:
    # CPU-only: that launch calls have no work in the file is one fact, said once.
    found = notices(tmp_path, launch(0, 1), op("aten::mm", 0, 5, dims=[[8]]))
    assert "no-gpu-work" in found
    assert "launches-without-work" not in found


def short_kernels(dur: float, count: int = 20) -> list[Event]:
    return [kernel("k", 10 * i + 1, dur) for i in range(count)]


def test_whole_microseconds_everywhere_are_a_coarse_clock(tmp_path: Path) -> None:
    assert notices(tmp_path, *steps(0, dur=1000), *short_kernels(5))["coarse-clock"].count == 20
    assert "coarse-clock" not in notices(tmp_path, *steps(0, dur=1000), *short_kernels(5.5))


def test_a_few_whole_numbers_prove_nothing_of_a_clock(tmp_path: Path) -> None:
    assert "coarse-clock" not in notices(tmp_path, *steps(0, dur=1000), *short_kernels(5, count=19))


@pytest.mark.parametrize("over_ns", [1, 27, 500])
def test_neighbours_that_overlap_by_nanoseconds_raise_no_alarm(tmp_path: Path, over_ns: int) -> None:
    chain = [kernel("k", 10 * i, 10 + over_ns / 1000) for i in range(30)]
    assert "suspect-duration" not in notices(tmp_path, *FINE, *chain)


def test_a_kernel_of_no_length_inside_another_raises_no_alarm(tmp_path: Path) -> None:
    assert "suspect-duration" not in notices(tmp_path, *FINE, kernel("k", 100, 500), kernel("z", 200, 0))


def test_steps_without_gpu_work_are_counted(tmp_path: Path) -> None:
    assert notices(tmp_path, *FINE, marker("ProfilerStep#1", 1000, 50))["steps-without-work"].count == 1
