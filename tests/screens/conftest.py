"""What tests of screens share: a small trace, and a terminal of many colours."""

from pathlib import Path

import pytest

from traceview import demo


@pytest.fixture(scope="module")
def decode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two decode steps of four layers, in which a cast takes most of the time."""
    path = tmp_path_factory.mktemp("demo") / "decode.pt.trace.json"
    demo.save_demo(path, steps=2, layers=4, cpu_ops=4)
    return path


@pytest.fixture
def full_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that shows every colour."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
