"""SQL: the line and its history, the answer, what is wrong with a question, the note."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.screens.driving import opened, place, press, seen, settled
from tests.traces import launched, op, steps, write
from traceview.tui.history import KEPT, History
from traceview.tui.query import QueryLevel
from traceview.tui.sql_input import SqlInput

BY_NAME = "SELECT name, dur_ns FROM kernels ORDER BY dur_ns DESC"


@pytest.fixture(autouse=True)
def _own_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two steps with a kernel each; one of them has a name that attacks the terminal."""
    events = [*steps(0, 200, dur=100), op("aten::mm", 0, 30)]
    events += [*launched("small", 1, 10, 5, 1), *launched("\x1b[31m[/red]big", 201, 210, 50, 2)]
    return write(tmp_path, *events)


def level(pilot: Pilot[int]) -> QueryLevel:
    screen = pilot.app.screen
    assert isinstance(screen, QueryLevel)
    return screen


async def ask(pilot: Pilot[int], sql: str) -> str:
    level(pilot).line.value = sql
    return await press(pilot, "enter")


async def test_the_colon_opens_the_line_and_enter_answers(trace: Path) -> None:
    async with opened(trace) as pilot:
        text = await press(pilot, "colon")
        assert place(pilot) == "all 2 steps > SQL"
        assert "one row is one piece of GPU work" in text
        text = await press(pilot, *"SELECT name FROM kernels", "enter")
        assert "2 rows" in text
        assert level(pilot).table().has_focus
        text = await ask_again(pilot, BY_NAME)
        rows = [line.split() for line in text.splitlines()[-40:] if "big" in line or "small" in line]
        assert rows[-2:] == [["▸", r"\x1b[31m[/red]big", "50,000"], ["small", "5,000"]]


async def ask_again(pilot: Pilot[int], sql: str) -> str:
    await press(pilot, "colon")
    assert level(pilot).line.has_focus
    return await ask(pilot, sql)


async def test_what_is_wrong_stands_in_one_plain_line(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "colon")
        assert "relation 'kernel' was not found; the tables are" in await ask(pilot, "SELECT * FROM kernel")
        assert "files are not opened" in await ask(pilot, "SELECT * FROM read_csv('/etc/passwd')")
        text = await ask(pilot, BY_NAME)
        assert "files are not opened" not in text
        assert "2 rows" in text


async def test_the_selected_step_narrows_the_answer(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "colon")
        await ask(pilot, BY_NAME)
        await pilot.app.screen.run_action("step(1)")
        await settled(pilot)
        assert level(pilot).table().frame["name"].to_list() == ["small"]


async def test_earlier_queries_are_behind_the_arrow_keys_in_the_next_session_too(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "colon")
        await ask(pilot, "SELECT 1")
        await ask_again(pilot, BY_NAME)
    async with opened(trace) as pilot:
        await press(pilot, "colon", "d", "up")
        line = level(pilot).line
        assert line.value == BY_NAME
        await press(pilot, "up")
        assert line.value == "SELECT 1"
        await press(pilot, "down", "down")
        assert line.value == "d"


def test_the_history_keeps_the_newest_once_each(tmp_path: Path) -> None:
    history = History(tmp_path / "new" / "queries.txt")
    for number in range(KEPT + 5):
        history.add(f"SELECT {number}")
    history.add("SELECT\n 100")
    again = History(tmp_path / "new" / "queries.txt")
    assert len(again.entries) == KEPT
    assert again.entries[-1] == "SELECT 100"
    assert again.entries.count("SELECT 100") == 1


def test_a_history_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = History(tmp_path / "file" / "queries.txt")
    history.add("SELECT 1")
    assert history.entries == ["SELECT 1"]


async def test_the_note_holds_the_first_rows_and_says_what_is_left_out(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("traceview.report.pages.QUERY_ROWS", 1)
    async with opened(trace) as pilot:
        await press(pilot, "colon")
        await ask(pilot, BY_NAME)
        await press(pilot, "e")
    note = (tmp_path / "traceview-trace-1.md").read_text()
    assert f"```sql\n{BY_NAME}\n```" in note
    assert "| 50,000" in note
    assert "small" not in note
    assert "... and 1 of 2 rows more" in note
    assert f"traceview query {trace} '{BY_NAME}'" in note


async def test_the_command_is_the_query(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "colon")
        await ask(pilot, BY_NAME)
        text = " ".join((await press(pilot, "x")).replace("│", " ").split())
        assert f"'{BY_NAME}'" in text


async def test_escape_takes_a_running_query_back_then_leaves(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "colon")
        screen = level(pilot)
        screen.sql = BY_NAME
        screen.run_query()
        assert "esc cancels" in screen.numbers()[0]
        screen.action_back()
        await settled(pilot)
        assert screen.answer is None
        assert not isinstance((await press(pilot, "escape"), pilot.app.screen)[1], QueryLevel)


async def test_a_filter_narrows_the_answer_and_the_tables_come_back(trace: Path) -> None:
    async with opened(trace, (80, 24)) as pilot:
        await press(pilot, "colon")
        assert "SELECT" in await ask(pilot, BY_NAME)
        assert "1 of 2 rows" in await press(pilot, "slash", *"small", "enter")
        await press(pilot, "escape")
        assert "one row is" not in seen(pilot)
        assert "one row is" in await press(pilot, "t")


async def test_the_line_takes_letters_that_are_commands_elsewhere(trace: Path) -> None:
    async with opened(trace) as pilot:
        await press(pilot, "colon", *"q1e:?")
        assert pilot.app.screen.query_one(SqlInput).value == "q1e:?"
