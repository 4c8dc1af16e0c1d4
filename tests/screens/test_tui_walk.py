"""The way down and up: steps, kernels, launches, a card, and what holds on it."""

from pathlib import Path

import pytest

from tests.screens.driving import opened, place, press, seen, settled
from tests.traces import Event, launched, op, steps, write
from traceview.tui.card import Card
from traceview.tui.kernels import Kernels
from traceview.tui.launches import Launches
from traceview.tui.steps import Steps
from traceview.widgets.breadcrumb import BETWEEN
from traceview.widgets.frame_table import FrameTable

CAST = "unrolled_elementwise direct_copy -> bf16"


@pytest.fixture
def three_steps(tmp_path: Path) -> Path:
    """Three steps; `big` runs in each, `rare` only in the last."""
    events: list[Event] = [*steps(0, 100, 200, dur=100)]
    for number, begin in enumerate((0, 100, 200)):
        events += launched("big", begin + 1, begin + 10, 50 + number, 10 + number)
    events += launched("rare", 202, 270, 5, 20)
    return write(tmp_path, *events)


async def test_three_times_enter_leads_to_the_largest_kernels_launch(decode: Path) -> None:
    async with opened(decode) as pilot:
        assert isinstance(pilot.app.screen, Steps)
        await press(pilot, "enter")
        assert CAST in seen(pilot)
        await press(pilot, "enter")
        assert place(pilot) == f"all 2 steps > copy-cast > {CAST}"
        card = await press(pilot, "enter")
        assert place(pilot) == f"all 2 steps > copy-cast > {CAST} > launch 1 of 8"
        assert "aten::copy_ ← aten::_to_copy ← aten::to" in card
        assert "[294912, 1, 576]" in card


async def test_going_up_puts_the_cursor_back_where_it_was(decode: Path) -> None:
    async with opened(decode) as pilot:
        await press(pilot, "down", "enter", "down", "down", "down")
        kernels = pilot.app.screen
        assert isinstance(kernels, Kernels)
        row = kernels.table().cursor_path
        await press(pilot, "enter", "enter", "down", "enter")
        assert isinstance(pilot.app.screen, Card)
        await press(pilot, "escape")
        launches = pilot.app.screen
        assert isinstance(launches, Launches)
        assert launches.table().cursor == 1
        await press(pilot, "backspace")
        assert kernels.table().cursor_path is not None
        assert kernels.table().cursor_path[: len(row or ())] == row
        await press(pilot, "escape")
        top = pilot.app.screen
        assert isinstance(top, Steps)
        assert top.table().cursor_row_id == 0


