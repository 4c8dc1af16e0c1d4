"""Where a launch stands when no list of launches led to it: among those of its kernel, in time order."""

from collections.abc import Sequence
from typing import Protocol

import polars as pl

from traceview.report.tables import Column as Title
from traceview.tui.launches import columns
from traceview.tui.state import State
from traceview.tui.steps import frame_cells


class Among(Protocol):
    """A list that a launch stands in."""

    def place(self, launch_id: int) -> tuple[int, int]:
        """Which one of how many, from 1."""

    def beside(self, launch_id: int, by: int) -> int | None:
        """The launch before or after it."""

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]] | None:
        """Titles and cells of the launch that was placed last."""


class SameKernel:
    """The launches of a launch's kernel: those of the selection, or all where it is not among these."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._here = 0

    def place(self, launch_id: int) -> tuple[int, int]:
        """Which one of how many, from 1."""
        ids = self._ids(launch_id)
        self._here = launch_id
        return (ids.index_of(launch_id) or 0) + 1, len(ids)

    def beside(self, launch_id: int, by: int) -> int | None:
        """The launch before or after it."""
        ids = self._ids(launch_id)
        place = (ids.index_of(launch_id) or 0) + by
        return int(ids[place]) if 0 <= place < len(ids) else None

    def row_cells(self) -> tuple[Sequence[Title], Sequence[str]]:
        """The launch's line, as the screen of launches has it."""
        row = self._state.session.work[[self._here]]
        shown = columns(int(row["begin_ns"][0] or 0), several_devices=True, several_names=True, roomy=True)
        return frame_cells(shown, row)

    def name(self, launch_id: int) -> str:
        """The short name of its kernel."""
        session = self._state.session
        group = session.work["group"][launch_id]
        return str(session.names.filter(pl.col("group") == group)["short_name"][0])

    def _ids(self, launch_id: int) -> pl.Series:
        session, selection = self._state.session, self._state.selection
        group = session.work["group"][launch_id]

        def same(work: pl.DataFrame) -> pl.Series:
            return work.filter(pl.col("group") == group).sort("begin_ns", "id", nulls_last=True)["id"]

        ids = self._state.kept(("same kernel", selection, group), lambda: same(session.selected(selection)))
        if launch_id in ids:
            return ids
        return self._state.kept(("same kernel", None, group), lambda: same(session.work))
