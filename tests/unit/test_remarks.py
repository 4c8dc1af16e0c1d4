"""What is said of a group beside its row, and the number of layers behind it."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.traces import CAST, Event, kernel, launch, launched, op, session, steps
from traceview.analysis.assumed import parse_assumption
from traceview.analysis.remarks import Layers, layers
from traceview.api import Session
from traceview.selection import EVERYTHING


def remark(asked: Session, family: str) -> str:
    (row,) = asked.tree(EVERYTHING, "kernel", (family,)).iter_rows(named=True)
    return str(row["remark"])


@pytest.mark.parametrize(
    ("per_step", "found"),
    [
        ([78, 78, 78, 1, 2], 78),
        ([78, 78, 156, 1], None),  # two kernels are no pattern
        ([3, 3, 3], None),  # nor is a count that a handful of calls can have
        ([4, 4, 4], 4),
        ([78.5, 78.5, 78.5], None),
        ([78, 78, 78, 156, 156, 156], 156),  # of two patterns the larger
        ([], None),
    ],
)
def test_layers_are_the_count_that_most_kernels_share(per_step: list[float], found: int | None) -> None:
    groups = pl.DataFrame({"calls_per_step": per_step}, schema={"calls_per_step": pl.Float64})
    assert layers(groups) == found


def cast(folder: Path, *grids: tuple[int, ...], types: list[str] | None = None) -> Session:
    """One launch of the cast a grid, each for an op of its own."""
    events: list[Event] = []
    for i, grid in enumerate(grids):
        at = 1000 * i
        events += [op("aten::copy_", at, 50, dims=[[8, 16], [8, 16], []], types=types), launch(at + 5, 1 + i)]
        events.append(kernel(CAST, at + 100, 10, 1 + i, grid=grid))
    return session(folder, *events)


def test_a_cast_says_from_which_type_to_which(tmp_path: Path) -> None:
    asked = cast(tmp_path, (64, 1, 1), types=["c10::BFloat16", "c10::Float8_e4m3fn", "Scalar"])
    assert "casts fp8 -> bf16" in remark(asked, "copy-cast")


def test_equal_launches_and_one_grid_are_said(tmp_path: Path) -> None:
    said = remark(cast(tmp_path, (557496, 1, 1), (557496, 1, 1)), "copy-cast")
    assert "all 2 alike" in said
    assert "grid 557,496" in said


def test_the_floor_is_said_before_the_grid_and_marked_where_sizes_are_assumed(tmp_path: Path) -> None:
    h100 = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]
    dims, types = [[1 << 26], [1 << 26]], ["c10::BFloat16", "c10::Float8_e4m3fn"]
    # 192 MiB at 3,350 GB/s are 60.1 us.
    call = [launch(5, 1), kernel(CAST, 100, 600, 1, grid=(1 << 17, 1, 1))]
    recorded = session(
        tmp_path, op("aten::copy_", 0, 50, dims=dims, types=types), *call, deviceProperties=h100
    )
    said = remark(recorded, "copy-cast").split(" · ")
    assert said[-2:] == ["10.0x floor", "grid 131,072"]
    silent = session(tmp_path, op("aten::copy_", 0, 50), *call, deviceProperties=h100)
    typed = parse_assumption("dims=[67108864] [67108864] types=bf16 float8_e4m3fn")
    assert "≈10.0x floor" in remark(silent.assume(0, typed), "copy-cast")


def test_several_grids_are_variants(tmp_path: Path) -> None:
    said = remark(cast(tmp_path, (64, 1, 1), (72, 1, 1)), "copy-cast")
    assert "2 variants" in said
    assert "grid" not in said


def test_a_count_per_step_is_put_beside_the_layers(tmp_path: Path) -> None:
    # Three kernels run four times a step, a fourth eight times.
    events: list[Event] = steps(0, dur=10_000)
    for call in range(4):
        for number, name in enumerate(
            ["gemm_x", "rms_norm_kernel", "silu_and_mul", "topk_softmax", "topk_softmax"]
        ):
            at = 1000 * call + 100 * number
            events += launched(name, at, at + 50, 5, 10 * call + number + 1)
    asked = session(tmp_path, *events)
    assert asked.layers == Layers(4, recorded=False)
    assert "4/step ≈ layers" in remark(asked, "gemm")
    (twice,) = (row for row in asked.tree(EVERYTHING, "kernel").iter_rows(named=True) if row["calls"] == 8)
    assert "8/step ≈ 2 x layers" in twice["remark"]


@pytest.mark.parametrize(("longest", "said"), [(10, False), (100, True)])
def test_a_tail_far_above_the_median_is_said(tmp_path: Path, longest: float, said: bool) -> None:
    asked = session(
        tmp_path, *(kernel("gemm_x", 200 * i + 1, dur) for i, dur in enumerate([5, 5, 5, longest]))
    )
    assert ("x p50" in remark(asked, "gemm")) == said


@pytest.mark.parametrize("grid", [None, (), (0, 1, 1), (-1,), (2**40, 2**40, 2**40)])
def test_odd_grids_do_no_harm(tmp_path: Path, grid: Any) -> None:
    remark(session(tmp_path, kernel("gemm_x", 1, 5, grid=grid), kernel("gemm_x", 9, 5, grid=grid)), "gemm")
