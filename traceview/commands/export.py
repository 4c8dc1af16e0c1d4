"""traceview export: frames as parquet or CSV, or a smaller trace."""

import argparse
from pathlib import Path

from traceview.commands.common import count, exit_code, notice, open_trace, positive, trace_options
from traceview.errors import TraceError
from traceview.units import fmt_count, safe_text

_TRACES = (".json", ".gz")
_LONGEST_NS = 1e18  # over 30 years; sums of it with any time stay within 64 bits


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, formats=())
    command.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="a table: .parquet, .csv; a trace: .json, .json.gz",
    )
    command.add_argument("--table", default="kernels", metavar="NAME", help="which table (kernels)")
    command.add_argument("--around", type=count, metavar="ID", help="a trace of what is around this launch")
    command.add_argument(
        "--context", type=duration, metavar="TIME", default=5_000_000, help="how far around it (5ms)"
    )
    command.add_argument("--from", type=milliseconds, dest="begin", metavar="MS", help="a trace from here on")
    command.add_argument("--to", type=milliseconds, dest="end", metavar="MS", help="a trace until here")


def duration(text: str) -> int:
    """`5ms`, `200us`, `1s` or a number of milliseconds as nanoseconds, as an option's type."""
    for unit, ns in (("ms", 1e6), ("us", 1e3), ("ns", 1), ("s", 1e9)):
        if text.endswith(unit):
            return _nanoseconds(positive(text.removesuffix(unit)) * ns, text)
    return _nanoseconds(positive(text) * 1e6, text)


def milliseconds(text: str) -> int:
    """A number of milliseconds as nanoseconds, as an option's type."""
    return _nanoseconds(float(text) * 1e6, text)


def _nanoseconds(ns: float, text: str) -> int:
    if not abs(ns) <= _LONGEST_NS:  # nan is not, either
        raise argparse.ArgumentTypeError(f"{text} is no time in a trace")
    return round(ns)


def run(args: argparse.Namespace) -> int:
    """Write the file and say what is in it."""
    path = Path(args.output)
    windowed = any(value is not None for value in (args.around, args.begin, args.end))
    if path.suffix in _TRACES:
        return _trace(args, path, windowed)
    if windowed:
        raise TraceError(
            f"{path}: a window makes a trace; the name must end in .json or .json.gz", exit_code=2
        )
    session, selection = open_trace(args)
    rows = session.write_table(path, args.table, selection)
    print(f"{safe_text(str(path))}: {fmt_count(rows)} rows of {args.table}")
    return exit_code(args, session)


def _trace(args: argparse.Namespace, path: Path, windowed: bool) -> int:
    if windowed and (args.steps is not None or args.phase is not None):
        raise TraceError("export: give either steps or a window", exit_code=2)
    if args.around is not None and (args.begin is not None or args.end is not None):
        raise TraceError("export: give either --around or --from and --to", exit_code=2)
    if args.device is not None:
        raise TraceError("export: a smaller trace has all devices; leave --device out", exit_code=2)
    session, selection = open_trace(args)
    window = None
    if args.around is not None:
        window = session.window_around(args.around, args.context)
    elif windowed:
        origin, last = session.extent_ns()
        begin = origin + (args.begin or 0)
        end = last if args.end is None else origin + args.end
        if begin >= end:
            raise TraceError("export: --from is not before --to, or after the end of the trace", exit_code=2)
        window = begin, end
    part = session.part(selection, window)
    session.write_part(path, part)
    counts = {kind: part.count(kind) for kind in ("gpu", "runtime", "ops", "python")}
    print(
        f"{safe_text(str(path))}: {fmt_count(part.events.height)} events: {fmt_count(counts['gpu'])} GPU, "
        f"{fmt_count(counts['runtime'])} runtime calls, {fmt_count(counts['ops'])} ops, "
        f"{fmt_count(counts['python'])} Python frames"
    )
    if part.left_out:
        kinds = ", ".join(f"{fmt_count(n)} {safe_text(kind)}" for kind, n in part.left_out.items())
        notice(f"note: events of these kinds are not carried over: {kinds}")
    if window is None and not part.events.height:
        notice("note: the selected steps hold no events")
    return exit_code(args, session)
