"""Compare: what changed per step between this trace and another one."""

from collections.abc import Sequence
from pathlib import Path, PurePath
from time import monotonic
from typing import Any

import polars as pl
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from traceview.api import Session
from traceview.report.compare import headline
from traceview.report.pages import compare_page
from traceview.report.tables import Column as Title
from traceview.tui import commands, messages
from traceview.tui.choose import Chooser
from traceview.tui.commands import Command
from traceview.tui.compare_rows import COLUMNS, draw_waterfall, group_rows, step_row
from traceview.tui.compare_variants import Variants
from traceview.tui.facts import Facts
from traceview.tui.filters import Field as Comparable
from traceview.tui.filters import parse
from traceview.tui.level import COMMON, Level
from traceview.tui.loader import Loader
from traceview.tui.state import State
from traceview.tui.steps import frame_cells
from traceview.units import fmt_count, safe_text
from traceview.widgets.chart import Chart
from traceview.widgets.detail import Field, Section
from traceview.widgets.frame_table import FrameTable
from traceview.widgets.load_progress import LoadProgress, Reading

FIELDS = {
    "before": Comparable(pl.col("before_ns"), "time"),
    "after": Comparable(pl.col("after_ns"), "time"),
    "delta": Comparable(pl.col("delta_ns"), "time"),
}
_HOW = (
    "No other trace is open yet.\n\n"
    "o chooses one: this trace is then `before`, the other one `after`, and b swaps them.\n"
    "The selected steps are compared by their position; phases (f) are kept apart."
)


