"""What stands out in a trace: each finding with its evidence, what it could save, and its caveats.

One finding for each variant of a kernel (its most specific kind, the others in `also`), and a few about the
trace as a whole. What a finding saves is a bound for that finding alone: savings overlap and never add up.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from traceview.analysis import intervals
from traceview.analysis.gpus import Gpu
from traceview.analysis.groups import grouped
from traceview.analysis.remarks import Layers
from traceview.trace import Trace

# From the most specific to the least: where savings are equal, the more specific comes first.
KINDS = (
    "dtype-cast",
    "oversized-copy",
    "host-sync",
    "exposed-communication",
    "outlier-launch",
    "step-outlier",
    "idle-gap",
    "launch-bound",
    "many-short-kernels",
    "small-grid",
    "below-floor",
    "dominant-kernel",
)


@dataclass(frozen=True)
class Evidence:
    """One fact: what is claimed, the number with its unit, where it comes from, and how it was worked out."""

    claim: str
    value: float | int | None = None
    unit: str | None = None
    source: str | None = None  # shapes, geometry, trace, assumed
    working: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As the JSON contract spells it."""
        return {
            "claim": self.claim,
            "value": self.value,
            "unit": self.unit,
            "from": self.source,
            "working": self.working,
        }


@dataclass(frozen=True)
class Finding:
    """One row of the findings. saves_ns: at most, per step; None where that cannot be told.

    group and variant are work's numbers, launch an id to look at; None for findings about the whole trace.
    """

    kind: str
    title: str
    saves_ns: int | None = None
    share: float | None = None
    calls_per_step: float | None = None
    layers: int | None = None
    kernel: str | None = None
    group: int | None = None
    variant: int | None = None
    launch: int | None = None
    shape: dict[str, Any] | None = None
    evidence: tuple[Evidence, ...] = ()
    caveats: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    python: str | None = None
    op: str | None = None


@dataclass(frozen=True)
class Scene:
    """What the rules look at: a selection of gpu_work with its steps, and the trace behind it.

    work: gpu_work with performance, call_site and module; table: steps.step_table of the selected steps;
    gaps: gaps.gaps of the selection; waits: Python line of each gap's wait, in the order of gaps.
    """

    trace: Trace
    work: pl.DataFrame
    names: pl.DataFrame
    table: pl.DataFrame
    whole_trace: bool
    layers: Layers | None
    gpus: dict[int | None, Gpu | None]
    gaps: pl.DataFrame
    waits: pl.DataFrame
    model: pl.DataFrame | None = field(default=None)

    @property
    def steps(self) -> int:
        """How many steps are selected, at least one."""
        return max(1, self.table.height)

    @cached_property
    def timed(self) -> pl.DataFrame:
        """The timed work."""
        return self.work.filter("timed")

    @cached_property
    def total_ns(self) -> int:
        """The sum of the timed work."""
        return int(self.timed["dur_ns"].sum())

    @cached_property
    def span_ns(self) -> int:
        """First start to last end per device, added."""
        spans = self.timed.group_by("device").agg(span=intervals.END.max() - pl.col("begin_ns").min())
        return int(spans["span"].sum())

    @cached_property
    def variants(self) -> pl.DataFrame:
        """groups.grouped by variant with group, name, short_name, family, kind and exposed_ns."""
        if not self.timed.height:
            return pl.DataFrame()
        table = grouped(self.work, ["variant"], self.steps, self.total_ns)
        groups = self.work.select("variant", "group").unique()
        alone = intervals.exposed(self.timed, "device", "variant")
        return (
            table.join(groups, on="variant", how="left", maintain_order="left")
            .join(self.names, on="group", how="left", maintain_order="left")
            .join(alone, on="variant", how="left", maintain_order="left")
        )


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each variant, its most specific kind, largest saving first."""
    of_variant: dict[int, Finding] = {}
    others = []
    for finding in sorted(findings, key=lambda f: KINDS.index(f.kind)):
        if finding.variant is None:
            others.append(finding)
        elif finding.variant in of_variant:
            first = of_variant[finding.variant]
            of_variant[finding.variant] = replace(first, also=(*first.also, finding.kind))
        else:
            of_variant[finding.variant] = finding
    return sorted([*of_variant.values(), *others], key=lambda f: (-(f.saves_ns or -1), KINDS.index(f.kind)))


def documents(findings: list[Finding]) -> list[dict[str, Any]]:
    """The contract's `rows` of `findings --format json`; an id counts the findings of its kind."""
    seen: dict[str, int] = {}
    rows = []
    for finding in findings:
        seen[finding.kind] = seen.get(finding.kind, 0) + 1
        rows.append(
            {
                "id": f"{finding.kind.split('-')[-1]}-{seen[finding.kind]}",
                "kind": finding.kind,
                "also": list(finding.also),
                "title": finding.title,
                "share": finding.share,
                "at_most_saves_ns_per_step": finding.saves_ns,
                "calls_per_step": finding.calls_per_step,
                "layers": finding.layers,
                "kernel": finding.kernel,
                "variant": finding.shape,
                "launch": finding.launch,
                "evidence": [e.as_dict() for e in finding.evidence],
                "caveats": list(finding.caveats),
                "python": finding.python,
                "op": finding.op,
            }
        )
    return rows
