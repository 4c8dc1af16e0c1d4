"""The borders of the house: who loads what, who may import whom, how large a module may be."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {
    "traceview": "traceview",
    "parsers": "traceview.parsers",
    "widgets": "traceview.widgets",
    "tui": "traceview.tui",
}
MOST_LINES = 400


def sources(folder: str) -> list[Path]:
    """The modules in one of the top folders, without what the links in traceview/ lead to."""
    return [
        path
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not any(part.is_symlink() for part in path.parents)
    ]


def module_name(folder: str, path: Path) -> str:
    parts = path.relative_to(ROOT / folder).with_suffix("").parts
    return ".".join([FOLDERS[folder], *(part for part in parts if part != "__init__")])


def fresh(code: str) -> str:
    """What `code` prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_headless_modules_load_no_terminal_library() -> None:
    names = [module_name(folder, path) for folder in ("traceview", "parsers") for path in sources(folder)]
    names.remove("traceview.__main__")  # runs when imported
    assert {"traceview.api", "traceview.cli", "traceview.charts", "traceview.parsers.loader"} <= set(names)
    first_to_load_one = f"""
import importlib, sys
for name in {names!r}:
    importlib.import_module(name)
    found = {{"textual", "rich"}} & set(sys.modules)
    if found:
        print(name, "loads", *sorted(found))
        break
"""
    assert fresh(first_to_load_one) == ""


def test_the_version_is_told_without_loading_anything_heavy() -> None:
    code = """
import sys
from traceview.cli import main
try:
    main(["--version"])
except SystemExit as stop:
    assert not stop.code
print(sorted({"polars", "numpy", "plotext", "textual", "rich"} & set(sys.modules)))
"""
    version, loaded = fresh(code).splitlines()
    assert re.fullmatch(r"traceview \d+\.\d+\.\d+", version)
    assert loaded == "[]"


def test_the_first_screen_needs_no_frames_and_no_charts() -> None:
    code = """
import sys
import traceview.commands.open, traceview.tui.app
print(sorted({"polars", "numpy", "plotext", "msgspec"} & set(sys.modules)))
"""
    assert fresh(code) == "[]"


def test_everyone_imports_only_what_they_may() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_is_too_large(folder: str) -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources(folder)}
    assert sizes
    assert {name: lines for name, lines in sizes.items() if lines > MOST_LINES} == {}


def test_tracked_files_name_no_place_on_one_machine() -> None:
    git = shutil.which("git")
    listed = subprocess.run(
        [git or "git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    places = re.compile(rb"/wor[k]/|/tm[p]/|/roo[t]/|/hom[e]/\w|/User[s]/\w|\.librar[y]\b")
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            found += [f"{name}: {place.group().decode()}" for place in places.finditer(path.read_bytes())]
    assert found == []
