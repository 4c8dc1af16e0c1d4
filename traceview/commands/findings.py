"""traceview findings: what stands out, with evidence."""

import argparse

from traceview.commands.common import exit_code, open_trace, print_json, trace_options


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, formats=("table", "json", "markdown"))


def run(args: argparse.Namespace) -> int:
    """Print the findings in the wanted format."""
    from traceview.report import findings

    session, selection = open_trace(args)
    document = session.findings_document(selection)
    if args.format == "json":
        print_json(document)
    else:
        print(findings.text(document, args.format), end="")
    return exit_code(args, session)
