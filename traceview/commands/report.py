"""traceview report: a markdown note of where the time goes."""

import argparse

from traceview.commands.common import count, exit_code, open_trace, print_json, trace_options
from traceview.outputs import output


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, formats=("markdown", "json"))
    command.add_argument("-o", "--output", metavar="FILE", help="write there instead of standard output")
    command.add_argument("--top", type=count, default=10, metavar="N", help="the N largest kernels (10)")
    command.add_argument("--findings", type=count, default=3, metavar="N", help="the N largest findings (3)")
    command.add_argument("--width", type=count, default=96, metavar="N", help="columns of the tables (96)")


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
        with output(args.output, session.trace.path) as file:
            file.write(page.encode())
    return exit_code(args, session)