async def test_the_export_of_a_card_names_its_kernel(
    decode: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(decode) as pilot:
        await press(pilot, "enter", "enter", "enter", "e", "e")
    notes = sorted(path.name for path in tmp_path.glob("*.md"))
    assert notes == ["traceview-decode-1.md", "traceview-decode-2.md"]
    assert CAST.replace("->", "-").split()[0] in (tmp_path / notes[0]).read_text()


async def test_marked_kernels_are_what_is_exported(
    three_steps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(three_steps) as pilot:
        await press(pilot, "enter", "down", "space")
        assert "1 marked" in seen(pilot)
        await press(pilot, "e")
    note = (tmp_path / "traceview-trace-1.md").read_text()
    assert "Marked kernels" in note
    assert "| rare" in note
    assert "| big" not in note


async def test_a_folder_that_cannot_be_written_is_said(
    three_steps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    async with opened(three_steps) as pilot:
        await press(pilot, "e")
        assert "cannot" in " ".join(str(note.message) for note in pilot.app._notifications)


async def test_a_step_holds_on_every_screen_until_it_is_left(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await press(pilot, "down", "enter")
        assert place(pilot) == "step 0 > kernels"
        assert "rare" not in seen(pilot)
        await press(pilot, "right_square_bracket", "right_square_bracket")
        assert place(pilot) == "step 2 > kernels"
        assert "rare" in seen(pilot)
        await press(pilot, "5")
        assert place(pilot) == "step 2 > trust"
        await press(pilot, "1")
        top = pilot.app.screen
        assert isinstance(top, Steps)
        assert place(pilot) == "step 2"
        await press(pilot, "escape")
        assert place(pilot) == "all 3 steps"


async def test_launches_follow_the_step(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await press(pilot, "enter", "enter")
        assert "3 launches" in seen(pilot)
        await press(pilot, "right_square_bracket")
        assert "1 launches" in seen(pilot)
        assert pilot.app.screen.query_one(FrameTable).row_count == 1


async def test_marked_steps_are_selected_together(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await press(pilot, "down", "space", "down", "down", "space", "enter")
        assert place(pilot) == "steps 0, 2 > kernels"


async def test_all_but_the_first_step(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await pilot.app.screen.run_action("not_first")
        await settled(pilot)
        assert place(pilot) == "steps 1:3"


async def test_the_brackets_go_along_the_list_on_a_card(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await press(pilot, "enter", "enter", "s", "s", "s", "s", "enter")  # sorted by duration
        assert place(pilot).endswith("launch 1 of 3")
        assert "52.0 us" in seen(pilot)
        await press(pilot, "right_square_bracket")
        assert place(pilot).endswith("launch 2 of 3")
        assert "51.0 us" in seen(pilot)


async def test_the_arrows_go_along_the_stream_on_a_card(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await press(pilot, "enter", "enter", "end", "enter")
        card = pilot.app.screen
        assert isinstance(card, Card)
        await press(pilot, "right")
        assert card.card["launch"]["name"] == "rare"
        await press(pilot, "left")
        assert card.card["launch"]["name"] == "big"


async def test_a_filter_narrows_and_escape_takes_it_back(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await press(pilot, "enter", "enter", "slash", *"dur>51us", "enter")
        assert "1 of 3 launches" in seen(pilot)
        await press(pilot, "escape")
        assert "3 launches" in seen(pilot)
        assert isinstance(pilot.app.screen, Launches)


async def test_a_filter_that_means_nothing_says_what_would(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await press(pilot, "enter", "enter", "slash", *"dur>51")
        assert "/ dur>51 " in seen(pilot)
        assert "dur: needs a time such as dur>800us" in seen(pilot)
        await press(pilot, "escape")
        assert "3 launches" in seen(pilot)


async def test_grouping_by_op_makes_ops_the_first_level(tmp_path: Path) -> None:
    events = [
        op("aten::mm", 0, 50, dims=[[2, 2]]),
        *launched("gemm", 10, 60, 5, 1),
        *launched("lone", 80, 90, 9, 2),
    ]
    async with opened(write(tmp_path, *events)) as pilot:
        await press(pilot, "enter", "o")
        assert "by op" in seen(pilot)
        assert BETWEEN.join(["op", "kernel", "variant"]) in seen(pilot)
        assert "aten::mm" in seen(pilot)
        assert "no op" in seen(pilot)


async def test_a_resize_keeps_selection_and_cursor(decode: Path) -> None:
    async with opened(decode) as pilot:
        await press(pilot, "down", "enter", "down")
        kernels = pilot.app.screen
        assert isinstance(kernels, Kernels)
        before = kernels.table().cursor_path, place(pilot)
        for size in ((80, 24), (200, 50), (60, 15), (120, 40)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert (kernels.table().cursor_path, place(pilot)) == before


async def test_the_palette_and_the_help_know_the_screens_commands(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        text = await press(pilot, "question_mark")
        for command in Steps.HAS:
            assert command.title in text or len(command.title) > 0
        assert "Write the marked rows, or else this screen, as markdown" in text
        await press(pilot, "escape", "ctrl+p", *"but the first")
        await pilot.pause(0.3)
        await press(pilot, "enter")
        assert place(pilot) == "steps 1:3"


async def test_the_headless_command_of_a_screen(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        text = await press(pilot, "down", "enter", "enter", "x")
        joined = " ".join(text.replace("│", " ").split())
        assert "--steps 0:1" in joined
        assert "--kernel '^big$' --limit 0" in joined


async def test_a_large_trace_is_asked_from_threads_with_the_same_outcome(
    three_steps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("traceview.tui.level.HEAVY", 0)
    async with opened(three_steps) as pilot:
        await press(pilot, "down", "enter")
        assert place(pilot) == "step 0 > kernels"
        await press(pilot, "right_square_bracket", "right_square_bracket")
        assert "rare" in seen(pilot)
        await press(pilot, "enter", "enter")
        assert place(pilot) == "step 2 > other > big > launch 1 of 1"
        assert "52.0 us" in seen(pilot)


async def test_kernels_can_be_sorted_by_another_figure(tmp_path: Path) -> None:
    events = launched("long", 0, 500, 60, 99)
    for number in range(10):
        events += launched("often", 1 + number, 10 + 20 * number, 10, number + 1)
    async with opened(write(tmp_path, *events)) as pilot:
        await press(pilot, "enter")
        kernels = pilot.app.screen
        assert isinstance(kernels, Kernels)

        def order() -> list[str]:
            return [row.label for row in kernels.table().rows_under(("=other",))]

        assert order() == ["often", "long"]
        await press(pilot, "s", "s", "s")
        assert "sorted by mean" in seen(pilot)
        assert order() == ["long", "often"]


async def test_kernels_sorted_by_what_they_could_save_show_it(tmp_path: Path) -> None:
    # Copies could go: `over` runs without `under` for 20 us, `under` never by itself, `lone` always.
    events = [
        *steps(0, dur=300),
        *launched("over_copy_kernel_cuda", 1, 10, 100, 1),
        *launched("under_copy_kernel_cuda", 2, 20, 80, 2, stream=20),
        *launched("lone_copy_kernel_cuda", 3, 200, 30, 3),
    ]
    async with opened(write(tmp_path, *events)) as pilot:
        assert "saves ≤" not in await press(pilot, "enter")
        kernels = pilot.app.screen
        assert isinstance(kernels, Kernels)

        def order() -> list[str]:
            return [row.label.split("_")[0] for row in kernels.table().rows_under(("=copy-cast",))]

        assert order() == ["over", "under", "lone"]
        text = await press(pilot, "s")
        assert "sorted by saves ≤" in text
        assert order() == ["lone", "over", "under"]
        head = next(line for line in text.splitlines() if "calls" in line and "share" in line)
        assert "saves ≤" in head


async def test_an_op_has_its_own_time_and_that_of_all_inside(tmp_path: Path) -> None:
    events = [
        op("aten::linear", 0, 100),
        op("aten::addmm", 10, 80),
        *launched("bias", 5, 200, 10, 1),
        *launched("gemm", 20, 220, 30, 2),
    ]
    async with opened(write(tmp_path, *events)) as pilot:
        text = await press(pilot, "enter", "o")
        assert "op total" in text
        row = next(line for line in text.splitlines() if "aten::linear" in line and "25.0 %" in line)
        assert row.index("10.0 us") < row.index("40.0 us")


async def test_words_stand_under_the_spread_of_a_row(tmp_path: Path) -> None:
    events: list[Event] = []
    for number in range(20):
        events += launched("twofold", 100 * number, 100 * number + 10, 10 + 30 * (number % 2), number + 1)
    async with opened(write(tmp_path, *events)) as pilot:
        await press(pilot, "enter")
        await pilot.pause(0.1)
        assert "two humps" in await press(pilot)


async def test_marked_steps_are_what_is_exported(
    three_steps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(three_steps) as pilot:
        await press(pilot, "end", "space", "e")
    note = (tmp_path / "traceview-trace-1.md").read_text()
    assert "--steps 2:3" in note
    assert "rare" in note


async def test_marks_are_there_again_on_a_new_visit(three_steps: Path) -> None:
    async with opened(three_steps) as pilot:
        await press(pilot, "enter", "down", "space", "escape", "enter")
        assert any("●" in line and "rare" in line for line in seen(pilot).splitlines())
        await press(pilot, "enter", "enter", "space", "escape")
        assert any("●" in line for line in seen(pilot).splitlines())
