"""Families of kernels by name."""

# ruff: noqa: E501 (kernel names are long)

from pathlib import Path

import polars as pl
import pytest

from traceview.analysis.families import FAMILIES, FAMILY, family_of, family_of_name, load_rules
from traceview.errors import TraceError

EXPECTED = {
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "communication",
    "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)": "communication",
    "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)": "communication",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(X)": "communication",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64> >(X)": "attention",
    "void flashinfer::BatchMLAPagedAttentionKernel<flashinfer::KernelTraits<true> >(X)": "attention",
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<X> > >(X)": "attention",
    "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>(X)": "kv-cache",
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<X> > >(X)": "moe",
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int> > >(X)": "gemm",
    "fused_moe_kernel": "moe",
    "void topk_gating_softmax<float, 8, 256, 4, 16>(X)": "moe",
    "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc": "convolution",
    "implicit_gemm": "convolution",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>(X)": "norm",
    "void cudnn::ops::nchwToNhwcKernel<float>(X)": "convolution",
    "nvjet_tst_64x8_64x16_1x2_h_bz_splitK_TNT": "gemm",
    "Cijk_Alik_Bljk_BBS_BH_MT448x32x64": "gemm",
    "void splitKreduce_kernel<float>(X)": "gemm",
    "sm90_gemm_qkv": "gemm",
    "void fbgemm_gpu::permute_2D_data_kernel<false, int>(X)": "embedding-index",
    "void vllm::rms_norm_kernel<c10::BFloat16, 8>(X)": "norm",
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bEE": "norm",
    "_rope_decode_kernel_0d1d2d3de": "rope",
    "void copy_properties<float>(X)": "other",
    "void cvt_fp16_to_fp4<__nv_bfloat16, false>(X)": "quantize",
    "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &silu>(X)": "activation",
    "void at::native::vectorized_elementwise_kernel<4, at::native::silu_kernel(X)::{lambda(float)#1}>(int)": "activation",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long> >(X)": "sampling",
    "void at::native::upsample_bilinear2d<float>(X)": "other",
    "void at::native::vectorized_gather_kernel<16, long>(X)": "embedding-index",
    "void cunn_SoftMaxForward<8, float, float, float>(X)": "softmax",
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(X)::{lambda(float)#1}>(int)": "copy-cast",
    "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float> >(X)": "optimizer",
    "void at::native::multi_tensor_apply_kernel<TensorListMetadata<2>, CopyFunctor<int, long> >(X)": "copy-cast",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)": "fill",
    "void at::native::masked_fill_kernel<float>(X)": "elementwise",
    "void at::native::unrolled_elementwise_kernel<CUDAFunctor_add<float>, LoadWithCast<2>, StoreWithCast<1> >(int)": "elementwise",
    "triton_poi_fused__unsafe_view_mul_silu_2": "triton",
    "triton__0d1d2d3d": "triton",
    "triton_tem_fused_mm_3": "gemm",
    "void cub::DeviceScanKernel<int>(X)": "reduce",
    "__amd_rocclr_copyBuffer": "memcpy",
    "kernel_A": "other",
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_family_by_name(name: str) -> None:
    assert family_of_name(name) == EXPECTED[name]


def test_a_column_of_names_with_kinds() -> None:
    names = pl.Series(
        "name",
        ["nvjet_tst_64x8", "Memcpy DtoD (Device -> Device)", "Memset (Device)", None, "nvjet_tst_64x8"],
    )
    kinds = pl.Series(
        ["kernel", "memcpy", "memset", "kernel", "kernel"], dtype=pl.Enum(["kernel", "memcpy", "memset"])
    )
    for column in (names, names.cast(pl.Categorical())):
        found = family_of(column, kinds)
        assert found.dtype == FAMILY
        assert found.to_list() == ["gemm", "memcpy", "memset", None, "gemm"]


def test_every_rule_has_a_family_of_the_contract() -> None:
    assert {rule.family for rule in load_rules()} <= set(FAMILIES)
    assert set(FAMILIES) - {rule.family for rule in load_rules()} == {"other"}


def test_a_file_of_ones_own_comes_first(tmp_path: Path) -> None:
    own = tmp_path / "families.toml"
    own.write_text('[[rule]]\nfamily = "attention"\npattern = "^my_kernel|nvjet_tst_64x8"\n')
    rules = load_rules(own)
    assert family_of(
        pl.Series(["my_kernel_7", "nvjet_tst_64x8", "nvjet_tst_128x8"]), rules=rules
    ).to_list() == ["attention", "attention", "gemm"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[rule]]\nfamily = "fast"\npattern = "x"\n', "'fast' is none of gemm"),
        ('[[rule]]\nfamily = "gemm"\npattern = "("\n', "not a file of family rules"),
        ('[[rule]]\nfamily = "gemm"\n', "needs a family and a pattern"),
        ("rule = 1", "array of tables"),
        ("[[rule", "not a file of family rules"),
        (None, "cannot be read"),
    ],
)
def test_a_faulty_file_is_one_plain_line(tmp_path: Path, text: str | None, says: str) -> None:
    own = tmp_path / "own.toml"
    if text is not None:
        own.write_text(text)
    with pytest.raises(TraceError, match=says) as caught:
        load_rules(own)
    assert (caught.value.exit_code, "\n" in caught.value.message) == (2, False)
