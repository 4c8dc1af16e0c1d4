"""Who launched each kernel, and for which op. Each test is one small trace; times are microseconds."""

from pathlib import Path
from typing import Any

import pytest

from tests.traces import Event, frame, kernel, launch, launched, op, session
from traceview.analysis.launches import Query
from traceview.selection import EVERYTHING


def rows(folder: Path, *events: Event) -> list[dict[str, Any]]:
    """All launches, in file order."""
    asked = session(folder, *events)
    found: list[dict[str, Any]] = asked.launches_document(EVERYTHING, Query(limit=0))["rows"]
    return sorted(found, key=lambda row: row["id"])


def only(folder: Path, *events: Event) -> dict[str, Any]:
    (row,) = rows(folder, *events)
    return row


# The launch call.


def test_a_kernel_leads_to_the_call_with_its_correlation(tmp_path: Path) -> None:
    row = only(tmp_path, launch(10, 5), launch(20, 6, name="cudaLaunchKernelExC"), kernel("k", 50, 7, 6))
    assert (row["launched_by"], row["launch_link"]) == ("cudaLaunchKernelExC", "correlation")
    assert (row["launch_begin_ns"], row["launch_delay_ns"]) == (20_000, 50_000 - 20_000)


def test_any_call_counts_whatever_its_name(tmp_path: Path) -> None:
    row = only(tmp_path, launch(10, 5, name="someVendorLaunch_v2"), kernel("k", 50, 7, 5))
    assert row["launched_by"] == "someVendorLaunch_v2"


def test_a_graph_launch_has_all_kernels_of_its_replay_and_they_have_no_op(tmp_path: Path) -> None:
    # An op is open around the call: it called the replay, but the kernels are not its own.
    found = rows(
        tmp_path,
        op("aten::embedding", 0, 100, 1, dims=[[8]]),
        launch(10, 501, name="cudaGraphLaunch"),
        *(kernel(name, 50 + 10 * i, 5, 501) for i, name in enumerate("abc")),
    )
    assert [row["name"] for row in found] == ["a", "b", "c"]
    assert {(row["launched_by"], row["launch_link"], row["launch_begin_ns"]) for row in found} == {
        ("cudaGraphLaunch", "graph", 10_000)
    }
    assert [(row["op"], row["op_link"], row["op_stack"], row["input_dims"]) for row in found] == [
        (None, "none", [], None)
    ] * 3


def test_an_external_id_on_a_graphs_kernel_gives_it_no_op(tmp_path: Path) -> None:
    # It names the op that was open around the replay.
    found = rows(
        tmp_path,
        op("aten::embedding", 0, 100, 1),
        launch(10, 501, name="cudaGraphLaunch", external=1),
        kernel("a", 50, 5, 501, external=1),
        kernel("b", 60, 5, 501, external=1),
    )
    assert [(row["op"], row["op_link"]) for row in found] == [(None, "none")] * 2


@pytest.mark.parametrize("absent", [0, None])
def test_a_correlation_of_zero_is_none(tmp_path: Path, absent: int | None) -> None:
    row = only(tmp_path, launch(10, absent), kernel("k", 50, 7, absent))
    assert (row["correlation"], row["launched_by"], row["launch_link"]) == (None, None, "none")
    assert (row["launch_begin_ns"], row["launch_delay_ns"]) == (None, None)


def test_a_correlation_without_a_call_was_launched_before_the_window(tmp_path: Path) -> None:
    row = only(tmp_path, launch(10, 5), kernel("k", 50, 7, 4))
    assert (row["correlation"], row["launched_by"], row["launch_link"]) == (4, None, "before-window")


def test_several_calls_with_one_correlation_are_ambiguous(tmp_path: Path) -> None:
    # As in a file into which two processes were merged.
    row = only(tmp_path, launch(10, 5, pid=1), launch(20, 5, pid=2), kernel("k", 50, 7, 5))
    assert (row["launched_by"], row["launch_link"], row["launch_delay_ns"]) == (None, "ambiguous", None)


def two_ranks() -> list[Event]:
    """Two processes in one file: their numbers collide, and each serves a device of its own.

    Correlations 1 and 2 are used by one process each, 5 by both.
    """
    events: list[Event] = []
    for rank, pid in enumerate((100, 200)):
        own = {"pid": pid, "tid": 1}
        events += [
            op(f"aten::first_{rank}", 0, 20, 7, **own),
            launch(5, rank + 1, external=7, **own),
            kernel(f"first_{rank}", 30, 5, rank + 1, device=rank, external=7),
            op(f"aten::second_{rank}", 40, 20, 8, **own),
            launch(45 + rank, 5, external=8, **own),
            kernel(f"second_{rank}", 70, 5, 5, device=rank, external=8),
        ]
    return events


