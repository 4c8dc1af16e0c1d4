"""A session: questions of one trace, from Python."""

from pathlib import Path

import polars as pl
import pytest

from tests.traces import Event, gpu_marker, kernel, launched, op, session, steps, write
from traceview.api import open_session
from traceview.errors import Cancelled, TraceError
from traceview.selection import EVERYTHING, Selection

TWO_STEPS: list[Event] = [
    *steps(0, 100, dur=100),
    gpu_marker("ProfilerStep#0", 0, 90),
    *launched("gemm", 10, 20, 30, 1),
    *launched("gemm", 20, 50, 10, 2, stream=20),
    *launched("copy", 110, 120, 40, 3, device=1),
    *launched("late", 500, 510, 20, 4),
]


def test_the_summary_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    document = session(tmp_path, *TWO_STEPS).summary()
    assert list(document) == ["schema", "selection", "trace", "gpu", "host", "steps", "groups", "host_groups"]
    wanted = {
        "trace": "path bytes compression layout producer clock_base_ns events complete rank world_size "
        "devices recorded notices",
        "gpu": "kernels copies sets untimed sum_ns kernel_sum_ns busy_ns span_ns idle_ns communication_ns "
        "communication_exposed_ns devices",
        "host": "cpu_ops launches launch_ns launches_without_gpu_work gpu_work_without_launch copied_bytes "
        "copied_ns",
        "steps": "source rule confidence count wall_p50_ns wall_p95_ns items outside",
    }
    for part, keys in wanted.items():
        assert set(keys.split()) <= set(document[part])
    item = (
        "index name phase phase_from begin_ns wall_ns period_ns events sum_ns busy_ns idle_ns sum_by_clock_ns"
    )
    assert {*item.split(), "straddling", "cut_off"} <= set(document["steps"]["items"][0])
    group = (
        "name short_name kind family calls calls_per_step sum_ns share mean_ns p50_ns p95_ns min_ns max_ns"
    )
    assert {*group.split(), "variants"} <= set(document["groups"][0])


@pytest.mark.parametrize(
    ("selection", "steps_", "sum_us", "outside_us", "groups"),
    [
        (EVERYTHING, 2, 30 + 10 + 40 + 20, 20, {"gemm", "copy", "late"}),
        (Selection(steps=(0, 1)), 2, 30 + 10 + 40, 0, {"gemm", "copy"}),
        (Selection(steps=(0,)), 1, 30 + 10, 0, {"gemm"}),
        (Selection(device=0), 2, 30 + 10 + 20, 20, {"gemm", "late"}),
        (Selection(device=1), 2, 40, 0, {"copy"}),
        (Selection(steps=(0,), device=1), 1, 0, 0, set()),
        (Selection(phase="decode"), 0, 0, 0, set()),
    ],
)
def test_a_selection_holds_in_every_answer(
    tmp_path: Path, selection: Selection, steps_: int, sum_us: int, outside_us: int, groups: set[str]
) -> None:
    asked = session(tmp_path, *TWO_STEPS)
    document = asked.summary(selection)
    assert document["selection"] == selection.as_dict()
    assert document["steps"]["count"] == asked.step_count(selection) == steps_
    assert document["gpu"]["sum_ns"] == sum_us * 1000
    assert document["steps"]["outside"]["sum_ns"] == outside_us * 1000
    assert {group["name"] for group in document["groups"]} == groups
    assert set(asked.selected(selection)["name"].cast(pl.String)) == groups
    assert asked.families(selection)["sum_ns"].sum() == sum_us * 1000
    assert asked.tree(selection, "stream")["sum_ns"].sum() == sum_us * 1000


def test_a_steps_own_figures_are_those_of_the_selected_device(tmp_path: Path) -> None:
    asked = session(tmp_path, *TWO_STEPS)
    assert asked.steps()["sum_ns"].to_list() == [40_000, 40_000]
    assert asked.steps(Selection(device=1))["sum_ns"].to_list() == [0, 40_000]


def test_families_of_each_step_the_largest_first(tmp_path: Path) -> None:
    found = session(tmp_path, *TWO_STEPS).step_families()
    assert found.filter(pl.col("family") == "gemm")["sum_ns"].to_list() == [40_000]
    assert set(found["step"]) == {0, 1}


def test_a_marker_of_ones_own_makes_the_steps(tmp_path: Path) -> None:
    path = write(tmp_path, *({**step, "name": "my loop"} for step in TWO_STEPS[:2]), *TWO_STEPS[3:])
    asked = open_session(path, step_marker="^my")
    assert (asked.found_steps.source, asked.step_count()) == ("annotation", 2)
    for marker, words in (
        ("(", "not a regular expression"),
        ("^nothing", "no annotation of the trace matches"),
    ):
        with pytest.raises(TraceError, match=words) as caught:
            _ = open_session(path, step_marker=marker).found_steps
        assert caught.value.exit_code == 2
        assert "\n" not in caught.value.message


def test_loading_can_be_stopped(tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        open_session(write(tmp_path, *TWO_STEPS), cancelled=lambda: True)


def test_progress_ends_with_all_bytes(tmp_path: Path) -> None:
    seen = []
    path = write(tmp_path, *TWO_STEPS)
    open_session(path, progress=seen.append)
    assert (seen[-1].done_bytes, seen[-1].total_bytes) == (path.stat().st_size, path.stat().st_size)


def test_two_answers_of_one_session_are_the_same(tmp_path: Path) -> None:
    asked = session(tmp_path, *TWO_STEPS, op("aten::mm", 5, 40))
    assert asked.summary() == asked.summary()
    assert asked.report() == asked.report()


def test_the_order_of_the_events_does_not_matter_to_sums(tmp_path: Path) -> None:
    forward = session(tmp_path, *TWO_STEPS).summary()
    backward = session(tmp_path, *reversed(TWO_STEPS)).summary()
    assert forward["groups"] == backward["groups"]
    assert forward["steps"] == backward["steps"]


def test_work_without_any_link_is_one_group_of_one_step(tmp_path: Path) -> None:
    document = session(tmp_path, kernel("k", 5, 10)).summary()
    assert (document["steps"]["source"], document["steps"]["count"], len(document["groups"])) == (
        "none",
        1,
        1,
    )
