"""What a person takes away from a session: a comparison, the answer to a query, frames, a smaller trace."""

from functools import partial
from typing import Any, Protocol

import polars as pl

from traceview.analysis import named_frames, query
from traceview.analysis.compare import Side, compare
from traceview.analysis.groups import GROUP_KEYS
from traceview.analysis.steps import Steps
from traceview.errors import TraceError
from traceview.selection import EVERYTHING, Selection
from traceview.trace import Trace


class Asked(Protocol):
    """What is asked of a session here; see api.Session."""

    trace: Trace

    @property
    def found_steps(self) -> Steps: ...
    @property
    def work(self) -> pl.DataFrame: ...
    @property
    def calls(self) -> pl.DataFrame: ...
    @property
    def names(self) -> pl.DataFrame: ...
    @property
    def sites(self) -> pl.DataFrame: ...
    def step_indices(self, selection: Selection) -> list[int] | None: ...
    def selected(self, selection: Selection) -> pl.DataFrame: ...
    def steps(self, selection: Selection = EVERYTHING) -> pl.DataFrame: ...
    def groups(self, selection: Selection = EVERYTHING) -> pl.DataFrame: ...
    def trace_facts(self) -> dict[str, Any]: ...
    def side(self, selection: Selection = EVERYTHING) -> Side: ...
    def table(self, name: str, selection: Selection = EVERYTHING) -> pl.DataFrame: ...


class TakeAway:
    """The part of api.Session that answers with something to keep."""

    def side(self: Asked, selection: Selection = EVERYTHING) -> Side:
        """What a comparison needs of this trace."""
        work = self.work
        if selection.device is not None:
            work = work.filter(pl.col("device") == selection.device)
        return Side(
            self.trace_facts(),
            selection.as_dict(),
            self.found_steps.source,
            self.steps(selection),
            work,
            self.names,
        )

    def compare(
        self: Asked,
        after: Asked,
        selection: Selection = EVERYTHING,
        after_selection: Selection | None = None,
        variants: bool = False,
    ) -> dict[str, Any]:
        """The document of `compare --format json`: this trace is before; see analysis.compare.

        after_selection: what is compared of the other, where that is not the same selection.
        """
        others = selection if after_selection is None else after_selection
        return compare(self.side(selection), after.side(others), variants)

    def table(self: Asked, name: str, selection: Selection = EVERYTHING) -> pl.DataFrame:
        """One of named_frames.TABLES. Selected steps narrow every table, a device the GPU work alone.

        Raises TraceError (wrong usage) for another name.
        """
        if name == "kernels":
            return named_frames.kernels(self.selected(selection), self.names, self.sites)
        if name == "steps":
            return self.steps(selection)
        if name == "groups":
            return self.groups(selection).select(GROUP_KEYS)
        if name not in named_frames.TABLES:
            raise TraceError(
                f"{name}: no such table; there are {', '.join(named_frames.TABLES)}", exit_code=2
            )
        frame = self.calls if name == "launch_calls" else getattr(self.trace, name)
        steps = self.step_indices(selection)
        rows = named_frames.with_step(frame, self.found_steps)
        return rows if steps is None else rows.filter(pl.col("step").is_in(steps))

    def query(self: Asked, sql: str, selection: Selection = EVERYTHING) -> pl.DataFrame:
        """The answer to SQL over the tables of named_frames.TABLES; read-only. Raises as query.run does."""
        return query.run(sql, {name: partial(self.table, name, selection) for name in named_frames.TABLES})

    def tables(self: Asked) -> pl.DataFrame:
        """What can be queried: table, column, type, and how many rows the table has."""
        rows = []
        for name in named_frames.TABLES:
            frame = self.table(name)
            rows += [(name, column, kind, frame.height) for column, kind in query.types(frame).items()]
        return pl.DataFrame(rows, schema=["table", "column", "type", "rows"], orient="row")
