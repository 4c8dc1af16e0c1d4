"""A trace and the questions one can ask of it: what the command line, the screens and scripts all use."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from traceview import parsers
from traceview.analysis import gaps, header, health, moments, remarks, tree
from traceview.analysis.callsites import wait_sites
from traceview.analysis.card import neighbours, op_facts
from traceview.analysis.cxx import parse_parts
from traceview.analysis.distribution import spread_words
from traceview.analysis.findings import Finding, Scene, ranked
from traceview.analysis.findings import documents as finding_documents
from traceview.analysis.gpus import NO_OVERRIDES, Overrides
from traceview.analysis.groups import GROUP_KEYS, GROUPINGS, along, grouped
from traceview.analysis.kernel_rules import kernel_findings
from traceview.analysis.lanes import Lanes, lanes
from traceview.analysis.launches import ANY, Query, documents, matching
from traceview.analysis.ops import op_totals
from traceview.analysis.pace import pace
from traceview.analysis.roofline import explain
from traceview.analysis.settings import BUILT_IN, Settings, user_settings
from traceview.analysis.sizing import product
from traceview.analysis.steps import assign, step_table
from traceview.analysis.tensors import candidates, model_tensors, read_config, seen_tensors
from traceview.analysis.totals import gpu_totals, host_groups, host_totals
from traceview.analysis.trace_rules import trace_findings
from traceview.errors import TraceError
from traceview.frames import Frames, on_device
from traceview.parsers import Progress, cache_info, clear_cache
from traceview.parsers.folder import find_trace, traces_in
from traceview.report import note
from traceview.selection import EVERYTHING, Selection
from traceview.takeaway import TakeAway

__all__ = [
    "Overrides",
    "Progress",
    "Query",
    "Selection",
    "Session",
    "cache_info",
    "clear_cache",
    "find_trace",
    "open_session",
    "read_model",
    "traces_in",
    "user_settings",
]


def open_session(
    path: str | Path,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    step_marker: str | None = None,
    overrides: Overrides = NO_OVERRIDES,
    model: pl.DataFrame | None = None,
    use_cache: bool = True,
    settings: Settings = BUILT_IN,
) -> "Session":
    """Read a trace and make it ready for questions. Raises TraceError and Cancelled as parsers.load does."""
    trace = parsers.load(path, progress, cancelled, use_cache)
    return Session(trace, step_marker, overrides, model, settings)


def read_model(path: str | Path, tp: int = 1) -> pl.DataFrame:
    """The tensors that a Hugging Face config.json implies on one of `tp` ranks: tensors.model_tensors.

    Raises TraceError (wrong usage) where the file cannot be read or is no model's config.
    """
    return model_tensors(read_config(Path(path)), tp)


class Session(Frames, TakeAway):
    """Questions of one trace. Every answer is a frame or a plain document; nothing is drawn."""

    def steps(self, selection: Selection = EVERYTHING) -> pl.DataFrame:
        """The selected steps with their GPU work: the columns of analysis.steps.step_table."""
        table = step_table(self.found_steps, on_device(self.work, selection))
        steps = self.step_indices(selection)
        return table if steps is None else table.filter(pl.col("index").is_in(steps))

    def step_families(self, selection: Selection = EVERYTHING) -> pl.DataFrame:
        """Timed GPU work of each step and family: step, family, sum_ns; largest family first."""
        work = self.selected(selection).filter("timed", pl.col("step").is_not_null())
        return (
            work.group_by("step", "family")
            .agg(sum_ns=pl.col("dur_ns").sum())
            .sort(pl.col("sum_ns").sum().over("family"), "family", "step", descending=[True, False, False])
        )

    def families(self, selection: Selection = EVERYTHING) -> pl.DataFrame:
        """Groups by family (see groups.grouped), largest first."""
        return self._grouped(selection, ["family"])

    def groups(self, selection: Selection = EVERYTHING, by: str = "kernel") -> pl.DataFrame:
        """Groups (see groups.grouped), largest sum first.

        by: kernel, with name, short_name, family and kind, ties by name; or family, op, module, python,
        annotation, stream, in a column of that name. Raises TraceError (wrong usage) for another word.
        """
        if by == "kernel":
            table = self._grouped(selection, ["group"]).join(self.names, on="group", how="left")
            return table.sort(
                ["sum_ns", pl.col("name").cast(pl.String)], descending=[True, False], maintain_order=True
            )
        if by == "family":
            return self.families(selection)
        if by not in GROUPINGS:
            raise TraceError(f"{by}: groups are by family or by {', '.join(GROUPINGS)}", exit_code=2)
        column = GROUPINGS[by][0]
        table = self._grouped(selection, [column], by)
        # Beside its key a group has the op of its longest launch.
        return table if column == by else table.drop(by, strict=False).rename({column: by})

    def _grouped(self, selection: Selection, keys: list[str], grouping: str = "kernel") -> pl.DataFrame:
        work = self.selected_of(self.placed(grouping), selection)
        total = int(work.filter("timed")["dur_ns"].sum())
        return grouped(work, keys, self.step_count(selection), total)

    def tree(self, selection: Selection, grouping: str, path: tuple[Any, ...] = ()) -> pl.DataFrame:
        """One level of the kernel tree: what lies below `path`, largest first.

        grouping is a key of groups.GROUPINGS; path holds the `key` of each row that was opened on the way.
        Columns: see tree.level.
        """
        work = self.selected_of(self.placed(grouping), selection)
        return tree.level(work, grouping, path, self.step_count(selection), self.names, self.layers)

    @cached_property
    def layers(self) -> remarks.Layers | None:
        """How many layers the model has, by its modules or by the kernels' calls per step."""
        return remarks.layer_count(self.trace.python["name"].unique(), self.groups())

    def path_work(self, selection: Selection, grouping: str, path: tuple[Any, ...]) -> pl.DataFrame:
        """The launches below a row of the tree, in time order: rows of `work`."""
        work = self.selected_of(self.placed(grouping), selection)
        return along(work, grouping, path).sort("begin_ns", "id", nulls_last=True)

    def launches(self, selection: Selection = EVERYTHING, query: Query = ANY) -> pl.DataFrame:
        """The selected rows of `work` that match a query, sorted, without its limit."""
        return matching(self.selected(selection), query)

    def launch_documents(self, rows: pl.DataFrame) -> list[dict[str, Any]]:
        """Rows of `work` as the contract's launch rows, with short_name and stacks."""
        short = self.names.select("group", "short_name")
        return documents(self.links, rows.join(short, on="group", how="left", maintain_order="left"))

    def launches_document(self, selection: Selection, query: Query) -> dict[str, Any]:
        """The document of `launches --format json`."""
        rows = self.launches(selection, query)
        shown = rows.head(query.limit) if query.limit else rows
        return {
            "schema": "traceview.launches/1",
            "selection": selection.as_dict(),
            "total": rows.height,
            "origin_ns": self.origin_ns,
            "rows": self.launch_documents(shown),
        }

    def ops(self, selection: Selection = EVERYTHING) -> pl.DataFrame:
        """Self and total GPU time of each op: ops.op_totals."""
        return op_totals(self.links, self.selected(selection))

    def spread(self, selection: Selection, grouping: str, path: tuple[Any, ...]) -> list[str]:
        """How the durations below a row of the tree are spread, in words."""
        return spread_words(self.path_work(selection, grouping, path).filter("timed")["dur_ns"].to_numpy())

    def same_size(self, elements: int | None) -> list[dict[str, Any]]:
        """Tensors of the trace and of the named model with as many elements: tensors.candidates."""
        return candidates(self._tensors, self.model, elements)

    @cached_property
    def _tensors(self) -> pl.DataFrame:
        return seen_tensors(self.trace.ops)

    def raw(self, launch_id: int) -> dict[str, dict[str, Any] | None]:
        """The file's own events behind a launch: GPU work, launch call, op; None where there is none.

        Raises TraceError where the file can't be read again, and (wrong usage) for an id that is not there.
        """
        row = self._row(launch_id)
        found = {"GPU work": (self.trace.gpu, launch_id)}
        found["launch call"] = (self.trace.runtime, row["launch"])
        found["op"] = (self.trace.ops, row["op"])
        places = {
            what: None if at is None else frame.select("offset", "length").row(at)
            for what, (frame, at) in found.items()
        }
        return {
            what: parsers.raw_event(self.trace, *at) if at is not None else None
            for what, at in places.items()
        }

    def _row(self, launch_id: int) -> dict[str, Any]:
        if not 0 <= launch_id < self.work.height:
            raise TraceError(f"no launch {launch_id}; ids run from 0 to {self.work.height - 1}", exit_code=2)
        return self.work.row(launch_id, named=True)

    def card(self, launch_id: int) -> dict[str, Any]:
        """Everything about one launch.

        Keys: launch (the contract's launch row), neighbours (see card.neighbours), parts (the kernel's name
        taken apart), step_name, device (of header.devices, or None), blocks, threads (a block's), waves
        (blocks for each multiprocessor), op (card.op_facts), same_size (tensors.candidates), variant, floor
        (roofline.explain). Raises TraceError (wrong usage) for an id that is not there.
        """
        row = self._row(launch_id)
        launch = self.launch_documents(self.work.slice(launch_id, 1))[0]
        return {
            "launch": launch,
            "neighbours": neighbours(self.work, row),
            "parts": parse_parts(launch["name"] or ""),
            "step_name": None if launch["step"] is None else self.step_names[launch["step"]],
            "device": next((d for d in header.devices(self.trace) if d["id"] == launch["device"]), None),
            "blocks": row["blocks"],
            "threads": product(launch["block"]),
            "waves": launch["waves"],
            "op": op_facts(self.links, row["op"]),
            "same_size": self.same_size(launch["elements"]),
            "variant": row["variant"],
            "floor": explain(row, row, row["dur_ns"] if row["timed"] else None, self.gpus[row["device"]]),
        }

    def report(
        self,
        selection: Selection = EVERYTHING,
        marked_groups: Sequence[int] = (),
        marked_launches: Sequence[int] = (),
        top: int = 10,
        findings: int = 3,
        width: int = note.WIDTH,
    ) -> str:
        """The markdown note of a selection: what stands out, and the largest kernels.

        marked_groups (`group` numbers) and marked_launches (ids) replace the `top` largest kernels, and keep
        the findings to those. The biggest launch of what is noted gets its shapes, floor and call site.
        """
        groups = self.kernel_rows(selection)
        marked = bool(marked_groups or marked_launches)
        chosen = groups.filter(pl.col("group").is_in(marked_groups)) if marked else groups.head(top)
        launches = self.work.filter(pl.col("id").is_in(marked_launches)).sort("begin_ns", "id")
        pool = pl.concat(
            [self.selected(selection).filter(pl.col("group").is_in(chosen["group"].implode())), launches]
        )
        biggest = pool.filter("timed").sort("dur_ns", "id", descending=[True, False]).head(1)
        about = set(pool["group"]) if marked else None
        found = [f for f in self.findings(selection) if about is None or f.group in about]
        content = note.Content(
            self.summary(selection),
            tree.rows(chosen),
            finding_documents(found[:findings]),
            self.launch_documents(launches),
            next(iter(self.launch_documents(biggest)), None),
            ["traceview", "report", self.trace.path, *self.options(selection)],
            marked,
        )
        return note.note(content, width)

    def gpu(self, selection: Selection = EVERYTHING) -> dict[str, Any]:
        """The contract's `gpu` object."""
        return gpu_totals(self.selected(selection))

    def host(self, selection: Selection = EVERYTHING) -> dict[str, Any]:
        """The contract's `host` object; with steps selected, of the calls and ops that begin in them."""
        steps = self.step_indices(selection)
        if steps is None:
            return host_totals(self.selected(selection), self.calls, self.trace.ops.height)
        ops = self.trace.ops.select(
            "begin_ns", launch_begin_ns="begin_ns", device=pl.lit(None, dtype=pl.Int64)
        )
        ops_in_steps = assign(self.found_steps, ops).is_in(steps).sum()
        calls = self.calls.filter(pl.col("step").is_in(steps))
        return host_totals(self.selected(selection), calls, int(ops_in_steps))

    def outside(self, selection: Selection = EVERYTHING) -> dict[str, int]:
        """Events and sum of the selected GPU work that is in no step."""
        work = self.selected(selection).filter(pl.col("step").is_null())
        return {"events": work.height, "sum_ns": int(work.filter("timed")["dur_ns"].sum())}

    def raw_events(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Events as the file has them, by place (offset, length); see parsers.raw_events."""
        return parsers.raw_events(self.trace, places)

    def trace_facts(self) -> dict[str, Any]:
        """The contract's `trace` object."""
        return header.facts(self.trace, self.notices, self.gpus)

    def findings(self, selection: Selection = EVERYTHING) -> list[Finding]:
        """What stands out in a selection, largest saving first; one finding for each variant of a kernel."""
        work = self.selected_of(self.placed("python"), selection)
        table = self.steps(selection)
        idle = gaps.gaps(self.trace, work)
        scene = Scene(
            self.trace,
            work,
            self.names,
            table,
            self.found_steps.whole_trace,
            self.layers,
            self.gpus,
            idle,
            wait_sites(self.links, idle["wait"], self.settings.skip_frames),
            self.model,
        )
        return ranked([*kernel_findings(scene), *trace_findings(scene)])

    def findings_document(self, selection: Selection = EVERYTHING) -> dict[str, Any]:
        """The document of `findings --format json`."""
        rows = finding_documents(self.findings(selection))
        return {"schema": "traceview.findings/1", "selection": selection.as_dict(), "rows": rows}

    def lanes(self, python: bool = False) -> Lanes:
        """Streams and threads with all that lasts on them; with the Python frames if wanted: lanes.lanes."""
        return lanes(self.trace, self.work, self.names, python)

    def gaps_document(self, selection: Selection = EVERYTHING, limit: int = 20) -> dict[str, Any]:
        """The document of `gaps --format json`: idle time by cause, and the longest gaps (0: all)."""
        work = self.selected(selection)
        table = gaps.gaps(self.trace, work)
        sites = wait_sites(self.links, table["wait"], self.settings.skip_frames)
        rows = gaps.largest(table, sites, work, self.names, limit)
        return {
            "schema": "traceview.gaps/1",
            "selection": selection.as_dict(),
            "idle_ns": int(table["dur_ns"].sum()),
            "total": table.height,
            "causes": gaps.by_cause(table).to_dicts(),
            "rows": rows.drop("wait").to_dicts(),
        }

    def gap(self, device: int | None, stream: int | None, begin_ns: int, end_ns: int) -> dict[str, Any]:
        """What was going on while a stream had no work: moments.gap_document."""
        return moments.gap_document(self.trace, self.work, device, stream, begin_ns, end_ns)

    def span(self, begin_ns: int, end_ns: int) -> dict[str, Any]:
        """The GPU work between two moments: moments.span_document."""
        return moments.span_document(self.work, begin_ns, end_ns)

    def host_slice(self, kind: str, row: int) -> dict[str, Any]:
        """What the host did in one of its slices, and what it lies in: moments.slice_document."""
        return moments.slice_document(self.trace, self.work, kind, row)

    def check(self) -> dict[str, Any]:
        """The document of `check --format json`: how far the trace can be trusted, and what it lacks.

        links: see health.coverage; missing: see health.missing; kinds: how many events of each.
        """
        recorded = header.recorded(self.trace)
        return {
            "schema": "traceview.check/1",
            "trace": self.trace_facts(),
            "steps": {
                "source": self.found_steps.source,
                "confidence": self.found_steps.confidence,
                "count": self.step_count(),
            },
            "clock_resolution_ns": health.resolution_ns(self.trace),
            "links": health.coverage(self.work, self.sites),
            "missing": health.missing(self.trace, recorded, self.found_steps),
            "kinds": self.trace.kinds.sort("count", descending=True, maintain_order=True).to_dicts(),
        }

    def summary(self, selection: Selection = EVERYTHING) -> dict[str, Any]:
        """The document of `summary --format json`."""
        steps = self.steps(selection)
        rhythm = pace(steps)
        found = self.found_steps
        return {
            "schema": "traceview.summary/1",
            "selection": selection.as_dict(),
            "trace": self.trace_facts(),
            "gpu": self.gpu(selection),
            "host": self.host(selection),
            "steps": {
                "source": found.source,
                "rule": "launched-in",
                "confidence": found.confidence,
                "count": steps.height,
                "wall_p50_ns": rhythm.wall_p50_ns,
                "wall_p95_ns": rhythm.wall_p95_ns,
                "tokens_per_second": rhythm.tokens_per_second,
                "items": steps.to_dicts(),
                "outside": self.outside(selection),
            },
            "groups": self.groups(selection).select(*GROUP_KEYS).to_dicts(),
            "host_groups": [] if self.work.height else host_groups(self.trace, self.step_count()),
        }
