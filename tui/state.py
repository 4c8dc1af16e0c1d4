"""What the person has chosen, and the answers already given for it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import PurePath
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from traceview.analysis.groups import GROUPINGS
from traceview.api import Session
from traceview.selection import EVERYTHING, Selection, steps_text
from traceview.tui.leaning import Leaning, leaning
from traceview.units import fmt_count

Answer = TypeVar("Answer")
TreePath = tuple[Any, ...]  # the keys that lead to a row of the kernel tree

ANSWERS_KEPT = 64
HEAVY = 250_000  # rows beyond which questions take long enough to be felt, and leave the interface's thread


class State:
    """One open trace: the session, the selection that holds on every screen, the marks, the kept answers."""

    def __init__(self, session: Session, selection: Selection = EVERYTHING) -> None:
        self.session = session
        self.selection = selection
        self.grouping = next(iter(GROUPINGS))
        self.marked_rows: dict[tuple[str, TreePath], tuple[int, ...]] = {}  # kernel rows -> group numbers
        self.marked_launches: set[int] = set()
        self.marked_findings: set[tuple[object, ...]] = set()  # their kind and what they are about
        self.other: Session | None = None  # the trace that this one is compared with
        self.version = 0  # of the session: another one makes what the screens show out of date
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._keeping = Lock()

    def take(self, session: Session) -> None:
        """The same trace seen otherwise: something assumed, or other steps. Launches and kernels keep their
        numbers.
        """
        self.session = session
        self.version += 1

    # --- selection -----------------------------------------------------------------------------------------

    def narrow(self, **changes: Any) -> None:
        """Change fields of the selection."""
        self.selection = replace(self.selection, **changes)

    @property
    def step_total(self) -> int:
        """Steps of the trace."""
        return self.session.step_count()

    @property
    def positions(self) -> list[int]:
        """The steps that could be selected one by one: those of the phase."""
        found = self.session.step_indices(replace(self.selection, steps=None))
        return list(range(self.step_total)) if found is None else found

    def moved_step(self, by: int) -> int | None:
        """The step before or after the selected ones, within the phase; None at the end."""
        positions = self.positions
        chosen = self.selection.steps
        if not chosen:
            return (positions[0] if by > 0 else positions[-1]) if positions else None
        beyond = [p for p in positions if (p > chosen[-1] if by > 0 else p < chosen[0])]
        return (beyond[0] if by > 0 else beyond[-1]) if beyond else None

    @property
    def selection_text(self) -> str:
        """`all 30 steps`, `step 4 decode`, `decode, GPU 0`."""
        selection, session = self.selection, self.session
        words = [steps_text(selection.steps, self.step_total)]
        if session.found_steps.whole_trace:
            words = ["the whole trace"]
        if selection.phase is not None and selection.steps is None:
            words = [f"{len(self.positions)} {selection.phase} steps"]
        elif selection.phase is not None:
            words.append(selection.phase)
        if selection.device is not None:
            words.append(f"GPU {selection.device}")
        return ", ".join(words)

    @property
    def options(self) -> list[str]:
        """The command line's words for the selection and the steps."""
        return self.session.options(self.selection)

    @property
    def file_name(self) -> str:
        """The trace's file name."""
        return PurePath(self.session.trace.path.replace("\\", "/")).name

    @property
    def heading(self) -> str:
        """The file's name, and whether events are missing."""
        return self.file_name if self.session.trace.complete else f"{self.file_name} (incomplete)"

    # --- marks ---------------------------------------------------------------------------------------------

    @property
    def marks_text(self) -> str:
        """`3 marked`, or nothing."""
        count = len(self.marked_rows) + len(self.marked_launches)
        return f"{fmt_count(count)} marked" if count else ""

    @property
    def marked_groups(self) -> list[int]:
        """The kernels of all marked rows."""
        return sorted({group for groups in self.marked_rows.values() for group in groups})

    # --- answers -------------------------------------------------------------------------------------------

    def kept(self, key: Hashable, question: Callable[[], Answer]) -> Answer:
        """The answer to a question, asked once for each key."""
        key = self.version, key
        with self._keeping:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast(Answer, self._kept[key])
        answer = question()
        with self._keeping:
            self._kept[key] = answer
            if len(self._kept) > ANSWERS_KEPT:
                self._kept.popitem(last=False)
        return answer

    @property
    def leaning(self) -> Leaning:
        """Which figures carry a mark."""
        return self.kept("leaning", lambda: leaning(self.session))

    def op_totals(self) -> dict[str, int]:
        """For each op the time in ns of all GPU work below it, its inner ops' included (Session.ops)."""
        selection = self.selection

        def question() -> dict[str, int]:
            return {str(op): total for op, _, total, _ in self.session.ops(selection).iter_rows()}

        return self.kept(("op totals", selection), question)

    def tree(self, path: TreePath) -> pl.DataFrame:
        """One level of the kernel tree for the selection and grouping (analysis.tree.level)."""
        selection, grouping = self.selection, self.grouping
        return self.kept(
            ("tree", selection, grouping, path), lambda: self.session.tree(selection, grouping, path)
        )

    def groups_below(self, path: TreePath) -> tuple[int, ...]:
        """The numbers of the kernels below a row of the kernel tree."""
        work = self.session.path_work(self.selection, self.grouping, path)
        return tuple(work["group"].unique().sort())

    def durations(self, path: TreePath) -> NDArray[np.int64]:
        """Durations in ns of the timed launches below a row of the kernel tree, in time order."""
        selection, grouping = self.selection, self.grouping

        def question() -> NDArray[np.int64]:
            return self.session.path_work(selection, grouping, path).filter("timed")["dur_ns"].to_numpy()

        return self.kept(("durations", selection, grouping, path), question)
