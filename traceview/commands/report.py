"""traceview report: a markdown note of where the time goes."""

import argparse
from pathlib import Path

from traceview.commands.common import count, exit_code, open_trace, print_json, trace_options
from traceview.errors import TraceError


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, formats=("markdown", "json"))
    command.add_argument("-o", "--output", metavar="FILE", help="write there instead of standard output")
    command.add_argument("--top", type=count, default=10, metavar="N", help="the N largest kernels")
    command.add_argument("--findings", type=count, default=3, metavar="N", help="the N largest findings")
    command.add_argument("--width", type=count, default=96, metavar="N", help="columns of the tables")


def run(args: argparse.Namespace) -> int:
    """Write the note to the file that was named, else print it."""
    session, selection = open_trace(args)
    if args.format == "json":
        print_json(session.summary(selection))
        return exit_code(args, session)
    page = session.report(selection, top=args.top, findings=args.findings, width=args.width)
    if args.output is None:
        print(page, end="")
    else:
        target = Path(args.output)
        try:
            if target.exists() and target.resolve() == Path(session.trace.path).resolve():
                raise TraceError(f"{args.output}: is the trace itself; name another file", exit_code=2)
            target.write_text(page, encoding="utf-8")
        except OSError as error:
            raise TraceError(f"{args.output}: cannot be written: {error.strerror}", exit_code=2) from None
    return exit_code(args, session)
