"""docs/screens.md: its keys are there, its pictures too, and they need nothing from elsewhere."""

import importlib.util
import re
from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from traceview.tui.card import Card
from traceview.tui.commands import EVERYWHERE
from traceview.tui.compare import Compare
from traceview.tui.findings import Findings
from traceview.tui.kernels import Kernels
from traceview.tui.launches import Launches
from traceview.tui.level import PLACES, Level
from traceview.tui.query import QueryLevel
from traceview.tui.steps import Steps
from traceview.tui.timeline import TimelineLevel
from traceview.tui.trust import Trust

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = (DOCS / "screens.md").read_text(encoding="utf-8")
SECTIONS = dict(part.split("\n", 1) for part in GUIDE.split("\n## ")[1:])
LEVELS: dict[str, type[Level]] = {
    "Steps": Steps,
    "Kernels": Kernels,
    "Launches": Launches,
    "Launch card": Card,
    "Timeline": TimelineLevel,
    "Findings": Findings,
    "Trust": Trust,
    "Compare": Compare,
    "SQL": QueryLevel,
}
LARGEST = 150_000


@pytest.mark.parametrize("section", LEVELS)
def test_each_key_of_a_screen_is_one_of_its_commands(section: str) -> None:
    known = {key for command in (*LEVELS[section].HAS, *EVERYWHERE) for key in command.key_text.split()}
    rows = re.findall(r"^\| (`.*?) \| \S", SECTIONS[section], re.MULTILINE)
    said = {key for row in rows for key in re.findall(r"`(\S+)`", row)}
    # The second of a pair is written in the title: `+` with `-` and `0`, `,` with `.`.
    titles = " ".join(command.title for command in LEVELS[section].HAS)
    assert {key for key in said - known if not re.search(rf"(^| ){re.escape(key)} ", titles)} == set()


def test_all_screens_with_a_number_are_in_the_guide() -> None:
    assert set(PLACES.values()) <= set(SECTIONS)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((pictures/[^)]+)\)", GUIDE))))
def test_pictures_are_small_and_whole(link: str) -> None:
    svg = (DOCS / link).read_text(encoding="utf-8")
    assert len(svg.encode()) < LARGEST
    assert re.findall(r"https?://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]
    assert "@font-face" not in svg
    assert "demo-decode.pt.trace.json" in svg


def test_letters_are_text_and_blocks_are_rectangles() -> None:
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    line = Strip([Segment("a<b ██▌", Style.parse("bold #ff0000 on #101010"))])
    drawn = "\n".join(make.drawn_line(line, 0, "#101010"))
    assert ">a&lt;b</text>" in drawn
    assert 'class="b"' in drawn
    widths = [float(width) for width in re.findall(r'<rect .*?width="([\d.]+)"', drawn)]
    assert widths == [pytest.approx(2 * make.WIDE), pytest.approx(make.WIDE / 2)]
