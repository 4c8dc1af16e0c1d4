"""Whatever byte is damaged, wherever the file ends: nothing that the damage does not touch is lost."""

import gzip
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.parsers_damage import (
    check_cut,
    check_damage,
    check_gzip_damage,
    check_program,
    layouts,
    read,
    some_events,
)
from traceview.trace import Trace

DATA = layouts(some_events())
LAYOUT = st.sampled_from(sorted(DATA))
PLACE = st.floats(0, 1, exclude_max=True)
BYTE = st.sampled_from(b'"\\{}[],:0a\n\x00\xff') | st.integers(0, 255)


@cache
def whole(layout: str) -> tuple[Path, Trace]:
    """A path to write to, and what is in the undamaged file."""
    path = Path(mkdtemp()) / "trace.json"
    trace = read(path, DATA[layout])
    assert trace is not None
    assert (trace.events.loaded, trace.events.repaired, trace.complete) == (49, 0, True)
    return path, trace


@given(layout=LAYOUT, where=PLACE, value=BYTE)
def test_a_changed_byte(layout: str, where: float, value: int) -> None:
    data, at = DATA[layout], int(where * len(DATA[layout]))
    check_damage(*whole(layout), data[:at] + bytes([value]) + data[at + 1 :], (at, at + 1))


@example(
    layout="indented", where=0.970703125, size=40
)  # what is left of two events looks like the file's end
@given(layout=LAYOUT, where=PLACE, size=st.sampled_from([1, 2, 5, 40, 400]))
def test_deleted_bytes(layout: str, where: float, size: int) -> None:
    data, at = DATA[layout], int(where * len(DATA[layout]))
    check_damage(*whole(layout), data[:at] + data[at + size :], (at, at + size))


@given(layout=LAYOUT, where=PLACE)
def test_a_file_that_ends_early(layout: str, where: float) -> None:
    check_cut(*whole(layout), DATA[layout], int(where * len(DATA[layout])))


@given(layout=LAYOUT, where=PLACE, value=BYTE)
def test_a_changed_byte_in_gzip(layout: str, where: float, value: int) -> None:
    packed = gzip.compress(DATA[layout], 1, mtime=0)
    check_gzip_damage(*whole(layout), packed, int(where * len(packed)), value)


@settings(max_examples=settings().max_examples // 10)  # the whole program takes longer than the reading
@given(layout=LAYOUT, where=PLACE, value=BYTE, size=st.sampled_from([0, 1, 400, 1 << 20]))
def test_the_whole_program(layout: str, where: float, value: int, size: int) -> None:
    data, at = DATA[layout], int(where * len(DATA[layout]))
    check_program(whole(layout)[0], data[:at] + bytes([value]) + data[at + size :])
