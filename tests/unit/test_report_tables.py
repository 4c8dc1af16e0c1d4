"""Rows as a plain table, as markdown and as CSV: they fit, and no text breaks them."""

import csv
import io

import pytest

from traceview.report.tables import Column, csv_table, markdown_table, plain_table
from traceview.units import cell_width

NAME_AND_SUM = [Column("kernel", number=False, elastic=True), Column("sum")]
HOSTILE = [
    "[/red]",
    "[unclosed",
    "a|b`c`<d>&amp;",
    "line\nfeed\tand tab",
    "\x1b[31mred\x07",
    "核函数加法🙂",
    "x" * 10_000,
    "| --- | --- |",
    "**bold** _under_ ~~gone~~ $math$",
    "[link](http://example.org)",
    "<img src=x onerror=alert(1)>",
    "\u202ereversed",
    "",
]


def test_numbers_stand_right_and_text_left() -> None:
    assert plain_table(NAME_AND_SUM, [["gemm", "5 us"], ["x", "120 us"]], 80) == (
        "kernel     sum\n"
        "gemm      5 us\n"
        "x       120 us\n"
    )  # fmt: skip


def test_markdown_has_bars_and_a_rule_that_aligns_numbers() -> None:
    assert markdown_table(NAME_AND_SUM, [["gemm", "5 us"], ["x", "120 us"]]) == (
        "| kernel |    sum |\n"
        "| ------ | -----: |\n"
        "| gemm   |   5 us |\n"
        "| x      | 120 us |\n"
    )  # fmt: skip


def test_an_elastic_column_loses_its_middle_where_the_table_is_too_wide() -> None:
    table = plain_table(NAME_AND_SUM, [["abcdefghijklmnopqrstuvwxyz", "5 us"]], 21)
    assert table.splitlines()[1] == "abcdefg…tuvwxyz  5 us"


def test_the_widest_of_several_elastic_columns_gives_first() -> None:
    columns = [Column("a", number=False, elastic=True), Column("b", number=False, elastic=True)]
    (_, row) = plain_table(columns, [["x" * 60, "short enough to stay"]], 60).splitlines()
    assert "short enough to stay" in row
    assert cell_width(row) == 60


def test_columns_that_can_be_spared_go_where_nothing_else_helps_the_most_spare_first() -> None:
    columns = [
        Column("id"),
        Column("stream", spare=2),
        Column("delay", spare=1),
        Column("op", number=False, elastic=True),
    ]
    rows = [["1", "7", "25 us", "aten::mm"]]
    heads = {width: plain_table(columns, rows, width).splitlines()[0].split() for width in (80, 25, 14)}
    assert heads == {
        80: ["id", "stream", "delay", "op"],
        25: ["id", "delay", "op"],
        14: ["id", "op"],
    }


@pytest.mark.parametrize("width", [40, 60, 99])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_breaks_a_table(name: str, width: int) -> None:
    for table in (
        plain_table(NAME_AND_SUM, [[name, "5 us"]], width),
        markdown_table(NAME_AND_SUM, [[name, "5 us"]], width),
    ):
        assert len(table.splitlines()) == table.count("\n") <= 3
        assert all(char == "\n" or char.isprintable() for char in table)
        assert len({cell_width(line) for line in table.splitlines()}) == 1 or not table.startswith("|")
        assert max(map(cell_width, table.splitlines())) <= width


@pytest.mark.parametrize("name", HOSTILE)
def test_every_row_of_a_markdown_table_has_its_columns(name: str) -> None:
    row = markdown_table(NAME_AND_SUM, [[name, "5 us"]]).splitlines()[2]
    assert row.replace("\\|", "").count("|") == 3


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", r"a\|b"),
        ("*x*", r"\*x\*"),
        ("gemm_64x8<4>", "gemm_64x8<4>"),
        ("step[DECODE bs=64]", "step[DECODE bs=64]"),
    ],
)
def test_markdown_shows_text_as_it_is(name: str, shown: str) -> None:
    assert f"| {shown} " in markdown_table(NAME_AND_SUM, [[name, "5 us"]])


def test_an_escape_takes_room_too() -> None:
    # Forty bars are eighty cells once each has its backslash.
    table = markdown_table(NAME_AND_SUM, [["|" * 40, "5 us"]], 60)
    assert max(map(cell_width, table.splitlines())) <= 60


def test_an_empty_cell_stays_empty() -> None:
    assert markdown_table(NAME_AND_SUM, [["", "5 us"]]).splitlines()[2].split() == ["|", "|", "5", "us", "|"]


def test_a_table_without_rows_is_its_head() -> None:
    assert plain_table(NAME_AND_SUM, [], 80) == "kernel  sum\n"
    assert markdown_table(NAME_AND_SUM, []).count("\n") == 2


def test_csv_keeps_exact_values_and_quotes_what_needs_it() -> None:
    text = csv_table(["name", "sum_ns", "share"], [['a,"b"', 1_234_567, 0.25], ["plain", None, None]])
    assert text == 'name,sum_ns,share\n"a,""b""",1234567,0.25\nplain,,\n'


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://x")', "\t=1+1", "\r=1"])
def test_no_name_becomes_a_formula(name: str) -> None:
    (cell,) = list(csv.reader(io.StringIO(csv_table(["name"], [[name]]))))[1]
    assert cell.strip()[0] not in "=+-@"


def test_negative_numbers_stay_numbers() -> None:
    assert csv_table(["delay_ns"], [[-2000]]) == "delay_ns\n-2000\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_every_csv_row_is_one_line_of_its_columns(name: str) -> None:
    text = csv_table(["name", "sum"], [[name, 5]])
    assert text.count("\n") == 2
    assert [len(row) for row in csv.reader(io.StringIO(text))] == [2, 2]
    assert "\x1b" not in text
