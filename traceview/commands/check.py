"""traceview check: can the trace be trusted, and what is missing."""

import argparse

from traceview.commands.common import (
    ASKED_AND_FOUND,
    exit_code,
    open_trace,
    print_json,
    trace_options,
    width,
)
from traceview.errors import TraceError
from traceview.trace import NOTICE_CODES


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, formats=("table", "json", "markdown"))
    command.add_argument(
        "--fail-on", metavar="CODE,...", help="exit 1 if there is a notice of one of these codes"
    )


def run(args: argparse.Namespace) -> int:
    """Print the trust document; the exit code is 1 for a notice of a code that was named."""
    from traceview.report import check

    named = set(filter(None, (args.fail_on or "").split(",")))
    if unknown := sorted(named - set(NOTICE_CODES)):
        there = ", ".join(NOTICE_CODES)
        raise TraceError(f"--fail-on {', '.join(unknown)}: no such code; there are {there}", exit_code=2)
    session, _ = open_trace(args)
    document = session.check()
    if args.format == "json":
        print_json(document)
    else:
        print(check.text(document, args.format, width()), end="")
    found = any(notice.code in named for notice in session.notices)
    return ASKED_AND_FOUND if found else exit_code(args, session)
