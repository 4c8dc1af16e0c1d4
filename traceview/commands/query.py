"""traceview query: SQL over the trace's tables, read-only."""

import argparse

from traceview.commands.common import count, exit_code, notice, open_trace, print_json, trace_options, width
from traceview.errors import TraceError
from traceview.stderr import python_only


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command)
    command.add_argument("sql", metavar="SQL", nargs="?", help='"SELECT name, dur_ns FROM kernels"')
    command.add_argument("--schema", action="store_true", help="list the tables and their columns instead")
    command.add_argument(
        "--limit", type=count, default=100, metavar="N", help="at most N rows (100); 0 is all"
    )


def run(args: argparse.Namespace) -> int:
    """Print the answer, or what can be asked."""
    from traceview.analysis import query as sql
    from traceview.analysis.named_frames import TABLES
    from traceview.report import query

    if (args.sql is None) != args.schema:
        raise TraceError("query: give either SQL or --schema", exit_code=2)
    if args.sql is not None:
        sql.check(args.sql)  # before a long reading
    session, selection = open_trace(args)
    if args.schema:
        tables = session.tables()
        if args.format in ("table", "markdown"):
            print(query.tables_text(tables, TABLES, args.format, width()), end="")
            return exit_code(args, session)
        words, answer = "", tables
    else:
        with python_only():
            words, answer = args.sql, session.query(args.sql, selection)
    shown = answer.head(args.limit) if args.limit and not args.schema else answer
    if args.format == "json":
        types = sql.types(answer)
        print_json(query.document(words, shown, answer.height, types, selection.as_dict()))
    elif args.format == "csv":
        print(query.rows_csv(shown), end="")
        notice(query.left_out(shown.height, answer.height), end="")
    else:
        print(query.text(shown, answer.height, args.format, width()), end="")
    return exit_code(args, session)
