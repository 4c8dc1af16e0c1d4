"""Which figures lean on something missing or unsure: they carry a mark, and Trust says why."""

from dataclasses import dataclass

import polars as pl

from traceview.api import Session

MARK = "*"
SAID = "* leans on what is missing or unsure: 5 Trust says what"
MATTERS = 0.01  # share of the GPU time without an op from which the ops say too little
SURE = ("sure", "given")
_BY_MARKER = 1.0  # confidence of steps that the trace itself marks


@dataclass(frozen=True)
class Leaning:
    """True: figures of this kind lean on something missing or unsure.

    floors: there is no peak, or one that is not sure; unsure: the latter, so that floors are shown.
    """

    ops: bool = False
    floors: bool = False
    unsure: bool = False
    steps: bool = False

    def ops_title(self) -> str:
        """The title of a column of ops."""
        return "op" + MARK if self.ops else "op"

    def floor_title(self, title: str) -> str:
        """The title of a column of floors."""
        return title + MARK if self.floors else title

    def remark_title(self, title: str) -> str:
        """The title of a column that also speaks of floors, where there are some."""
        return title + MARK if self.unsure else title


NOT_LEANING = Leaning()


def leaning(session: Session) -> Leaning:
    """What the figures of this trace lean on."""
    timed = session.work.filter("timed")
    total = int(timed["dur_ns"].sum())
    without = int(timed.filter(pl.col("op").is_null())["dur_ns"].sum())
    peaks = [None if gpu is None else gpu.bandwidth_gbs for gpu in session.gpus.values()]
    doubted = [peak for peak in peaks if peak is None or peak.confidence not in SURE]
    confidence = session.found_steps.confidence
    return Leaning(
        ops=total > 0 and without / total >= MATTERS,
        floors=bool(doubted),
        unsure=any(doubted),
        steps=confidence is not None and confidence < _BY_MARKER,
    )
