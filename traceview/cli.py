"""The command line: which command, its options, and what its end means for the exit code."""

import argparse
import codecs
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from traceview import __version__
from traceview.commands import COMMANDS
from traceview.commands.common import drop, notice
from traceview.errors import Cancelled, TraceError
from traceview.units import ascii_text, safe_text

_ALONE = ("-h", "--help", "--version")  # options that stand without a command
UNWRITABLE = 2  # as where `-o FILE` cannot be written
STOPPED = 130  # as a shell reports a program that was interrupted


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done, 1 asked for and found, 2 wrong usage or output that cannot be written, 3 no trace could be read,
    130 stopped.
    """
    # Imports and frames make many objects that live long or die at once; the default walks them too often.
    gc.set_threshold(50_000, 20, 100)
    words = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    # A locale that cannot spell a character gets a plain counterpart, never an exception.
    codecs.register_error("traceview", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="traceview")
    if words and words[0] not in (*COMMANDS, *_ALONE):
        words.insert(0, "open")
    try:
        parser = _parser(words[0] if words else None)
        args = parser.parse_args(words)
        if "run" not in args:
            parser.print_help()
            return 0
        code = int(args.run(args))
        sys.stdout.flush()  # a reader that went away shows here, not when the interpreter ends
        return code
    except TraceError as error:
        notice(f"traceview: {safe_text(error.message)}")
        return error.exit_code
    except (Cancelled, KeyboardInterrupt):
        notice("traceview: stopped")
        return STOPPED
    except BrokenPipeError:
        drop(sys.stdout)  # the reader of a pipe went away (`| head`)
        return 0
    except OSError as error:
        # What can be read is the readers' concern; here is what happens to output: a full disk.
        drop(sys.stdout)
        notice(f"traceview: {safe_text(error.strerror or str(error))}")
        return UNWRITABLE


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """A codec's error handler: the characters that it cannot spell, in ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return ascii_text(error.object[error.start : error.end]), error.end


def _open_streams() -> None:
    """A standard stream that was closed (`<&-`) is an empty one; its number must not go to another file."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open as long as the program runs


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the words in plain text, as they may hold anything."""

    def error(self, message: str) -> NoReturn:
        notice(f"{self.format_usage()}{self.prog}: error: {safe_text(message)}")
        sys.exit(2)


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    """The parser with all commands by name, and the options of the chosen one: only that is imported."""
    parser = _Parser(
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
