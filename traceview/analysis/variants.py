"""The variants of a kernel in two traces, side by side."""

from typing import Any

import polars as pl

from traceview.analysis.groups import whole_ns
from traceview.analysis.launches import decoded

_SHAPE = ("grid", "block", "input_dims", "input_types")
# What two variants must share to be taken for one another, the strongest first.
_LIKENESSES = (_SHAPE, ("input_dims", "input_types"), ("grid", "block"), ("input_types", "calls_per_step"))


def side_by_side(
    before: pl.DataFrame, after: pl.DataFrame, before_steps: int, after_steps: int
) -> list[dict[str, Any]]:
    """Rows {before, after}, largest first; each a variant's record, or None where the other side has none.

    before, after: rows of work.gpu_work of one kernel. A record: grid, block, input_dims, input_types,
    calls_per_step, per_step_ns, mean_ns, launch (id of the longest launch). Variants pair that
    share grid, block, shapes and types, else shapes and types, else grid and block, else types and calls a
    step, in order of their time.
    """
    one, two = _records(before, before_steps), _records(after, after_steps)
    pairs: list[tuple[dict[str, Any] | None, dict[str, Any] | None]] = []
    for keys in _LIKENESSES:
        waiting: dict[str, list[dict[str, Any]]] = {}
        for record in two:
            waiting.setdefault(repr([record[k] for k in keys]), []).append(record)
        for record in list(one):
            if alike := waiting.get(repr([record[k] for k in keys])):
                pairs.append((record, alike[0]))
                one.remove(record)
                two.remove(alike.pop(0))
    pairs += [(record, None) for record in one] + [(None, record) for record in two]
    pairs.sort(key=lambda pair: -max(side["per_step_ns"] for side in pair if side))
    return [{"before": b, "after": a} for b, a in pairs]


def _records(work: pl.DataFrame, steps: int) -> list[dict[str, Any]]:
    """One record a variant, largest first."""
    longest = pl.col("dur_ns").fill_null(-1).arg_max()
    timed = pl.col("dur_ns").filter("timed")
    table = (
        work.group_by("variant", maintain_order=True)
        .agg(
            *(pl.col(c).first() for c in _SHAPE),
            calls_per_step=pl.len() / max(steps, 1),
            per_step_ns=whole_ns(timed.sum() / max(steps, 1)),
            mean_ns=whole_ns(timed.mean()),
            launch=pl.col("id").get(longest),
        )
        .with_columns(pl.col("input_dims", "input_types").cast(pl.String))
        .sort("per_step_ns", descending=True, maintain_order=True)
    )
    return [
        {**record, **{c: decoded(record[c]) for c in ("input_dims", "input_types")}}
        for record in table.drop("variant").to_dicts()
    ]
