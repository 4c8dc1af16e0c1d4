"""What the commands share: the options of a trace, opening it, and what they print."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from traceview.processes import begin
from traceview.units import fmt_bytes, fmt_count, safe_text

if TYPE_CHECKING:
    from traceview.api import Session
    from traceview.selection import Selection

FORMATS = ("table", "json", "csv", "markdown")
ASKED_AND_FOUND = 1


def trace_options(
    command: argparse.ArgumentParser, formats: Sequence[str] = FORMATS, word: str = "TRACE"
) -> None:
    """TRACE (or another word), the selection, --strict, and --format where there is a choice of formats."""
    command.add_argument(
        "trace", metavar=word, help="a trace (.json, .gz, .zip), a folder with one, or - (stdin)"
    )
    command.add_argument(
        "--steps", metavar="A:B", help="by position, half-open: 3, 3:10, 1:, 2,5 or #12 by number"
    )
    command.add_argument("--step-marker", metavar="REGEX", help="the annotations that match are the steps")
    command.add_argument("--phase", choices=("prefill", "decode", "mixed", "idle"), help="only such steps")
    command.add_argument("--device", type=whole, metavar="N", help="only work of this device")
    command.add_argument(
        "--peak-bandwidth", type=positive, metavar="GB/S", help="the GPU's peak, in place of the table's"
    )
    command.add_argument("--peak-tflops", type=positive, metavar="N", help="its peak TFLOP/s, for all types")
    command.add_argument(
        "--strict", action="store_true", help="exit 1 if events were set aside, repaired, untimed"
    )
    command.add_argument("--no-cache", action="store_true", help="neither use nor save an index")
    command.add_argument("--model", metavar="CONFIG", help="the model's config.json, to name tensors by size")
    command.add_argument(
        "--tp", type=from_one, default=1, metavar="N", help="tensor-parallel ranks of that model"
    )
    if formats:
        command.add_argument("--format", choices=formats, default=formats[0])


def count(text: str) -> int:
    """A whole number from 0 on, as an option's type."""
    number = whole(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is below 0")
    return number


def from_one(text: str) -> int:
    """A whole number from 1 on, as an option's type."""
    number = count(text)
    if not number:
        raise argparse.ArgumentTypeError("0 is below 1")
    return number


def whole(text: str) -> int:
    """A whole number that fits a column of a frame, as an option's type."""
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise argparse.ArgumentTypeError(f"{number} does not fit into 64 bits")
    return number


def positive(text: str) -> float:
    """A finite number above 0, as an option's type."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """How the command line wants a trace read: the keywords of api.open_session."""
    from traceview.api import Overrides, read_model, user_settings

    return {
        "step_marker": args.step_marker,
        "overrides": Overrides(args.peak_bandwidth, args.peak_tflops),
        "model": None if args.model is None else read_model(args.model, args.tp),
        "use_cache": not args.no_cache,
        "settings": user_settings(),
    }


def open_trace(args: argparse.Namespace) -> "tuple[Session, Selection]":
    """The trace of the command line and what it selects. Notices and progress go to standard error."""
    begin(args.trace, not args.no_cache)
    from traceview.api import Selection, find_trace, open_session
    from traceview.selection import parse_steps

    progress = _progress_line() if sys.stderr.isatty() else None
    session = open_session(find_trace(args.trace), progress, **reading(args))
    for found in session.notices:
        notice(f"note: {safe_text(found.message)}")
    steps = None if args.steps is None else parse_steps(args.steps, session.step_names)
    selection = Selection(steps, args.phase, args.device)
    session.must_hold(selection)
    return session, selection


def notice(text: str, end: str = "\n") -> None:
    """Text on standard error. One that cannot be written is dropped: it must not cost the answer."""
    try:
        print(text, end=end, file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """What is left to print there goes nowhere: the interpreter's own flush must not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _progress_line() -> "Callable[[Any], None]":
    def show(progress: Any) -> None:
        done, total = progress.done_bytes, progress.total_bytes
        of = f" of {fmt_bytes(total)}" if total else ""
        text = f"reading {fmt_bytes(done)}{of}, {fmt_count(progress.events)} events"
        notice(f"\r\x1b[K{text}", end="\r\x1b[K" if done == total else "")

    return show


def exit_code(args: argparse.Namespace, session: "Session") -> int:
    """1 where --strict was asked for and something was set aside, repaired or untimed; else 0."""
    events = session.trace.events
    untimed = session.work.height - int(session.work["timed"].sum())
    return ASKED_AND_FOUND if args.strict and (events.set_aside or events.repaired or untimed) else 0


def width() -> int:
    """The columns that a table may take."""
    return max(60, shutil.get_terminal_size((100, 24)).columns)


def print_json(document: dict[str, Any]) -> None:
    """One document on standard output, without NaN and Infinity, in ASCII."""
    print(json.dumps(document, indent=1, allow_nan=False))
