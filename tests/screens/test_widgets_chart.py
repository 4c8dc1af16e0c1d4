"""Charts on the screen: drawn for the size and theme at hand, and not again without need."""

import pytest
from rich.color import Color
from rich.style import Style
from textual.app import App, ComposeResult

from traceview.units import cell_width
from traceview.widgets.chart import Chart, strips

pytestmark = pytest.mark.usefixtures("full_colour")


class ChartApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.draws: list[tuple[int, int, str, bool]] = []
        self.chart = Chart(self.draw, "time per step [/red] \x1b[31m")

    def draw(self, width: int, height: int, theme: str, color: bool) -> str:
        self.draws.append((width, height, theme, color))
        return "\x1b[38;2;215;95;0m██\x1b[0m 核"

    def compose(self) -> ComposeResult:
        yield self.chart


async def test_a_chart_is_drawn_once_for_each_size_theme_and_data() -> None:
    app = ChartApp()
    async with app.run_test(size=(40, 8)) as pilot:
        app.chart.refresh()
        await pilot.pause()
        assert [draw[:3] for draw in app.draws] == [(40, 7, "dark")]
        await pilot.resize_terminal(50, 8)
        await pilot.pause()
        app.theme = "textual-light"
        await pilot.pause()
        assert [draw[:3] for draw in app.draws[1:]] == [(50, 7, "dark"), (50, 7, "light")]
        app.chart.show(app.draw, "other")
        await pilot.pause()
        assert len(app.draws) == 4
        assert app.chart.render_line(0).text.strip() == "other"


async def test_lines_fill_the_width_and_the_title_is_only_text() -> None:
    app = ChartApp()
    async with app.run_test(size=(40, 4)):
        lines = [app.chart.render_line(y).text for y in range(4)]
        assert [cell_width(line) for line in lines] == [40] * 4
        assert lines[0].rstrip() == r"time per step [/red] \x1b[31m"
        assert lines[1].rstrip() == "██ 核"


async def test_the_terminals_own_palette_is_asked_for_in_an_ansi_theme() -> None:
    app = ChartApp()
    async with app.run_test() as pilot:
        app.theme = "ansi-dark"
        await pilot.pause()
        assert app.draws[-1][2] == "ansi"


async def test_sixteen_colours_get_the_terminals_own_palette(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLORTERM")
    monkeypatch.setenv("TERM", "xterm")
    app = ChartApp()
    async with app.run_test():
        assert app.draws[-1][2:] == ("ansi", True)


async def test_no_color_means_no_colour() -> None:
    app = ChartApp()
    app.no_color = True
    async with app.run_test():
        assert app.draws[-1][3] is False


def test_escapes_become_styles_and_no_text() -> None:
    (line, second) = strips("\x1b[1;38;5;12mA\x1b[0mB\x1b[31;48;2;1;2;3mC\nD\x1b[97mE", Style())
    assert [(segment.text, segment.style) for segment in line] == [
        ("A", Style(bold=True, color=Color.from_ansi(12))),
        ("B", Style()),
        ("C", Style(color=Color.from_ansi(1), bgcolor=Color.from_rgb(1, 2, 3))),
    ]
    assert second.text == "DE"
    assert [segment.style.color for segment in second if segment.style] == [
        Color.from_ansi(1),  # a line does not end a colour
        Color.from_ansi(15),
    ]
