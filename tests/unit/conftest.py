"""What tests of commands share: running one in this process, and a small trace to run it on."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.traces import launched, steps, write
from traceview.cli import main

SMALL = [
    *steps(0, 100, 200, dur=100, first=10),
    *launched("gemm", 10, 20, 30, 1),
    *launched("copy", 110, 120, 10, 2),
    *launched("copy", 210, 220, 20, 3),
]


class Ran:
    """What one run of the program gave."""

    def __init__(self, code: Any, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def json(self) -> Any:
        """Standard output as one JSON document, in which NaN and Infinity are no numbers."""
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} in the JSON"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def ran(*words: object) -> Ran:
        try:
            code: Any = main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        assert "Traceback" not in err + out
        return Ran(code, out, err)

    return ran


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write(tmp_path, *SMALL)
