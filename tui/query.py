"""SQL: any question about the trace's tables, typed; read-only."""

from collections.abc import Iterator, Sequence

import polars as pl
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from traceview.analysis.named_frames import TABLES
from traceview.errors import TraceError
from traceview.report.pages import query_page
from traceview.report.query import cell
from traceview.report.tables import Column as Title
from traceview.tui import commands
from traceview.tui.commands import Command
from traceview.tui.filters import parse
from traceview.tui.history import History
from traceview.tui.level import COMMON, Level
from traceview.tui.sql_input import SqlInput
from traceview.tui.state import HEAVY, State
from traceview.tui.steps import frame_cells
from traceview.units import cell_width, fmt_count, safe_text
from traceview.widgets.columns import Column
from traceview.widgets.detail import Detail, Field, Section
from traceview.widgets.frame_table import FrameTable

EXAMPLES = (
    "SELECT family, COUNT(*) AS calls, SUM(dur_ns) AS ns FROM kernels GROUP BY family ORDER BY ns DESC",
    "SELECT id, step, dur_ns, op, input_dims FROM kernels WHERE dur_ns > 500000 ORDER BY dur_ns DESC",
    "SELECT name, COUNT(*) AS calls, SUM(dur_ns) AS ns FROM runtime GROUP BY name ORDER BY ns DESC",
)
_WIDEST = 48  # cells of a column, unless there is room to spare
_MEASURED = 200  # rows that say how wide a column is


