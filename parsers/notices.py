"""What reading knows about a file and the person should: one notice a code, worst first."""

import polars as pl

from traceview.parsers.document import End, Start
from traceview.trace import Notice, Trace


def damage(
    repaired: list[int], set_aside: list[int], cut_at: int | None, text_end: int, truncated: bool
) -> list[Notice]:
    """Notices on events that were mended, left out, or cut off.

    `repaired` and `set_aside` are places in the text. `cut_at` is where an event begins that the end cuts
    off.
    """
    notices = []
    if truncated:
        lost = "in the middle of an event" if cut_at is not None else "between two events"
        notices.append(
            Notice(
                "truncated",
                int(cut_at is not None),
                f"the file is cut off at byte {text_end}, {lost}",
                text_end,
            )
        )
    count = len(repaired) + len(set_aside)
    if count:
        first = min([*repaired, *set_aside])
        message = f"{_events(count)} damaged: {len(repaired):,} repaired, {len(set_aside):,} set aside"
        notices.append(Notice("damaged-events", count, f"{message}; the first at byte {first}", first))
    return notices


def surroundings(start: Start, end: End) -> list[Notice]:
    """Notices on what stands before and behind the events."""
    notices = []
    if start.damaged_at is not None:
        text = f"the beginning is damaged at byte {start.damaged_at}; some header facts may be missing"
        notices.append(Notice("damaged-header", 0, text, start.damaged_at))
    if end.damaged_at is not None:
        what = "cut off" if end.cut else "damaged"
        text = f"what follows the events is {what} at byte {end.damaged_at}; all events before it are here"
        notices.append(Notice("damaged-tail", 0, text, end.damaged_at))
    if end.next_document_at is not None:
        text = (
            f"{end.further_documents:,} more document{'s' * (end.further_documents != 1)} from byte "
            f"{end.next_document_at}: several traces in one file; only the first is shown"
        )
        notices.append(Notice("several-documents", end.further_documents, text, end.next_document_at))
    return notices


def content(trace: Trace) -> list[Notice]:
    """Notices on times that are missing and on what was not recorded."""
    gpu, ops = trace.gpu, trace.ops
    notices = []
    untimed = gpu.filter(~pl.col("timed"))
    if len(untimed):
        count = f"{len(untimed):,} of {len(gpu):,} GPU events"
        text = f"{count} have no usable time; they count in calls, not in times"
        notices.append(Notice("untimed-events", len(untimed), text, untimed["offset"].min()))  # type: ignore[arg-type]
    unfinished = ops.filter(~pl.col("finished").fill_null(True))["offset"].to_list()
    for frame in (trace.annotations, trace.runtime, trace.python, trace.slices):
        unfinished += frame.filter(pl.col("dur_ns").is_null())["offset"].to_list()
    if unfinished:
        text = f"{_events(len(unfinished))} never finished: no end, or still open when recording stopped"
        notices.append(Notice("unfinished-ops", len(unfinished), text, min(unfinished)))
    if not len(gpu):
        text = "no GPU work in this file; was the GPU recorded, and is this the worker's trace?"
        notices.append(Notice("no-gpu-work", 0, text))
    if len(ops) and ops["input_dims"].null_count() == len(ops):
        notices.append(Notice("no-shapes", 0, "no shapes; record with record_shapes=True to see them"))
    if len(ops) and not len(trace.python) and not trace.header.get("with_stack"):
        notices.append(Notice("no-stacks", 0, "no Python stacks; record with with_stack=True to see them"))
    return notices


def _events(count: int) -> str:
    return f"{count:,} event" if count == 1 else f"{count:,} events"
