"""Standard error for Python's words alone: what a library writes past Python does not get there."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_STDERR = 2


@contextmanager
def python_only() -> Iterator[None]:
    """Within the block descriptor 2 leads nowhere; sys.stderr and sys.__stderr__ go where it led before.

    A panic in polars prints its stack trace to the descriptor, although an exception says the same. The
    descriptor is the whole process's: this is for programs, not for what scripts call.
    """
    ours = {
        name: getattr(sys, name) for name in ("stderr", "__stderr__") if _writes_there(getattr(sys, name))
    }
    try:
        copy = os.dup(_STDERR)
    except OSError:  # closed, so nothing is shown
        yield
        return
    model = next(iter(ours.values()), None)
    stream = open(  # noqa: SIM115 - closed below, where what cannot be written is no error
        copy,
        "w",
        buffering=1,
        encoding=getattr(model, "encoding", None),
        errors=getattr(model, "errors", None),
    )
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for name, old in ours.items():
            with suppress(OSError):
                old.flush()
            setattr(sys, name, stream)
        os.dup2(nowhere, _STDERR)
        yield
    finally:
        os.dup2(copy, _STDERR)
        os.close(nowhere)
        for name, old in ours.items():
            setattr(sys, name, old)
        with suppress(OSError):
            stream.close()


def _writes_there(stream: Any) -> bool:
    try:
        return bool(stream.fileno() == _STDERR)
    except (AttributeError, OSError, ValueError):  # none, in memory, closed
        return False
