"""Bytes and FLOPs of operators, each with its arithmetic."""

# ruff: noqa: E501 (kernel names are long)

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traceview.analysis.calls import parse_call
from traceview.analysis.models import PagedSums, is_helper, kernels_of_op, model
from traceview.analysis.sizes import SIZES, size_calls

BF16, FP8, F32, LONG, INT, U8 = (
    "c10::BFloat16",
    "c10::Float8_e4m3fn",
    "float",
    "long int",
    "int",
    "unsigned char",
)
COPY = "at::native::direct_copy_kernel_cuda(X)::{lambda()#3}::operator()() const::{lambda(c10::BFloat16)#1}"
CAST = f"void at::native::unrolled_elementwise_kernel<{COPY}, std::array<char*, 2ul>, 4, Y, at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)"
ADD = "vectorized_elementwise_kernel<8, CUDAFunctor_add<c10::BFloat16> >"
STRIDED_ADD = "elementwise_kernel<128, 4, CUDAFunctor_add<c10::BFloat16> >"
FOREACH = "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float, 2, 2, 0> >(X)"
GEMM = "nvjet_tst_128x256_64x4_2x1_v_bz_TNT"


def size(
    op: str | None, name: str, dims: Any = None, types: Any = None, sums: PagedSums | None = None, **more: Any
) -> dict[str, Any]:
    """One row of `size_calls`; lists become the schema's JSON texts."""
    texts = {"input_dims": dims, "input_types": types, "input_strides": more.pop("strides", None)}
    texts |= {"concrete_inputs": more.pop("concrete", None), "collective": more.pop("collective", None)}
    row = {k: None if v is None else json.dumps(v, separators=(",", ":")) for k, v in texts.items()}
    frame = pl.DataFrame([{"op": op, "name": name, **row, **more}])
    return size_calls(frame, sums=sums).row(0, named=True)


def moved(op: str, name: str, dims: Any, types: Any, **more: Any) -> tuple[int | None, int | None]:
    row = size(op, name, dims, types, **more)
    return row["bytes"], row["flops"]


def test_the_cast_of_a_kv_cache_line_by_line() -> None:
    kv = [495552, 1, 576]
    row = size(
        "aten::copy_", CAST, [kv, kv, []], [BF16, FP8, "Scalar"], grid=[557496, 1, 1], block=[128, 1, 1]
    )
    assert row["working"] == [
        "read 495,552 x 1 x 576 x 1 B (float8_e4m3fn) = 285,437,952 B",
        "write 495,552 x 1 x 576 x 2 B (bf16) = 570,875,904 B",
        "bytes = 285,437,952 + 570,875,904 = 856,313,856 B",
        "grid 557,496 x 128 x 4 = 285,437,952, equal to the shapes",
    ]
    assert (row["elements"], row["elements_from"], row["bytes"], row["bytes_from"]) == (
        285437952,
        "shapes",
        856313856,
        "shapes",
    )
    assert (row["flops"], row["flops_from"], row["assumptions"]) == (0, "shapes", [])


def test_the_same_cast_without_shapes_is_a_bound() -> None:
    row = size(None, CAST, grid=[557496, 1, 1], block=[128, 1, 1])
    assert (row["elements"], row["elements_low"], row["elements_from"]) == (
        285437952,
        285437952 - 511,
        "geometry",
    )
    assert (row["bytes"], row["bytes_low"], row["bytes_from"]) == (
        856313856,
        (285437952 - 511) * 3,
        "geometry",
    )
    assert row["assumptions"] == ["read: the type is not in the kernel's name; 1 B an element is the least"]


N = 8192
M = 4096


