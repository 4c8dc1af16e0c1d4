"""What a person narrows a trace down to, in options, JSON and words."""

import argparse

import pytest

from traceview.commands.common import trace_options
from traceview.errors import TraceError
from traceview.selection import EVERYTHING, PHASES, Selection, parse_steps, steps_text

TEN = [f"ProfilerStep#{number}" for number in range(100, 110)]


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("0", [0]),
        ("3", [3]),
        ("3:6", [3, 4, 5]),
        ("8:", [8, 9]),
        (":2", [0, 1]),
        (":", list(range(10))),
        ("8:99", [8, 9]),
        ("-2:", [8, 9]),
        ("2,5,7", [2, 5, 7]),
        ("7,2,7", [2, 7]),
        ("#103", [3]),
    ],
)
def test_steps_are_meant_by_position_or_by_the_markers_number(text: str, chosen: list[int]) -> None:
    assert parse_steps(text, TEN) == tuple(chosen)


def test_a_number_that_two_markers_bear_means_both() -> None:
    assert parse_steps("#1", ["ProfilerStep#1", "ProfilerStep#1", "ProfilerStep#11"]) == (0, 1)


@pytest.mark.parametrize(
    "text", ["", "x", "1-3", "1:2:3", "1,", ",1", "1.5", "#", "#x", "-1", "-:-", " 3", "9" * 5000]
)
def test_other_forms_are_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(TraceError, match=r"not of the form 3, 3:10, 1:, 2,5,7 or #12") as caught:
        parse_steps(text, TEN)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["10", "10:", "5:5", "6:5", "2,99", "#3", "#" + "9" * 5000])
def test_steps_that_are_not_there_are_refused_with_those_that_are(text: str) -> None:
    with pytest.raises(TraceError, match=r"no such step; the trace has 10 \(0 to 9\)") as caught:
        parse_steps(text, TEN)
    assert caught.value.exit_code == 2


SELECTIONS = [
    (EVERYTHING, [], {"steps": None, "phase": None, "device": None}),
    (Selection(steps=(3, 4, 5)), ["--steps", "3:6"], {"steps": [3, 4, 5], "phase": None, "device": None}),
    (Selection(steps=(4,)), ["--steps", "4:5"], {"steps": [4], "phase": None, "device": None}),
    (Selection(steps=(1, 4, 9)), ["--steps", "1,4,9"], {"steps": [1, 4, 9], "phase": None, "device": None}),
    (
        Selection(phase="decode", device=0),
        ["--phase", "decode", "--device", "0"],
        {"steps": None, "phase": "decode", "device": 0},
    ),
]


@pytest.mark.parametrize(("selection", "options", "document"), SELECTIONS)
def test_a_selection_as_options_and_as_json(
    selection: Selection, options: list[str], document: dict[str, object]
) -> None:
    assert (selection.options(), selection.as_dict()) == (options, document)
    assert selection.everything == (selection == EVERYTHING)


@pytest.mark.parametrize("steps", [(4,), (3, 4, 5), (1, 4, 9)])
def test_options_select_the_same_steps_again(steps: tuple[int, ...]) -> None:
    assert parse_steps(Selection(steps=steps).options()[1], TEN) == steps


@pytest.mark.parametrize(
    ("steps", "count", "words"),
    [
        (None, 1, "the whole trace"),
        (None, 30, "all 30 steps"),
        ((4,), 30, "step 4"),
        ((3, 4, 5), 30, "steps 3:6"),
        ((1, 4, 9), 30, "steps 1, 4, 9"),
        ((0, 2, 4, 6, 8, 10, 12), 30, "steps 0, 2, 4, 6, 8, 10, ..."),
    ],
)
def test_steps_in_words(steps: tuple[int, ...] | None, count: int, words: str) -> None:
    assert steps_text(steps, count) == words


def test_the_command_line_offers_the_phases_that_steps_have() -> None:
    command = argparse.ArgumentParser()
    trace_options(command)
    assert [command.parse_args(["a.json", "--phase", phase]).phase for phase in PHASES] == list(PHASES)
    with pytest.raises(SystemExit):
        command.parse_args(["a.json", "--phase", "warm-up"])
