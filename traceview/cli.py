"""The command line: which command, its options, and what its end means for the exit code."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from traceview import __version__
from traceview.commands import COMMANDS
from traceview.errors import Cancelled, TraceError

STOPPED = 130  # as a shell reports a program that was interrupted


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 asked for and found, 2 usage, 3 unreadable."""
    words = list(sys.argv[1:] if argv is None else argv)
    # A locale that cannot spell a character gets a replacement, never an exception.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if words and words[0] not in COMMANDS and (words[0] == "-" or not words[0].startswith("-")):
        words.insert(0, "open")
    parser = _parser(words[0] if words else None)
    args = parser.parse_args(words)
    if "run" not in args:
        parser.print_help()
        return 0
    try:
        return int(args.run(args))
    except TraceError as error:
        print(f"traceview: {error.message}", file=sys.stderr)
        return error.exit_code
    except (Cancelled, KeyboardInterrupt):
        print("traceview: stopped", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        # The reader of a pipe went away (`| head`): the interpreter's own flush must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    """The parser with all commands by name, and the options of the chosen one: only that is imported."""
    parser = argparse.ArgumentParser(
        prog="traceview",
        description="Find where a step's GPU time goes, in the terminal, from a PyTorch profiler trace.",
        epilog="traceview TRACE opens the terminal UI; without a terminal it prints the summary.",
    )
    parser.add_argument("--version", action="version", version=f"traceview {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=purpose)
        if name == chosen:
            module = import_module(f"traceview.commands.{name}")
            module.options(command)
            command.set_defaults(run=module.run)
    return parser