@pytest.mark.parametrize(
    ("op", "name", "dims", "types", "more", "bytes_", "flops"),
    [
        # three dense tensors of 8192 x 8192 x 2 B; one FLOP an element by convention
        ("aten::add", ADD, [[N, N], [N, N], []], [BF16, BF16, "Scalar"], {"strides": [[N, 1], [N, 1], []]}, 402_653_184, N * N),
        # the second input has stride 0 in its rows: 8192 x 2 B
        ("aten::add", STRIDED_ADD, [[N, N], [N, N], []], [BF16, BF16, "Scalar"], {"strides": [[N, 1], [0, 1], []]}, 268_451_840, N * N),
        # the same by shape
        ("aten::add", STRIDED_ADD, [[N, N], [N], []], [BF16, BF16, "Scalar"], {}, 268_451_840, N * N),
        # in place: argument 0 is read and written
        ("aten::add_", ADD, [[N, N], [N, N], []], [BF16, BF16, "Scalar"], {}, 402_653_184, N * N),
        # a number wrapped as a tensor moves nothing
        ("aten::mul", ADD, [[N, N], []], [BF16, "double"], {}, 2 * N * N * 2, N * N),
        # the output as an argument: 2 + 2 + 4 B an element
        ("aten::mul", "x", [[N], [N], [N]], [BF16, BF16, F32], {}, 8 * N, N),
        # a comparison writes bool: 8 + 8 + 1
        ("aten::eq", "x", [[N], [N]], [LONG, LONG], {}, 17 * N, N),
        ("aten::silu", "x", [[N, N]], [BF16], {}, 4 * N * N, N * N),
        # the mask's type does not promote the result: 1 + 4 + 4 + 4
        ("aten::where", "x", [[N], [N], [N]], ["bool", F32, F32], {}, 13 * N, N),
        ("aten::fill_", "x", [[N, N], []], [F32, "Scalar"], {}, 4 * N * N, 0),
        ("aten::clone", "x", [[N, 3]], [F32], {}, 2 * 4 * N * 3, 0),
        # ScalarType 15 is bf16
        ("aten::_to_copy", "x", [[N], []], [F32, "Scalar"], {"concrete": ["", "15"]}, 6 * N, 0),
        # three matrices of 4096 x 4096 x 2 B, 2 x 4096^3 FLOPs
        ("aten::mm", GEMM, [[M, M], [M, M]], [BF16, BF16], {}, 100_663_296, 137_438_953_472),
        # + bias of N elements, + one addition for each of M x N
        ("aten::addmm", GEMM, [[32], [8, 16], [16, 32], [], []], [BF16] * 3 + ["Scalar"] * 2, {}, 2 * (32 + 128 + 512 + 256), 2 * 8 * 32 * 16 + 256),
        ("aten::bmm", GEMM, [[4, 8, 16], [4, 16, 32]], [BF16] * 2, {}, 2 * (512 + 2048 + 1024), 2 * 4 * 8 * 32 * 16),
        # the result is an argument, in float
        ("aten::mm", GEMM, [[8, 16], [16, 32], [8, 32]], [BF16, BF16, F32], {}, 2 * (128 + 512) + 4 * 256, 2 * 8 * 32 * 16),
        ("aten::linear", GEMM, [[2, 8, 16], [32, 16], [32]], [BF16] * 3, {}, 2 * (256 + 512 + 32 + 512), 2 * 2 * 8 * 32 * 16 + 512),
        # fp8 in, two float scales, ScalarType 15 out
        ("aten::_scaled_mm", GEMM, [[8, 16], [16, 32], [1], [1], [], [], []], [FP8, FP8, F32, F32, "", "", "Scalar"], {"concrete": [""] * 6 + ["15"]}, 128 + 512 + 8 + 512, 2 * 8 * 32 * 16),
        # N 2, C 3, 8 x 8, K 4 of 3 x 3, stride 1, padding 1: output 2 x 4 x 8 x 8
        ("aten::cudnn_convolution", "sm80_xmma_fprop_implicit_gemm", [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], []], [F32, F32] + ["ScalarList"] * 3 + ["Scalar"], {"concrete": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"]}, 4 * (384 + 108 + 512), 2 * 512 * 27),
        # stride 2, no padding: (8 - 3) / 2 + 1 = 3
        ("aten::miopen_convolution", "igemm_fwd_gtcx3", [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], []], [BF16, BF16, ""] + ["ScalarList"] * 3, {"concrete": ["", "", "", "[0, 0]", "[2, 2]", "[1, 1]"]}, 2 * (384 + 108 + 72), 2 * 72 * 27),
        ("aten::convolution_backward", "sm80_xmma_dgrad_implicit_gemm", [[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3]], [F32] * 3, {}, 4 * (512 + 108 + 384), 2 * 512 * 27),
        ("aten::convolution_backward", "sm80_xmma_wgrad_implicit_gemm", [[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3]], [F32] * 3, {}, 4 * (512 + 384 + 108), 2 * 512 * 27),
        # B 2, S 128, H 4, D 64 and causal: half of 4 B H S S D
        ("aten::_flash_attention_forward", "flash_fwd_kernel", [[2, 128, 4, 64]] * 3 + [[]] * 6, [BF16] * 3 + [""] * 6, {"concrete": [""] * 8 + ["True"]}, 4 * 2 * 65536, 2 * 2 * 4 * 128 * 128 * 64),
        # grouped-query: 2 KV heads, 256 cached positions, not causal
        ("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", [[2, 4, 128, 64], [2, 2, 256, 64], [2, 2, 256, 64]], [BF16] * 3, {}, 2 * 4 * 65536, 4 * 2 * 4 * 128 * 256 * 64),
        ("aten::native_layer_norm", "x", [[N, 64], [], [64], [64], []], [BF16, "ScalarList", BF16, BF16, "Scalar"], {}, 2 * (2 * N * 64 + 128), 8 * N * 64),
        ("aten::_fused_rms_norm", "x", [[N, 64], [], [64], []], [BF16, "ScalarList", BF16, "Scalar"], {}, 2 * (2 * N * 64 + 64), 5 * N * 64),
        # two tensors in, two out, one weight
        ("sgl_kernel::fused_add_rmsnorm", "x", [[1, 6144], [1, 6144], [6144]], [BF16] * 3, {}, 5 * 6144 * 2, 6 * 6144),
        ("_C::rms_norm", "x", [[1, 64], [1, 64], [64], []], [BF16] * 3 + ["Scalar"], {}, 3 * 64 * 2, 5 * 64),
        # statistics read only; the transform writes too; backward reads two and writes one
        ("aten::native_batch_norm", "batch_norm_collect_statistics_kernel", [[10, 64, 7, 7], [64], [64]], [BF16] * 3, {}, 2 * 31360, 5 * 31360),
        ("aten::native_batch_norm", "batch_norm_transform_input_kernel", [[10, 64, 7, 7], [64], [64]], [BF16] * 3, {}, 4 * 31360, 5 * 31360),
        ("aten::native_batch_norm_backward", "batch_norm_backward_kernel", [[10, 64, 7, 7]] * 2 + [[64]], [BF16] * 3, {}, 6 * 31360, 5 * 31360),
        ("aten::_softmax", "x", [[N, 64], [], []], [BF16, "Scalar", "Scalar"], {"concrete": ["", "-1", "True"]}, (2 + 4) * N * 64, 5 * N * 64),
        ("aten::_log_softmax_backward_data", "x", [[N, 64], [N, 64]], [F32, F32], {}, 12 * N * 64, 4 * N * 64),
        # 8944 rows of 1024 x 2 B read and written, 8 B an index; the table's 151936 rows are no traffic
        ("aten::index_select", "x", [[151936, 1024], [], [8944]], [BF16, "Scalar", LONG], {"concrete": ["", "0", ""]}, 8944 * 8 + 2 * 8944 * 1024 * 2, 0),
        ("aten::embedding", "x", [[1000, 64], [2, 8]], [BF16, LONG], {}, 16 * 8 + 2 * 16 * 64 * 2, 0),
        ("aten::gather", "x", [[1000, 64], [], [5, 4]], [F32, "Scalar", LONG], {}, 20 * 8 + 2 * 20 * 4, 0),
        ("aten::scatter_", "x", [[1000], [], [16], [16]], [F32, "Scalar", LONG, F32], {}, 16 * 8 + 2 * 16 * 4, 0),
        # the cache's own type is written: 2 + 1 B
        ("_C_cache_ops::reshape_and_cache_flash", "vllm::reshape_and_cache_flash_kernel", [[4, 8, 64], [4, 8, 64], [99, 16, 8, 64], [99, 16, 8, 64], [4]], [BF16, BF16, U8, U8, LONG], {}, 2 * 2048 * 3 + 4 * 8, 0),
        # the element's size stands in the kernel's name, since lists have no types
        ("aten::cat", "CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 4, 64, 64>", [[[16, 32], [16, 32]], []], ["TensorList", "Scalar"], {}, 4 * 1024, 0),
        ("aten::argmax", "x", [[32, 151936], [], []], [F32, "Scalar", "Scalar"], {"concrete": ["", "-1", "False"]}, 32 * 151936 * 4 + 32 * 8, 32 * 151936),
        ("aten::sum", "x", [[10, 1000], []], [BF16, "ScalarList"], {"concrete": ["", "[0]"]}, 20_000 + 2_000, 10_000),
        ("aten::mean", "x", [[10, 1000]], [F32], {}, 40_000 + 4, 10_000),
        ("sgl_kernel::silu_and_mul", "x", [[8, 512], [8, 256]], [BF16] * 2, {}, 2 * (4096 + 2048), 5 * 2048),
        ("_C::silu_and_mul", "x", [[8, 512]], [BF16], {}, 2 * (4096 + 2048), 5 * 2048),
        # 4 positions, each 64 cosines and sines; query of 4 x 512 and key of 4 x 128 read and written
        ("_C::rotary_embedding", "x", [[4], [4, 512], [4, 128], [], [4096, 64]], [LONG, BF16, BF16, "Scalar", BF16], {}, 32 + 512 + 4 * (2048 + 512), 6 * 2560),
        ("_C::dynamic_per_token_scaled_fp8_quant", "x", [[4, 64], [4, 64], [4, 1]], [FP8, BF16, F32], {}, 512 + 256 + 16, 512),
        ("aten::max_pool2d_with_indices_backward", "x", [[2, 3, 4, 4], [2, 3, 8, 8]], [F32] * 2, {}, 96 * 4 + 96 * 8 + 384 * 4, 0),
        ("aten::view", "", [[N], []], [F32, "ScalarList"], {}, 0, 0),
    ],
)  # fmt: skip
def test_bytes_and_flops(
    op: str, name: str, dims: Any, types: Any, more: Any, bytes_: int, flops: int
) -> None:
    row = size(op, name, dims, types, **more)
    assert (row["bytes"], row["flops"], row["bytes_from"], row["assumptions"]) == (
        bytes_,
        flops,
        "shapes",
        [],
    )


