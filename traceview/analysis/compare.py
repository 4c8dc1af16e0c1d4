"""What changed between two traces, per step, and whether the steps' own spread could explain it.

step_ns is the mean wall of the compared steps, a group's time its sum over them divided by their number;
means are rounded half to even to whole nanoseconds, and what the rounding leaves is part of unexplained_ns,
so that the parts add up to the nanosecond.

For each device, wall = idle + sum - overlap - elsewhere: sum is the work that the step launched, elsewhere
what of it ran outside its window less what others' work ran inside, overlap what streams ran at once by the
clock. So the step's difference is the groups' deltas + the idle time's delta + unexplained_ns, and
unexplained_ns = -overlap - elsewhere + devices + rounding, each as a delta; devices is what idle and sum
count more than once where several devices run side by side.

How noise is measured: see analysis.spread.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from traceview.analysis.matching import Pair, matched
from traceview.analysis.spread import NOISE_FROM, mean_ns, noise, variance, whole
from traceview.analysis.variants import side_by_side

# Without noise to measure against (fewer than two steps on a side), and for a single group in any case, a
# difference below this share says nothing.
LEAST_CHANGE = 0.01
# The first step is left out as a warm-up if it is this far from the median of at least so many others.
UNLIKE = 0.1
FEWEST_OTHERS = 3
# More GPU time than this share outside of the compared steps' own is worth a word.
_MUCH_OUTSIDE = 0.01


@dataclass(frozen=True)
class Side:
    """One of the two traces.

    facts: the contract's `trace` object. selection: as the contract spells it. source: how the steps were
    found. steps: the selected rows of steps.step_table. work: work.gpu_work of the selected devices, of all
    steps. names: group, kind, name, short_name, family.
    """

    facts: dict[str, Any]
    selection: dict[str, Any]
    source: str
    steps: pl.DataFrame
    work: pl.DataFrame
    names: pl.DataFrame

    @property
    def chosen(self) -> bool:
        """True where the person chose the steps one by one: then all of them count."""
        return self.selection["steps"] is not None


@dataclass(frozen=True)
class _Sums:
    """A side's compared steps, and what their times add up to in each of the terms."""

    side: Side
    steps: pl.DataFrame
    left_out: list[int]
    work: pl.DataFrame
    groups: (
        pl.DataFrame
    )  # group, ns (sum over the steps), variance, calls_per_step, names; first launch first
    totals: dict[str, int]  # wall, idle, sum, overlap, elsewhere, devices: over the steps

    @property
    def count(self) -> int:
        return self.steps.height


def compare(before: Side, after: Side, variants: bool = False) -> dict[str, Any]:
    """The document of `compare --format json`; see docs/json.md for its keys.

    variants: each group lists its variants side by side, with the id of the longest launch of each.
    """
    one, two = _summed(before), _summed(after)
    groups = _groups(one, two, variants)
    terms = {k: _delta(one, two, k) for k in ("wall", "idle", "overlap", "elsewhere", "devices")}
    unexplained = terms["wall"] - terms["idle"] - sum(g["delta_ns"] for g in groups)
    parts = {
        "overlap_ns": -terms["overlap"],
        "elsewhere_ns": -terms["elsewhere"],
        "devices_ns": terms["devices"],
    }
    return {
        "schema": "traceview.compare/1",
        "per": "step",
        "before": _facts(one),
        "after": _facts(two),
        "comparable": _remarks(one, two),
        "step_ns": _step(one.steps["wall_ns"], two.steps["wall_ns"]),
        "period_ns": {"before": mean_ns(one.steps["period_ns"]), "after": mean_ns(two.steps["period_ns"])},
        "phases": _phases(one.steps, two.steps),
        "groups": groups,
        "idle_ns": {
            "before": whole(one.totals["idle"], one.count),
            "after": whole(two.totals["idle"], two.count),
            "delta_ns": terms["idle"],
        },
        "unexplained_ns": unexplained,
        "unexplained": {**parts, "rounding_ns": unexplained - sum(parts.values())},
    }


def slower_by(document: dict[str, Any]) -> float:
    """How much slower the step got, as a fraction; 0 where it did not, or not beyond the noise."""
    step = document["step_ns"]
    return step["ratio"] - 1 if step["verdict"] == "slower" and step["ratio"] is not None else 0.0


def _summed(side: Side) -> _Sums:
    known = side.steps.filter(pl.col("wall_ns").is_not_null())
    steps = known if side.chosen else _alike(known)
    left_out = side.steps.filter(~pl.col("index").is_in(steps["index"].implode()))["index"].to_list()
    work = side.work.filter(pl.col("step").is_in(steps["index"].implode()))
    devices = max(1, side.work.filter("timed")["device"].n_unique())
    wall, idle, total, by_clock = (
        int(steps[column].sum()) for column in ("wall_ns", "idle_ns", "sum_ns", "sum_by_clock_ns")
    )
    totals = {
        "wall": wall,
        "idle": idle,
        "sum": total,
        "overlap": by_clock - (wall * devices - idle),
        "elsewhere": total - by_clock,
        "devices": wall - wall * devices,
    }
    return _Sums(side, steps, left_out, work, _per_step(work, steps.height, side.names), totals)


