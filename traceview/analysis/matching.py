"""Which kernel of one trace is which of another: by name, then by op and shape, then by place in the step."""

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

# Spellings that differ though the kernel is the same one, and the form that both are brought to. Kineto
# writes every backslash as a slash (since 2021); nvcc names an anonymous namespace after a hash of the file;
# Inductor numbers its Triton kernels in the order of compilation.
_SPELLINGS = (
    ("slashes", re.compile(r"\\+"), "/"),
    ("an anonymous namespace", re.compile(r"\b_(?:GLOBAL__N_|INTERNAL_)\w*"), "(anonymous namespace)"),
    ("a running number", re.compile(r"^(triton_\w+?)_\d+(?:__?\d+[dec]\w*)?$"), r"\1"),
    ("blanks", re.compile(r"\s+"), ""),
)  # fmt: skip
# Position is looked at among this many kernels at most: the comparison takes time with their square.
_MOST_IN_LINE = 2_000

# One side's groups, in the order of their first launch in a step, as `matched` wants them.
Groups = list[dict[str, Any]]


@dataclass(frozen=True)
class Pair:
    """A group of each side (its `group` number), or of one. differs: all that differs in their names."""

    before: int | None
    after: int | None
    matched_by: str | None
    differs: str | None = None


def matched(
    before: pl.DataFrame, after: pl.DataFrame, before_signs: pl.DataFrame, after_signs: pl.DataFrame
) -> list[Pair]:
    """Every group of both sides in exactly one pair.

    before, after: group, kind, name, family, calls_per_step, in the order of first launch in a step.
    *_signs: group, op_name, input_dims, calls_per_step: which ops with which shapes ran the group; only of
    ops that are known. Groups pair with groups of their kind alone:

    name: the same name, or the only ones whose names agree but for a spelling that means nothing.
    op-and-shape: the most calls a step from the same op with the same shapes; ties go to the same family,
    then to the nearer place in the step.
    position: between the same neighbours in the step, with as many calls a step.
    """
    one, two = before.to_dicts(), after.to_dicts()
    pairs = _same_names(one, two)
    pairs += _same_spelling(*_left(one, two, pairs))
    pairs += _same_op(*_left(one, two, pairs), before_signs, after_signs)
    pairs += _same_place(one, two, pairs)
    rest_one, rest_two = _left(one, two, pairs)
    return [
        *pairs,
        *(Pair(g["group"], None, None) for g in rest_one),
        *(Pair(None, g["group"], None) for g in rest_two),
    ]


def _left(one: Groups, two: Groups, pairs: list[Pair]) -> tuple[Groups, Groups]:
    """The groups of both sides that are in no pair yet."""
    befores, afters = {p.before for p in pairs}, {p.after for p in pairs}
    return [g for g in one if g["group"] not in befores], [g for g in two if g["group"] not in afters]


def _same_names(one: Groups, two: Groups) -> list[Pair]:
    names = {(g["kind"], g["name"]): g["group"] for g in two}
    found = ((g["group"], names.get((g["kind"], g["name"]))) for g in one)
    return [Pair(b, a, "name") for b, a in found if a is not None]


def _same_spelling(one: Groups, two: Groups) -> list[Pair]:
    def by_spelling(groups: Groups) -> dict[tuple[str, str], Groups]:
        out: dict[tuple[str, str], Groups] = {}
        for group in groups:
            out.setdefault((group["kind"], spelling(group["name"])), []).append(group)
        return out

    befores, afters = by_spelling(one), by_spelling(two)
    return [
        Pair(b[0]["group"], a[0]["group"], "name", difference(b[0]["name"], a[0]["name"]))
        for key, b in befores.items()
        if len(b) == 1 and len(a := afters.get(key, [])) == 1
    ]


def spelling(name: str | None, but: str | None = None) -> str:
    """A name without what differs from build to build and means nothing; one of these may be left in."""
    text = name or ""
    for what, pattern, plain in _SPELLINGS:
        if what != but:
            text = pattern.sub(plain, text)
    return text


def difference(before: str | None, after: str | None) -> str | None:
    """In what two names differ that have one spelling: `slashes`; None where they are different names."""
    if spelling(before) != spelling(after):
        return None
    words = [what for what, *_ in _SPELLINGS if spelling(before, but=what) != spelling(after, but=what)]
    return " and ".join(words) or None


def _same_op(one: Groups, two: Groups, before_signs: pl.DataFrame, after_signs: pl.DataFrame) -> list[Pair]:
    """Greedy: the best pair first, each group once."""
    befores = {g["group"]: (place, g) for place, g in enumerate(one)}
    afters = {g["group"]: (place, g) for place, g in enumerate(two)}
    shared = (
        _plain(before_signs, befores)
        .join(_plain(after_signs, afters), on=["op_name", "input_dims"], suffix="_after")
        .with_columns(shared=pl.min_horizontal("calls_per_step", "calls_per_step_after"))
        .group_by("group", "group_after")
        .agg(pl.col("shared").sum())
    )
    candidates = []
    for b, a, calls in shared.iter_rows():
        (at, first), (to, second) = befores[b], afters[a]
        if first["kind"] == second["kind"]:
            likeness = (
                spelling(first["name"]) == spelling(second["name"]),
                calls,
                first["family"] == second["family"],
                -abs(at - to),
            )
            candidates.append((likeness, -at, b, a))
    pairs: list[Pair] = []
    taken: set[tuple[str, int]] = set()
    for _, _, b, a in sorted(candidates, reverse=True):
        if ("before", b) not in taken and ("after", a) not in taken:
            taken |= {("before", b), ("after", a)}
            differs = difference(befores[b][1]["name"], afters[a][1]["name"])
            pairs.append(Pair(b, a, "op-and-shape", differs))
    return pairs


def _plain(signs: pl.DataFrame, wanted: dict[int, Any]) -> pl.DataFrame:
    """The signs of the wanted groups; Inductor's ops carry their kernel's running number too."""
    rows = signs.filter(pl.col("group").is_in(list(wanted))).with_columns(
        pl.col("op_name", "input_dims").cast(pl.String)
    )
    ops = rows["op_name"].unique().to_list()
    return rows.with_columns(
        pl.col("op_name").replace_strict({op: spelling(op) for op in ops}, return_dtype=pl.String)
    )


def _same_place(one: Groups, two: Groups, pairs: list[Pair]) -> list[Pair]:
    """Stretches of unmatched groups of equal length between the same matched neighbours, one by one."""
    if len(one) + len(two) > _MOST_IN_LINE:
        return []
    tokens_one = {p.before: i for i, p in enumerate(pairs)}
    tokens_two = {p.after: i for i, p in enumerate(pairs)}
    line_one = [tokens_one.get(g["group"], f"before {g['group']}") for g in one]
    line_two = [tokens_two.get(g["group"], f"after {g['group']}") for g in two]
    from difflib import SequenceMatcher  # takes long to import

    blocks = SequenceMatcher(None, line_one, line_two, autojunk=False).get_opcodes()
    out: list[Pair] = []
    for what, b, b_end, a, a_end in blocks:
        # Without any neighbour that is the same, a place says nothing.
        if what != "replace" or b_end - b != a_end - a or len(blocks) == 1:
            continue
        for first, second in zip(one[b:b_end], two[a:a_end], strict=True):
            free = first["group"] not in tokens_one and second["group"] not in tokens_two
            alike = all(first[key] == second[key] for key in ("kind", "calls_per_step"))
            if free and alike:
                out.append(Pair(first["group"], second["group"], "position"))
    return out
