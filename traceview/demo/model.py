"""What one decode step of the demo's invented model puts on the GPU: names, launch shapes, operators, times.

The model is made up: 78 decoder layers with multi-head latent attention and a mixture of experts, 8 ranks,
batch 4, on an H100. The names of kernels and operators are those that PyTorch, vLLM, FlashMLA, FlashInfer
and NCCL use. A time is what the bytes of a launch need at the card's bandwidth, plus what such kernels
usually lose. The one thing wrong with the model is what the demo is about: attention reads 16,384 cached
tokens, yet in every layer the whole pool of 294,912 is cast from fp8 to bf16 first.
"""

from dataclasses import dataclass, replace
from math import prod

BF16, FP8, F32, INT, LONG = "c10::BFloat16", "c10::Float8_e4m3fn", "float", "int", "long int"

LAYERS = 78
BATCH = 4
HIDDEN = 5120
HEADS = 16  # of 128: one rank of eight
LATENT = 576  # of a cached token: 512 compressed, 64 rotary
PAGE = 64
CACHE_TOKENS = 4_608 * PAGE  # the whole pool, in use or not
CACHE = (CACHE_TOKENS, 1, LATENT)
EXPERTS, EXPERT_WIDTH = 128, 128
VOCABULARY = 129_280
RANKS = 8

COMPUTE, COMMUNICATION = 7, 23  # streams


@dataclass(frozen=True, slots=True)
class Tensor:
    """An operator's tensor argument: dimensions in elements, type, and strides where it isn't contiguous."""

    dims: tuple[int, ...]
    type: str = BF16
    strides: tuple[int, ...] | None = None

    @property
    def steps(self) -> list[int]:
        """The strides in elements."""
        return list(self.strides or (prod(self.dims[axis + 1 :]) for axis in range(len(self.dims))))


@dataclass(frozen=True, slots=True)
class Op:
    """One call of an operator; of its inputs a tuple is a list of tensors, a text a value, "" is None."""

    name: str
    inputs: tuple[Tensor | tuple[Tensor, ...] | str, ...]


@dataclass(frozen=True, slots=True)
class Collective:
    """What a rank gives to and gets from a collective, in elements of bfloat16."""

    name: str
    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class Work:
    """One launch: a kernel, or a copy or set where `kind` says so.

    `frames` are the Python frames, modules and long-lived operators around it, outermost first, with
    {layer}, {even} and {odd} for the numbers of a layer and its two norms; `ops` are its own operators,
    outermost first. `ns` is its usual duration. `overlaps`: it does not wait for the other stream.
    `waits`: the host waits until the GPU is done. `memory` is what the allocator hands out before it
    (positive) or takes back after it, in bytes.
    """

    name: str
    ns: int
    frames: tuple[str | Op, ...]
    ops: tuple[Op, ...]
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (128, 1, 1)
    registers: int = 32
    shared_memory: int = 0
    call: str = "cudaLaunchKernel"
    stream: int = COMPUTE
    kind: str = "kernel"
    bytes: int = 0
    collective: Collective | None = None
    overlaps: bool = False
    waits: bool = False
    memory: int = 0


_MODEL = ("nn.Module: DemoForCausalLM_0", "demo_llm/model.py(203): forward")
_LAYER = (*_MODEL, "nn.Module: DemoDecoderLayer_{layer}", "demo_llm/model.py(118): forward")
_ATTENTION = (*_LAYER, "nn.Module: DemoLatentAttention_{layer}", "demo_llm/attention.py(92): forward")
_BACKEND = (*_ATTENTION, "demo_llm/mla_backend.py(187): forward_decode")
_EXPERTS = (*_LAYER, "nn.Module: DemoMoE_{layer}", "demo_llm/moe.py(77): forward")
_LM_HEAD = ("nn.Module: LogitsProcessor_0", "demo_llm/logits.py(44): forward")
_SAMPLER = ("demo_engine/sampler.py(51): sample",)

