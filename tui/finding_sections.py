"""A finding as sections of labelled facts, and the findings as rows of a table."""

from collections.abc import Iterator, Sequence

import polars as pl

from traceview.analysis.findings import Evidence, Finding
from traceview.report.text import fmt_dims, fmt_grid, fmt_per_step
from traceview.units import fmt_bytes, fmt_count, fmt_ns, fmt_percent
from traceview.widgets.detail import Field, Section

_SOURCES = {
    "shapes": "from recorded shapes and types",
    "geometry": "from grid x block x elements per thread, an upper bound",
    "assumed": "assumed",
}


def finding_rows(findings: Sequence[Finding]) -> pl.DataFrame:
    """id (position), rank (from 1), kind, saves_ns, share, calls_per_step, title."""
    return pl.DataFrame(
        [
            (number, number + 1, f.kind, f.saves_ns, f.share, f.calls_per_step, f.title)
            for number, f in enumerate(findings)
        ],
        schema={
            "id": pl.Int64,
            "rank": pl.Int64,
            "kind": pl.String,
            "saves_ns": pl.Int64,
            "share": pl.Float64,
            "calls_per_step": pl.Float64,
            "title": pl.String,
        },
        orient="row",
    )


def finding_sections(finding: Finding) -> list[Section]:
    """What is claimed, what it rests on, and what to mind."""
    made = [
        Section("Finding", [*_claim(finding)]),
        Section("Evidence", [_evidence(e) for e in finding.evidence]),
        Section("Mind", [Field("", caveat) for caveat in finding.caveats]),
        Section("Called from", [*_callers(finding)]),
    ]
    return [section for section in made if section.fields]


def _claim(finding: Finding) -> Iterator[Field]:
    also = f"also {', '.join(finding.also)}" if finding.also else ""
    yield Field("what", finding.title, f"{finding.kind}{'; ' if also else ''}{also}")
    saves = "at most, per step" if finding.saves_ns is not None else "a trace cannot tell"
    yield Field("saves", fmt_ns(finding.saves_ns), saves)
    if finding.share is not None:
        yield Field("share", fmt_percent(finding.share), "of the GPU's time in the selection")
    if finding.calls_per_step is not None:
        layers = f"the steps speak of {finding.layers} layers" if finding.layers else ""
        yield Field("calls", f"{fmt_per_step(finding.calls_per_step)} per step", layers)
    if finding.kernel:
        yield Field("kernel", finding.kernel, fold=2)
    if finding.shape:
        shape = finding.shape
        dims = f"shapes {fmt_dims(shape['input_dims'])}" if shape["input_dims"] else ""
        yield Field("grid, block", f"{fmt_grid(shape['grid'])}, {fmt_grid(shape['block'])}", dims)


def _evidence(evidence: Evidence) -> Field:
    # The number stands where labels do: claims are sentences.
    source = _SOURCES.get(evidence.source or "", "")
    note = "; ".join(part for part in (evidence.working, source) if part)
    return Field(_number(evidence), evidence.claim, note)


def _number(evidence: Evidence) -> str:
    value, unit = evidence.value, evidence.unit
    if value is None:
        return ""
    if unit == "ns":
        return fmt_ns(value)
    if unit == "B":
        return fmt_bytes(value)
    return fmt_percent(value) if unit is None else f"{fmt_count(value)} {unit}"


def _callers(finding: Finding) -> Iterator[Field]:
    if finding.op:
        yield Field("op", finding.op)
    if finding.python:
        yield Field("Python", finding.python)
