"""traceview demo: open a decode trace that the program makes itself, or write one."""

import argparse
from pathlib import Path

from traceview.commands import open as open_command
from traceview.commands.common import count
from traceview.units import safe_text

_SIZES = ("steps", "layers", "cpu_ops", "one_line")


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    command.add_argument(
        "--write", metavar="FILE", help="write it there (.json or .json.gz) and do not open it"
    )
    command.add_argument("--steps", type=count, metavar="N", help="decode steps (8)")
    command.add_argument("--layers", type=count, metavar="N", help="layers of the model (78)")
    command.add_argument(
        "--cpu-ops", type=count, metavar="N", help="CPU events around each launch (0): the size"
    )
    command.add_argument("--one-line", action="store_true", default=None, help="the whole file on one line")


def run(args: argparse.Namespace) -> int:
    """Write the demo trace, or open it."""
    from traceview import demo

    given: demo.DemoOptions = {}
    for name in _SIZES:
        if (value := getattr(args, name)) is not None:
            given[name] = value  # type: ignore[literal-required]
    if args.write is None:
        return open_command.open_path(str(demo.demo_path(**given)), "traceview demo")
    facts = demo.save_demo(Path(args.write), **given)
    print(f"{safe_text(args.write)}: {facts.events:,} events, {facts.kernels:,} kernels")
    return 0