class Compare(Level):
    """The groups of two traces side by side, over a waterfall from the step before to the step after."""

    PLACE = 6
    HINT = "text, or delta>1ms  before>100us"
    HAS = (
        Command("open", "The variants of this kernel side by side", "", "enter", "variants"),
        Command("choose", "Choose the trace to compare with", "o", label="other trace"),
        Command("swap", "Swap before and after", "b", label="swap"),
        Command("about", "Both sides, and what to know before believing it", "i", label="about"),
        commands.FILTER,
        commands.EXPORT,
        commands.SORT,
        commands.STEP_ON,
        commands.BACK,
        commands.CHART,
        commands.COPY,
        commands.PHASE,
        commands.STEP_BACK,
        *(c for c in COMMON if c not in (commands.EXPORT, commands.COPY, commands.PHASE, commands.NO_MARKS)),
    )
    BINDINGS = commands.bindings(HAS)
    DEFAULT_CSS = """
    Compare #how { display: none; padding: 1 3; }
    Compare LoadProgress { display: none; margin: 1 3; max-width: 100; }
    Compare.-alone #how { display: block; }
    Compare.-alone #charts, Compare.-alone #table { display: none; }
    Compare.-reading LoadProgress { display: block; }
    Compare.-reading #how, Compare.-reading #charts, Compare.-reading #table { display: none; }
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.document: dict[str, Any] | None = None
        self.swapped = False
        self._loader: Loader | None = None
        self._since = 0.0
        self.add_class("-alone")

    def body(self) -> ComposeResult:
        """How to begin, or how far the reading is, or the comparison."""
        yield Static(_HOW, markup=False, id="how")
        yield LoadProgress(hint="esc stops the reading")
        with Horizontal(id="charts"):
            yield Chart(id="waterfall")
        yield FrameTable(COLUMNS, id_column="id", search_column="name", pinned={}, id="table")

    def table(self) -> FrameTable:
        """The groups."""
        return self.query_one("#table", FrameTable)

    @property
    def wanted(self) -> object:
        """Another trace or the other way round is another comparison."""
        return self.state.selection, self.swapped, self.state.other

    @property
    def sides(self) -> tuple[Session, Session] | None:
        """Before and after."""
        other = self.state.other
        if other is None:
            return None
        return (other, self.state.session) if self.swapped else (self.state.session, other)

    # --- the other trace -----------------------------------------------------------------------------------

    def action_choose(self) -> None:
        """Ask which one."""
        here = Path(self.state.session.trace.path).absolute()
        self.app.push_screen(Chooser("Compare with", here.parent, here), self.read)

    def read(self, path: Path | None) -> None:
        """Read it beside the interface."""
        if path is None:
            return
        self._stop()
        self._since = monotonic()
        self.add_class("-reading")
        self.query_one(LoadProgress).show(Reading(path.name))
        self._loader = Loader(path, self.post_message, self.owner.reading)
        self._loader.start()
        self.show_lines()

    def on_advanced(self, message: messages.Advanced) -> None:
        """More of it has been read."""
        message.stop()
        progress = message.progress
        if self._loader is not None:
            self.query_one(LoadProgress).show(
                Reading(
                    self._loader.path.name,
                    progress.done_bytes,
                    progress.total_bytes or None,
                    monotonic() - self._since,
                    progress.events,
                )
            )

    def on_linking(self, message: messages.Linking) -> None:
        """All of it has been read."""
        message.stop()

    def on_load_failed(self, message: messages.LoadFailed) -> None:
        """It cannot be read: what there was before stays."""
        message.stop()
        self._stop()
        self.tell(safe_text(message.text), problem=True)

    def on_loaded(self, message: messages.Loaded) -> None:
        """Compare."""
        message.stop()
        self._loader = None
        self.remove_class("-reading")
        self.state.other = message.session
        self.reload()
        self.table().focus()

    @property
    def is_reading(self) -> bool:
        """Whether the other trace is still to come."""
        return self._loader is not None

    def _stop(self) -> None:
        if self._loader is not None:
            self._loader.cancel()
            self._loader = None
        self.remove_class("-reading")

    def on_unmount(self) -> None:
        """Nobody waits for it any more."""
        self._stop()

    # --- filling -------------------------------------------------------------------------------------------

    def load(self) -> None:
        """The comparison of the selected steps."""
        sides, selection = self.sides, self.state.selection
        if sides is None:
            return
        before, after = sides
        self.ask(
            "compare",
            lambda: self.state.kept(
                ("compare", before, after, selection), lambda: before.compare(after, selection, variants=True)
            ),
            self.fill,
            rows=before.work.height + after.work.height,
        )

    def fill(self, document: dict[str, Any]) -> None:
        """Waterfall and table."""
        self.document = document
        table, first = self.table(), self.has_class("-alone")
        self.remove_class("-alone")
        table.set_frame(group_rows(document), step_row(document))
        if first:
            table.select_row_id(0)

        def draw(width: int, height: int, theme: str, color: bool) -> str:
            return draw_waterfall(document, width, height, theme, color)

        self.plot("waterfall", "from the step before to the step after, kernel by kernel", draw)
        self.show_lines()

    # --- what it says --------------------------------------------------------------------------------------

    def crumb(self) -> list[str]:
        """Which file it is compared with; another place over it says where one is by itself."""
        levels, other = self.owner.levels, self.state.other
        above = levels[levels.index(self) + 1 :]
        if above and not isinstance(above[0], Variants):
            return []
        return ["compare" if other is None else f"compare with {file_name(other)}"]

    def numbers(self) -> Sequence[str]:
        """The verdict first."""
        document = self.document
        if self._loader is not None:
            return (f"reading {safe_text(self._loader.path.name)} ... esc stops",)
        if document is None or self.sides is None:
            return ("what changed per step between two traces",)
        remarks = len(document["comparable"])
        before, after = (file_name(side) for side in self.sides)
        return (
            headline(document),
            f"{fmt_count(remarks)} remark{'s' if remarks > 1 else ''}: i" if remarks else "",
            f"{before} -> {after}",
            "mean of a step; noise: 95 % from the steps' own spread",
        )

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """The group's line."""
        here = self.table().cursor_row_id
        return None if here is None else frame_cells(COLUMNS, self.table().frame[[here]])

    def command_line(self) -> list[str]:
        """The same comparison."""
        paths = [side.trace.path for side in self.sides or (self.state.session,)]
        return ["compare", *paths, *self.state.options]

    def apply_filter(self, text: str) -> None:
        """Groups whose name or status holds the words and which meet the comparisons."""
        found = parse(text, FIELDS, self.table().frame, ["name", "status"])
        self.table().search_text = found.words
        self.table().set_filter(found.predicate)

    # --- what happens --------------------------------------------------------------------------------------

    def on_frame_table_row_selected(self, message: FrameTable.RowSelected) -> None:
        """Down to the variants of a group."""
        message.stop()
        if self.document is None or self.sides is None:
            self.action_choose()
            return
        groups = self.document["groups"]
        if message.row_id is None or message.row_id >= len(groups):
            self.tell("This is about the step as a whole: no kernel has variants here")
        else:
            self.app.push_screen(Variants(self.state, groups[message.row_id], self.sides))

    def on_frame_table_row_marked(self, message: FrameTable.RowMarked) -> None:
        """Nothing here is marked."""
        message.stop()
        self.table().set_marks(())

    def action_swap(self) -> None:
        """The other way round."""
        if self.state.other is None:
            self.tell("There is no other trace yet: o chooses one")
        else:
            self.swapped = not self.swapped
            self.reload()

    def action_about(self) -> None:
        """Both sides and the remarks."""
        if self.document is not None:
            self.app.push_screen(Facts("What is compared", about_sections(self.document)))

    def action_export(self) -> None:
        """The comparison as markdown."""
        document, sides = self.document, self.sides
        if document is None or sides is None:
            self.tell("There is no comparison to write yet: o chooses another trace")
            return
        names = [file_name(side) for side in sides]
        words = ["traceview", *self.command_line(), "--variants"]
        self.write(lambda: compare_page(names, document, words))

    def up(self) -> None:
        """A reading first."""
        if self._loader is not None:
            self._stop()
            self.show_lines()
        else:
            super().up()


def file_name(session: Session) -> str:
    """A trace's file name."""
    return safe_text(PurePath(session.trace.path.replace("\\", "/")).name)


def about_sections(document: dict[str, Any]) -> list[Section]:
    """What each side is, and what is not alike."""
    made = []
    for word in ("before", "after"):
        side = document[word]
        known = (f"{count} {phase}" for phase, count in side["phases"].items() if phase != "unknown")
        steps = [*known, f"from {side['steps_from']}"]
        devices = ", ".join(map(str, side["devices"]))
        fields = [
            Field("file", side["path"], "" if side["complete"] else "cut off: events are missing"),
            Field("steps", fmt_count(side["steps"]), ", ".join(steps)),
            Field("GPU", ", ".join(side["gpus"]) or "unknown", f"device {devices}" if devices else ""),
        ]
        if side["world_size"]:
            fields.append(Field("rank", f"{side['rank']} of {side['world_size']}"))
        made.append(Section(word.capitalize(), fields))
    remarks = [Field("", remark) for remark in document["comparable"]]
    made.append(Section("What to know", remarks or [Field("", "nothing speaks against comparing them")]))
    source = document["step_ns"]["noise_from"]
    if source:
        made.append(Section("Noise", [Field("", source)]))
    return made
