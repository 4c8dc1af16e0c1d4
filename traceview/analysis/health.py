"""What a person should know before trusting the numbers: facts about links, clocks and steps."""

import polars as pl

from traceview.analysis.steps import Steps
from traceview.trace import Notice, Trace

# Fewer events than this say nothing about a clock's resolution.
_ENOUGH = 20


def notices(trace: Trace, work: pl.DataFrame, calls: pl.DataFrame, steps: Steps) -> list[Notice]:
    """The trace's own notices and those that only links and steps reveal, in the contract's words."""
    found = list(trace.notices)

    def add(code: str, count: int, message: str) -> None:
        if count:
            found.append(Notice(code, count, message))

    if work.height:
        lost = calls.filter(~pl.col("has_work")).height
        add(
            "launches-without-work",
            lost,
            f"{lost} launch calls have no GPU work in the file: it ran outside the recording or was lost",
        )
    early = work.filter(pl.col("launch_delay_ns") < 0).height
    add(
        "negative-delay",
        early,
        f"{early} pieces of GPU work start before their launch call: the clocks disagree",
    )
    if steps.whole_trace:
        found.append(
            Notice(
                "no-steps", 1, "no step markers: the whole trace is one step; call prof.step() to mark steps"
            )
        )
    if _coarse(trace):
        add(
            "coarse-clock",
            trace.gpu.height,
            "all times are whole microseconds: durations of short kernels are off by up to 1 us",
        )
    return found


def _coarse(trace: Trace) -> bool:
    timed = trace.gpu.filter("timed")
    fine = timed.select(((pl.col("begin_ns") % 1000 != 0) | (pl.col("dur_ns") % 1000 != 0)).any()).item()
    return timed.height >= _ENOUGH and not fine
