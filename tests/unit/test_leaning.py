"""Which figures carry a mark because they lean on something missing or unsure."""

from pathlib import Path

import pytest

from tests.traces import Event, launched, op, session, steps
from traceview.tui.leaning import Leaning, leaning

H100 = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]
UNKNOWN = [{"id": 0, "name": "Some other GPU"}]
UNSURE = [{"id": 0, "name": "NVIDIA RTX PRO 6000 Blackwell Server Edition", "numSms": 188}]
LINKED: list[Event] = [*steps(0, dur=100), op("aten::mm", 0, 20), *launched("gemm", 5, 30, 10, 1)]
LOOSE: list[Event] = launched("lone", 60, 70, 10, 2)


@pytest.mark.parametrize(
    ("events", "devices", "expected"),
    [
        (LINKED, H100, Leaning()),
        ([*LINKED, *LOOSE], H100, Leaning(ops=True)),
        (LINKED, UNKNOWN, Leaning(floors=True)),
        (LINKED, [], Leaning(floors=True)),
        (LINKED, UNSURE, Leaning(floors=True, unsure=True)),
        ([], H100, Leaning()),
    ],
)
def test_what_the_figures_lean_on(
    tmp_path: Path, events: list[Event], devices: list[dict[str, object]], expected: Leaning
) -> None:
    assert leaning(session(tmp_path, *events, deviceProperties=devices)) == expected


def test_a_mark_stands_in_the_title() -> None:
    assert Leaning(ops=True).ops_title() == "op*"
    assert Leaning(ops=True).floor_title("floor") == "floor"
    assert Leaning(floors=True).floor_title("x floor") == "x floor*"
    assert Leaning(floors=True).remark_title("what is odd") == "what is odd"
    assert Leaning(floors=True, unsure=True).remark_title("what is odd") == "what is odd*"
