"""The card of facts, the breadcrumb and the reading progress: whole at any width, harmless with any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.widget import Widget

from traceview.units import cell_width
from traceview.widgets.breadcrumb import BETWEEN, Breadcrumb, fitted
from traceview.widgets.detail import Detail, Field, Section
from traceview.widgets.lines import wrapped
from traceview.widgets.load_progress import LoadProgress, Reading

LONG = "void unrolled<" + "A,B," * 150_000 + ">"
SECTIONS = [
    Section("Launch", [Field("grid", "557,496 blocks", "from the kernel's arguments"), Field("regs", "32")]),
    Section("Kernel", [Field("name", LONG), Field("[/red]", "\x1b[31m核\nsecond line")]),
    Section("Op", [Field(f"fact {i}", f"value {i}") for i in range(30)]),
]


class OneWidget(App[None]):
    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget

    def on_mount(self) -> None:
        self.widget.focus()


def seen(widget: Widget) -> list[str]:
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


async def test_a_card_has_sections_with_labels_values_and_where_they_come_from() -> None:
    async with OneWidget(Detail(SECTIONS)).run_test(size=(60, 30)) as pilot:
        lines = seen(pilot.app.query_one(Detail))
        assert lines[:5] == [
            "Launch",
            "grid     557,496 blocks   from the kernel's arguments",
            "regs     32",
            "",
            "Kernel",
        ]
        assert r"[/red]   \x1b[31m核" in lines
        assert "         second line" in lines
        assert all(cell_width(line) <= 59 for line in lines)


async def test_long_text_is_folded_until_it_is_asked_for() -> None:
    async with OneWidget(Detail(SECTIONS)).run_test(size=(60, 30)) as pilot:
        detail = pilot.app.query_one(Detail)
        folded = detail.virtual_size.height
        assert any("… 600,015 characters, enter shows all" in line for line in seen(detail))
        assert folded < 60
        await pilot.press("enter")
        assert detail.virtual_size.height > 600_000 / 60
        await pilot.press("enter")
        assert detail.virtual_size.height == folded


async def test_a_card_scrolls_by_keys_and_starts_anew_with_other_facts() -> None:
    async with OneWidget(Detail(SECTIONS)).run_test(size=(60, 10)) as pilot:
        detail = pilot.app.query_one(Detail)
        await pilot.press("j")
        assert seen(detail)[0].startswith("grid")
        await pilot.press("G")
        assert any(line.endswith("value 29") for line in seen(detail))
        await pilot.press("g", "g")
        assert seen(detail)[0] == "Launch"
        await pilot.press("pagedown")
        detail.show([Section("Other", [Field("a", "b")])])
        await pilot.pause()
        assert seen(detail)[:2] == ["Other", "a  b"]


async def test_wide_screens_have_two_columns_with_every_fact() -> None:
    async with OneWidget(Detail(SECTIONS)).run_test(size=(200, 60)) as pilot:
        lines = seen(pilot.app.query_one(Detail))
        assert lines[0].startswith("Launch")
        assert "Op" in lines[0]
        assert all(any(f"value {i}" in line for line in lines) for i in range(30))


async def test_a_card_may_be_empty_or_tiny() -> None:
    async with OneWidget(Detail()).run_test(size=(2, 1)) as pilot:
        pilot.app.query_one(Detail).show(SECTIONS)
        await pilot.press("enter", "down", "end", "enter")


@given(st.text(max_size=80), st.integers(2, 20))
def test_wrapping_loses_only_blanks_and_fits(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert all(cell_width(line) <= width for line in lines)
    whole = "\n".join(wrapped(text, 1_000))
    assert "".join("".join(lines).split()) == "".join(whole.split())


def test_text_is_broken_at_blanks_where_there_are_any() -> None:
    assert wrapped("one two three four", 10) == ["one two", "three four"]
    assert wrapped("核函数 核函数", 8) == ["核函数", "核函数"]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, ["all 30 steps", "copy-cast", "unrolled_elementwise_kernel", "launch 4 of 2,340"]),
        (60, ["all 30 steps", "copy-cast", "unrolle…_kernel", "launch …f 2,340"]),
        (40, ["…", "copy-cast", "unrol…rnel", "launc…,340"]),
        (30, ["…", "unrol…ernel", "launc…2,340"]),
        (12, ["launch…2,340"]),
        (0, [""]),
    ],
)
def test_a_breadcrumb_gives_up_the_middle_of_names_then_the_first_levels(
    width: int, shown: list[str]
) -> None:
    parts = ["all 30 steps", "copy-cast", "unrolled_elementwise_kernel", "launch 4 of 2,340"]
    assert fitted(parts, width) == shown
    assert cell_width(BETWEEN.join(shown)) <= width


async def test_a_breadcrumb_has_its_aside_at_the_right_edge() -> None:
    async with OneWidget(Breadcrumb(["[b]steps", "\x1b[31m"], "sum, per step")).run_test(
        size=(60, 3)
    ) as pilot:
        crumb = pilot.app.query_one(Breadcrumb)
        line = crumb.render_line(0).text
        assert line.startswith(f"[b]steps{BETWEEN}\\x1b[31m ")
        assert line.endswith(" sum, per step")
        assert cell_width(line) == 60
        crumb.show([])
        await pilot.pause()
        assert crumb.render_line(0).text.strip() == ""


async def test_progress_says_how_fast_and_how_long() -> None:
    widget = LoadProgress(hint="escape stops reading and keeps what came")
    async with OneWidget(widget).run_test(size=(80, 20)) as pilot:
        assert seen(widget) == []
        widget.show(
            Reading(
                "de\x1bcode.json",
                bytes_read=242_000_000,
                bytes_total=484_000_000,
                seconds=1.0,
                events=680_000,
                found={"kernel": 55_290, "cpu_op [/red]": 7},
            )
        )
        await pilot.pause()
        lines = seen(widget)
        assert lines[0] == r"reading de\x1bcode.json"
        assert lines[1].endswith(" 50.0 %  242 MB of 484 MB")
        assert lines[1].count("█") == lines[1].count("─")
        assert lines[2:] == [
            "242 MB/s · 680,000 events · 1.00 s left",
            "",
            "kernel         55,290",
            "cpu_op [/red]       7",
            "",
            "escape stops reading and keeps what came",
        ]


async def test_progress_of_unknown_length_and_of_nothing_yet() -> None:
    widget = LoadProgress()
    async with OneWidget(widget).run_test(size=(30, 10)) as pilot:
        for reading in (
            Reading("-", bytes_read=5_000_000, seconds=2.0),
            Reading("empty", bytes_total=0),
            Reading("grown", bytes_read=9, bytes_total=3, seconds=1.0),
        ):
            widget.show(reading)
            await pilot.pause()
            assert all(cell_width(line) <= 30 for line in seen(widget))
        widget.show(Reading("-", bytes_read=5_000_000, seconds=2.0))
        await pilot.pause()
        assert seen(widget) == ["reading -", "5.00 MB read", "2.50 MB/s · 0 events"]
