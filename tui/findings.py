"""Findings: what stands out in the selection, what it rests on, and what it could save."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from traceview.analysis.findings import Finding, documents
from traceview.report.pages import findings_page
from traceview.report.tables import Column as Title
from traceview.tui import cells, commands
from traceview.tui.among import SameKernel
from traceview.tui.card import Card
from traceview.tui.card_trail import trail
from traceview.tui.commands import Command
from traceview.tui.finding_sections import finding_rows, finding_sections
from traceview.tui.launches import Launches
from traceview.tui.level import COMMON, Level
from traceview.tui.state import State
from traceview.tui.steps import frame_cells
from traceview.units import fmt_count
from traceview.widgets.columns import Column
from traceview.widgets.detail import Detail
from traceview.widgets.frame_table import FrameTable

COLUMNS = (
    Column("rank", "#", 3, "right", cells.plain),
    Column("saves_ns", "saves <=", 8, "right", cells.times),
    Column("share", "share", 7, "right", cells.shares),
    Column("kind", "kind", 21, "left", cells.names, priority=1, muted=True),
    Column("title", "what stands out", 50, "left", cells.names, grow=True),
)
_MOST_ROWS = 10  # findings in sight at once; the evidence of one takes the rest


class Findings(Level):
    """A list of findings over the evidence of the one under the cursor."""

    PLACE = 4
    HAS = (
        Command("open", "The launches that it speaks of", "", "enter", "launches"),
        commands.MARK,
        commands.EXPORT,
        commands.STEP_ON,
        commands.BACK,
        Command("app.focus_next", "To the evidence and back, to scroll it", "", "tab", "evidence"),
        commands.PHASE,
        commands.COPY,
        commands.SORT,
        commands.STEP_BACK,
        *(c for c in COMMON if c not in (commands.EXPORT, commands.COPY, commands.PHASE)),
    )
    BINDINGS = commands.bindings(HAS)
    DEFAULT_CSS = """
    Findings #table { height: auto; min-height: 3; }
    Findings #evidence { height: 1fr; border-top: solid $panel; margin: 0; padding: 0 1; }
    Findings #calm { display: none; padding: 1 3; }
    Findings .-calm #calm { display: block; }
    Findings .-calm > FrameTable, Findings .-calm > Detail { display: none; }
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.findings: list[Finding] = []

    def body(self) -> ComposeResult:
        """The list over the evidence, or one line where there is neither."""
        with Vertical(id="found"):
            yield FrameTable(COLUMNS, id_column="id", search_column="title", id="table")
            yield Detail(id="evidence")
            yield Static("Nothing stands out in the selection.", markup=False, id="calm")

    def table(self) -> FrameTable:
        """The findings."""
        return self.query_one("#table", FrameTable)

    # --- filling -------------------------------------------------------------------------------------------

    def load(self) -> None:
        """The findings of the selection."""
        selection, session = self.state.selection, self.state.session
        self.ask(
            "findings",
            lambda: self.state.kept(("findings", selection), lambda: session.findings(selection)),
            self.fill,
            rows=session.trace.ops.height + session.trace.python.height,
        )

    def fill(self, findings: list[Finding]) -> None:
        """The table, with the marks that hold for these findings."""
        self.findings = findings
        self.query_one("#found").set_class(not findings, "-calm")
        table = self.table()
        table.set_frame(finding_rows(findings))
        table.styles.max_height = min(len(findings), _MOST_ROWS) + 1
        table.set_marks(n for n, f in enumerate(findings) if key(f) in self.state.marked_findings)
        self.show_evidence()
        self.show_lines()

    @property
    def here(self) -> Finding | None:
        """The finding under the cursor."""
        number = self.table().cursor_row_id
        return None if number is None else self.findings[number]

    def show_evidence(self) -> None:
        """What the finding under the cursor rests on."""
        finding = self.here
        self.query_one("#evidence", Detail).show([] if finding is None else finding_sections(finding))

    # --- what it says --------------------------------------------------------------------------------------

    def crumb(self) -> list[str]:
        """The screen's name, while no list of launches lies over it."""
        return trail(self, "findings")

    def numbers(self) -> Sequence[str]:
        """What the savings mean."""
        marked = len(self.table().marks)
        if not self.findings:
            return ()
        return (
            f"{fmt_count(marked)} of these marked" if marked else "",
            f"{fmt_count(len(self.findings))} finding{'s' if len(self.findings) > 1 else ''}",
            "saves: at most, per step; savings overlap and never add up",
        )

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """The finding's line."""
        here = self.table().cursor_row_id
        return None if here is None else frame_cells(COLUMNS, self.table().frame[[here]])

    def command_line(self) -> list[str]:
        """The same findings."""
        return ["findings", self.state.session.trace.path, *self.state.options]

    # --- what happens --------------------------------------------------------------------------------------

    def on_frame_table_row_highlighted(self, message: FrameTable.RowHighlighted) -> None:
        """The evidence follows."""
        message.stop()
        self.show_evidence()

    def on_frame_table_row_selected(self, message: FrameTable.RowSelected) -> None:
        """Down to the launches of the variant, or to the one launch."""
        message.stop()
        finding = self.here
        if finding is None:
            return
        if finding.variant is not None:
            self.show_variant(finding.variant)
        elif finding.launch is not None:
            self.app.push_screen(Card(self.state, finding.launch, SameKernel(self.state)))
        else:
            self.tell("This is about the selection as a whole: 2 shows its kernels, 1 its steps")

    def show_variant(self, variant: int) -> None:
        """The launches of a variant, as from the kernel tree."""
        session = self.state.session
        row = session.work.row(session.work["variant"].index_of(variant) or 0, named=True)
        short = SameKernel(self.state).name(row["id"])
        keys = (row["family"], row["group"], variant)
        level = {"level": "variant", "key": variant, "name": row["name"]}
        self.app.push_screen(Launches(self.state, "kernel", keys, [str(row["family"]), short], level))

    def on_frame_table_row_marked(self, message: FrameTable.RowMarked) -> None:
        """Marks hold for other selections too."""
        message.stop()
        self.state.marked_findings ^= {key(self.findings[message.row_id])}
        self.show_lines()

    def action_no_marks(self) -> None:
        """Findings have marks of their own."""
        self.state.marked_findings.clear()
        super().action_no_marks()

    def action_export(self) -> None:
        """The marked findings, or else all, as markdown."""
        marks = self.table().marks
        rows = documents(self.findings)
        shown = [row for n, row in enumerate(rows) if n in marks] if marks else rows
        words = ["traceview", *self.command_line()]
        selection = self.state.selection.as_dict()
        self.write(lambda: findings_page(self.state.file_name, selection, shown, len(rows), words))


def key(finding: Finding) -> tuple[object, ...]:
    """What a finding is known by, whatever is selected."""
    about = finding.variant if finding.variant is not None else finding.title
    return finding.kind, about
