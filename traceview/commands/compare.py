"""traceview compare: what changed between two traces, per step; a gate for CI."""

import argparse

from traceview.commands.common import (
    ASKED_AND_FOUND,
    exit_code,
    open_trace,
    print_json,
    trace_options,
    width,
)
from traceview.errors import TraceError


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    trace_options(command, word="BEFORE")
    command.add_argument("after", metavar="AFTER", help="the trace to compare with it")
    command.add_argument("--after-steps", metavar="A:B", help="steps of AFTER, where not those of --steps")
    command.add_argument(
        "--fail-above",
        type=percent,
        metavar="3%",
        help="exit 1 if a step is slower by more, beyond its noise",
    )
    command.add_argument(
        "--variants", action="store_true", help="grids and shapes of each kernel side by side, with launches"
    )


def percent(text: str) -> float:
    """`3%` or `3` as the fraction 0.03, as an option's type."""
    number = float(text.removesuffix("%"))
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a percentage from 0 on")
    return number / 100


def run(args: argparse.Namespace) -> int:
    """Print the comparison; the exit code is 1 where the step got slower by more than --fail-above."""
    from traceview.analysis.compare import slower_by
    from traceview.report import compare

    if args.trace == args.after == "-":
        raise TraceError("-: standard input can be one of the two traces only; name the other", exit_code=2)
    before, selection = open_trace(args)
    other = {**vars(args), "trace": args.after, "steps": args.after_steps or args.steps}
    after, after_selection = open_trace(argparse.Namespace(**other))
    document = before.compare(after, selection, after_selection, args.variants)
    if args.format == "json":
        print_json(document)
    elif args.format == "csv":
        print(compare.groups_csv(document), end="")
    else:
        # A comment on a pull request wraps where it must; whole names are worth more there.
        columns = max(width(), 120) if args.format == "markdown" else width()
        print(compare.text(document, args.format, columns), end="")
    if args.fail_above is not None and slower_by(document) > args.fail_above:
        return ASKED_AND_FOUND
    return max(exit_code(args, before), exit_code(args, after))
