"""traceview summary: steps and kernel groups."""

import argparse

from traceview.commands.common import exit_code, open_trace, print_json, trace_options, width


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command)


def run(args: argparse.Namespace) -> int:
    """Print the summary in the wanted format."""
    from traceview.report import text

    session, selection = open_trace(args)
    document = session.summary(selection)
    if args.format == "json":
        print_json(document)
    elif args.format == "csv":
        print(text.groups_csv(document), end="")
    else:
        print(text.summary_tables(document, args.format, width()), end="")
    return exit_code(args, session)
