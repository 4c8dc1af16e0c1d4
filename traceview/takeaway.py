"""What a person takes away from a session: a comparison, the answer to a query, frames, a smaller trace."""

import gzip
import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import polars as pl

from traceview import __version__
from traceview.analysis import named_frames, query, tree
from traceview.analysis.attribution import Links
from traceview.analysis.compare import Side, compare
from traceview.analysis.cut import Part, everything, part, step_windows
from traceview.analysis.groups import GROUP_KEYS
from traceview.analysis.ncu import ncu_command
from traceview.analysis.steps import Steps
from traceview.errors import TraceError
from traceview.outputs import output
from traceview.report import cut
from traceview.report.frames import write_frame
from traceview.selection import EVERYTHING, Selection
from traceview.trace import Trace


class Asked(Protocol):
    """What is asked of a session here; see api.Session."""

    trace: Trace

    @property
    def links(self) -> Links: ...
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
    def step_count(self, selection: Selection = EVERYTHING) -> int: ...
    def kernel_rows(self, selection: Selection = EVERYTHING) -> pl.DataFrame: ...
    def tree(self, selection: Selection, grouping: str, path: tuple[Any, ...] = ()) -> pl.DataFrame: ...
    def side(self, selection: Selection = EVERYTHING) -> Side: ...
    def table(self, name: str, selection: Selection = EVERYTHING) -> pl.DataFrame: ...
    def raw_events(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[bytes, dict[str, Any]]]: ...


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

    def kernel_rows(self: Asked, selection: Selection = EVERYTHING) -> pl.DataFrame:
        """All kernels as the tree has them, family by family put together: tree.level, largest first."""
        families = self.tree(selection, "kernel")
        if not families.height:
            return families
        levels = [self.tree(selection, "kernel", (key,)) for key in families["key"]]
        return pl.concat(levels).sort("sum_ns", descending=True, maintain_order=True)

    def groups_document(self: Asked, selection: Selection = EVERYTHING, by: str = "kernel") -> dict[str, Any]:
        """The document of `groups --format json`: the tree's rows by kernel, family, op, module, ... ."""
        grouping = "kernel" if by == "family" else by
        rows = self.kernel_rows(selection) if by == "kernel" else self.tree(selection, grouping)
        return {
            "schema": "traceview.groups/1",
            "selection": selection.as_dict(),
            "by": by,
            "steps": self.step_count(selection),
            "total_ns": int(self.selected(selection).filter("timed")["dur_ns"].sum()),
            "rows": tree.rows(rows),
        }

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

    def write_table(self: Asked, path: str | Path, name: str, selection: Selection = EVERYTHING) -> int:
        """Write a table of `table` to a .parquet or .csv file; the number of its rows.

        Raises TraceError (wrong usage) where the file cannot be written or has another suffix.
        """
        frame = self.table(name, selection)
        write_frame(frame, Path(path), self.trace.path)
        return frame.height

    def extent_ns(self: Asked) -> tuple[int, int]:
        """First begin and last end of steps and GPU work: windows are counted from the first."""
        windows = self.found_steps.windows.select("begin_ns", dur_ns="wall_ns").drop_nulls()
        spans = pl.concat([windows, self.work.filter("timed").select("begin_ns", "dur_ns")])
        begin, end = spans.select(
            begin=pl.col("begin_ns").min(), end=(pl.col("begin_ns") + pl.col("dur_ns")).max()
        ).row(0)
        return begin or 0, end or 0

    def window_around(self: Asked, launch_id: int, context_ns: int) -> tuple[int, int]:
        """What is around a launch and its call. Raises TraceError for one that is unknown or untimed."""
        rows = self.work.filter("timed", pl.col("id") == launch_id)
        if not rows.height:
            raise TraceError(f"no launch {launch_id} that has a time", exit_code=2)
        row = rows.row(0, named=True)
        called = row["launch_begin_ns"]
        begin = row["begin_ns"] if called is None else min(called, row["begin_ns"])
        return begin - context_ns, row["begin_ns"] + row["dur_ns"] + context_ns

    def part(self: Asked, selection: Selection = EVERYTHING, window: tuple[int, int] | None = None) -> Part:
        """The events of the selected steps, or of a window [begin, end) in nanoseconds; see analysis.cut.

        Without either, all events.
        """
        of = self.step_indices(selection)
        if window is not None:
            of, windows = [], pl.DataFrame([window], schema=["begin_ns", "end_ns"], orient="row")
        elif of is None:
            return everything(self.trace, self.links)
        else:
            windows = step_windows(self.found_steps, of)
        return part(self.trace, self.links, self.work, self.found_steps, windows, of)

    def write_part(self: Asked, path: str | Path, part: Part) -> None:
        """Write a part as a Chrome trace, gzipped if the name ends in .gz; all of it or nothing.

        Raises TraceError where the trace cannot be read again or the file cannot be written.
        """
        trace = self.trace
        note = {
            "by": f"traceview {__version__}",
            "of": os.path.basename(trace.path),
            "complete": trace.complete,
            "windows_ns": part.windows.rows(),
            "left_out": part.left_out,
        }
        events = self.raw_events(part.events.select("offset", "length").iter_rows())
        tracks = trace.tracks.with_columns(pl.col(pl.Categorical).cast(pl.String)).iter_rows(named=True)
        rows = part.events.iter_rows(named=True)
        pieces = cut.written(rows, events, tracks, trace.header, trace.layout, note)
        with output(path, trace.path) as file:
            # Without a time stamp, so that the same part gives the same bytes.
            out = gzip.GzipFile("", "wb", 6, file, mtime=0) if Path(path).suffix == ".gz" else file
            cast("BinaryIO", out).writelines(pieces)
            if out is not file:
                out.close()

    def ncu_command(self: Asked, launch_id: int) -> dict[str, Any]:
        """How to profile a launch with Nsight Compute: see analysis.ncu."""
        return ncu_command(self.work, launch_id)