@pytest.mark.parametrize(
    ("op", "name", "dims", "types", "bytes_", "says"),
    [
        ("aten::add", "x", [[N], [N], []], [BF16, F32, "Scalar"], (2 + 4 + 4) * N, "result type float, by type promotion"),
        ("aten::add_", "vectorized_elementwise_kernel<4, CUDAFunctor_add<float> >", [[N], [N]], [], 12 * N, "element type float, from the kernel's name"),
        ("aten::index_put_", "x", [[1000, 64], [[16]], [16, 64]], [F32, "TensorList", F32], 2 * 16 * 64 * 4 + 16 * 8, "are int64"),
        ("aten::_foreach_add_", FOREACH, [[[100], [28]], [[100], [28]], []], ["TensorList", "TensorList", "Scalar"], 3 * 128 * 4, "type float"),
        ("aten::_scaled_mm", GEMM, [[8, 16], [16, 32]], [FP8, FP8], 128 + 512 + 512, "result type bf16"),
        ("sgl_kernel::scaled_fp4_experts_quant", "cvt_fp16_to_fp4<X>", [[8, 6144], [256]], [BF16, F32], 98304 + 24576 + 3072, "writes nvfp4"),
        ("aten::topk", "x", [[32, 1000]], [F32], 128_000, "read once"),
        ("triton_poi_fused_mul_silu_2", "triton_poi_fused_mul_silu_2", [[4, 64], [256], []], [BF16, BF16, "Scalar"], 1024, "moved once"),
        ("aten::frobnicate", "void at::native::vectorized_elementwise_kernel<4, at::native::FrobFunctor<float>, std::array<char*, 3ul> >(int)", [[N], [N]], [F32, F32], 12 * N, "taken as elementwise"),
    ],
)  # fmt: skip
def test_what_is_assumed_is_said(op: str, name: str, dims: Any, types: Any, bytes_: int, says: str) -> None:
    row = size(op, name, dims, types)
    assert (row["bytes"], row["bytes_from"]) == (bytes_, "assumed")
    assert any(says in a for a in row["assumptions"])


