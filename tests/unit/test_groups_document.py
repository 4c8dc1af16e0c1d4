"""The Kernels screen as a document: by which keys, what it adds up to, what a row could save."""

from pathlib import Path

import pytest

from tests.traces import launched, op, session, steps

# Two steps; a cast of [1024] floats to bf16 takes 10 us in each, and a kernel without a model 30.
CAST = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda"
    "(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, "
    "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)"
)
EVENTS = [
    *steps(0, 100, dur=100),
    op("aten::copy_", 0, 9, 1, dims=[[1024], [1024]], types=["c10::BFloat16", "float"]),
    *launched(CAST, 1, 10, 10, 1, external=1),
    *launched("mystery", 20, 30, 30, 2),
    *launched(CAST, 101, 110, 10, 3, external=1),
    *launched("mystery", 120, 130, 30, 4),
]


@pytest.mark.parametrize("by", ["kernel", "family", "op", "module", "python", "annotation", "stream"])
def test_rows_add_up_to_all_gpu_work(tmp_path: Path, by: str) -> None:
    document = session(tmp_path, *EVENTS).groups_document(by=by)
    assert (document["total_ns"], document["steps"]) == (80_000, 2)
    assert sum(row["sum_ns"] for row in document["rows"]) == 80_000
    assert sum(row["share"] for row in document["rows"]) == pytest.approx(1)


def test_a_cast_could_go_and_what_has_no_floor_is_unknown(tmp_path: Path) -> None:
    mystery, cast = session(tmp_path, *EVENTS).groups_document()["rows"]
    assert (mystery["label"], mystery["per_step_ns"], mystery["saves_ns"]) == ("mystery", 30_000, None)
    assert (cast["family"], cast["per_step_ns"], cast["saves_ns"]) == ("copy-cast", 10_000, 10_000)
