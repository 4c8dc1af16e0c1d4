"""The command line: words, options and exit codes. Commands import what they need when they run."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview import __version__
from traceview.errors import Cancelled, TraceError

if TYPE_CHECKING:
    from traceview.api import Session
    from traceview.selection import Selection

FORMATS = ("table", "json", "csv", "markdown")
READ_NOTHING = 3
ASKED_AND_FOUND = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 asked for and found, 2 usage, 3 unreadable."""
    words = list(sys.argv[1:] if argv is None else argv)
    # A locale that cannot spell a character gets a replacement, never an exception.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if words and words[0] not in COMMANDS and (words[0] == "-" or not words[0].startswith("-")):
        words.insert(0, "open")
    args = _parser().parse_args(words)
    if "run" not in args:
        _parser().print_help()
        return 0
    run: Callable[[argparse.Namespace], int] = args.run
    try:
        return run(args)
    except TraceError as error:
        print(f"traceview: {error.message}", file=sys.stderr)
        return error.exit_code
    except (Cancelled, KeyboardInterrupt):
        print("traceview: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of a pipe went away (`| head`): the interpreter's own flush must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="traceview",
        description="Find where a step's GPU time goes, in the terminal, from a PyTorch profiler trace.",
        epilog="traceview TRACE opens the terminal UI; without a terminal it prints the summary.",
    )
    parser.add_argument("--version", action="version", version=f"traceview {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, (describe, help_text) in COMMANDS.items():
        command = commands.add_parser(name, help=help_text, description=help_text)
        describe(command)
    return parser


def _trace_options(command: argparse.ArgumentParser, formats: Sequence[str] = FORMATS) -> None:
    command.add_argument(
        "trace", metavar="TRACE", help="a .json or .json.gz file, a folder with one, or - for stdin"
    )
    command.add_argument(
        "--steps", metavar="A:B", help="steps by position, half-open: 3, 3:10, 1:, or #12 by number"
    )
    command.add_argument("--step-marker", metavar="REGEX", help="the annotations that match are the steps")
    command.add_argument(
        "--phase", choices=("prefill", "decode", "mixed", "idle"), help="only steps of this phase"
    )
    command.add_argument("--device", type=int, metavar="N", help="only work of this device")
    command.add_argument(
        "--strict", action="store_true", help="exit 1 if events were set aside, repaired or untimed"
    )
    if formats:
        command.add_argument("--format", choices=formats, default=formats[0])


def _open_options(command: argparse.ArgumentParser) -> None:
    _trace_options(command, formats=())
    command.set_defaults(run=_open)


def _summary_options(command: argparse.ArgumentParser) -> None:
    _trace_options(command)
    command.set_defaults(run=_summary)


def _launches_options(command: argparse.ArgumentParser) -> None:
    _trace_options(command)
    command.add_argument("--kernel", metavar="REGEX", help="kernels whose full name matches anywhere")
    command.add_argument("--op", metavar="REGEX", help="launches whose op matches anywhere")
    command.add_argument("--family", metavar="NAME", help="one family, such as gemm or copy-cast")
    command.add_argument("--sort", choices=("time", "dur", "delay"), default="time")
    command.add_argument("--limit", type=_count, default=20, metavar="N", help="at most N rows; 0 is all")
    command.add_argument("--id", type=int, metavar="N", help="the one launch with this id")
    command.set_defaults(run=_launches)


def _report_options(command: argparse.ArgumentParser) -> None:
    _trace_options(command, formats=("markdown", "json"))
    command.add_argument("-o", "--output", metavar="FILE", help="write there instead of standard output")
    command.add_argument("--top", type=_count, default=10, metavar="N", help="the N largest kernels")
    command.add_argument("--width", type=_count, default=96, metavar="N", help="columns of the tables")
    command.set_defaults(run=_report)


def _check_options(command: argparse.ArgumentParser) -> None:
    _trace_options(command, formats=("table", "json", "markdown"))
    command.add_argument(
        "--fail-on", metavar="CODE,...", help="exit 1 if there is a notice of one of these codes"
    )
    command.set_defaults(run=_check)


def _demo_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--write", metavar="FILE", help="write the trace there (.json or .json.gz), do not open it"
    )
    sizes = command.add_argument_group("with --write")
    sizes.add_argument("--steps", type=_count, metavar="N", help="decode steps (8)")
    sizes.add_argument("--layers", type=_count, metavar="N", help="layers of the model (78)")
    sizes.add_argument(
        "--cpu-ops", type=_count, metavar="N", help="CPU events around each launch: the file's size"
    )
    sizes.add_argument("--one-line", action="store_true", default=None, help="the whole file on one line")
    command.set_defaults(run=_demo)


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is below 0")
    return number


COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "open": (_open_options, "open the terminal UI (the word may be left out)"),
    "demo": (_demo_options, "open a decode trace that the program makes itself"),
    "summary": (_summary_options, "steps and kernel groups"),
    "launches": (_launches_options, "single launches"),
    "check": (_check_options, "can it be trusted, and what is missing"),
    "report": (_report_options, "a markdown note of where the time goes"),
}


def _session(args: argparse.Namespace) -> "tuple[Session, Selection]":
    """The trace of the command line and what it selects. Notices and progress go to standard error."""
    from traceview.api import Selection, find_trace, open_session
    from traceview.selection import parse_steps

    progress = _progress_line() if sys.stderr.isatty() else None
    session = open_session(find_trace(args.trace), progress, step_marker=args.step_marker)
    for notice in session.notices:
        print(f"note: {_one_line(notice.message)}", file=sys.stderr)
    steps = None if args.steps is None else parse_steps(args.steps, session.step_names)
    return session, Selection(steps, args.phase, args.device)


def _one_line(text: str) -> str:
    from traceview.units import safe_text

    return safe_text(text)


def _progress_line() -> "Callable[[Any], None]":
    from traceview.units import fmt_bytes, fmt_count

    def show(progress: Any) -> None:
        text = f"reading {fmt_bytes(progress.done_bytes)} of {fmt_bytes(progress.total_bytes)}"
        end = "\r" if progress.done_bytes < progress.total_bytes else "\r\x1b[K"
        print(f"\r\x1b[K{text}, {fmt_count(progress.events)} events", end=end, file=sys.stderr, flush=True)

    return show


def _exit_code(args: argparse.Namespace, session: "Session") -> int:
    events = session.trace.events
    untimed = session.work.height - int(session.work["timed"].sum())
    return ASKED_AND_FOUND if args.strict and (events.set_aside or events.repaired or untimed) else 0


def _width() -> int:
    return max(60, shutil.get_terminal_size((100, 24)).columns)


def _print_json(document: dict[str, Any]) -> None:
    import json

    print(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=True))


def _summary(args: argparse.Namespace) -> int:
    from traceview.report import text

    session, selection = _session(args)
    document = session.summary(selection)
    if args.format == "json":
        _print_json(document)
    elif args.format == "csv":
        print(text.groups_csv(document), end="")
    else:
        print(text.summary_tables(document, args.format, _width()), end="")
    return _exit_code(args, session)


def _launches(args: argparse.Namespace) -> int:
    from traceview.analysis.launches import Query
    from traceview.report import text

    session, selection = _session(args)
    query = Query(args.kernel, args.op, args.family, args.id, args.sort, args.limit)
    document = session.launches_document(selection, query)
    if args.format == "json":
        _print_json(document)
    elif args.format == "csv":
        print(text.launches_csv(document), end="")
    else:
        print(text.launches_table(document, args.format, _width()), end="")
    return _exit_code(args, session)


def _check(args: argparse.Namespace) -> int:
    from traceview.report import check

    session, _ = _session(args)
    document = session.check()
    if args.format == "json":
        _print_json(document)
    else:
        print(check.text(document, args.format, _width()), end="")
    wanted = set((args.fail_on or "").split(","))
    found = any(notice.code in wanted for notice in session.notices)
    return ASKED_AND_FOUND if found else _exit_code(args, session)


def _report(args: argparse.Namespace) -> int:
    session, selection = _session(args)
    if args.format == "json":
        _print_json(session.summary(selection))
        return _exit_code(args, session)
    page = session.report(selection, top=args.top, width=args.width)
    if args.output is None:
        print(page, end="")
    else:
        try:
            Path(args.output).write_text(page, encoding="utf-8")
        except OSError as error:
            raise TraceError(f"{args.output}: cannot be written: {error.strerror}", exit_code=2) from None
    return _exit_code(args, session)


def _demo(args: argparse.Namespace) -> int:
    from traceview import demo

    given = {key: getattr(args, key) for key in ("steps", "layers", "cpu_ops", "one_line")}
    options = {key: value for key, value in given.items() if value is not None}
    if args.write is not None:
        facts = demo.save_demo(Path(args.write), **options)
        print(f"{args.write}: {facts.events:,} events, {facts.kernels:,} kernels")
        return 0
    if options:
        raise TraceError("demo: sizes go with --write FILE; then open that file", exit_code=2)
    return main(["open", str(demo.demo_path())])


def _open(args: argparse.Namespace) -> int:
    if sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty() and args.trace != "-":
        from traceview.tui.app import run

        return run(args.trace)
    return _plain_view(args)


def _plain_view(args: argparse.Namespace) -> int:
    """What stands in for the UI without a terminal: the summary, a chart, how to open the UI."""
    from traceview.report import text

    session, selection = _session(args)
    document = session.summary(selection)
    print(text.summary_tables(document, "table", _width(), limit=12))
    if document["groups"]:
        print(text.share_chart(document["groups"], _width()))
    print(f"\nOpen it in a terminal to look around: traceview {_one_line(args.trace)}")
    return _exit_code(args, session)