def _alike(steps: pl.DataFrame) -> pl.DataFrame:
    """The steps without a cut-off last one, and without a first one that is no step like the others."""
    whole = steps.filter(~pl.col("cut_off").fill_null(False))
    steps = whole if whole.height else steps
    others = steps.filter(pl.col("index") > 0)
    if others.height < FEWEST_OTHERS or others.height == steps.height:
        return steps
    usual = float(np.median(others["wall_ns"].to_numpy()))
    return others if abs(steps["wall_ns"][0] - usual) > UNLIKE * usual else steps


def _per_step(work: pl.DataFrame, steps: int, names: pl.DataFrame) -> pl.DataFrame:
    """Groups of the work of so many steps; variance is over the steps, those without the group included."""
    count = max(steps, 1)
    mean = pl.col("ns").sum() / count
    spread = ((pl.col("ns") - mean) ** 2).sum() + (count - pl.len()) * mean**2
    sums = (
        work.group_by("group", "step")
        .agg(ns=pl.col("dur_ns").filter("timed").sum(), calls=pl.len())
        .group_by("group")
        .agg(
            pl.col("ns").sum(),
            variance=spread / (count - 1) if count > 1 else pl.lit(None, dtype=pl.Float64),
            calls_per_step=pl.col("calls").sum() / count,
        )
    )
    launched = pl.coalesce("launch_begin_ns", "begin_ns")
    order = work.sort("step", launched, "begin_ns", "id", nulls_last=True).unique(
        "group", maintain_order=True
    )
    return (
        order.select("group")
        .join(sums, on="group", maintain_order="left")
        .join(names, on="group", maintain_order="left")
        .with_columns(pl.col("name", "kind", "family").cast(pl.String))
    )


def _groups(one: _Sums, two: _Sums, variants: bool) -> list[dict[str, Any]]:
    befores = {g["group"]: g for g in one.groups.iter_rows(named=True)}
    afters = {g["group"]: g for g in two.groups.iter_rows(named=True)}
    rows = []
    for pair in matched(one.groups, two.groups, _signs(one), _signs(two)):
        before, after = befores.get(pair.before), afters.get(pair.after)
        row = _group(pair, before, after, one.count, two.count)
        if variants:
            row["variants"] = side_by_side(
                one.work.filter(pl.col("group") == pl.lit(pair.before, dtype=pl.Int64)),
                two.work.filter(pl.col("group") == pl.lit(pair.after, dtype=pl.Int64)),
                one.count,
                two.count,
            )
        rows.append(row)
    return sorted(rows, key=lambda r: (-abs(r["delta_ns"]), -max(r["before_ns"], r["after_ns"]), r["key"]))


def _group(
    pair: Pair,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    before_steps: int,
    after_steps: int,
) -> dict[str, Any]:
    named = before or after or {}
    ns = [whole(side["ns"], n) if side else 0 for side, n in ((before, before_steps), (after, after_steps))]
    calls = [side["calls_per_step"] if side else 0.0 for side in (before, after)]
    spread = noise(
        before["variance"] if before else 0.0, before_steps, after["variance"] if after else 0.0, after_steps
    )
    row = {
        "key": named["name"],
        "name_before": before and before["name"],
        "name_after": after and after["name"],
        "short_name": named["short_name"],
        "short_name_after": after and after["short_name"],
        "kind": named["kind"],
        "family": named["family"],
        "status": "same",
        "matched_by": pair.matched_by,
        "names_differ_in": pair.differs,
        "before_ns": ns[0],
        "after_ns": ns[1],
        "delta_ns": ns[1] - ns[0],
        "noise_ns": spread,
        "calls_before": calls[0],
        "calls_after": calls[1],
    }
    row["status"] = _status(row)
    return row


def _status(row: dict[str, Any]) -> str:
    """same: neither the calls nor the time differ by more than LEAST_CHANGE, the time beyond its noise."""
    if row["matched_by"] is None:
        return "added" if row["name_before"] is None else "removed"
    if row["name_before"] != row["name_after"]:
        return "renamed"
    calls = abs(row["calls_after"] - row["calls_before"]) > LEAST_CHANGE * row["calls_before"]
    least = max(LEAST_CHANGE * row["before_ns"], row["noise_ns"] or 0)
    return "changed" if calls or abs(row["delta_ns"]) > least else "same"


def _signs(side: _Sums) -> pl.DataFrame:
    """Which ops with which shapes ran each group; work whose op or shapes are unknown has none."""
    return (
        side.work.filter(pl.col("op_name").is_not_null(), pl.col("input_dims").is_not_null())
        .group_by("group", "op_name", "input_dims")
        .agg(calls_per_step=pl.len() / max(side.count, 1))
    )


