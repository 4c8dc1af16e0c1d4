"""traceview TRACE: the terminal UI, or without a terminal the summary with a chart."""

import argparse
import shlex
import sys
from functools import partial

from traceview.commands.common import exit_code, open_trace, reading, trace_options, width
from traceview.processes import begin, cores
from traceview.units import safe_text


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, formats=())


def run(args: argparse.Namespace) -> int:
    """Open the UI where all standard streams are terminals, else print the summary."""
    return _open(args, f"traceview {shlex.quote(args.trace)}")


def open_path(path: str, command: str) -> int:
    """As `run` for a path; `command` is what opens the same in a terminal."""
    parser = argparse.ArgumentParser()
    options(parser)
    return _open(parser.parse_args([path]), command)


def _open(args: argparse.Namespace, command: str) -> int:
    if sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty():
        begin(args.trace, not args.no_cache, cores() - 1)  # one is left for the first screen
        from traceview.tui.app import run

        return run(args.trace, args.steps, args.phase, args.device, partial(reading, args))
    return _plain_view(args, command)


def _plain_view(args: argparse.Namespace, command: str) -> int:
    """What stands in for the UI without a terminal: the summary, a chart, how to open the UI."""
    from traceview.report import text

    session, selection = open_trace(args)
    document = session.summary(selection)
    print(text.summary_tables(document, "table", width(), limit=12))
    if document["groups"]:
        print(text.share_chart(document["groups"], width()))
    print(f"\nIn a terminal, this opens it to look around: {safe_text(command)}")
    return exit_code(args, session)
