"""Elements from shapes and from launch geometry."""

# ruff: noqa: E501 (kernel names are long)

from typing import Any

import polars as pl
import pytest

from traceview.analysis.sizing import geometry, grid_blocks

UNROLLED = "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(X)::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>, 4, Y>(int)"
VECTOR_4 = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"
VECTOR_8 = "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)"
EARLY = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)"
BYTE_FILL = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<unsigned char>, std::array<char*, 1ul> >(int)"
NEWEST = "void at::native::vectorized_elementwise_kernel<128, 16, 4, 1, 2, 8, true, true, at::native::FillFunctor<float>, A>(int)"
PLAIN = "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float> >(X)::{lambda(int)#1}>(int)"
REDUCE = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4> >(X)"


def bounds(name: str, grid: list[int], block: list[int], rocm: bool = False) -> tuple[Any, Any]:
    launch = pl.DataFrame({"name": [name], "grid": [grid], "block": [block]})
    row = geometry(launch, rocm).row(0, named=True)
    return row["elements_low"], row["elements"]


@pytest.mark.parametrize(
    ("name", "grid", "low", "high"),
    [
        (UNROLLED, [557496, 1, 1], 557495 * 512 + 1, 285437952),
        (PLAIN, [10, 2, 1], 19 * 256 + 1, 20 * 256),
        (VECTOR_4, [2048, 1, 1], 2047 * 512 + 1, 2048 * 1024),  # 4 or 8 a thread
        (VECTOR_8, [2048, 1, 1], 2047 * 1024 + 1, 2048 * 1024),  # two bytes: 8 in both epochs
        (EARLY, [2048, 1, 1], 2047 * 512 + 1, 2048 * 512),
        (BYTE_FILL, [8, 1, 1], 7 * 512 + 1, 8 * 2048),  # 4 or 16
        (NEWEST, [100, 1, 1], 97 * 2048 + 1, 100 * 2048),  # up to two boundary blocks
        (UNROLLED, [1, 1, 1], 1, 512),
    ],
)
def test_geometry_bounds_elementwise_kernels(name: str, grid: list[int], low: int, high: int) -> None:
    assert bounds(name, grid, [128, 1, 1]) == (low, high)


@pytest.mark.parametrize(
    "name",
    [REDUCE, "void at::native::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>(X)", "nvjet_tst_64x8", ""],
)
def test_other_kernels_give_no_bound(name: str) -> None:
    assert bounds(name, [100, 1, 1], [128, 1, 1]) == (None, None)


@pytest.mark.parametrize("grid", [None, [], [0, 1, 1], [-1, 1, 1], [2**31, 2**31, 2**31], [1, 1, 1, 1]])
def test_a_grid_that_is_missing_or_mad_gives_no_bound(grid: Any) -> None:
    launch = pl.DataFrame(
        {"name": [UNROLLED], "grid": [grid], "block": [[128, 1, 1]]},
        schema={"name": pl.String, "grid": pl.List(pl.Int64), "block": pl.List(pl.Int64)},
    )
    assert geometry(launch).row(0, named=True)["elements"] is None
    assert grid_blocks(launch).to_list() == [None]


def test_the_widest_vector_tells_the_torch_version_for_all() -> None:
    """vec 8 does not exist up to torch 2.5, so the float kernel has 8 elements a thread where sizes allow."""
    launches = pl.DataFrame(
        {"name": [VECTOR_4, VECTOR_8], "grid": [[10, 1, 1]] * 2, "block": [[128, 1, 1]] * 2}
    )
    assert geometry(launches)["per_thread_high"].to_list() == [8, 8]


def test_known_elements_tell_the_torch_version_for_all() -> None:
    """100,000 elements in 196 blocks are 4 a thread, so a launch without shapes has 4 too."""
    launches = pl.DataFrame(
        {
            "name": [VECTOR_4] * 2,
            "grid": [[196, 1, 1], [10, 1, 1]],
            "block": [[128, 1, 1]] * 2,
            "elements": [100_000, None],
        }
    )
    found = geometry(launches)
    assert found["elements"].to_list() == [196 * 512, 10 * 512]
    assert found["elements_low"].to_list() == [195 * 512 + 1, 9 * 512 + 1]


def test_rocm_elements_a_thread_depend_on_chip_and_build() -> None:
    name = VECTOR_4.replace("elementwise_kernel<4", "elementwise_kernel<8")
    assert bounds(name, [10, 1, 1], [256, 1, 1], rocm=True) == (9 * 256 * 8 + 1, 10 * 256 * 16)


def test_rocm_grids_in_work_items_become_blocks() -> None:
    launches = pl.DataFrame(
        {
            "name": ["Cijk_Alik_Bljk_BBS_BH_MT256x32x64", "void at::native::reduce_kernel<512, 1, X>(Y)"],
            "grid": [[491520, 1, 1], [512, 1, 1]],
            "block": [[256, 1, 1], [256, 1, 1]],
        }
    )
    assert grid_blocks(launches, rocm=True).to_list() == [1920, 512]
    assert grid_blocks(launches).to_list() == [491520, 512]
