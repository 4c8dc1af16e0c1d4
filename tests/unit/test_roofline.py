"""Rates, floors, bounds and occupancy."""

from typing import Any

import polars as pl
import pytest

from traceview.analysis.gpus import Gpu, Overrides, find_gpu
from traceview.analysis.roofline import explain, occupancy, roofline
from traceview.analysis.sizes import SIZES

H100 = {"name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85029158912, "numSms": 132}
RTX = {"name": "NVIDIA RTX PRO 6000 Blackwell Server Edition", "numSms": 188, "totalGlobalMem": 101963005952}


def rates(
    gpu: Gpu | None, dur_ns: int | None, moved: int | None, flops: int | None = None, **more: Any
) -> dict[str, Any]:
    row = {"bytes": moved, "bytes_low": moved, "traffic_bytes": moved, "flops": flops, **more}
    frame = pl.DataFrame(
        [{**dict.fromkeys(SIZES), **row}], schema={**SIZES, "blocks": pl.Int64}, strict=False
    )
    return roofline(frame, pl.Series([dur_ns], dtype=pl.Int64), gpu).row(0, named=True)


def test_a_dense_add_on_an_h100() -> None:
    """402,653,184 B in 150 us are 2684.35 GB/s, 80.1 % of 3350; the floor is 120.2 us."""
    row = rates(find_gpu(H100), 150_000, 402_653_184, 8192 * 8192, blocks=65536)
    assert row["bandwidth_gbs"] == pytest.approx(2684.35, abs=0.01)
    assert row["peak_bandwidth_fraction"] == pytest.approx(0.8013, abs=0.0001)
    assert (row["floor_ns"], row["bound"], row["suspect"]) == (120_195, "memory", False)


def test_a_broadcast_add_counts_the_row_once() -> None:
    row = rates(find_gpu(H100), 100_000, 268_451_840, 8192 * 8192, blocks=131072)
    assert row["bandwidth_gbs"] == pytest.approx(2684.52, abs=0.01)
    assert row["suspect"] is False


def test_bytes_that_ignore_the_broadcast_are_marked() -> None:
    row = rates(find_gpu(H100), 100_000, 402_653_184)
    assert row["peak_bandwidth_fraction"] == pytest.approx(1.202, abs=0.001)
    assert row["suspect"] is True
    assert row["fits_cache"] is False


def test_a_matrix_product_is_compute_bound() -> None:
    """2 x 4096^3 FLOPs in 200 us are 687.2 TFLOP/s, 69.5 % of 989; 1365 FLOPs a byte."""
    row = rates(find_gpu(H100), 200_000, 100_663_296, 2 * 4096**3, compute_dtype="bf16", blocks=512)
    assert row["tflops"] == pytest.approx(687.19, abs=0.01)
    assert row["peak_tflops_fraction"] == pytest.approx(0.6948, abs=0.0001)
    assert row["intensity"] == pytest.approx(1365.33, abs=0.01)
    assert (row["memory_floor_ns"], row["compute_floor_ns"], row["floor_ns"]) == (30_049, 138_968, 138_968)
    assert (row["bound"], row["suspect"]) == ("compute", False)


def test_an_unknown_device_has_a_rate_and_no_fraction() -> None:
    row = rates(find_gpu({"name": "ACME X9", "numSms": 40}), 10_000, 12_582_912, 1_048_576)
    assert row["bandwidth_gbs"] == pytest.approx(1258.29, abs=0.01)
    assert [row[k] for k in ("peak_bandwidth_fraction", "floor_ns", "bound", "waves", "fits_cache")] == [
        None
    ] * 5
    assert row["suspect"] is False


@pytest.mark.parametrize(("peak", "floor"), [(None, 477_854), (1800.0, 475_730)])
def test_the_cast_of_the_kv_cache(peak: float | None, floor: int) -> None:
    gpu = find_gpu(RTX, Overrides(peak_bandwidth_gbs=peak))
    row = rates(gpu, 828_205, 856_313_856, 0, blocks=557_496)
    assert row["floor_ns"] == floor
    assert row["bandwidth_gbs"] == pytest.approx(1033.9, abs=0.05)
    assert row["bound"] == "memory"
    assert row["waves"] == pytest.approx(557_496 / 188)
    assert row["tail"] == pytest.approx(1 - (557_496 / 188) % 1)


def worked(
    properties: dict[str, Any], dur_ns: int | None, moved: int | None, flops: int | None, **more: Any
) -> list[str]:
    gpu = find_gpu(properties)
    sizes = {**dict.fromkeys(SIZES), "traffic_bytes": moved, "flops": flops, **more}
    return explain(sizes, rates(gpu, dur_ns, moved, flops, **more), dur_ns, gpu)


def test_the_floor_line_by_line() -> None:
    assert worked(RTX, 828_205, 856_313_856, 0, blocks=557_496) == [
        "memory floor = 856,313,856 B / 1,792 GB/s = 477,854 ns",
        "peak bandwidth 1,792 GB/s: built-in table (aiconfigurator), unsure",
        "achieved 1,033.9 GB/s in 828,205 ns, 57.7% of the peak",
        "1.73 x the floor of 477,854 ns",
        "557,496 blocks / 188 multiprocessors = 2,965.4 waves; 40% of the last wave's places are filled",
    ]
    product = worked(H100, 200_000, 100_663_296, 2 * 4096**3, compute_dtype="bf16")
    assert product[2] == "compute floor = 137,438,953,472 FLOP / 989 TFLOP/s = 138,968 ns"
    assert product[5] == "achieved 687.2 TFLOP/s in 200,000 ns, 69.5% of the peak"
    assert worked(H100, 100_000, 402_653_184, 0)[-1] == "above the peak: the model or the peak is wrong"
    assert worked(H100, 1_000, 33_500_000, 0)[-1] == "above the peak: the data fits the second-level cache"
    unknown = worked({"name": "ACME X9", "numSms": 40}, 10_000, 12_582_912, 1_048_576)
    assert unknown == ["achieved 1,258.3 GB/s in 10,000 ns, peak unknown"]
    assert worked(H100, None, None, None) == []


@pytest.mark.parametrize(
    ("moved", "blocks", "bound"),
    [
        (3350 * 1999, 131, "latency"),  # a floor of 2 us less a little, and one multiprocessor idle
        (3350 * 1999, 132, "memory"),
        (3350 * 2001, 131, "memory"),
        (3350 * 1999, None, "latency"),
        (3350 * 499, 100_000, "latency"),
        (3350 * 501, 100_000, "memory"),
    ],
)
def test_latency_bound_is_a_floor_below_what_a_launch_takes(
    moved: int, blocks: int | None, bound: str
) -> None:
    assert rates(find_gpu(H100), 5_000, moved, 0, blocks=blocks)["bound"] == bound


def test_the_bound_is_unknown_where_the_other_roof_could_be_lower() -> None:
    product = {"flops": 2 * 4096**3, "moved": 100_663_296, "blocks": 512}
    assert rates(find_gpu(H100), 200_000, compute_dtype=None, **product)["bound"] is None
    assert rates(find_gpu(H100), 200_000, None, 2 * 4096**3, compute_dtype="bf16")["bound"] is None
    given = find_gpu(H100, Overrides(peak_tflops=500))
    assert rates(given, 200_000, compute_dtype=None, **product)["bound"] == "compute"


@pytest.mark.parametrize("dur_ns", [None, 0])
def test_no_duration_no_rate(dur_ns: int | None) -> None:
    row = rates(find_gpu(H100), dur_ns, 402_653_184, 10)
    assert [row[k] for k in ("bandwidth_gbs", "tflops", "peak_bandwidth_fraction")] == [None] * 3
    assert row["floor_ns"] == 120_195


def test_a_range_is_reckoned_from_its_lower_end() -> None:
    row = rates(find_gpu(H100), 100_000, 402_653_184, bytes_low=33_500_000, traffic_bytes=33_500_000)
    assert (row["bandwidth_gbs"], row["floor_ns"], row["suspect"]) == (335.0, 10_000, False)


def test_a_range_is_latency_bound_only_if_its_upper_end_is() -> None:
    low = {"bytes_low": 1000, "traffic_bytes": 1000, "blocks": 1000}
    assert rates(find_gpu(H100), 100_000, 402_653_184, **low)["bound"] == "memory"
    assert rates(find_gpu(H100), 100_000, 2_000, **low)["bound"] == "latency"


def test_floors_round_half_to_even() -> None:
    gpu = Gpu("x", "given", bandwidth_gbs=None)
    assert rates(gpu, 1, 5)["floor_ns"] is None
    two = find_gpu({}, Overrides(peak_bandwidth_gbs=2))
    assert [rates(two, 1, n)["floor_ns"] for n in (1, 3, 5)] == [0, 2, 2]


def test_a_collective_has_two_rates() -> None:
    row = rates(find_gpu(H100), 1_000, 12_288, 0, bus_bytes=21_504, traffic_bytes=None)
    assert (row["bandwidth_gbs"], row["bus_bandwidth_gbs"], row["peak_bandwidth_fraction"]) == (
        12.288,
        21.504,
        None,
    )


SM90 = {
    "warpSize": 32, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536,
    "sharedMemPerMultiprocessor": 233472, "computeMajor": 9, "computeMinor": 0,
}  # fmt: skip
SM120 = {
    **SM90,
    "maxThreadsPerMultiprocessor": 1536,
    "sharedMemPerMultiprocessor": 102400,
    "computeMajor": 12,
}


def resident(
    block: Any, registers: int | None, shared: int | None, device: dict[str, Any]
) -> tuple[Any, ...]:
    launch = pl.DataFrame(
        {"block": [block], "registers_per_thread": [registers], "shared_memory_bytes": [shared]},
        schema={
            "block": pl.List(pl.Int64),
            "registers_per_thread": pl.Int64,
            "shared_memory_bytes": pl.Int64,
        },
    )
    return occupancy(launch, device).row(0)


@pytest.mark.parametrize(
    ("block", "registers", "shared", "device", "expected"),
    [
        ([128, 1, 1], 32, 0, SM90, (16, 1.0, "warps")),
        # 168 x 32 = 5376 a warp: 12 warps fit, a block has 12; shared memory also allows one
        ([384, 1, 1], 168, 231424, SM90, (1, 12 / 64, "registers")),
        # 80 x 32 = 2560: 25 warps, 24 in fours: 6 blocks of 4
        ([128, 1, 1], 80, 25600, SM90, (6, 24 / 64, "registers")),
        # 24 warps again: 4 blocks of 5, where 25 would hold 5
        ([160, 1, 1], 80, 0, SM90, (4, 20 / 64, "registers")),
        # 49152 + 1024 B: 4 blocks of 8 warps
        ([256, 1, 1], 32, 49152, SM90, (4, 32 / 64, "shared memory")),
        ([32, 1, 1], 16, 0, SM90, (32, 32 / 64, "blocks")),
        ([32, 1, 1], 16, 0, SM120, (24, 24 / 48, "blocks")),
        ([128, 1, 1], 32, 0, SM120, (12, 1.0, "warps")),
        ([33, 1, 1], 32, 0, SM90, (32, 1.0, "warps")),  # 33 threads take two warps
        ([1024, 1, 1], 255, 0, SM90, (None, None, None)),  # does not fit
        ([128, 1, 1], None, 0, SM90, (None, None, None)),
        (None, 32, 0, SM90, (None, None, None)),
        ([128, 1, 1], 32, 0, {**SM90, "warpSize": 64}, (None, None, None)),
        ([128, 1, 1], 32, 0, {"numSms": 132}, (None, None, None)),
    ],
)
def test_theoretical_occupancy(block: Any, registers: Any, shared: Any, device: Any, expected: Any) -> None:
    assert resident(block, registers, shared, device) == expected
