"""Short names and the facts in a kernel's name."""

# ruff: noqa: E501 (kernel names are long)

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traceview.analysis.cxx import demangle
from traceview.analysis.names import LONGEST, name_facts, parse_parts, short_name, short_names

COPY = "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const"
TRIVIAL = "TrivialOffsetCalculator<1, unsigned int>, TrivialOffsetCalculator<1, unsigned int>"
CAST = (
    f"void at::native::unrolled_elementwise_kernel<{COPY}::{{lambda(c10::BFloat16)#1}}, std::array<char*, 2ul>, 4, {TRIVIAL}, "
    f"at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int, {COPY}::{{lambda(c10::BFloat16)#1}})"
)
STRIDED_COPY = (
    f"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<{COPY}::{{lambda(c10::BFloat16)#1}}>"
    f"(at::TensorIteratorBase&, {COPY}::{{lambda(c10::BFloat16)#1}} const&)::{{lambda(int)#1}}>(int, X)"
)
MUL = "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >"
TO_BF16 = "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}"
SUM = "at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}"

SHORT = {
    CAST: "unrolled_elementwise direct_copy -> bf16",
    STRIDED_COPY: "elementwise<128,4> direct_copy -> bf16",
    f"void at::native::vectorized_elementwise_kernel<4, {MUL}, std::array<char*, 3ul> >(int, {MUL})": "vectorized_elementwise<4> MulFunctor bf16",
    f"void at::native::vectorized_elementwise_kernel<4, {TO_BF16}, std::array<char*, 2ul> >(int)": "vectorized_elementwise<4> bfloat16_copy float -> bf16",
    "vectorized_elementwise_kernel<8, CUDAFunctor_add<c10::BFloat16> >": "vectorized_elementwise<8> CUDAFunctor_add bf16",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int)": "vectorized_elementwise<4> FillFunctor float",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4> >(X)": "reduce ArgMax float",
    f"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, {SUM}>, unsigned int, c10::BFloat16, 4, 8> >(X)": "reduce sum bf16",
    "nvjet_tst_128x256_64x4_2x1_v_bz_TNT": "nvjet_tst_128x256_64x4",
    "nvjet_tst_64x8_64x16_1x2_h_bz_splitK_TNT": "nvjet_tst_64x8_64x16 splitK",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas": "sm90_xmma_gemm bf16 128x128x64",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN_LDSB1": "Tensile TN bf16 256x32x64",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "nccl AllReduce bf16 RING_LL",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)": "nccl AllReduce float RING_LL",
    "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)": "nccl Generic",
    "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, float, float)": "FusedAddRMSNorm bf16",
    "void flashinfer::BatchMLAPagedAttentionKernel<flashinfer::KernelTraits<true, 2u, 512u> >(flashinfer::Params)": "BatchMLAPagedAttention",
    "std::enable_if<(((8)>(0)))&&(vllm::_typeConvert<c10::BFloat16>::exists), void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(long)": "fused_add_rms_norm<8> bf16",
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<cute::tuple<int, int, int> >, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm120ArrayTmaWarpSpecializedBlockScaled<2, 2> > > >(X)": "cutlass GemmUniversal grouped BlockScaled sm120",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1>(X)": "cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t> >(X)": "flash_fwd head 64 128x128 bf16",
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_PT_": "add_rmsnorm_quant<64,8,1> bf16",
    "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_8PipelineIDF16bfEEEEEEvT_": "ck_tile Rmsnorm2dFwd bf16",
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(float*)": "softmax_warp_forward<10> float",
    "void at::native::_GLOBAL__N__7d8a_10_Shape_cu_ab::CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 4, 64, 64>(X)": "CatArrayBatchedCopy 2 B",
    "triton_poi_fused__unsafe_view_mul_silu_2": "triton_poi_fused__unsafe_view_mul_silu_2",
    "triton__0d1d2d": "triton__0d1d2d",
    "_rope_decode_kernel_0d1d2d3de": "_rope_decode_kernel",
    "kernel_unified_attention_3d": "kernel_unified_attention_3d",
    "Memcpy DtoH (Device -> Pageable)": "Memcpy DtoH (Device -> Pageable)",
    "unknown": "unknown",
    "": "",
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT, ids=SHORT.values())
def test_a_short_name_keeps_what_matters(name: str) -> None:
    assert short_name(name) == SHORT[name]


