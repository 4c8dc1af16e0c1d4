"""Which calls of the host count as launches, with or without their work in the file."""

from pathlib import Path

import pytest

from tests.traces import Event, copy, kernel, launch, session
from traceview.analysis.attribution import launch_calls


def calls(folder: Path, *events: Event) -> dict[str, bool]:
    """Launch calls by name, and whether their work is in the file."""
    found = launch_calls(session(folder, *events).trace)
    return dict(found.select("name", "has_work").iter_rows())


def test_calls_that_put_work_on_a_gpu_are_counted_with_or_without_it(tmp_path: Path) -> None:
    found = calls(
        tmp_path,
        launch(0, 1, name="cudaLaunchKernel"),
        launch(10, 2, name="cudaMemcpyAsync"),
        launch(20, 3, name="cudaDeviceSynchronize"),
        launch(30, 4, name="cudaStreamIsCapturing"),
        launch(40, 5, name="someVendorLaunch"),
        kernel("k", 50, 5, 1),
        kernel("k", 60, 5, 5),
    )
    assert found == {"cudaLaunchKernel": True, "cudaMemcpyAsync": False, "someVendorLaunch": True}


@pytest.mark.parametrize(
    ("name", "launches"),
    [
        ("cudaLaunchKernelExC", True),
        ("cudaLaunchCooperativeKernel", True),
        ("cuLaunchKernelEx", True),
        ("cudaGraphLaunch", True),
        ("cudaMemsetAsync", True),
        ("cudaMemcpy2DAsync", True),
        ("hipLaunchKernel", True),
        ("hipExtModuleLaunchKernel", True),
        ("hipModuleLaunchKernel", True),
        ("hipGraphLaunch", True),
        ("hipMemcpyWithStream", True),
        ("cudaLaunchHostFunc", False),
        ("cudaEventRecord", False),
        ("cudaStreamSynchronize", False),
        ("cudaGraphInstantiate", False),
        ("cudaGraphAddMemcpyNode", False),
        ("cudaGraphExecMemcpyNodeSetParams", False),
        ("cudaPointerGetAttributes", False),
    ],
)
def test_launch_calls_are_known_by_name_where_their_work_is_missing(
    tmp_path: Path, name: str, launches: bool
) -> None:
    found = calls(tmp_path, launch(0, 1, name=name), kernel("other", 5, 1, 2))
    assert (name in found) == launches


def test_a_graph_launch_is_one_call(tmp_path: Path) -> None:
    host = session(
        tmp_path,
        launch(0, 1, name="cudaGraphLaunch", dur=12),
        *(kernel("k", 20 + i, 1, 1) for i in range(4)),
        launch(30, 2, dur=4),
        copy("Memcpy HtoD (Pinned -> Device)", 40, 1, 2),
    ).host()
    assert (host["launches"], host["launch_ns"]) == (2, 12_000 + 4_000)
    assert (host["launches_without_gpu_work"], host["gpu_work_without_launch"]) == (0, 0)


def test_work_whose_call_is_unclear_is_not_work_without_a_launch(tmp_path: Path) -> None:
    host = session(
        tmp_path,
        launch(0, 5, pid=1),
        launch(1, 5, pid=2),
        kernel("ambiguous", 10, 1, 5),
        kernel("before the window", 20, 1, 4),
        kernel("no id", 30, 1),
    ).host()
    assert host["gpu_work_without_launch"] == 2
