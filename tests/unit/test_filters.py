"""What is typed after `/` means these rows."""

import polars as pl
import pytest

from traceview.tui.filters import Field, FilterError, parse

FRAME = pl.DataFrame(
    {
        "id": [0, 1, 2, 3],
        "dur_ns": [500, 900_000, 1_200_000, None],
        "op": ["aten::mm", "Copy[x]", "a<b", None],
    },
    schema_overrides={"op": pl.Categorical()},
)
FIELDS = {"id": Field(pl.col("id")), "dur": Field(pl.col("dur_ns"), "time")}


def rows(text: str) -> list[int]:
    predicate = parse(text, FIELDS, FRAME, ["op"]).predicate
    return (FRAME if predicate is None else FRAME.filter(predicate))["id"].to_list()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [0, 1, 2, 3]),
        ("MM", [0]),
        ("copy[", [1]),  # text, not a pattern
        ("dur>800us", [1, 2]),
        ("dur>=1.2ms", [2]),
        ("dur > 800us dur<1ms", [1]),
        ("id!=0 dur<1ms", [1]),
        ("dur>1us copy", [1]),
        ("a<b", [2]),  # no such field: a word, as in the name of a template
    ],
)
def test_words_and_comparisons_must_all_hold(text: str, expected: list[int]) -> None:
    assert rows(text) == expected


def test_words_are_what_is_looked_for() -> None:
    assert parse("dur>1us aten mm", FIELDS, FRAME, ["op"]).words == "aten mm"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dur>", "dur: needs a time such as dur>800us"),
        ("dur>800", "dur: needs a time such as dur>800us"),
        ("id=x", "id: needs a count such as id>1000"),
        ("grid=3", "grid: not one of id, dur"),
    ],
)
def test_what_cannot_be_compared_says_what_would_work(text: str, says: str) -> None:
    with pytest.raises(FilterError, match=says):
        parse(text, FIELDS, FRAME, ["op"])
