"""Which file a path means: itself, or the trace in a folder."""

import re
from pathlib import Path

from traceview.errors import TraceError


def find_trace(path: str | Path) -> Path:
    """The trace that a path means: the file itself, or the only trace of a folder.

    Raises TraceError (exit code 2) that lists the traces of a folder with several, and (3) for one without.
    """
    place = Path(path)
    if str(place) == "-" and str(path) != "-":
        place = place.absolute()  # "./-" is a file, "-" is standard input
    try:
        if not place.is_dir():
            return place
        found = traces_in(place)
    except OSError as error:
        raise TraceError(f"{place}: cannot be opened: {error.strerror}") from None
    if not found:
        raise TraceError(f"{place}: a folder without a trace (*.json, *.json.gz)")
    if len(found) > 1:
        names = ", ".join(p.name for p in found[:16]) + (", ..." if len(found) > 16 else "")
        raise TraceError(f"{place}: a folder of {len(found)} traces, name one of them: {names}", exit_code=2)
    return found[0]


def traces_in(folder: Path) -> list[Path]:
    """The files of a folder that look like traces by name, ranks in the order of their numbers."""
    kinds = (".json", ".json.gz")
    found = [p for p in folder.iterdir() if p.name.endswith(kinds) and p.is_file()]
    return sorted(found, key=lambda p: [int(t) if t.isdecimal() else t for t in re.split(r"(\d+)", p.name)])
