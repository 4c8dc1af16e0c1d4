"""traceview gaps: idle time of the GPU by cause, and the longest gaps."""

import argparse

from traceview.commands.common import count, exit_code, open_trace, print_json, trace_options, width


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, formats=("table", "json", "markdown"))
    command.add_argument(
        "--limit", type=count, default=20, metavar="N", help="the N longest gaps (20); 0 is all"
    )


def run(args: argparse.Namespace) -> int:
    """Print the gaps in the wanted format."""
    from traceview.report import gaps

    session, selection = open_trace(args)
    document = session.gaps_document(selection, args.limit)
    if args.format == "json":
        print_json(document)
    else:
        print(gaps.text(document, args.format, width()), end="")
    return exit_code(args, session)
