"""Where a note goes: a new file in the current folder, with a name made of harmless letters."""

import re
from itertools import count
from pathlib import Path

from traceview.errors import TraceError

_HARMLESS = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 60


def note_stem(trace_name: str) -> str:
    """`traceview-NAME` for the note's file, from the trace's file name without its endings."""
    plain = re.sub(r"(\.pt)?(\.trace)?(\.json)?(\.gz)?$", "", trace_name)
    return f"traceview-{_HARMLESS.sub('_', plain).strip('._-')[:_LONGEST] or 'trace'}"


def write_note(folder: Path, trace_name: str, text: str) -> Path:
    """Write a note as `traceview-NAME-N.md` with the first free N; returns the path.

    An existing file is never overwritten. Raises TraceError where the folder cannot be written to.
    """
    stem = note_stem(trace_name)
    for number in count(1):
        path = folder / f"{stem}-{number}.md"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        except OSError as error:
            raise TraceError(f"{path}: cannot be written: {error.strerror}", exit_code=2) from None
        return path
    raise AssertionError("count() has no end")
