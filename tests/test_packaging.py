"""What gets installed is what stands in the repository."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Where each package's files lie in the repository; the longer names first, for looking up a module's folder.
HOMES = dict(sorted(PROJECT["tool"]["setuptools"]["package-dir"].items(), reverse=True))
SHIPPED = (".py", ".toml", ".tcss", ".typed")


def test_the_package_list_is_the_folders_that_exist() -> None:
    folders = set()
    for package, home in HOMES.items():
        for path in (ROOT / home).rglob("__init__.py"):
            if not any(part.is_symlink() for part in path.parents):
                folders.add(".".join([package, *path.parent.relative_to(ROOT / home).parts]))
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == sorted(folders)


@pytest.mark.parametrize("link", ["parsers", "widgets", "tui"])
def test_the_top_folders_are_linked_into_the_package(link: str) -> None:
    assert (ROOT / "traceview" / link).readlink() == Path("..") / link


def test_every_dependency_is_used_and_has_its_reason() -> None:
    code = "\n".join(path.read_text() for home in HOMES.values() for path in (ROOT / home).rglob("*.py"))
    for line in re.findall(r'^    "(?:[\w-]+>=.*)$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE):
        assert re.search(r'",\s+# \w.{10,}', line), line
    for requirement in PROJECT["project"]["dependencies"]:
        name = re.split(r"[<>=]", requirement)[0]
        assert re.search(rf"^\s*(import|from) {name}\b", code, re.MULTILINE), f"{name} is never imported"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist and the wheel that was built from it, without a network."""
    home = tmp_path_factory.mktemp("build")
    copy = home / "source"
    left_out = shutil.ignore_patterns(
        ".*", "*.egg-info", "__pycache__", "build", "dist", "tests", "benchmarks", "shared"
    )
    shutil.copytree(ROOT, copy, symlinks=True, ignore=left_out)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(home / "dist"), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return home / "dist"


def test_the_wheel_holds_every_file(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    expected = set()
    for package, home in HOMES.items():
        for path in (ROOT / home).rglob("*"):
            if path.suffix in SHIPPED and not any(part.is_symlink() for part in path.parents):
                expected.add("/".join([*package.split("."), *path.relative_to(ROOT / home).parts]))
    assert {"traceview/py.typed", "traceview/data/families.toml", "traceview/parsers/loader.py"} <= expected
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = [name for name in archive.namelist() if name.endswith("/LICENSE")]
    assert names == expected
    assert licences


def test_the_sdist_can_be_built_again(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "traceview/cli.py", "parsers/loader.py"} <= names


def test_the_wheel_runs_where_it_is_unpacked(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    target = tmp_path / "installed"
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(command, check=True, capture_output=True)
    code = """
import importlib, pkgutil, traceview
names = [module.name for module in pkgutil.walk_packages(traceview.__path__, "traceview.")]
for name in names:
    if name != "traceview.__main__":
        importlib.import_module(name)
print(traceview.__file__, len(names))
"""
    environment = {"PYTHONPATH": str(target), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, count = done.stdout.split()
    assert Path(where) == target / "traceview" / "__init__.py"
    assert int(count) == len(list((target / "traceview").rglob("*.py"))) - 1  # all but traceview/__init__.py
