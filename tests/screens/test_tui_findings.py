"""The findings: the list, the evidence, the way to the launches and back, marks and notes."""

from pathlib import Path

import pytest

from tests.screens.driving import opened, place, press, seen
from tests.traces import launched, op, steps, write
from traceview.analysis.findings import Evidence, Finding
from traceview.tui.card import Card
from traceview.tui.finding_sections import finding_rows, finding_sections
from traceview.tui.findings import Findings
from traceview.tui.launches import Launches


async def test_the_evidence_is_that_of_the_finding_under_the_cursor(decode: Path) -> None:
    async with opened(decode) as pilot:
        first = await press(pilot, "4")
        assert place(pilot) == "all 2 steps > findings"
        assert "gaps of that kind" in first
        second = await press(pilot, "down")
        assert "gaps of that kind" not in second
        assert "dtype-cast; also oversized-copy" in second
        assert "floor of a call, memory-bound" in second


async def test_enter_leads_to_the_launches_of_the_variant_and_escape_back_to_the_row(decode: Path) -> None:
    async with opened(decode) as pilot:
        await press(pilot, "4", "down")
        screen = pilot.app.screen
        assert isinstance(screen, Findings)
        row = next(n for n, f in enumerate(screen.findings) if f.variant is not None and n > 0)
        screen.table().select_row_id(row)
        await press(pilot, "enter")
        launches = pilot.app.screen
        assert isinstance(launches, Launches)
        variants = screen.state.session.work["variant"].gather(launches.work["id"])
        assert variants.unique().to_list() == [screen.findings[row].variant]
        await press(pilot, "escape")
        assert pilot.app.screen is screen
        assert screen.table().cursor_row_id == row


async def test_a_finding_about_idle_time_leads_to_the_launch_that_ends_it(tmp_path: Path) -> None:
    events = [*steps(0, dur=1000), *launched("a", 1, 10, 100, 1), *launched("b", 800, 810, 100, 2)]
    async with opened(write(tmp_path, *events)) as pilot:
        await press(pilot, "4")
        screen = pilot.app.screen
        assert isinstance(screen, Findings)
        gap = next(n for n, f in enumerate(screen.findings) if f.kind == "idle-gap")
        screen.table().select_row_id(gap)
        await press(pilot, "enter")
        card = pilot.app.screen
        assert isinstance(card, Card)
        assert card.card["launch"]["name"] == "b"
        assert place(pilot) == "the whole trace > findings > b > launch 1 of 1"


async def test_marked_findings_are_what_is_written(
    decode: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(decode) as pilot:
        await press(pilot, "4", "e")
        await press(pilot, "down", "space")
        assert "1 of these marked" in seen(pilot)
        await press(pilot, "e", "escape", "4")
        assert "1 of these marked" in seen(pilot)
    every, marked = ((tmp_path / f"traceview-decode-{n}.md").read_text() for n in (1, 2))
    assert every.count("### ") > 1
    assert marked.count("### ") == 1
    assert "### 1. a cast fp8" in marked
    assert "- marked: 1 of" in marked
    assert f"traceview findings {decode}" in marked


async def test_the_command_is_the_one_that_prints_the_findings(decode: Path) -> None:
    async with opened(decode) as pilot:
        text = await press(pilot, "4", "x")
        assert "traceview findings" in text


async def test_nothing_is_said_calmly(tmp_path: Path) -> None:
    async with opened(write(tmp_path, op("aten::mm", 0, 50))) as pilot:
        pilot.app.go(4)  # type: ignore[attr-defined]
        assert "Nothing stands out in the selection." in await press(pilot)


def test_a_finding_says_its_numbers_with_their_source_and_working() -> None:
    finding = Finding(
        "below-floor",
        "title",
        1_500_000,
        0.25,
        evidence=(
            Evidence("elements", 8192, "elements", "geometry", "32 x 256"),
            Evidence("bytes moved", 4096, "B", "shapes"),
            Evidence("its cause: queued"),
        ),
        caveats=("mind this",),
        also=("dominant-kernel",),
        python="model.py(3): forward",
    )
    rows = finding_rows([finding])
    assert rows.select("rank", "saves_ns", "share").row(0) == (1, 1_500_000, 0.25)
    claim, evidence, mind, called = finding_sections(finding)
    assert (claim.fields[0].value, claim.fields[0].note) == ("title", "below-floor; also dominant-kernel")
    assert [(f.label, f.value) for f in evidence.fields] == [
        ("8,192 elements", "elements"),
        ("4.10 kB", "bytes moved"),
        ("", "its cause: queued"),
    ]
    assert evidence.fields[0].note == "32 x 256; from grid x block x elements per thread, an upper bound"
    assert mind.fields[0].value == "mind this"
    assert called.fields[0].value == "model.py(3): forward"


async def test_a_file_without_gpu_work_has_the_other_places_too(tmp_path: Path) -> None:
    async with opened(write(tmp_path, op("aten::mm", 0, 50))) as pilot:
        assert "aten::mm" in await press(pilot, "3")
        assert "Nothing stands out" in await press(pilot, "4")
        assert "o chooses one" in await press(pilot, "6")
