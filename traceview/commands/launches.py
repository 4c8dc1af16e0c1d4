"""traceview launches: single launches, by kernel, op or family."""

import argparse

from traceview.commands.common import count, exit_code, open_trace, print_json, trace_options, width


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command)
    command.add_argument("--kernel", metavar="REGEX", help="kernels whose full name matches anywhere")
    command.add_argument("--op", metavar="REGEX", help="launches whose op matches anywhere")
    command.add_argument("--family", metavar="NAME", help="one family, such as gemm or copy-cast")
    command.add_argument("--straddling", action="store_true", help="only those that reach over their step")
    command.add_argument("--sort", choices=("time", "dur", "delay"), default="time")
    command.add_argument("--limit", type=count, default=20, metavar="N", help="at most N rows (20); 0 is all")
    command.add_argument("--id", type=count, metavar="N", help="the one launch with this id")


def run(args: argparse.Namespace) -> int:
    """Print the launches in the wanted format."""
    from traceview.analysis.launches import Query
    from traceview.report import text

    session, selection = open_trace(args)
    query = Query(
        args.kernel,
        args.op,
        args.family,
        id=args.id,
        straddling=args.straddling,
        sort=args.sort,
        limit=args.limit,
    )
    document = session.launches_document(selection, query)
    if args.format == "json":
        print_json(document)
    elif args.format == "csv":
        print(text.launches_csv(document), end="")
    else:
        print(text.launches_table(document, args.format, width()), end="")
    return exit_code(args, session)