def test_a_mixture_of_experts_is_a_range() -> None:
    """8 rows reach 1 to 8 of 256 experts of 512 x 3072 B; fp4 packs two values a byte, so K is 6144."""
    name = "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<X> > >(Y)"
    row = size("sgl_kernel::cutlass_fp4_group_mm", name, [[8, 3072], [256, 512, 3072]], [U8, U8])
    expert = 512 * 3072
    around = 8 * 3072 + 8 * 512 * 2
    assert (row["bytes_low"], row["bytes"]) == (expert + around, 8 * expert + around)
    assert (row["flops"], row["compute_dtype"], row["bytes_from"]) == (
        2 * 8 * 512 * 6144,
        "float4_e2m1fn_x2",
        "assumed",
    )


def test_paged_attention_needs_the_steps_sums() -> None:
    name = "void flashinfer::BatchMLAPagedAttentionKernel<X>(Y)"
    dims = [[1, 8, 512], [1, 8, 64], [495552, 1, 576]]
    assert moved("flashinfer::batch_mla_paged_attention", name, dims, [BF16] * 3) == (None, None)
    row = size(
        "flashinfer::batch_mla_paged_attention",
        name,
        dims,
        [BF16] * 3,
        PagedSums(query=1, cached=1000, products=1000),
    )
    assert row["bytes"] == 2 * (8 * 512 + 8 * 64 + 1000 * 576 + 8 * 512)
    assert row["flops"] == 2 * 8 * (576 + 512) * 1000

    dense = [[3, 32, 128], [3, 8, 128], [3, 8, 128]]
    row = size(
        "vllm::unified_attention_with_output",
        "kernel_unified_attention_2d",
        dense,
        [BF16] * 3,
        PagedSums(3, 500, 1500, 9),
    )
    assert row["bytes"] == 2 * (3 * 32 * 128 + 500 * 2 * 8 * 128 + 3 * 32 * 128)
    assert row["flops"] == 4 * 32 * 128 * 1500 - 2 * 32 * 128 * 9


