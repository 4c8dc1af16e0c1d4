"""The package as a library: what its guide shows runs, and what the JSON guide describes is all there is."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import traceview
from traceview import demo
from traceview.errors import TraceError
from traceview.report import query as query_report

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small decode traces under the names of the guide."""
    made = tmp_path_factory.mktemp("library")
    for name in ("decode.pt.trace.json", "before.json", "after.json"):
        demo.save_demo(made / name, steps=5, layers=2, cpu_ops=2)
    return made


@pytest.fixture(scope="module")
def asked(folder: Path) -> traceview.Session:
    return traceview.load(folder / "before.json")


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def test_every_line_of_the_guide_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    shown = blocks("library.md")
    assert len(shown) == 5
    for block in shown:
        exec(block, names)  # one block builds on those before it, as for a reader
    assert names["change"]["step_ns"]["verdict"] == "same"
    assert pl.read_parquet("kernels.parquet").height == names["t"].table("kernels").height > 0
    assert traceview.load("step3.json.gz").step_count() == 1
    assert traceview.load("near.json.gz").work.height > 0


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, traceview; print(sorted({'polars', 'numpy', 'traceview.api'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'traceview' has no attribute 'nope'"):
        traceview.nope  # noqa: B018
    assert set(traceview.__all__) == {"Query", "Selection", "Session", "__version__", "load"}
    assert all(hasattr(traceview, name) for name in traceview.__all__)


@pytest.mark.parametrize("by", ["family", "op", "module", "python", "annotation", "stream"])
def test_groups_by_anything_add_up_to_the_same(asked: traceview.Session, by: str) -> None:
    table = asked.groups(by=by)
    assert by in table.columns
    assert table["sum_ns"].sum() == asked.groups()["sum_ns"].sum()
    assert table["calls"].sum() == asked.work.height
    assert table[by].n_unique() == table.height


def test_groups_by_something_else_say_by_what(asked: traceview.Session) -> None:
    with pytest.raises(TraceError, match="groups are by family or by kernel, op, module"):
        asked.groups(by="colour")


def test_launches_are_all_by_default(asked: traceview.Session) -> None:
    assert asked.launches().height == asked.work.height
    casts = asked.launches(query=traceview.Query(family="copy-cast"))
    assert set(casts["family"].cast(pl.String)) == {"copy-cast"}


def test_a_comparison_needs_no_more_than_the_other_trace(folder: Path, asked: traceview.Session) -> None:
    document = asked.compare(traceview.load(folder / "after.json"))
    assert {group["status"] for group in document["groups"]} == {"same"}
    assert document["step_ns"]["delta_ns"] == 0


def keys(value: Any) -> Iterator[str]:
    """The keys of a document, at any depth; not those that are data: directions, types, phases, questions."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in ("copied_bytes", "copied_ns", "peak_tflops", "collective"):
                yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


@pytest.mark.parametrize(
    "name", ["summary", "launches", "check", "findings", "gaps", "groups", "compare", "query"]
)
def test_the_guide_describes_every_key_of_every_document(asked: traceview.Session, name: str) -> None:
    rows = asked.query("SELECT 1 AS rows")
    documents = {
        "summary": asked.summary,
        "launches": lambda: asked.launches_document(traceview.Selection(), traceview.Query(limit=0)),
        "check": asked.check,
        "findings": asked.findings_document,
        "gaps": asked.gaps_document,
        "groups": asked.groups_document,
        "compare": lambda: asked.compare(asked, variants=True),
        "query": lambda: query_report.document("SELECT 1", rows, 1, {"rows": "integer"}, {}),
    }
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    document = documents[name]()
    assert f"## `{name}`: {document['schema']}" in page
    undescribed = {key for key in keys(document) if f"`{key}`" not in page}
    assert undescribed == set()
