"""What tensor is this?"""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from traceview.analysis.tensors import match_model, model_tensors, read_config, same_size, seen_tensors
from traceview.errors import TraceError

GLM = {
    "hidden_size": 6144,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "kv_lora_rank": 512,
    "q_lora_rank": 2048,
    "qk_nope_head_dim": 192,
    "qk_rope_head_dim": 64,
    "v_head_dim": 256,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "moe_intermediate_size": 2048,
    "vocab_size": 154880,
}
LLAMA = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
CAST = 495552 * 576


def elements(config: dict[str, Any], tp: int = 1) -> dict[str, int | None]:
    return dict(model_tensors(config, tp).select("tensor", "elements").iter_rows())


def test_tensors_of_the_trace_by_count() -> None:
    ops = pl.DataFrame(
        {
            "name": ["aten::copy_", "aten::copy_", "aten::cat", "aten::view", "aten::odd"],
            "input_dims": ["[[8,4],[8,4],[]]", "[[8,4],[8,4],[]]", "[[[4,4],[2,2]],[]]", None, "?"],
            "input_types": ['["c10::BFloat16","c10::Float8_e4m3fn","Scalar"]'] * 2
            + ['["TensorList","Scalar"]', None, None],
        }
    )
    seen = seen_tensors(ops)
    found = same_size(seen, elements=32).select(
        "op", "position", "dims", "dtype", "bytes", "calls", "multiple"
    )
    assert found.rows() == [
        ("aten::copy_", 0, [8, 4], "bf16", 64, 2, 1),
        ("aten::copy_", 1, [8, 4], "float8_e4m3fn", 32, 2, 1),
        ("aten::cat", 0, [4, 4], None, None, 1, 2),
        ("aten::cat", 0, [2, 2], None, None, 1, 8),
    ]
    assert same_size(seen, elements=31).is_empty()
    assert same_size(seen, elements=9 * 4).is_empty()  # nine times [2, 2] is no small multiple


def test_the_cast_is_the_kv_cache_and_not_the_experts() -> None:
    found = match_model(model_tensors(GLM, 8), CAST)
    first = found.row(0, named=True)
    assert (first["tensor"], first["dims"], first["multiple"]) == ("KV cache of a layer", [1, 576], 1)
    assert first["working"] == "tokens x (kv_lora_rank 512 + rope 64)"
    rest = dict(found.slice(1).select("tensor", "multiple").iter_rows())
    assert set(rest.values()) == {None}
    by_name = dict(found.select("tensor", "elements").iter_rows())
    assert (by_name["experts' gate and up"], by_name["experts' down"]) == (805_306_368, 402_653_184)
    assert found["tensor"].to_list()[1:3] == ["experts' gate and up", "experts' down"]


def test_the_cache_tells_how_many_it_would_hold() -> None:
    first = match_model(model_tensors(GLM, 8), CAST).row(0, named=True)
    assert (first["tensor"], first["elements"], first["tokens"], first["multiple"]) == (
        "KV cache of a layer",
        None,
        495552,
        1,
    )
    assert match_model(model_tensors(GLM, 8), CAST + 1)["multiple"].to_list() == [None] * 13


def test_weights_of_latent_attention_and_experts_on_one_rank_of_eight() -> None:
    found = elements(GLM, 8)
    assert found["q_b_proj"] == 8 * (192 + 64) * 2048
    assert found["kv_a_proj"] == 576 * 6144
    assert found["kv_b_proj"] == 8 * (192 + 256) * 512
    assert found["o_proj"] == 6144 * 8 * 256
    assert found["lm_head"] == 19360 * 6144
    assert found["shared expert's down"] == 6144 * 256


def test_weights_of_grouped_query_attention() -> None:
    model = model_tensors(LLAMA)
    found = dict(model.select("tensor", "elements").iter_rows())
    assert found["q_proj"] == 4096 * 4096
    assert found["k_proj or v_proj"] == 8 * 128 * 4096
    assert found["qkv_proj"] == (32 + 16) * 128 * 4096
    assert found["mlp gate and up"] == 2 * 14336 * 4096
    dims = dict(model.select("tensor", "dims").iter_rows())
    assert dims["K or V cache of a layer"] == [8, 128]
    assert dims["KV cache of a layer"] == [2, 8, 128]
    assert elements(LLAMA, 16)["k_proj or v_proj"] == 128 * 4096  # fewer KV heads than ranks: repeated


def test_a_config_that_says_little_implies_little() -> None:
    assert elements({"hidden_size": 64}) == {}
    assert elements({"text_config": LLAMA})["q_proj"] == 4096 * 4096
    assert elements({**LLAMA, "intermediate_size": "many"}).get("mlp down") is None


def test_reading_a_config(tmp_path: Path) -> None:
    good = tmp_path / "config.json"
    good.write_text(json.dumps(GLM))
    assert read_config(good)["kv_lora_rank"] == 512
    for text, says in (("[]", "not a model's config"), ("{", "not JSON"), ("{}", "not a model's config")):
        bad = tmp_path / "bad.json"
        bad.write_text(text)
        with pytest.raises(TraceError, match=says) as caught:
            read_config(bad)
        assert caught.value.exit_code == 2
    with pytest.raises(TraceError, match="cannot be read"):
        read_config(tmp_path / "absent.json")


@pytest.mark.parametrize("key", ["hidden_size", "vocab_size", "intermediate_size"])
def test_a_number_larger_than_any_models_is_refused(key: str) -> None:
    with pytest.raises(TraceError, match=f"{key} is larger") as caught:
        model_tensors({**LLAMA, key: 2**63 - 1})
    assert caught.value.exit_code == 2


def test_a_tensor_that_no_memory_could_hold_is_left_out() -> None:
    assert "mlp down" not in elements({**LLAMA, "hidden_size": 2**31, "intermediate_size": 2**31})


def test_only_a_regular_file_of_a_configs_size_is_read(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.write_text(json.dumps(LLAMA) + " " * (16 << 20))
    for path, says in ((Path("/dev/zero"), "not a regular file"), (large, "too large")):
        with pytest.raises(TraceError, match=says):
            read_config(path)