def test_short_names_of_a_column_keep_order_and_nulls() -> None:
    names = pl.Series("name", [CAST, None, "nvjet_tst_128x256_64x4_2x1_v_bz_TNT", CAST])
    expected = [SHORT[CAST], None, "nvjet_tst_128x256_64x4", SHORT[CAST]]
    assert short_names(names).to_list() == expected
    assert short_names(names.cast(pl.Categorical())).to_list() == expected
    assert short_names(names.clear()).to_list() == []


def test_the_cast_says_that_it_converts_and_what_it_writes_but_not_from_what() -> None:
    facts = name_facts(CAST)
    assert (facts.elementwise, facts.per_thread, facts.casts, facts.copies) == ("unrolled", 4, True, True)
    assert (facts.in_dtype, facts.out_dtype) == (None, "bf16")


def test_facts_of_other_templates() -> None:
    plain = name_facts(STRIDED_COPY)
    assert (plain.elementwise, plain.threads, plain.per_thread, plain.casts) == ("plain", 128, 4, False)
    named = name_facts(next(n for n in SHORT if "bfloat16_copy" in n))
    assert (named.vector, named.in_dtype, named.out_dtype, named.casts) == (4, "float", "bf16", True)
    argmax = name_facts(next(n for n in SHORT if "ArgMax" in n))
    assert (argmax.functor, argmax.in_dtype, argmax.out_dtype) == ("ArgMax", "float", "int64")
    mul = name_facts(next(n for n in SHORT if "MulFunctor" in n))
    assert (mul.inputs, mul.in_dtype, mul.out_dtype, mul.compute_dtype) == (2, "bf16", "bf16", "float")
    compare = "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<long, long, bool, at::native::CompareEqFunctor<long> >, A>(int)"
    assert (name_facts(compare).in_dtype, name_facts(compare).out_dtype) == ("int64", "bool")
    scalar = "void at::native::vectorized_elementwise_kernel<4, at::native::compare_scalar_kernel<float>(X, Y)::{lambda(float)#1}, A>(int)"
    assert (name_facts(scalar).in_dtype, name_facts(scalar).out_dtype) == ("float", "bool")
    newest = name_facts(
        "void at::native::vectorized_elementwise_kernel<128, 16, 4, 1, 2, 8, true, true, at::native::FillFunctor<float>, A>(int)"
    )
    assert (newest.threads, newest.per_thread, newest.vector, newest.fills) == (128, 16, 8, True)


def test_parts_of_a_name() -> None:
    parts = parse_parts("void ns::f<8u, std::array<char*, 2ul> >(int, ns::g<a, b>, float const*) [clone .kd]")
    assert (parts.template, parts.returns) == ("ns::f", "void")
    assert parts.arguments == ("8u", "std::array<char*, 2ul>")
    assert parts.parameters == ("int", "ns::g<a, b>", "float const*")
    compared = parse_parts("void f<(a < b), 3>(int)")
    assert (compared.template, compared.arguments, compared.parameters) == ("f", ("(a < b)", "3"), ("int",))
    cut = parse_parts("void ns::f<8u, std::array<char*, 2u")
    assert (cut.template, cut.arguments) == ("ns::f", ("8u", "std::array<char*, 2u"))


def test_mangled_names_are_read_as_far_as_they_can_be() -> None:
    assert demangle("_ZN5aiter3fooIDF16bLi256ELb1EEEvPT_") == "aiter::foo<__bf16, 256, true>"
    assert demangle("_Z4siluIfEvPfi") == "silu<float>"
    assert demangle("_ZN3sgl3actI6__halfTnPFT_EEEvi") == "sgl::act<__half>"
    assert demangle("_ZN9999a") == "_ZN9999a"
    assert demangle("_Z") == "_Z"


PIECES = ["<", ">", "(", ")", "{lambda(", "}", ", ", "::", "operator()", "->", "_ZN", "1a", "I", "E", "Li1", "S_", " const", "float", "vectorized_elementwise_kernel<", "reduce_kernel<ReduceOp<", "ncclKernel_", "_"]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=60).map("".join)))
def test_any_text_has_a_short_name(name: str) -> None:
    assert len(short_name(name)) <= LONGEST
    assert isinstance(parse_parts(name).template, str)
    name_facts(name)


@pytest.mark.parametrize("piece", ["<", "()", "a<b,", "_GLOBAL__N_", " const", "std::array<char*, 2ul>, "])
def test_names_of_half_a_megabyte_are_no_trouble(piece: str) -> None:
    name = "void f<" + piece * (600_000 // len(piece))
    assert len(short_name(name)) <= LONGEST
