"""Single launches: which, in which order, and the document of each. Times: microseconds in, ns out."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import copy, frame, kernel, launch, launched, op, session, steps
from traceview.analysis.launches import Query
from traceview.api import Session
from traceview.errors import TraceError
from traceview.selection import EVERYTHING, Selection

FOUR = [
    *steps(0, 1000, dur=1000),
    *launched("gemm_a", 100, 200, 700, 1),
    *launched("gemm_B", 800, 900, 500, 2),
    *launched("copy_C", 1100, 1400, 900, 3),
    *launched("copy_D", 1200, 2300, 900, 4),
]


def names(asked: Session, selection: Selection = EVERYTHING, **query: Any) -> list[str]:
    rows = asked.launches_document(selection, Query(**query))["rows"]
    return [row["name"] for row in rows]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["gemm_a", "gemm_B", "copy_C", "copy_D"]),
        ({"sort": "dur"}, ["copy_C", "copy_D", "gemm_a", "gemm_B"]),  # 900, 900, 700, 500
        ({"sort": "delay"}, ["copy_D", "copy_C", "gemm_a", "gemm_B"]),  # 1100, 300, 100, 100
        ({"kernel": "_[BC]$"}, ["gemm_B", "copy_C"]),
        ({"kernel": "emm"}, ["gemm_a", "gemm_B"]),
        ({"kernel": "GEMM"}, []),
        ({"family": "gemm"}, ["gemm_a", "gemm_B"]),
        ({"id": 2}, ["copy_C"]),
        ({"id": 99}, []),
        ({"limit": 2}, ["gemm_a", "gemm_B"]),
        ({"limit": 0}, ["gemm_a", "gemm_B", "copy_C", "copy_D"]),
    ],
)
def test_a_query_filters_sorts_and_limits(tmp_path: Path, query: dict[str, Any], found: list[str]) -> None:
    assert names(session(tmp_path, *FOUR), **query) == found


def test_total_counts_the_matches_before_the_limit(tmp_path: Path) -> None:
    document = session(tmp_path, *FOUR).launches_document(EVERYTHING, Query(kernel="gemm", limit=1))
    assert (document["total"], len(document["rows"])) == (2, 1)


def test_a_selection_narrows_the_launches(tmp_path: Path) -> None:
    asked = session(tmp_path, *FOUR)
    assert names(asked, Selection(steps=(1,))) == ["copy_C", "copy_D"]
    assert names(asked, Selection(device=1)) == []


def test_ids_are_positions_in_the_file_whatever_is_selected_or_sorted(tmp_path: Path) -> None:
    asked = session(tmp_path, *FOUR)
    by_id = {row["id"]: row["name"] for row in asked.launches_document(EVERYTHING, Query(sort="dur"))["rows"]}
    assert by_id == {0: "gemm_a", 1: "gemm_B", 2: "copy_C", 3: "copy_D"}
    only = asked.launches_document(Selection(steps=(1,)), Query())["rows"]
    assert [row["id"] for row in only] == [2, 3]


def test_ops_are_searched_too(tmp_path: Path) -> None:
    asked = session(
        tmp_path,
        op("aten::mm", 0, 20),
        *launched("k", 5, 50, 7, 1),
        op("aten::copy_", 100, 20),
        *launched("j", 105, 150, 7, 2),
        *launched("i", 200, 250, 7, 3),
    )
    assert names(asked, op="copy_") == ["j"]
    assert names(asked, op="aten") == ["k", "j"]


@pytest.mark.parametrize("query", [{"kernel": "("}, {"op": "("}, {"kernel": "(?=x)"}, {"op": "a{2"}])
def test_a_pattern_that_is_none_gets_one_line(tmp_path: Path, query: dict[str, str]) -> None:
    (word, pattern), *_ = query.items()
    for events in (FOUR, [op("aten::mm", 0, 5)]):
        with pytest.raises(TraceError) as caught:
            names(session(tmp_path, *events), **query)
        assert caught.value.message.startswith(f"--{word} {pattern}: not a regular expression: ")
        assert "\n" not in caught.value.message
        assert caught.value.exit_code == 2


def test_an_unknown_family_gets_a_line_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="--family gems: none of gemm, attention") as caught:
        names(session(tmp_path, *FOUR), family="gems")
    assert caught.value.exit_code == 2


def test_equal_times_stand_in_file_order(tmp_path: Path) -> None:
    asked = session(tmp_path, kernel("b", 5, 7), kernel("a", 5, 7), kernel("c", 5, 7, stream=9))
    for sort in ("time", "dur", "delay"):
        assert names(asked, sort=sort) == ["b", "a", "c"]


def test_untimed_work_is_listed_and_its_delay_is_unknown(tmp_path: Path) -> None:
    asked = session(tmp_path, *launched("k", 10, 20, 5, 1), *launched("untimed", 30, 0, 0, 2))
    rows = {row["name"]: row for row in asked.launches_document(EVERYTHING, Query())["rows"]}
    assert (rows["untimed"]["timed"], rows["untimed"]["launch_delay_ns"]) == (False, None)
    assert names(asked, sort="delay") == ["k", "untimed"]


def test_the_document_of_one_launch(tmp_path: Path) -> None:
    shapes = [[495552, 1, 576], [495552, 1, 576], []]
    asked = session(
        tmp_path,
        *steps(0, dur=1000),
        frame("nn.Module: Attention_3", 1, 90, 2, 1),
        frame("attention.py(455): forward_decode", 2, 80, 3, 2),
        op("aten::to", 5, 60, 1),
        op("aten::copy_", 10, 40, 3, dims=shapes, types=["c10::BFloat16", "c10::Float8_e4m3fn", "Scalar"]),
        launch(20, 5, external=3),
        kernel(
            "copy_kernel",
            120,
            828.205,
            5,
            external=3,
            grid=(557496, 1, 1),
            **{"registers per thread": 32, "shared memory": 0, "graph id": 0, "graph node id": 0},
        ),
    )
    (row,) = asked.launches_document(EVERYTHING, Query())["rows"]
    wanted = {
        "id": 0,
        "name": "copy_kernel",
        "kind": "kernel",
        "step": 0,
        "begin_ns": 120_000,
        "dur_ns": 828_205,
        "device": 0,
        "stream": 7,
        "correlation": 5,
        "grid": [557496, 1, 1],
        "block": [128, 1, 1],
        "registers_per_thread": 32,
        "shared_memory_bytes": 0,
        "graph_id": None,
        "graph_node": None,
        "launched_by": "cudaLaunchKernel",
        "launch_begin_ns": 20_000,
        "launch_delay_ns": 100_000,
        "launch_link": "correlation",
        "op": "aten::copy_",
        "op_link": "external-id",
        "op_stack": ["aten::copy_", "aten::to"],
        "modules": ["Attention_3"],
        "python_stack": ["attention.py(455): forward_decode"],
        "input_dims": shapes,
        "input_types": ["c10::BFloat16", "c10::Float8_e4m3fn", "Scalar"],
    }
    assert {key: row[key] for key in wanted} == wanted


CONTRACT = (
    "id", "name", "kind", "family", "step", "begin_ns", "dur_ns", "device", "stream", "correlation", "grid",
    "block", "registers_per_thread", "shared_memory_bytes", "graph_id", "graph_node", "launched_by",
    "launch_begin_ns", "launch_delay_ns", "launch_link", "op", "op_link", "op_stack", "modules",
    "python_stack", "input_dims", "input_types", "elements", "elements_from", "bytes", "bytes_from", "flops",
    "flops_from", "assumptions", "bandwidth_gbs", "peak_bandwidth_fraction", "floor_ns", "bound", "suspect",
    "collective",
)  # fmt: skip


def test_what_the_file_does_not_say_is_null(tmp_path: Path) -> None:
    bare = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2}
    (row,) = session(tmp_path, bare).launches_document(EVERYTHING, Query())["rows"]
    assert set(CONTRACT) <= set(row)
    said = {
        "id": 0,
        "name": "k",
        "kind": "kernel",
        "family": "other",
        "step": 0,
        "begin_ns": 1000,
        "dur_ns": 2000,
    }
    said |= {"launch_link": "none", "op_link": "none", "op_stack": [], "modules": [], "python_stack": []}
    said |= {"assumptions": [], "suspect": False}
    assert {key: row[key] for key in CONTRACT} == {**dict.fromkeys(CONTRACT), **said}


def test_a_graph_node_is_the_low_half_of_its_id(tmp_path: Path) -> None:
    # CUPTI's 64 bits: (graph id << 32) | node.
    (row,) = session(
        tmp_path, kernel("k", 0, 5, **{"graph id": 2, "graph node id": (2 << 32) | 17})
    ).launches_document(EVERYTHING, Query())["rows"]
    assert (row["graph_id"], row["graph_node"]) == (2, 17)


def test_the_bytes_of_a_copy_are_the_files(tmp_path: Path) -> None:
    (row,) = session(tmp_path, copy("Memcpy HtoD (Pinned -> Device)", 0, 5, bytes=4096)).launches_document(
        EVERYTHING, Query()
    )["rows"]
    assert (row["bytes"], row["bytes_from"]) == (4096, "trace")


def test_shapes_of_any_form_come_back_as_they_were(tmp_path: Path) -> None:
    # A list of tensors is one level deeper.
    dims: list[Any] = [[[2, 3], [4]], [], [0, 8]]
    (row,) = session(
        tmp_path,
        op("aten::cat", 0, 20, dims=dims, types=["TensorList", "Scalar", "float"]),
        *launched("k", 5, 30, 5, 1),
    ).launches_document(EVERYTHING, Query())["rows"]
    assert row["input_dims"] == dims


def test_a_trace_without_gpu_work_has_no_launches(tmp_path: Path) -> None:
    document = session(tmp_path, op("aten::mm", 0, 5)).launches_document(EVERYTHING, Query())
    assert (document["total"], document["rows"]) == (0, [])