def test_processes_in_one_file_keep_their_numbers_apart(tmp_path: Path) -> None:
    found = {row["name"]: row for row in rows(tmp_path, *two_ranks())}
    for rank in (0, 1):
        first, second = found[f"first_{rank}"], found[f"second_{rank}"]
        assert (first["launch_link"], first["op"]) == ("correlation", f"aten::first_{rank}")
        assert (second["launch_link"], second["op"]) == ("correlation", f"aten::second_{rank}")
        assert second["launch_begin_ns"] == 45_000 + 1_000 * rank


def test_two_calls_of_one_process_with_one_correlation_stay_ambiguous(tmp_path: Path) -> None:
    found = {row["name"]: row for row in rows(tmp_path, *two_ranks(), launch(90, 5, pid=100))}
    assert found["second_0"]["launch_link"] == "ambiguous"
    assert found["second_1"]["launch_link"] == "correlation"


def test_a_kernel_that_starts_before_its_call_keeps_the_link_and_a_negative_delay(tmp_path: Path) -> None:
    row = only(tmp_path, launch(50, 5), kernel("k", 48, 7, 5))
    assert (row["launch_link"], row["launch_delay_ns"]) == ("correlation", -2_000)


@pytest.mark.parametrize(
    ("correlation", "device", "stream"),
    [(501, 3, 7), ("501", "3", "7"), ("501", "GPU 3", "stream 7"), (501.0, 3.0, 7.0)],
)
def test_ids_are_numbers_however_they_are_spelled(
    tmp_path: Path, correlation: Any, device: Any, stream: Any
) -> None:
    row = only(tmp_path, launch(10, 501), kernel("k", 50, 7, correlation, device=device, stream=stream))
    assert (row["correlation"], row["device"], row["stream"]) == (501, 3, 7)
    assert row["launch_link"] == "correlation"


# The op.


def test_the_op_is_the_one_whose_external_id_the_kernel_carries(tmp_path: Path) -> None:
    # aten::outer is around the call too, but the profiler says aten::inner.
    row = only(
        tmp_path,
        op("aten::outer", 0, 100, 1),
        op("aten::inner", 10, 20, 2, dims=[[8, 16]], types=["float"]),
        launch(15, 5, external=2),
        kernel("k", 50, 7, 5, external=2),
    )
    assert (row["op"], row["op_link"]) == ("aten::inner", "external-id")
    assert row["op_stack"] == ["aten::inner", "aten::outer"]
    assert (row["input_dims"], row["input_types"]) == ([[8, 16]], ["float"])


def test_without_an_external_id_it_is_the_innermost_op_around_the_call_on_its_thread(tmp_path: Path) -> None:
    row = only(
        tmp_path,
        op("aten::outer", 0, 100),
        op("aten::inner", 10, 20),
        op("aten::elsewhere", 12, 10, tid=2),
        op("aten::later", 40, 20),
        launch(15, 5),
        kernel("k", 50, 7, 5),
    )
    assert (row["op"], row["op_link"], row["op_stack"]) == (
        "aten::inner",
        "containment",
        ["aten::inner", "aten::outer"],
    )


def test_a_call_outside_of_any_op_has_none(tmp_path: Path) -> None:
    row = only(tmp_path, op("aten::before", 0, 10), launch(10, 5), kernel("k", 50, 7, 5))
    assert (row["op"], row["op_link"], row["op_stack"]) == (None, "none", [])


def test_an_external_id_that_no_op_has_falls_back_to_containment(tmp_path: Path) -> None:
    row = only(
        tmp_path, op("aten::mm", 0, 100, 1), launch(10, 5, external=77), kernel("k", 50, 7, 5, external=77)
    )
    assert (row["op"], row["op_link"]) == ("aten::mm", "containment")


def test_external_ids_that_only_repeat_the_correlation_say_nothing(tmp_path: Path) -> None:
    # Files before 2024. Ops have numbers of their own: taken at its word, 12 would be aten::other.
    found = rows(
        tmp_path,
        op("aten::mm", 0, 20, 11),
        op("aten::other", 100, 20, 12),
        launch(5, 12, external=12),
        kernel("k", 50, 7, 12, external=12),
    )
    assert [(row["op"], row["op_link"]) for row in found] == [("aten::mm", "containment")]


def test_one_external_id_that_differs_from_its_correlation_vouches_for_all(tmp_path: Path) -> None:
    found = rows(
        tmp_path,
        op("aten::mm", 0, 20, 11),
        op("aten::add", 30, 20, 12),
        launch(5, 12, external=11),
        kernel("k", 50, 7, 12, external=11),
        launch(35, 13, external=12),
        kernel("j", 60, 7, 13, external=12),
    )
    assert [(row["name"], row["op"], row["op_link"]) for row in found] == [
        ("k", "aten::mm", "external-id"),
        ("j", "aten::add", "external-id"),
    ]