def _step(before: pl.Series, after: pl.Series) -> dict[str, Any]:
    """step_ns of the document, from the walls of each side's steps."""
    one, two = mean_ns(before), mean_ns(after)
    spread = noise(variance(before), len(before), variance(after), len(after))
    delta = None if one is None or two is None else two - one
    verdict = "same"
    if (
        delta is not None
        and one is not None
        and abs(delta) > (LEAST_CHANGE * one if spread is None else spread)
    ):
        verdict = "slower" if delta > 0 else "faster"
    return {
        "before": one,
        "after": two,
        "delta_ns": delta,
        "ratio": two / one if one and two is not None else None,
        "noise_ns": spread,
        "noise_from": None if spread is None else NOISE_FROM,
        "verdict": verdict,
    }


def _phases(before: pl.DataFrame, after: pl.DataFrame) -> list[dict[str, Any]]:
    """Each phase by itself, where the steps are of more than one."""
    phases = sorted({*before["phase"].cast(pl.String), *after["phase"].cast(pl.String)}, key=str)
    if len(phases) < 2:
        return []
    rows = []
    for phase in phases:
        own = pl.col("phase").cast(pl.String).eq_missing(pl.lit(phase, dtype=pl.String))
        one, two = before.filter(own)["wall_ns"], after.filter(own)["wall_ns"]
        counts = {"steps_before": len(one), "steps_after": len(two)}
        rows.append({"phase": phase, **counts, "step_ns": _step(one, two)})
    return rows


def _delta(one: _Sums, two: _Sums, term: str) -> int:
    return whole(two.totals[term], two.count) - whole(one.totals[term], one.count)


def _facts(side: _Sums) -> dict[str, Any]:
    """What one side is: the file, which of its steps are compared, on what they ran."""
    facts = side.side.facts
    phases = Counter(side.steps["phase"].cast(pl.String).to_list())
    return {
        "path": facts["path"],
        "selection": side.side.selection,
        "steps": side.count,
        "steps_left_out": side.left_out,
        "steps_from": side.side.source,
        "phases": {str(phase or "unknown"): count for phase, count in sorted(phases.items(), key=str)},
        "devices": _used(side),
        "gpus": sorted({d["name"] for d in facts["devices"] if d["id"] in _used(side) and d["name"]}),
        "rank": facts["rank"],
        "world_size": facts["world_size"],
        "complete": facts["complete"],
    }


def _used(side: _Sums) -> list[int]:
    return side.work["device"].drop_nulls().unique().sort().to_list()


_DIFFERENT = {
    "gpus": "different GPUs",
    "world_size": "different numbers of ranks",
    "rank": "different ranks",
    "devices": "different numbers of devices",
    "steps_from": "steps found in different ways",
    "steps": "different numbers of steps, each side is divided by its own",
}


def _remarks(one: _Sums, two: _Sums) -> list[str]:
    """What a reader must know before believing the numbers, in plain sentences."""
    before, after = _facts(one), _facts(two)
    said = [{**facts, "devices": len(facts["devices"])} for facts in (before, after)]
    out = [
        f"{words}: {_words(said[0][key])} before, {_words(said[1][key])} after"
        for key, words in _DIFFERENT.items()
        if said[0][key] != said[1][key]
    ]
    if len({*before["phases"], *after["phases"]}) > 1:
        mixes = (
            ", ".join(f"{n} {phase}" for phase, n in s["phases"].items()) or "none" for s in (before, after)
        )
        out.append("phases are mixed: {} before, {} after; --phase takes one alone".format(*mixes))
    for word, side, facts in (("before", one, before), ("after", two, after)):
        out += [f"{word}: {text}" for text in _own_remarks(side, facts)]
    return out


def _own_remarks(side: _Sums, facts: dict[str, Any]) -> list[str]:
    out = []
    if facts["steps_left_out"] and not side.side.chosen:
        out.append(
            f"step {_words(facts['steps_left_out'])} left out: first and unlike the others, or cut off"
        )
    if facts["steps_from"] == "none":
        out.append("no steps found, the whole trace counts as one")
    if side.count < 2:
        out.append(f"{side.count} step, so no spread to tell noise by")
    if not facts["complete"]:
        out.append("the file is cut off, events are missing")
    if not side.work.height:
        out.append("no GPU work in the compared steps")
    outside = int(side.side.work.filter("timed", pl.col("step").is_null())["dur_ns"].sum())
    if outside > _MUCH_OUTSIDE * max(side.totals["sum"], 1):
        out.append(f"{outside / 1e6:,.3f} ms of GPU work lie outside of any step and are not compared")
    return out


def _words(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value)) or "unknown"
    return "unknown" if value is None else str(value)
