"""The frames behind every answer: GPU work with its links, steps and sizes, each made when first needed."""

from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Self

import polars as pl

from traceview.analysis import health
from traceview.analysis.assumed import Assumption
from traceview.analysis.attribution import Links, launch_calls
from traceview.analysis.callsites import call_sites
from traceview.analysis.gpus import NO_OVERRIDES, Gpu, Overrides
from traceview.analysis.groups import GROUPINGS
from traceview.analysis.markers import marker_facts
from traceview.analysis.names import distinct_names
from traceview.analysis.performance import gpus_of, performance
from traceview.analysis.phases import with_phases
from traceview.analysis.settings import BUILT_IN, Settings
from traceview.analysis.steps import Steps, assign, find_steps, straddling
from traceview.analysis.work import gpu_work, linked_work
from traceview.errors import TraceError
from traceview.selection import EVERYTHING, Selection
from traceview.trace import Notice, Trace


class Frames:
    """What is known of one trace, as frames; the trace itself never changes."""

    def __init__(
        self,
        trace: Trace,
        step_marker: str | None = None,
        overrides: Overrides = NO_OVERRIDES,
        model: pl.DataFrame | None = None,
        settings: Settings = BUILT_IN,
    ) -> None:
        """step_marker: a regular expression for the annotations that are the steps. overrides: peaks.

        model: the tensors of the model that ran (tensors.model_tensors), to name sizes by.
        settings: the person's own rules.
        """
        self.model = model
        self.trace = trace
        self.step_marker = step_marker
        self.overrides = overrides
        self.settings = settings
        self.assumed: dict[int, Assumption] = {}

    def assume(self, variant: int, assumption: Assumption | None) -> Self:
        """The same trace with something assumed of a variant; None takes back what was.

        What does not depend on sizes is shared with this one.
        """
        other = copy(self)
        other.__dict__.pop("work", None)
        other.assumed = {v: a for v, a in self.assumed.items() if v != variant}
        if assumption is not None:
            other.assumed[variant] = assumption
        return other

    def with_steps(self, step_marker: str | None) -> Self:
        """The same trace with other steps (see __init__), its links shared with this one.

        A marker that matches nothing is told when the steps are first asked for, as find_steps does.
        """
        other = type(self)(self.trace, step_marker, self.overrides, self.model, self.settings)
        other.assumed = self.assumed
        other.__dict__["links"] = self.links
        return other

    def options(self, selection: Selection) -> list[str]:
        """The command line's words for a selection of these steps."""
        marker = [] if self.step_marker is None else ["--step-marker", self.step_marker]
        return [*marker, *selection.options()]

    @cached_property
    def links(self) -> Links:
        """Launch calls, ops and Python frames of the GPU work."""
        return Links(self.trace)

    @cached_property
    def found_steps(self) -> Steps:
        """The steps and how they were found."""
        steps, linked = self._stepped
        return replace(steps, windows=with_phases(steps.windows, linked))

    @cached_property
    def _stepped(self) -> tuple[Steps, pl.DataFrame]:
        """The steps as their markers say, and the linked work with its step."""
        linked = linked_work(self.trace, self.links)
        steps = find_steps(self.trace, linked, self.step_marker)
        return steps, linked.with_columns(assign(steps, linked))

    @cached_property
    def work(self) -> pl.DataFrame:
        """All GPU work: the columns of work.gpu_work, suspect_duration, straddles (its step), and those
        of performance.PERFORMANCE.
        """
        work = self._unsized
        names = self.found_steps.windows.select("index", "name").iter_rows()
        sums = {i: found for i, name in names if (found := marker_facts(name).sums) is not None}
        return pl.concat(
            [work, performance(self.trace, work, self.gpus, sums, self.assumed)], how="horizontal"
        )

    @cached_property
    def _unsized(self) -> pl.DataFrame:
        work = gpu_work(self._stepped[1], self.settings.rules)
        return work.with_columns(health.suspects(work), straddling(self.found_steps.windows, work))

    @cached_property
    def gpus(self) -> dict[int | None, Gpu | None]:
        """The GPU and its peaks for each device of the GPU work; None where it is unknown."""
        table = (*self.overrides.table, *self.settings.gpus)
        return gpus_of(self.trace, replace(self.overrides, table=table))

    @cached_property
    def calls(self) -> pl.DataFrame:
        """Launch calls (attribution.launch_calls) with the step they were made in."""
        calls = launch_calls(self.trace)
        places = calls.select("begin_ns", launch_begin_ns="begin_ns", device=pl.lit(None, dtype=pl.Int64))
        return calls.with_columns(assign(self.found_steps, places))

    @cached_property
    def notices(self) -> list[Notice]:
        """What the person should know about this trace, the file's damage first."""
        return health.notices(self.trace, self.work, self.calls, self.found_steps)

    @cached_property
    def names(self) -> pl.DataFrame:
        """The distinct kernels: group, kind, name, short_name, family."""
        first = self.work.unique("group", maintain_order=True).select("group", "kind", "name", "family")
        return first.with_columns(distinct_names(first["name"]).alias("short_name"))

    @property
    def step_names(self) -> list[str]:
        """The names of all steps, by position."""
        return self.found_steps.windows["name"].to_list()

    def step_indices(self, selection: Selection) -> list[int] | None:
        """Positions of the selected steps; None where steps are not narrowed (work outside counts too)."""
        if selection.steps is None and selection.phase is None:
            return None
        windows = self.found_steps.windows
        if selection.steps is not None:
            windows = windows.filter(pl.col("index").is_in(selection.steps))
        if selection.phase is not None:
            windows = windows.filter(pl.col("phase").cast(pl.String) == selection.phase)
        return windows["index"].to_list()

    @property
    def origin_ns(self) -> int:
        """The moment that tables count starts from: the first step's begin, or earlier work's."""
        first = [self.found_steps.windows["begin_ns"].min(), self.work.filter("timed")["begin_ns"].min()]
        return min((at for at in first if isinstance(at, int)), default=0)

    def must_hold(self, selection: Selection) -> None:
        """Raise TraceError (wrong usage) for a phase or a device that the trace does not have."""
        phases = self.found_steps.windows["phase"].drop_nulls().unique().cast(pl.String).sort().to_list()
        if selection.phase is not None and selection.phase not in phases:
            there = f"there are {', '.join(phases)}" if phases else "no step has a known phase"
            raise TraceError(f"--phase {selection.phase}: no such steps; {there}", exit_code=2)
        devices = self.work["device"].drop_nulls().unique().sort().to_list()
        if selection.device is not None and selection.device not in devices:
            there = f"there are {', '.join(map(str, devices))}" if devices else "no GPU work names one"
            raise TraceError(f"--device {selection.device}: no such device; {there}", exit_code=2)

    def selected(self, selection: Selection) -> pl.DataFrame:
        """The rows of `work` that a selection holds."""
        return self.selected_of(self.work, selection)

    def selected_of(self, work: pl.DataFrame, selection: Selection) -> pl.DataFrame:
        steps = self.step_indices(selection)
        work = on_device(work, selection)
        return work if steps is None else work.filter(pl.col("step").is_in(steps))

    @cached_property
    def sites(self) -> pl.DataFrame:
        """Module, Python line and annotation of each row of `work`: callsites.call_sites."""
        return call_sites(self.links, self.settings.skip_frames)

    def placed(self, grouping: str) -> pl.DataFrame:
        """`work` with the columns that a grouping splits by."""
        known = set(GROUPINGS[grouping]) <= set(self.work.columns)
        return self.work if known else pl.concat([self.work, self.sites], how="horizontal")

    def step_count(self, selection: Selection = EVERYTHING) -> int:
        """How many steps are selected."""
        steps = self.step_indices(selection)
        return self.found_steps.windows.height if steps is None else len(steps)


def on_device(work: pl.DataFrame, selection: Selection) -> pl.DataFrame:
    """The rows of `work` on the selected device."""
    return work if selection.device is None else work.filter(pl.col("device") == selection.device)
