"""Finding the GPU behind a trace's deviceProperties."""

from pathlib import Path
from typing import Any

import pytest

from traceview.analysis.gpus import Overrides, built_in, find_gpu, load_table
from traceview.errors import TraceError

GIB = 1 << 30


def device(
    name: str, sms: int | None = None, memory: int | None = None, capability: str = "9.0"
) -> dict[str, Any]:
    major, minor = map(int, capability.split("."))
    numbers = {"numSms": sms, "totalGlobalMem": memory}
    return {
        "name": name,
        "computeMajor": major,
        "computeMinor": minor,
        **{k: v for k, v in numbers.items() if v},
    }


@pytest.mark.parametrize(
    ("properties", "bandwidth", "bf16", "confidence"),
    [
        (device("NVIDIA H100 80GB HBM3", 132, 85029158912), 3350, 989, "sure"),
        (device("NVIDIA H100 PCIe", 114, 85029158912), 2000, 756, "sure"),
        (device("NVIDIA H100", 114, 85029158912), 2000, 756, "sure"),
        (device("NVIDIA H100", 132, 85029158912), 3350, 989, "sure"),
        (device("NVIDIA H200", 132, 150110011392), 4800, 989, "sure"),
        (device("NVIDIA H20", 78, 96 * GIB), 4000, 148, "sure"),
        (device("NVIDIA A100-SXM4-80GB", 108, 84990623744, "8.0"), 2039, 312, "sure"),
        (device("NVIDIA A100-PG509-200", 108, 42297524224, "8.0"), 1555, 312, "sure"),
        (device("NVIDIA A100-PG509-200", 108, 84990623744, "8.0"), 2039, 312, "sure"),
        (device("NVIDIA GH200 480GB", 132, 143 * GIB), 4900, 989, "unsure"),
        (device("NVIDIA GH200 480GB", 132, 95 * GIB), 4000, 989, "unsure"),
        (device("NVIDIA B200", 148, 191503138816, "10.0"), 7700, 2250, "sure"),
        (device("AMD Instinct MI300X VF", 304, 206141652992, "9.4"), 5300, 1307.4, "sure"),
        (
            device("NVIDIA RTX PRO 6000 Blackwell Server Edition", 188, 101963005952, "12.0"),
            1792,
            503.8,
            "unsure",
        ),
    ],
)
def test_by_name_then_by_size(
    properties: dict[str, Any], bandwidth: float, bf16: float, confidence: str
) -> None:
    gpu = find_gpu(properties)
    assert gpu is not None
    assert gpu.bandwidth_gbs is not None
    assert (gpu.bandwidth_gbs.value, gpu.bandwidth_gbs.confidence) == (bandwidth, confidence)
    peak = gpu.peak_tflops("bf16")
    assert peak is not None
    assert peak.value == bf16
    assert gpu.matched_by == "name"


@pytest.mark.parametrize("name", ["ACME X9", "NVIDIA H2000", "NVIDIA", "h100", "Tesla V100-SXM2-64GB?"])
def test_an_unknown_gpu_has_no_peaks(name: str) -> None:
    assert find_gpu(device(name, 132, 80 * GIB)) is None


def test_nothing_at_all_is_unknown() -> None:
    assert find_gpu({}) is None
    assert find_gpu({"name": None, "numSms": "132", "totalGlobalMem": True}) is None


def test_a_device_without_a_name_is_found_by_its_size() -> None:
    gpu = find_gpu(device("", 304, 206141652992, "9.4"))
    assert gpu is not None
    assert gpu.bandwidth_gbs is not None
    assert (gpu.name, gpu.matched_by) == ("AMD Instinct MI300X", "size")
    assert (gpu.bandwidth_gbs.value, gpu.bandwidth_gbs.confidence) == (5300, "unsure")
    assert "has no name" in gpu.notes[-1]
    assert find_gpu(device("", 304, 206141652992, "9.0")) is None
    assert find_gpu(device("", 304)) is None
    assert find_gpu(device("", 132, 85029158912)) is not None  # H100 and H800 agree on the bandwidth


def test_a_wrong_multiprocessor_count_lowers_the_confidence() -> None:
    gpu = find_gpu(device("NVIDIA H100 80GB HBM3", 120, 85029158912))
    assert gpu is not None
    assert gpu.bandwidth_gbs is not None
    assert (gpu.bandwidth_gbs.value, gpu.bandwidth_gbs.confidence, gpu.multiprocessors) == (
        3350,
        "unsure",
        120,
    )
    assert "120 multiprocessors, the table has 132" in gpu.notes[0]


