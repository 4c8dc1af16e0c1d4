"""Steps of a trace without markers: the period with which its launches repeat.

The launches in host order are a sequence of tokens: a kernel, or a graph with so many kernels. One token
that occurs once a step cuts the sequence into segments; the better the cut, the more of the other tokens
occur equally often in every segment. The layers of a model repeat too, but the kernels that run once a step
do not occur in every layer; so of the cuts that explain almost the most tokens, the shortest is the step.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]

FEWEST_STEPS = 3
# Cuts within this much of the best share of explained tokens count as equally good: a token that occurs
# every tenth step must not make ten steps one.
NEARLY = 0.06
# A cut that explains less than this is no period at all.
LEAST_EXPLAINED = 0.6
# Fewer launches between two cuts than this are a loop over something smaller than a step.
LEAST_LAUNCHES = 5
# A token is explained where this share of the segments holds it equally often.
_ALIKE = 0.9
_MOST_CELLS = 4_000_000


@dataclass(frozen=True)
class Period:
    """Where each step starts (`first`, positions in the sequence), and how far the sequence bears that out.

    confidence: the share of the recurring tokens that occur equally often in every step, times the share of
    all launches that are of recurring tokens. by_graph: what occurs once a step is a graph launch.
    """

    first: Ints
    confidence: float
    by_graph: bool


def sequence(work: pl.DataFrame) -> pl.DataFrame:
    """The launches as tokens in host order: at_ns, end_ns (of the launch call or of the work), token, graph.

    work: id, name, kind, launch, launch_link, launch_begin_ns, launch_dur_ns, begin_ns, dur_ns. The work of
    one graph launch is one token. Work without a launch takes no part where other work has one.
    """
    kernel = pl.col("name").cast(pl.String).fill_null("")
    linked = work.filter(pl.col("launch").is_not_null())
    if linked.height:
        calls = linked.group_by("launch").agg(
            at_ns=pl.col("launch_begin_ns").first(),
            end_ns=(pl.col("launch_begin_ns") + pl.col("launch_dur_ns")).first(),
            kernels=pl.len(),
            name=kernel.first(),
            graph=(pl.col("launch_link") == "graph").any(),
        )
    else:
        calls = work.filter("timed").select(
            at_ns="begin_ns",
            end_ns=pl.col("begin_ns") + pl.col("dur_ns"),
            kernels=pl.lit(1, dtype=pl.UInt32),
            name=kernel,
            graph=pl.lit(False),
        )
    token = pl.when("graph").then(pl.format("graph of {}", "kernels")).otherwise("name")
    return (
        calls.sort("at_ns")
        .with_columns(token=token)
        .select("at_ns", "end_ns", "graph", token=pl.col("token").rank("dense").cast(pl.Int64) - 1)
    )


def find_period(tokens: pl.DataFrame) -> Period | None:
    """The steps of a sequence (see `sequence`), or None where nothing repeats at least three times."""
    codes = tokens["token"].to_numpy()
    if not len(codes):
        return None
    counts = np.bincount(codes)
    best: list[tuple[float, int, int]] = []  # explained, occurrences, token
    for occurrences in np.unique(counts[counts >= FEWEST_STEPS]):
        alike = np.flatnonzero(counts == occurrences)
        if int(occurrences) * len(counts) <= _MOST_CELLS:
            steadiest = min((int(token) for token in alike), key=lambda token: _unevenness(codes, token))
            best.append((_explained(codes, counts, steadiest), int(occurrences), steadiest))
    if not best or max(best)[0] < LEAST_EXPLAINED:
        return None
    good = [cut for cut in best if cut[0] >= max(best)[0] - NEARLY]
    explained, occurrences, anchor = max(good, key=lambda cut: cut[1])
    by_graph = bool(tokens["graph"].to_numpy()[codes == anchor].all())
    if not by_graph and len(codes) < LEAST_LAUNCHES * occurrences:
        return None
    return Period(_borders(tokens, codes, anchor), explained, by_graph)


def _unevenness(codes: Ints, token: int) -> float:
    """Spread of the distances between a token's occurrences: 0 where they are equal."""
    gaps = np.diff(np.flatnonzero(codes == token))
    return float(gaps.std() / gaps.mean())


def _explained(codes: Ints, counts: Ints, anchor: int) -> float:
    """Share of the recurring tokens that occur equally often in (almost) every segment between anchors."""
    segment = np.cumsum(codes == anchor)
    inner = (segment > 0) & (segment < segment[-1])
    segments, width = int(segment[-1]) - 1, len(counts)
    cells = np.bincount((segment[inner] - 1) * width + codes[inner], minlength=segments * width)
    held = cells.reshape(segments, width)[:, counts >= FEWEST_STEPS]
    usual = np.sort(held, axis=0)[segments // 2]
    alike = (held == usual).mean(axis=0)
    recurring = counts[counts >= FEWEST_STEPS].sum() / len(codes)
    return float(((alike >= _ALIKE) & (usual > 0)).mean() * recurring)


def _borders(tokens: pl.DataFrame, codes: Ints, anchor: int) -> Ints:
    """Positions at which steps start: in each segment, where the host usually pauses longest before a launch.

    The pause is looked for at the same distance from the anchor in every segment.
    """
    anchors = np.flatnonzero(codes == anchor)
    at, end = tokens["at_ns"].to_numpy(), tokens["end_ns"].to_numpy()
    pause = np.concatenate(([0], at[1:] - end[:-1]))
    reach = int(np.median(np.diff(anchors)))
    distances = np.arange(1, reach + 1)
    # [segments, reach]: the pause before each launch after an anchor; beyond the last anchor there is none.
    places = anchors[:-1, None] + distances
    usual = np.median(pause[np.minimum(places, len(pause) - 1)], axis=0)
    first = anchors + int(distances[usual.argmax()])
    leading = first[0] - reach
    starts = np.concatenate(([max(0, leading)], first)) if first[0] > 0 else first
    return np.asarray(starts[starts < len(codes)], dtype=np.int64)
