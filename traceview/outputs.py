"""Files that the program writes: whole or not at all, and never over the trace that they come from."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from traceview.errors import TraceError


@contextmanager
def output(path: str | Path, trace: str | None = None) -> Iterator[BinaryIO]:
    """A binary file that stands at `path` once the block ends; nothing is left behind where it fails.

    Links are followed. A pipe or a device is never replaced: it is written into, if something reads it.
    trace: what must not be overwritten, under whatever name; "-" is standard input. Raises TraceError (wrong
    usage) for that, and where the file cannot be written.
    """
    path = Path(path)
    try:
        known = _status(path)
        if known is None or stat.S_ISREG(known.st_mode):
            if known is not None and _is_trace(known, trace):
                raise TraceError(f"{path}: is the trace itself; choose another file", exit_code=2)
            with _replacing(os.path.realpath(path), known) as file:
                yield file
        else:
            # Without a reader, opening a pipe would wait for one: that is an error instead.
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(handle, True)
            with open(handle, "wb") as file:
                yield file
    except OSError as error:
        raise TraceError(f"{path}: cannot be written: {error.strerror or error}", exit_code=2) from None


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_trace(known: os.stat_result, trace: str | None) -> bool:
    if trace is None:
        return False
    try:
        return os.path.samestat(known, os.fstat(0) if trace == "-" else os.stat(trace))
    except OSError:
        return False  # it is no longer there


@contextmanager
def _replacing(target: str, known: os.stat_result | None) -> Iterator[BinaryIO]:
    """A new file beside the target, under a name that nothing has, which takes its place at the end."""
    if known is not None:
        os.close(os.open(target, os.O_WRONLY))  # one that is write-protected is not to be replaced either
    part = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.part")
    with open(part, "xb") as file:
        try:
            if known is not None:
                with suppress(OSError):  # not every file system has modes
                    os.fchmod(file.fileno(), stat.S_IMODE(known.st_mode))
            yield file
            file.close()  # what is still to be written can fail, too
            os.replace(part, target)
        finally:
            with suppress(OSError):
                os.unlink(part)
