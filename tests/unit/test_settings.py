"""What a person sets in their own files holds for every trace they open."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import frame, kernel, launch, write
from traceview.analysis.settings import FOLDER, user_settings
from traceview.errors import TraceError

FAMILIES = '[[rule]]\nfamily = "attention"\npattern = "^lightning_"\n'
GPUS = '[[gpu]]\nnames = ["Acme T1"]\nbandwidth_gbs = 1234\n'
FRAMES = r"skip = ['^vllm/', '(?i)DISPATCH']"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings folder of this test."""
    here = tmp_path / "settings"
    here.mkdir()
    monkeypatch.setenv(FOLDER, str(here))
    return here


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write(
        tmp_path,
        frame("serve.py(8): decode", 0, 90, 1),
        frame("vllm/worker.py(3): run", 1, 80, 2, 1),
        frame("ops.py(5): dispatch", 2, 70, 3, 2),
        launch(10, 1),
        kernel("lightning_fwd", 20, 30, 1),
        deviceProperties=[{"id": 0, "name": "Acme T1"}],
    )


def told(run: Any, trace: Path) -> tuple[str, str, float | None]:
    """Family and call site of the one kernel, and its GPU's bandwidth."""
    group = run("groups", trace, "--format", "json", "--no-cache").json()["rows"][0]
    line = run("groups", trace, "--by", "python", "--format", "json", "--no-cache").json()["rows"][0]
    gpu = run("summary", trace, "--format", "json", "--no-cache").json()["trace"]["devices"][0]
    return group["family"], line["label"], gpu["peak_bandwidth_gbs"]


def test_without_files_the_built_in_rules_hold(run: Any, folder: Path, trace: Path) -> None:
    assert told(run, trace) == ("other", "ops.py(5): dispatch", None)


def test_each_file_adds_to_what_is_built_in(run: Any, folder: Path, trace: Path) -> None:
    (folder / "families.toml").write_text(FAMILIES)
    (folder / "gpus.toml").write_text(GPUS)
    (folder / "frames.toml").write_text(FRAMES)
    assert told(run, trace) == ("attention", "serve.py(8): decode", 1234)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("families.toml", '[[rule]]\nfamily = "magic"\npattern = "x"\n'),
        ("families.toml", "not toml"),
        ("gpus.toml", '[[gpu]]\nnames = "one"\n'),
        ("frames.toml", "skip = 'one'"),
        ("frames.toml", "skip = ['(']"),
        ("frames.toml", "skip = ['(?=ahead)']"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    run: Any, folder: Path, trace: Path, name: str, text: str
) -> None:
    (folder / name).write_text(text)
    with pytest.raises(TraceError, match=name):
        user_settings()
    ran = run("summary", trace, "--no-cache")
    assert (ran.code, ran.out) == (2, "")
    assert name in ran.err