@pytest.mark.parametrize(
    ("collective", "algorithm", "bus"),
    [
        ({"Collective name": "allreduce", "In msg nelems": 6144, "Out msg nelems": 6144, "Group size": 8, "dtype": "BFloat16"}, 12288, 21504),
        ({"Collective name": "_allgather_base", "In msg nelems": 100, "Out msg nelems": 800, "Group size": 8, "dtype": "Float"}, 3200, 2800),
        ({"Collective name": "reduce_scatter_tensor_coalesced", "In msg nelems": 800, "Out msg nelems": 100, "Group size": 8, "dtype": "Float"}, 3200, 2800),
        ({"Collective name": "all_to_allv", "In msg nelems": 800, "Out msg nelems": 800, "Group size": 4, "dtype": "Byte"}, 800, 600),
        ({"Collective name": "broadcast", "In msg nelems": 10, "Out msg nelems": 10, "Group size": 8, "dtype": "Long"}, 80, 80),
    ],
)  # fmt: skip
def test_collectives(collective: dict[str, Any], algorithm: int, bus: int) -> None:
    row = size(None, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(X)", collective=collective)
    assert (row["bytes"], row["bus_bytes"], row["traffic_bytes"], row["bytes_from"]) == (
        algorithm,
        bus,
        None,
        "trace",
    )


@pytest.mark.parametrize("missing", ["Collective name", "In msg nelems", "Group size", "dtype"])
def test_a_collective_without_one_of_its_arguments_is_unknown(missing: str) -> None:
    whole = {"Collective name": "allreduce", "In msg nelems": 6144, "Group size": 8, "dtype": "BFloat16"}
    row = size(None, "ncclDevKernel_Generic(X)", collective={k: v for k, v in whole.items() if k != missing})
    assert (row["bytes"], row["bus_bytes"]) == (None, None)


def test_old_files_record_a_collectives_tensor_alone() -> None:
    name = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(X)"
    row = size("record_param_comms", name, [[689849], [], []], ["int", "Scalar", ""])
    assert (row["bytes"], row["bus_bytes"], row["traffic_bytes"]) == (4 * 689849, None, None)
    assert (row["bytes_from"], len(row["assumptions"])) == ("assumed", 1)
    gathered = size("c10d::_allgather_base_", name, [[65536, 384], [8192, 384], []], [F32, F32, ""])
    assert gathered["bytes"] == 4 * 65536 * 384


def test_copies_and_sets_of_the_driver_have_recorded_bytes() -> None:
    rows = size_calls(
        pl.DataFrame(
            {
                "name": [
                    "Memcpy DtoD (Device -> Device)",
                    "Memcpy HtoD (Pinned -> Device)",
                    "Memset (Device)",
                    "Memcpy DtoD",
                ],
                "kind": ["memcpy", "memcpy", "memset", "memcpy"],
                "recorded_bytes": [1000, 1000, 1000, None],
            }
        )
    )
    assert rows["bytes"].to_list() == [1000, 1000, 1000, None]
    assert rows["traffic_bytes"].to_list() == [2000, None, 1000, None]
    assert rows["bytes_from"].to_list() == ["trace", "trace", "trace", None]


def test_the_helpers_of_a_product_get_none_of_its_bytes() -> None:
    dims, types = [[M, M], [M, M]], [BF16, BF16]
    for helper in (
        "void cublasLt::splitKreduce_kernel<32, 16>(X)",
        "Memset (Device)",
        "void cudnn::ops::nchwToNhwcKernel<float>(X)",
    ):
        assert is_helper(helper)
        assert moved("aten::mm", helper, dims, types) == (None, None)
    assert not is_helper(GEMM)
    assert moved("aten::mm", ADD, dims, types) == (None, None)  # an elementwise kernel computes no product
    assert size("aten::mm", "splitKreduce_kernel", dims, types)["working"] == [
        "a helper of aten::mm: its traffic is not recorded"
    ]


def test_several_kernels_of_one_call_share_nothing() -> None:
    launches = pl.DataFrame(
        {
            "op_id": [1, 1, 2, 2, None, 3, 3],
            "name": [GEMM, "splitKreduce_kernel", GEMM, GEMM, GEMM, "sm80_dgrad", "sm80_wgrad"],
        }
    )
    assert kernels_of_op(launches).to_list() == [1, 1, 2, 2, None, 1, 1]
    dims, types = [[M, M], [M, M]], [BF16, BF16]
    row = size("aten::mm", GEMM, dims, types, kernels_of_op=2)
    assert (row["bytes"], row["working"]) == (
        None,
        ["aten::mm runs 2 such kernels; its bytes cannot be told apart"],
    )
    assert size("aten::mm", GEMM, dims, types, kernels_of_op=1)["bytes"] == 100663296


def test_shapes_that_do_not_fit_the_grid_are_another_kernels() -> None:
    row = size(
        "aten::copy_", CAST, [[64], [64], []], [BF16, FP8, "Scalar"], grid=[1000, 1, 1], block=[128, 1, 1]
    )
    assert (row["elements"], row["elements_from"], row["bytes_from"]) == (512_000, "geometry", "geometry")
    assert (
        row["working"][0] == "grid 1,000 x 128 x 4 = 512,000: the shapes' 64 elements are not this kernel's"
    )


def test_what_the_person_filled_in_is_assumed() -> None:
    row = size("aten::copy_", CAST, [[512], [512]], [BF16, FP8], assumed=["source type float8_e4m3fn"])
    assert (row["bytes"], row["bytes_from"], row["elements_from"]) == (1536, "assumed", "assumed")
    assert row["assumptions"] == ["source type float8_e4m3fn"]


@pytest.mark.parametrize(
    ("op", "name", "dims", "types"),
    [
        ("aten::mm", GEMM, [[4, 5], [6, 7]], [BF16, BF16]),
        ("aten::mm", GEMM, None, None),
        ("aten::add", ADD, [[4], [5]], [BF16, BF16]),
        ("aten::frobnicate", "frob_kernel", [[4]], [F32]),
        (
            "aten::cudnn_convolution",
            "sm80_xmma_fprop",
            [[2, 3, 8, 8], [4, 3, 3, 3]],
            [F32, F32],
        ),  # no stride recorded
        ("aten::convolution_backward", "some_kernel", [[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3]], [F32] * 3),
        ("aten::copy_", "x", [[4], [4]], ["weird", "weird"]),
        (None, "some_kernel", None, None),
        ("aten::view", "some_kernel", [[4], []], [F32, "ScalarList"]),
        ("mylib::mm", "some_kernel", [[4, 4], [4, 4]], [F32, F32]),
    ],
)
def test_everything_else_is_unknown(op: str | None, name: str, dims: Any, types: Any) -> None:
    row = size(op, name, dims, types)
    assert (row["bytes"], row["bytes_from"]) == (None, None)


def test_the_gradient_of_a_convolutions_input_in_old_files_has_flops_alone() -> None:
    dims = [[], [2, 4, 8, 8], [4, 3, 3, 3]]
    row = size(
        "aten::cudnn_convolution_backward_input", "void cudnn::detail::dgrad_engine<float, 512>(X)", dims, []
    )
    assert (row["bytes"], row["flops"], row["flops_from"]) == (None, 2 * 512 * 27, "shapes")


def test_winograd_does_fewer_flops_than_the_definition() -> None:
    dims, concrete = [[2, 3, 8, 8], [4, 3, 3, 3]], ["", "", "[1, 1]", "[1, 1]", "[1, 1]"]
    row = size(
        "aten::cudnn_convolution",
        "volta_scudnn_winograd_128x128_ldg1_nt_v1",
        dims,
        [F32, F32],
        concrete=concrete,
    )
    assert (row["bytes"], row["flops"], row["flops_from"]) == (4 * (384 + 108 + 512), None, None)


def test_float_products_run_as_tf32_or_float_by_the_kernels_name() -> None:
    dims, types = [[M, M], [M, M]], [F32, F32]
    kinds = {
        "cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4": "tf32",
        "ampere_sgemm_128x64_nn": "float",
        "some_gemm": None,
    }
    assert {k: size("aten::mm", k, dims, types)["compute_dtype"] for k in kinds} == kinds


def test_the_frame_keeps_key_order_and_schema() -> None:
    empty = size_calls(pl.DataFrame({"name": []}, schema={"name": pl.String}))
    assert empty.schema == SIZES
    calls = pl.DataFrame({"key": [7, 3], "name": pl.Series([GEMM, ADD], dtype=pl.Categorical())})
    assert size_calls(calls)["key"].to_list() == [7, 3]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.sampled_from([BF16, F32, "Scalar", "[1, 1]", ""]),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=30,
)
OPS = st.sampled_from(
    ["aten::add", "aten::mm", "aten::addmm", "aten::cat", "aten::sum", "aten::conv2d", "aten::copy_", "aten::_softmax", "aten::embedding",
     "aten::index_put_", "aten::native_layer_norm", "aten::_foreach_add_", "aten::scaled_dot_product_attention", "sgl_kernel::silu_and_mul",
     "x::group_mm", "x::rotary_embedding", "x::fp8_quant", "x::reshape_and_cache", "aten::convolution_backward", "aten::index_select", "x::paged_attention"]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(OPS, JSON, JSON, JSON, JSON, JSON)
def test_no_recorded_arguments_break_a_model(
    op: str, dims: Any, types: Any, strides: Any, concrete: Any, collective: Any
) -> None:
    texts = [json.dumps(v) for v in (dims, types, strides, concrete)]
    model(parse_call(op, GEMM, *texts), PagedSums(1, 2, 3))
    frame = pl.DataFrame([{"op": op, "name": CAST, "input_dims": texts[0], "input_types": texts[1], "input_strides": texts[2],
                           "concrete_inputs": texts[3], "collective": json.dumps({"Collective name": "allreduce", "In msg nelems": collective})}])  # fmt: skip
    assert size_calls(frame).height == 1


@given(st.text(max_size=60))
def test_no_text_breaks_the_reading_of_arguments(text: str) -> None:
    parse_call("aten::add", text, text, text, text, text, text)
