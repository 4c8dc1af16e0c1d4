"""traceview groups: GPU work grouped as the Kernels screen has it."""

import argparse

from traceview.commands.common import count, exit_code, open_trace, print_json, trace_options, width

BY = ("kernel", "family", "op", "module", "python", "annotation", "stream")


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, formats=("table", "json", "markdown"))
    command.add_argument("--by", choices=BY, default="kernel")
    command.add_argument("--limit", type=count, default=30, metavar="N", help="at most N rows (30); 0 is all")


def run(args: argparse.Namespace) -> int:
    """Print the groups in the wanted format."""
    from traceview.report import groups

    session, selection = open_trace(args)
    document = session.groups_document(selection, args.by)
    if args.format == "json":
        print_json(document)
    else:
        print(groups.text(document, args.format, width(), args.limit), end="")
    return exit_code(args, session)
