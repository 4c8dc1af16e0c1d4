"""What people read: numbers with three digits and a unit, and text that cannot harm a terminal or a table."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from traceview import units

HOSTILE = "\x1b]52;c;aGk=\x07[red]\u202ex\u2066\u2028\ud800\x9b31m\x7f\u200b核🚀e\u0301|`<T>\n\t"
ANY_TEXT = st.text(st.characters(codec=None), max_size=60)  # lone surrogates too


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (0, "0 ns"),
        (412, "412 ns"),
        (999, "999 ns"),
        (12.34, "12.3 ns"),
        (1_000, "1.00 us"),
        (828_205, "828 us"),
        (999_499, "999 us"),
        (999_500, "1.00 ms"),  # never "1000 us"
        (95_000_000, "95.0 ms"),
        (1_938_000_000, "1.94 s"),
        (999_999_999, "1.00 s"),
        (4_321_000_000_000, "4,321 s"),
        (-1_500, "-1.50 us"),
    ],
)
def test_a_duration_keeps_three_digits_and_its_unit(ns: float | None, text: str) -> None:
    assert units.fmt_ns(ns) == text


def test_the_other_units() -> None:
    assert units.fmt_bytes(856_313_856) == "856 MB"
    assert units.fmt_bytes(999_999) == "1.00 MB"
    assert units.fmt_bytes(17) == "17 B"
    assert units.fmt_rate(3.35e12) == "3.35 TB/s"
    assert units.fmt_rate(989e12, "FLOP") == "989 TFLOP/s"
    assert units.fmt_count(557_496) == "557,496"
    assert units.fmt_count(77.5) == "77.50"
    assert units.fmt_percent(0.6931) == "69.3 %"
    assert units.fmt_percent(0.0001) == "<0.1 %"
    assert units.fmt_percent(0) == "0.0 %"


@pytest.mark.parametrize(
    "fmt", [units.fmt_ns, units.fmt_bytes, units.fmt_rate, units.fmt_count, units.fmt_percent]
)
def test_unknown_is_a_dash_and_never_zero(fmt: Callable[[float | None], str]) -> None:
    assert fmt(None) == "-"
    assert fmt(float("inf")) == "-"


def test_hostile_text_shows_what_it_holds() -> None:
    assert units.safe_text(HOSTILE) == (
        r"\x1b]52;c;aGk=\x07[red]\u202ex\u2066\u2028\ud800\x9b31m\x7f\u200b核🚀" + "e\u0301|`<T>  "
    )
    assert units.safe_text("a\r\nb\nc", newline="\n") == "a\nb\nc"
    assert units.safe_text("a\nb") == "a b"


@pytest.mark.parametrize("name", ["", " ", "\n\t", "\u3000"])
def test_a_name_without_a_visible_character_gets_a_placeholder(name: str) -> None:
    assert units.safe_text(name) == "(empty name)"


@given(ANY_TEXT)
def test_safe_text_is_printable_and_settled(text: str) -> None:
    safe = units.safe_text(text)
    assert safe
    assert safe.isprintable()
    assert units.safe_text(safe) == safe
    safe.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=40))
def test_cells_are_counted_as_the_terminal_library_counts_them(text: str) -> None:
    safe = units.safe_text(text)
    assert units.cell_width(safe) == cell_len(safe)


@given(ANY_TEXT, st.integers(0, 30))
def test_a_shortened_text_fits_and_is_safe(text: str, width: int) -> None:
    short = units.shorten(text, width)
    assert units.cell_width(short) <= width
    assert short == "" or short.isprintable()
    if short and not text.isspace() and units.cell_width(units.safe_text(text)) <= width:
        assert short == units.safe_text(text)


def test_a_long_name_keeps_both_ends() -> None:
    assert units.shorten("unrolled_elementwise_kernel", 13) == "unroll…kernel"
    assert units.shorten("核函数核函数", 6) == "核…数"  # a wide character is never halved
    assert units.shorten("ab", 1) == "…"
    assert units.shorten("", 5) == ""


def test_only_the_ends_of_a_very_long_name_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def category(char: str, real: Callable[[str], str] = unicodedata.category) -> str:
        nonlocal looked_at
        looked_at += 1
        return real(char)

    units._char_width.cache_clear()
    monkeypatch.setattr(unicodedata, "category", category)
    name = "".join(map(chr, range(0x4E00, 0x9FA0))) * 20
    assert units.cell_width(units.shorten(name, 40)) <= 40
    assert looked_at < 1_000


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("pipe | and `tick` <T>", r"pipe \| and \`tick\` \<T>"),
        ("line\nbreak\tand tab", "line break and tab"),
        ("\x1b[31mred", r"\\x1b[31mred"),
        ("step[DECODE bs=64]", "step[DECODE bs=64]"),
        ("a_b __nv_bfloat16 *p", r"a_b \_\_nv_bfloat16 \*p"),
        ("# no heading", r"\# no heading"),
        ("1. no list", r"1\. no list"),
        ("[a](b) 63.3 % x -> y", r"[a\](b) 63.3 % x -> y"),
        ("- no list", r"\- no list"),
        ("&lt; stays", "&amp;lt; stays"),
        ("", "(empty name)"),
    ],
)
def test_a_markdown_cell_shows_the_text_as_it_is(name: str, cell: str) -> None:
    assert units.md_cell(name) == cell


@given(ANY_TEXT)
def test_no_text_ends_a_markdown_cell(text: str) -> None:
    cell = units.md_cell(text)
    assert "\n" not in cell
    assert "|" not in cell.replace(r"\\", "").replace(r"\|", "")


def test_an_ascii_terminal_gets_plain_counterparts() -> None:
    assert units.ascii_text("a \u203a b … 核 █ é") == r"a > b ~ \u6838 # \xe9"