class QueryLevel(Level):
    """A line of SQL over its answer, beside the tables that can be asked."""

    PLACE = 0
    HINT = "part of a text"
    HAS = (
        Command("ask_sql", "Run the query", "", "enter", "run"),
        Command("older", "Earlier and later queries, in the line", "", "↑ ↓", "history"),
        Command("app.focus_next", "From the line to the answer, the tables, and back", "", "tab", "answer"),
        commands.EXPORT,
        commands.BACK,
        Command("tables", "Show the tables and columns instead of the answer, or again", "t", label="tables"),
        commands.FILTER,
        commands.SORT,
        commands.COPY,
        Command("wide", "All columns, or only those that fit", "", "w"),
        *(c for c in COMMON if c not in (commands.EXPORT, commands.COPY, commands.NO_MARKS)),
    )
    BINDINGS = commands.bindings(HAS)
    DEFAULT_CSS = """
    QueryLevel #line { height: 1; background: $surface; padding: 0 1; }
    QueryLevel #line > Static { width: auto; color: $text-accent; text-style: bold; }
    QueryLevel #line > SqlInput { width: 1fr; }
    QueryLevel #problem { height: auto; max-height: 3; color: $text-error; padding: 0 1; display: none; }
    QueryLevel.-problem #problem { display: block; }
    QueryLevel #answer { height: 1fr; }
    QueryLevel #schema { height: 1fr; width: 1fr; margin: 1 0 0 1; }
    QueryLevel #table { display: none; width: 1fr; }
    QueryLevel.-answered #table { display: block; }
    QueryLevel.-answered #schema { display: none; }
    QueryLevel.-answered.-wide #schema { display: block; width: 44; }
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.sql = ""
        self.answer: pl.DataFrame | None = None
        self.running = False
        self._asked = 0

    def body(self) -> ComposeResult:
        """The line, what is wrong with it, the answer and the tables."""
        with Horizontal(id="line"):
            yield Static("SQL ", markup=False)
            yield SqlInput(History(), id="sql")
        yield Static("", markup=False, id="problem")
        with Horizontal(id="answer"):
            yield FrameTable((), id="table")
            yield Detail(id="schema")

    def table(self) -> FrameTable:
        """The answer."""
        return self.query_one("#table", FrameTable)

    @property
    def line(self) -> SqlInput:
        """The query as it is typed."""
        return self.query_one("#sql", SqlInput)

    def first_focus(self) -> SqlInput:
        """The line; the table only when there is an answer."""
        return self.line

    # --- filling -------------------------------------------------------------------------------------------

    def load(self) -> None:
        """The tables; and the answer again, where the selection changed under it."""
        session = self.state.session
        self.ask(
            "tables",
            lambda: self.state.kept("tables", session.tables),
            lambda tables: self.query_one("#schema", Detail).show([*schema_sections(tables)]),
            rows=session.trace.ops.height + session.trace.python.height,
        )
        if self.sql:
            self.run_query()

    def run_query(self) -> None:
        """Ask, in a thread; a newer question or escape makes this one's answer void."""
        self._asked += 1
        asked, sql, selection = self._asked, self.sql, self.state.selection
        self.running = True
        self.say("")

        def question() -> pl.DataFrame | str:
            try:
                return self.state.session.query(sql, selection)
            except TraceError as error:
                return error.message

        def then(found: pl.DataFrame | str) -> None:
            if asked == self._asked:
                self.running = False
                self.fill(found)

        self.ask("query", question, then, rows=HEAVY)
        self.show_lines()

    def fill(self, found: pl.DataFrame | str) -> None:
        """The answer, or what is wrong with the question."""
        if isinstance(found, str):
            self.say(found.removeprefix("query: "))
        else:
            self.answer = found
            self.add_class("-answered")
            table = self.table()
            table.sort_key, table.predicate, table.search_text = None, None, ""
            table.set_frame(found.clear())
            table.set_columns(answer_columns(found))
            table.set_frame(found)
            if found.height:
                table.focus()
        self.show_lines()

    def say(self, problem: str) -> None:
        """One line under the query."""
        self.query_one("#problem", Static).update(safe_text(problem) if problem else "")
        self.set_class(bool(problem), "-problem")

    # --- what it says --------------------------------------------------------------------------------------

    def crumb(self) -> list[str]:
        """The screen's name."""
        return ["SQL"] if self.is_lowest else []

    def numbers(self) -> Sequence[str]:
        """How many rows there are."""
        if self.running:
            return ("running ... esc cancels",)
        if self.answer is None:
            return ("SQL over these tables, read-only; times are nanoseconds",)
        shown, total = self.table().row_count, self.answer.height
        count = (
            f"{fmt_count(shown)} of {fmt_count(total)} rows" if shown != total else f"{fmt_count(total)} rows"
        )
        return (count, f"{self.answer.width} columns", safe_text(self.sql))

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """The row under the cursor."""
        here = self.table().cursor_row_id
        if here is None or self.answer is None:
            return None
        return frame_cells(self.table().columns, self.answer[[here]])

    def command_line(self) -> list[str]:
        """The same query."""
        words = ["query", self.state.session.trace.path, *self.state.options]
        return [*words, self.sql] if self.sql else [*words, "--schema"]

    def apply_filter(self, text: str) -> None:
        """Rows of which any text holds the words."""
        if self.answer is None:
            return
        texts = [name for name, dtype in self.answer.schema.items() if dtype == pl.String]
        words = " ".join(text.split())
        self.table().set_filter(parse(words, {}, self.answer, texts).predicate if texts else None)

    # --- what happens --------------------------------------------------------------------------------------

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter runs what is typed."""
        event.stop()
        self.action_ask_sql()

    def on_frame_table_order_changed(self, message: FrameTable.OrderChanged) -> None:
        """Sorted or filtered."""
        message.stop()
        self.show_lines()

    def action_ask_sql(self) -> None:
        """Run the query."""
        self.sql = self.line.asked()
        if self.sql:
            self.run_query()

    def action_older(self) -> None:
        """What the up arrow does in the line."""
        self.line.focus()
        self.line.action_older()

    def action_tables(self) -> None:
        """The answer makes room for the tables, or takes it back."""
        if self.answer is not None:
            answered = not self.has_class("-answered")
            self.set_class(answered, "-answered")
            (self.table() if answered else self.query_one("#schema", Detail)).focus()

    def action_wide(self) -> None:
        """What w does in the table."""
        self.table().action_wide()

    def action_go(self, place: int) -> None:
        """From the answer, the colon leads back to the line."""
        if place == self.PLACE:
            self.line.focus()
        else:
            super().action_go(place)

    def up(self) -> None:
        """A running query first."""
        if self.running:
            self._asked += 1
            self.running = False
            self.show_lines()
        else:
            super().up()

    def action_export(self) -> None:
        """The answer's first rows as markdown."""
        answer, sql = self.answer, self.sql
        if answer is None:
            self.tell("There is no answer to write yet")
            return
        words = ["traceview", *self.command_line()]
        self.write(lambda: query_page(self.state.file_name, sql, answer, words))


def schema_sections(tables: pl.DataFrame) -> Iterator[Section]:
    """What can be asked, and three questions to begin with."""
    yield Section("For instance", [Field("", example) for example in EXAMPLES])
    for (name,), part in tables.partition_by("table", as_dict=True, maintain_order=True).items():
        about = Field("", f"one row is {TABLES[str(name)]}", f"{fmt_count(part['rows'][0])} rows")
        fields = [Field(column, kind) for column, kind in part.select("column", "type").iter_rows()]
        yield Section(str(name), [about, *fields])


def answer_columns(answer: pl.DataFrame) -> list[Column]:
    """A column for each of the answer's, as wide as its first rows."""
    made = []
    for name, dtype in answer.schema.items():
        texts = cells_of(answer[name].head(_MEASURED))
        width = max(cell_width(safe_text(text)) for text in (name, "....", *texts))
        number = dtype.is_numeric()
        made.append(
            Column(
                name,
                safe_text(name),
                min(width, _WIDEST),
                "right" if number else "left",
                cells_of,
                grow=width > _WIDEST,
                sortable=not dtype.is_nested(),
            )
        )
    return made


def cells_of(values: pl.Series) -> list[str]:
    """Values as the command line's tables have them."""
    return [cell(value) for value in values.to_list()]