def test_an_external_id_of_zero_is_none(tmp_path: Path) -> None:
    row = only(
        tmp_path,
        op("aten::zero", 200, 20, 0),
        op("aten::mm", 0, 20, 3),
        launch(5, 9),
        kernel("k", 50, 7, 9, external=0),
    )
    assert (row["op"], row["op_link"]) == ("aten::mm", "containment")


def test_ops_of_equal_time_nest_in_the_order_of_the_file(tmp_path: Path) -> None:
    row = only(
        tmp_path,
        op("aten::to", 0, 20),
        op("aten::_to_copy", 0, 20),
        op("aten::copy_", 0, 20),
        *launched("k", 5, 50, 7, 1),
    )
    assert row["op_stack"] == ["aten::copy_", "aten::_to_copy", "aten::to"]


def test_a_parent_that_ends_a_microsecond_before_its_child_stays_its_parent(tmp_path: Path) -> None:
    row = only(tmp_path, op("aten::to", 0, 20), op("aten::copy_", 5, 16), *launched("k", 8, 50, 7, 1))
    assert row["op_stack"] == ["aten::copy_", "aten::to"]


def test_threads_without_a_number_are_told_apart_by_their_names(tmp_path: Path) -> None:
    row = only(
        tmp_path,
        op("aten::main", 0, 20, tid="python"),
        op("aten::backward", 0, 20, tid="pt_autograd_0"),
        launch(5, 1, tid="pt_autograd_0"),
        kernel("k", 50, 7, 1),
    )
    assert row["op"] == "aten::backward"


def test_the_same_thread_number_in_another_process_is_another_thread(tmp_path: Path) -> None:
    row = only(
        tmp_path,
        op("aten::mine", 0, 20, pid=1, tid=5),
        op("aten::other", 2, 10, pid=2, tid=5),
        launch(5, 1, pid=1, tid=5),
        kernel("k", 50, 7, 1),
    )
    assert row["op"] == "aten::mine"


# Python and modules.


def call_site(folder: Path, *events: Event) -> tuple[list[str], list[str]]:
    row = only(folder, *events)
    return row["python_stack"], row["modules"]


def test_frames_and_modules_around_the_call_run_from_the_inside_out(tmp_path: Path) -> None:
    stack, modules = call_site(
        tmp_path,
        frame("serve.py(9): run", 0, 100, 1),
        frame("nn.Module: Decoder_3", 5, 90, 2, 1),
        frame("model.py(40): forward", 6, 80, 3, 2),
        frame("nn.Module: Attention_3", 7, 70, 4, 3),
        frame("attention.py(455): forward_decode", 8, 60, 5, 4),
        frame("later.py(1): later", 70, 20, 6, 1),
        *launched("k", 20, 200, 7, 1),
    )
    assert stack == ["attention.py(455): forward_decode", "model.py(40): forward", "serve.py(9): run"]
    assert modules == ["Attention_3", "Decoder_3"]


def test_without_parent_ids_frames_nest_by_time(tmp_path: Path) -> None:
    stack, _ = call_site(
        tmp_path, frame("a.py(1): a", 0, 100), frame("b.py(2): b", 5, 50), *launched("k", 20, 200, 7, 1)
    )
    assert stack == ["b.py(2): b", "a.py(1): a"]


def test_a_parent_id_is_stronger_than_nesting(tmp_path: Path) -> None:
    # By time b lies in a2; its own word is that a1 called it.
    stack, _ = call_site(
        tmp_path,
        frame("a1", 0, 100, 1),
        frame("a2", 5, 80, 2, 1),
        frame("b", 10, 50, 3, 1),
        *launched("k", 20, 200, 7, 1),
    )
    assert stack == ["b", "a1"]


@pytest.mark.parametrize(
    "parents",
    [
        pytest.param((None, 99), id="a parent that is not in the file"),
        pytest.param((None, 2), id="its own parent"),
        pytest.param((2, 1), id="a ring of two"),
        pytest.param((2, 2), id="a later frame"),
    ],
)
def test_parent_ids_that_lead_nowhere_or_in_a_ring_give_way_to_nesting(
    tmp_path: Path, parents: tuple[int | None, int]
) -> None:
    stack, _ = call_site(
        tmp_path,
        frame("a", 0, 100, 1, parents[0]),
        frame("b", 5, 50, 2, parents[1]),
        *launched("k", 20, 200, 7, 1),
    )
    assert stack == ["b", "a"]


def test_kernels_of_a_graph_have_the_python_frames_of_the_replay(tmp_path: Path) -> None:
    row = only(
        tmp_path,
        frame("graphs.py(80): replay", 0, 100, 1),
        launch(10, 5, name="cudaGraphLaunch"),
        kernel("k", 50, 7, 5),
    )
    assert (row["python_stack"], row["op_stack"]) == (["graphs.py(80): replay"], [])