_TOKENS = Tensor((BATCH, HIDDEN))
_POSITIONS = Tensor((BATCH,), LONG)
_LATENTS, _ROTARY = Tensor((BATCH, 512)), Tensor((BATCH, 64))
_SCORES = Tensor((BATCH, EXPERTS), F32)
_CHOICE = Tensor((BATCH, 8), F32)  # every token goes to 8 experts
_ROUTED = BATCH * 8
_IDS, _INDEX = Tensor((BATCH,), INT), Tensor((BATCH, 8), INT)
_QUERY = Tensor((BATCH, 1, HEADS, LATENT))
_POOL, _PAGES = Tensor(CACHE, FP8), Tensor((CACHE_TOKENS // PAGE, PAGE, 1, LATENT))
_PAGE_TABLE = Tensor((BATCH, 64), INT)
_FUSED_EXPERTS = Op(
    "vllm::inplace_fused_experts",
    (
        _TOKENS,
        Tensor((EXPERTS, 2 * EXPERT_WIDTH, HIDDEN)),
        Tensor((EXPERTS, HIDDEN, EXPERT_WIDTH)),
        _CHOICE,
        _INDEX,
        "silu",
    ),
)

_CAST_FUNCTOR = (
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const"
    "::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}"
)
_CAST_PARTS = (
    "TrivialOffsetCalculator<1, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, "
    "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1>"
)
_WIDE, _NARROW = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "nvjet_tst_64x8_64x16_2x1_v_bz_TNT"
_ADD = "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>"
_MLA_TRAITS = "Flash_fwd_kernel_traits_mla<576, 64, 64, 8, cutlass::bfloat16_t, 512>"


def _linear(name: str, ns: int, frames: tuple[str, ...], shape: tuple[int, int], tile: int) -> Work:
    """BATCH tokens times a transposed weight of `shape` [in, out]; a block does `tile` of its outputs."""
    inner, outer = shape
    tokens = Tensor((BATCH, inner))
    product = (tokens, Tensor((inner, outer), strides=(1, inner)))
    linear = Op("aten::linear", (tokens, Tensor((outer, inner)), ""))
    return Work(
        name,
        ns,
        frames,
        (linear, Op("aten::matmul", product), Op("aten::mm", product)),
        grid=(-(-outer // tile), 1, 1),
        block=(384, 1, 1),
        registers=168,
        shared_memory=213_248,
        call="cudaLaunchKernelExC",
    )


def _norm(frames: tuple[str, ...]) -> Work:
    """RMSNorm with the residual added first, one block for each token."""
    return Work(
        "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>"
        "(c10::BFloat16*, c10::BFloat16*, c10::BFloat16 const*, float, int, int)",
        2_600,
        frames,
        (Op("_C::fused_add_rms_norm", (_TOKENS, _TOKENS, Tensor((HIDDEN,)), "1e-06")),),
        grid=(BATCH, 1, 1),
        block=(640, 1, 1),
        registers=40,
        shared_memory=132,
    )


def _collective(
    name: str, kernel: str, op: str, ns: int, frames: tuple[str, ...], sent: int, received: int
) -> Work:
    """A collective of all ranks on the communication stream; sizes in elements of bfloat16."""
    tensors = (Tensor((BATCH, sent // BATCH)),)
    ops = (
        Op(op, (tensors, "", "", "", "False", "-1")),
        Op("record_param_comms", (tensors, "", "0", "", "", "", "")),
    )
    return Work(
        f"ncclDevKernel_{kernel}(ncclDevKernelArgsStorage<4096ul>)",
        ns,
        frames,
        ops,
        grid=(4, 1, 1),
        block=(512, 1, 1),
        registers=96,
        shared_memory=83_296,
        call="cudaLaunchKernelExC",
        stream=COMMUNICATION,
        collective=Collective(name, sent, received),
    )


def _all_reduce(frames: tuple[str, ...]) -> Work:
    """The sum of a sub-layer's output over all ranks."""
    size, kernel = BATCH * HIDDEN, "AllReduce_Sum_bf16_RING_LL"
    return _collective("allreduce", kernel, "c10d::allreduce_", 11_800, frames, size, size)


def _grouped_gemm(ns: int, blocks: int) -> Work:
    """One of the two products of the routed experts: a Triton kernel, which has no operator of its own."""
    return Work(
        "fused_moe_kernel",
        ns,
        (*_EXPERTS, _FUSED_EXPERTS),
        (),
        grid=(blocks, 1, 1),
        registers=128,
        shared_memory=49_152,
        call="cuLaunchKernel",
    )


def _copy(direction: str, kinds: str, size: int, frames: tuple[str, ...], ops: tuple[Op, ...]) -> Work:
    """A small copy between host and device, `size` in bytes."""
    name = f"Memcpy {direction} ({kinds})"
    return Work(
        name,
        1_300,
        frames,
        ops,
        call="cudaMemcpyAsync",
        kind="gpu_memcpy",
        bytes=size,
        waits=direction == "DtoH",
    )


CAST = Work(
    f"void at::native::unrolled_elementwise_kernel<{_CAST_FUNCTOR}, std::array<char*, 2ul>, 4, "
    f"{_CAST_PARTS} >(int, {_CAST_FUNCTOR}, std::array<char*, 2ul>, {_CAST_PARTS})",
    266_200,  # 1.75 times the 152.1 us that 3 bytes an element need at 3,350 GB/s
    _BACKEND,
    (
        Op("aten::to", (_POOL, "15", "False", "False", "")),
        Op("aten::_to_copy", (_POOL, "15", "0", "", "", "False", "")),
        Op("aten::copy_", (Tensor(CACHE), _POOL, "False")),
    ),
    grid=(-(-prod(CACHE) // 512), 1, 1),  # 128 threads of 4 elements
    memory=2 * prod(CACHE),
)

LAST_REDUCE = _all_reduce(_EXPERTS)

LAYER = (
    _norm((*_LAYER, "nn.Module: RMSNorm_{even}")),
    _linear(_WIDE, 9_800, _ATTENTION, (HIDDEN, 2112), tile=64),
    _linear(_NARROW, 5_600, _ATTENTION, (1536, HEADS * 192), tile=64),
    Work(
        "void vllm::rotary_embedding_kernel<c10::BFloat16, false>(long const*, c10::BFloat16*, "
        "c10::BFloat16*, c10::BFloat16 const*, int, long, long, int, int, int)",
        2_000,
        _ATTENTION,
        (Op("_C::rotary_embedding", (_POSITIONS, Tensor((BATCH, HEADS, 64)), Tensor((BATCH, 1, 64)), "64")),),
        grid=(BATCH, 1, 1),
        block=(512, 1, 1),
    ),
    Work(
        "void vllm::concat_and_cache_mla_kernel<__nv_bfloat16, unsigned char, (vllm::Fp8KVCacheDataType)1>"
        "(__nv_bfloat16 const*, __nv_bfloat16 const*, unsigned char*, long const*, "
        "int, int, int, int, int, int, float const*)",
        2_200,
        _BACKEND,
        (Op("_C_cache_ops::concat_and_cache_mla", (_LATENTS, _ROTARY, _POOL, _POSITIONS, "fp8")),),
        grid=(BATCH, 1, 1),
        block=(512, 1, 1),
    ),
    CAST,
    Work(
        f"void flash_fwd_splitkv_mla_kernel<{_MLA_TRAITS}, false, flash::SharedStorageMLA<{_MLA_TRAITS} > >"
        "(Flash_fwd_mla_params)",
        13_600,  # 16,384 tokens of 576 bfloat16 are 18.9 MB
        _BACKEND,
        (Op("_flashmla_C::fwd_kvcache_mla", (_QUERY, _PAGES, "512", _IDS, _PAGE_TABLE, "0.0417", "True")),),
        grid=(1, 1, 132),
        block=(256, 1, 1),
        registers=224,
        shared_memory=230_400,
        memory=-2 * prod(CACHE),
    ),
    _linear(_WIDE, 9_100, _ATTENTION, (HEADS * 128, HIDDEN), tile=64),
    _all_reduce(_ATTENTION),
    _norm((*_LAYER, "nn.Module: RMSNorm_{odd}")),
    _linear("nvjet_tst_32x8_64x16_1x1_h_bz_TNT", 3_600, _EXPERTS, (HIDDEN, EXPERTS), tile=32),
    Work(
        "void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, int>"
        "(float const*, bool const*, float*, int, int*, int*, int, int, int)",
        2_700,
        _EXPERTS,
        (Op("_moe_C::topk_softmax", (_CHOICE, _INDEX, _INDEX, _SCORES)),),
        block=(32, 4, 1),
    ),
    _grouped_gemm(31_000, _ROUTED * 4),  # 28 of 128 experts are hit, whose weights are 73 MB
    Work(
        "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>"
        "(c10::BFloat16 const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)",
        2_100,
        (*_EXPERTS, _FUSED_EXPERTS),
        (Op("_C::silu_and_mul", (Tensor((_ROUTED, EXPERT_WIDTH)), Tensor((_ROUTED, 2 * EXPERT_WIDTH)))),),
        grid=(_ROUTED, 1, 1),
    ),
    _grouped_gemm(17_500, _ROUTED * 80),
    LAST_REDUCE,
    # Every rank holds the shared expert whole, so it runs while the routed experts' sum is under way.
    replace(_linear(_NARROW, 7_900, _EXPERTS, (HIDDEN, 1024), tile=64), overlaps=True),
    Work(
        f"void at::native::vectorized_elementwise_kernel<8, {_ADD} >(int, {_ADD})",
        1_700,
        _EXPERTS,
        (Op("aten::add", (_TOKENS, _TOKENS, "1")),),
        grid=(BATCH * HIDDEN // 1024, 1, 1),
    ),
)

_UPLOAD = Op("aten::copy_", (_POSITIONS, _POSITIONS, "True"))
_PREPARE = ("demo_engine/runner.py(142): prepare_inputs",)

BEFORE = (
    _copy("HtoD", "Pinned -> Device", BATCH * 8, _PREPARE, (_UPLOAD,)),
    Work(
        "void at::native::vectorized_gather_kernel<16, long>"
        "(char*, char*, long*, int, long, long, long, long, bool)",
        3_100,
        (*_MODEL, "nn.Module: VocabParallelEmbedding_0"),
        (
            Op("aten::embedding", (Tensor((VOCABULARY, HIDDEN)), _POSITIONS, "-1", "False", "False")),
            Op("aten::index_select", (Tensor((VOCABULARY, HIDDEN)), "0", _POSITIONS)),
        ),
        grid=(BATCH, 3, 1),
        block=(256, 1, 1),
    ),
)

# One number of the router goes to the host in the middle of the model, and the host waits for it.
ROUTER_LOAD = _copy(
    "DtoH",
    "Device -> Pageable",
    4,
    (*_EXPERTS, "demo_llm/moe.py(141): busiest_expert"),
    (Op("aten::item", (Tensor((), INT),)), Op("aten::_local_scalar_dense", (Tensor((), INT),))),
)
REBALANCE = (*_EXPERTS, "demo_llm/moe.py(156): rebalance")

AFTER = (
    _norm((*_MODEL, "nn.Module: RMSNorm_{even}")),
    Work(
        "Memset (Device)",
        900,
        _LM_HEAD,
        (Op("aten::zero_", (Tensor((4096,), INT),)),),
        call="cudaMemsetAsync",
        kind="gpu_memset",
        bytes=16_384,
    ),
    _linear("nvjet_tst_128x8_64x12_2x1_v_bz_TNT", 66_400, _LM_HEAD, (HIDDEN, VOCABULARY // RANKS), tile=128),
    _collective(
        "_allgather_base",
        "AllGather_RING_LL",
        "c10d::_allgather_base_",
        19_300,
        _LM_HEAD,
        BATCH * VOCABULARY // RANKS,
        BATCH * VOCABULARY,
    ),
    Work(
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
        "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)",
        9_700,
        _SAMPLER,
        (
            Op("aten::softmax", (Tensor((BATCH, VOCABULARY), F32), "-1", "")),
            Op("aten::_softmax", (Tensor((BATCH, VOCABULARY), F32), "-1", "False")),
        ),
        grid=(BATCH, 1, 1),
        block=(1024, 1, 1),
        shared_memory=4_096,
    ),
    Work(
        "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, (cub::BlockScanAlgorithm)2, "
        "(cub::BlockReduceAlgorithm)1, 4u, true, float, int>(float*, int*, float*, int*, float*, int, float, "
        "unsigned int, unsigned long, unsigned long)",
        41_500,
        _SAMPLER,
        (Op("flashinfer::top_k_top_p_sampling_from_probs", (Tensor((BATCH, VOCABULARY), F32), "True")),),
        grid=(BATCH, 1, 1),
        block=(1024, 1, 1),
        registers=40,
        shared_memory=8_320,
    ),
    _copy(
        "DtoH",
        "Device -> Pageable",
        BATCH * 4,
        ("demo_engine/engine.py(171): collect_tokens",),
        (
            Op("aten::to", (_IDS, "", "", "cpu", "", "False", "False", "")),
            Op("aten::_to_copy", (_IDS, "3", "0", "cpu", "", "False", "")),
            Op("aten::copy_", (_IDS, _IDS, "False")),
        ),
    ),
)
