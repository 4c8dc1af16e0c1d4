"""What a person puts in place of something missing: read from a line, and what follows from it."""

from pathlib import Path

import pytest

from tests.traces import Event, launched, op, session
from traceview.analysis.assumed import Assumption, parse_assumption
from traceview.api import Session

CAST = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(X)::"
    "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>, 4, Y>(int)"
)
PAGED = "void flashinfer::BatchMLAPagedAttentionKernel<X>(Y)"
H100 = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]


def shapeless(folder: Path) -> Session:
    """A copy of 512 elements on two grids, and attention whose step says nothing of its cache."""
    attention = [[1, 8, 512], [1, 8, 64], [4096, 1, 576]]
    events: list[Event] = [
        op("aten::copy_", 0, 20),
        *launched(CAST, 5, 30, 10, 1),
        op("aten::copy_", 40, 20),
        *launched(CAST, 45, 70, 10, 2, grid=(7, 1, 1)),
        op("flashinfer::batch_mla_paged_attention", 80, 20, dims=attention, types=["c10::BFloat16"] * 3),
        *launched(PAGED, 85, 110, 10, 3),
    ]
    return session(folder, *events, deviceProperties=H100)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[8,128],[128]]", Assumption(input_dims="[[8, 128], [128]]")),
        ("[8,128] [128] []", Assumption(input_dims="[[8, 128], [128], []]")),
        (
            "dims=[[512],[512]] types=c10::BFloat16, float8_e4m3fn",
            Assumption(input_dims="[[512], [512]]", input_types='["c10::BFloat16", "float8_e4m3fn"]'),
        ),
        ("[8] types=bf16", Assumption(input_dims="[[8]]", input_types='["bf16"]')),
        ("types=bf16 - int64", Assumption(input_types='["bf16", "", "int64"]')),
        ("cached=495,552", Assumption(cached=495552)),
        ("tokens=4 cached=1_000", Assumption(cached=1000, tokens=4)),
        ("op=aten::copy_ dims=[8]", Assumption(op="aten::copy_", input_dims="[[8]]")),
    ],
)
def test_a_line_is_an_assumption(text: str, expected: Assumption) -> None:
    assert parse_assumption(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "dims: needs lists such as"),
        ("8 x 128", "dims: needs lists such as"),
        ("[[8,-1]]", "dims: needs lists such as"),
        ("[" * 5000, "dims: needs lists such as"),
        ("types=bf16 fp8", "types: fp8 is not one, such as"),
        ("tokens=4", "tokens: needs cached=N"),
        ("cached=many", "cached: needs a whole number such as cached=4096"),
        ("cached=0", "cached: needs a whole number"),
        ("shape cached=7", "shape: not one of op, dims, types, cached, tokens"),
    ],
)
def test_a_line_that_means_nothing_says_what_would(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_assumption(text)


def test_the_floor_follows_and_is_marked_assumed(tmp_path: Path) -> None:
    found = shapeless(tmp_path)
    launch = found.card(0)["launch"]
    assert (launch["elements_from"], launch["bytes_from"]) == ("geometry", "geometry")
    wiser = found.assume(
        found.work["variant"][0], parse_assumption("dims=[512] [512] types=bf16 float8_e4m3fn")
    )
    launch = wiser.card(0)["launch"]
    assert (launch["elements"], launch["bytes"]) == (512, 512 * (2 + 1))
    assert (launch["elements_from"], launch["bytes_from"]) == ("assumed", "assumed")
    assert launch["assumptions"][-1] == 'input types ["bf16", "float8_e4m3fn"], typed in'
    # The other grid is another variant, of which nothing was assumed.
    assert wiser.card(1)["launch"]["bytes_from"] == "geometry"
    assert wiser.work["variant"].equals(found.work["variant"])


def test_what_was_assumed_can_be_taken_back(tmp_path: Path) -> None:
    found = shapeless(tmp_path)
    variant = found.work["variant"][0]
    wiser = found.assume(variant, Assumption(input_dims="[[512], [512]]"))
    assert wiser.assume(variant, None).work.equals(found.work)
    assert found.card(0)["launch"]["bytes_from"] == "geometry"


def test_cached_tokens_give_paged_attention_its_traffic(tmp_path: Path) -> None:
    found = shapeless(tmp_path)
    assert found.card(2)["launch"]["bytes"] is None
    launch = found.assume(found.work["variant"][2], Assumption(cached=1000)).card(2)["launch"]
    assert launch["bytes"] == 2 * (8 * 512 + 8 * 64 + 1000 * 576 + 8 * 512)
    assert launch["flops"] == 2 * 8 * (576 + 512) * 1000
    assert launch["bytes_from"] == "assumed"
    assert launch["assumptions"] == [
        "cached tokens from what was typed in, not from the call",
        "1,000 cached tokens, 1 query tokens a request, typed in",
    ]