@pytest.mark.parametrize("number", [10**20, 10**400, float("inf"), -1, 0.5, True, "132"])
def test_a_number_that_no_device_has_is_unknown(number: Any) -> None:
    gpu = find_gpu({"name": "NVIDIA H200", "numSms": number, "totalGlobalMem": number})
    assert gpu
    assert (gpu.multiprocessors, gpu.notes) == (132, ())


def test_a_mig_slice_is_scaled_by_its_multiprocessors() -> None:
    gpu = find_gpu(device("NVIDIA A100-SXM4-80GB MIG 1g.10gb", 14, 10 * GIB, "8.0"))
    assert gpu is not None
    assert gpu.bandwidth_gbs is not None
    assert gpu.bandwidth_gbs.value == pytest.approx(2039 * 14 / 108)
    assert gpu.bandwidth_gbs.confidence == "derived"
    peak = gpu.peak_tflops("bf16")
    assert peak is not None
    assert peak.value == pytest.approx(312 * 14 / 108)


def test_peaks_by_type() -> None:
    h100, v100 = find_gpu(device("NVIDIA H100 80GB HBM3", 132)), find_gpu(device("Tesla V100-SXM2-32GB", 80))
    assert h100 is not None
    assert v100 is not None
    peaks = {
        t: h100.peak_tflops(t) for t in ("bf16", "fp16", "float8_e4m3fn", "tf32", "float4_e2m1fn_x2", "int64")
    }
    assert {t: f.value if f else None for t, f in peaks.items()} == {
        "bf16": 989, "fp16": 989, "float8_e4m3fn": 1979, "tf32": 494.5,
        "float4_e2m1fn_x2": None, "int64": None,
    }  # fmt: skip
    fp16 = v100.peak_tflops("fp16")
    assert fp16 is not None
    assert (v100.peak_tflops("bf16"), fp16.value) == (None, 125)


def test_what_the_person_says_wins(tmp_path: Path) -> None:
    own = tmp_path / "gpus.toml"
    own.write_text('[[gpu]]\nnames = ["ACME X9"]\nbandwidth_gbs = 900\ntflops.bf16 = { value = 80 }\n')
    acme = find_gpu(device("ACME X9", 40), Overrides(table=load_table(own)))
    assert acme is not None
    assert acme.bandwidth_gbs is not None
    assert (acme.bandwidth_gbs.value, acme.bandwidth_gbs.confidence) == (900, "given")
    assert str(own) in acme.bandwidth_gbs.source

    said = find_gpu(device("NVIDIA H100 80GB HBM3", 132), Overrides(peak_bandwidth_gbs=3000, peak_tflops=700))
    assert said is not None
    assert said.bandwidth_gbs is not None
    peak = said.peak_tflops(None)
    assert peak is not None
    assert (said.bandwidth_gbs.value, said.bandwidth_gbs.source, peak.value) == (3000, "given", 700)

    unknown = find_gpu(device("ACME X9", 40), Overrides(peak_bandwidth_gbs=900))
    assert unknown is not None
    assert (unknown.name, unknown.matched_by, unknown.tflops) == ("ACME X9", "given", {})


@pytest.mark.parametrize(
    "text",
    [
        '[[gpu]]\nnames = "x"',
        "[[gpu]]",
        "[[",
        "gpu = 3",
        '[[gpu]]\nnames = ["x"]\nmemory_gib = "80"',
        '[[gpu]]\nnames = ["x"]\nbandwidth_gbs = "fast"',
    ],
)
def test_a_faulty_table_is_one_plain_line(tmp_path: Path, text: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text)
    with pytest.raises(TraceError, match="not a GPU table") as caught:
        load_table(own)
    assert caught.value.exit_code == 2
    with pytest.raises(TraceError, match="cannot be read"):
        load_table(tmp_path / "absent.toml")


def test_every_built_in_figure_has_a_source() -> None:
    for entry in built_in():
        figures = [entry.bandwidth_gbs, entry.l2_mb, *entry.tflops.values()]
        assert entry.bandwidth_gbs is not None
        assert entry.tflops
        assert all("(" in f.source and f.value > 0 for f in figures if f)
