"""What is printed for one small decode trace, byte for byte.

A change of the output shows as a difference of the files in tests/golden. To accept it:
`TRACEVIEW_GOLDEN=write make test ARGS='-k golden'`, and look at what git says has changed.
"""

import os
from pathlib import Path

import pytest

from tests.traces import CAST, Event, copy, frame, gpu_marker, kernel, launch, marker, op, write
from traceview import __version__
from traceview.cli import main
from traceview.units import cell_width

GOLDEN = Path(__file__).parent.parent / "golden"

GEMM = (
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel__5x_cublas"
)
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
HOSTILE = "odd|name`[/red]\x1b[31m\nsecond line"
HEADER = {
    "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}],
    "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
    "baseTimeNanoseconds": 1_771_000_000_000_000_000,
    "record_shapes": 1,
    "with_stack": 1,
}


def decode_trace() -> list[Event]:
    """Three steps of two layers: a cast, a matrix product and a collective each, then a copy of the result.

    In the second step the host is slow; the last kernel of the third runs past its end; one is outside.
    """
    events: list[Event] = []
    correlation = 0

    def add(name: str, at: float, ts: float, dur: float, of: str, stream: int = 7, grid: int = 1) -> None:
        nonlocal correlation
        correlation += 1
        dims, types = [[4096, 1, 576], [4096, 1, 576], []], ["c10::BFloat16", "c10::Float8_e4m3fn", "Scalar"]
        events.append(op(of, at, 4, correlation, dims=dims, types=types))
        events.append(launch(at + 1, correlation, dur=2, external=correlation))
        events.append(
            kernel(name, ts, dur, correlation, external=correlation, stream=stream, grid=(grid, 1, 1))
        )

    begin = 1000.0
    for step, length in enumerate([400, 620, 400]):
        events.append(marker(f"ProfilerStep#{step}", begin, length))
        events.append(gpu_marker(f"ProfilerStep#{step}", begin + 20, length))
        events.append(frame("serve.py(120): decode_step", begin, length - 10, 10 * step + 1))
        for layer in range(2):
            at = begin + 10 + 150 * layer + (220 if layer and length > 400 else 0)
            events.append(frame(f"nn.Module: DecoderLayer_{layer}", at, 60, 10 * step + 2 + 2 * layer))
            events.append(frame("attention.py(455): forward_decode", at + 1, 50, 10 * step + 3 + 2 * layer))
            add(CAST, at + 5, at + 30, 60.5 + layer, "aten::copy_", grid=4608)
            add(GEMM, at + 15, at + 100, 30.25, "aten::mm", grid=132)
            add(NCCL, at + 25, at + 110, 40, "c10d::allreduce_", stream=20, grid=24)
        begin += length
    correlation += 1
    events.append(launch(begin - 30, correlation, name="cudaMemcpyAsync"))
    events.append(copy("Memcpy DtoH (Device -> Pinned)", begin - 5, 12.5, correlation, bytes=256))
    events += [kernel(HOSTILE, begin + 40, 3, 900), kernel(HOSTILE, 0, 0, 901)]
    return events


OUTPUTS = {
    "report.md": ["report"],
    "report_step.md": ["report", "--steps", "1", "--top", "2"],
    "summary.txt": ["summary"],
    "summary_80.txt": ["summary"],
    "summary.md": ["summary", "--format", "markdown"],
    "summary.csv": ["summary", "--format", "csv"],
    "launches.txt": ["launches", "--sort", "dur", "--limit", "6"],
    "launches.md": ["launches", "--format", "markdown", "--limit", "6"],
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_golden(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, *decode_trace(), name="decode.json", **HEADER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80" if "80" in name else "100")
    command, *options = OUTPUTS[name]
    assert main([command, "decode.json", *options]) == 0
    found = capsys.readouterr().out.replace(f"traceview {__version__}", "traceview VERSION")
    if os.environ.get("TRACEVIEW_GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(found, encoding="utf-8")
    assert found == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in OUTPUTS if name.endswith((".md", ".txt"))])
def test_golden_pages_fit(name: str) -> None:
    text = (GOLDEN / name).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if not line.startswith("- ")]
    assert max(map(cell_width, rows)) <= (80 if "80" in name else 100)
    assert all(char == "\n" or char.isprintable() for char in text)
