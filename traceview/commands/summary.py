"""traceview summary: steps and kernel groups."""

import argparse

from traceview.commands.common import exit_code, open_trace, print_json, trace_options, width


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command)


def run(args: argparse.Namespace) -> int:
    """Print the summary in the wanted format."""
    session, selection = open_trace(args)
    document = session.summary(selection)
    if args.format == "json":
        print_json(document)
    else:
        from traceview.report import text

        csv = args.format == "csv"
        answer = text.groups_csv(document) if csv else text.summary_tables(document, args.format, width())
        print(answer, end="")
    return exit_code(args, session)
