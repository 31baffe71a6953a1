"""Kernels of training and beam search compile for a Hopper GPU, which needs no GPU.

The interpreter, in which the other tests run kernels, is laxer about types.
"""

# private: kernels are compiled alone, without the functions that launch them
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

triton = pytest.importorskip("triton", reason="Triton (extra 'gpu') is not installed")

LENGTHS = {"BU": 32, "BT": 16, "D": 64}
HEAD_STRIDES = ["i32"] * 3


def compile_for_hopper(kernel: Any, types: Sequence[str], constants: Mapping[str, Any]) -> str:
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    given = iter(types)
    names = kernel.arg_names
    signature = {name: "constexpr" if name in constants else next(given) for name in names}
    source = ASTSource(fn=kernel, signature=signature, constexprs=dict(constants))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Triton announces changes of its own defaults
        return str(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"])


@pytest.mark.parametrize(("masked", "causal"), [(True, False), (False, True)])
def test_short_attention(masked: bool, causal: bool) -> None:
    from sieve.kernels import attention_triton as kernels

    constants = {"HAS_MASK": masked, "CAUSAL": causal, **LENGTHS}
    mask = "*i1" if masked else "*bf16"
    tail = ["i32", "i32", "i32", "fp32"]
    forward = ["*bf16"] * 3 + [mask, "*bf16"] + HEAD_STRIDES * 3 + tail
    backward = ["*bf16"] * 3 + [mask] + ["*bf16"] * 4 + HEAD_STRIDES * 4 + tail
    assert compile_for_hopper(kernels._forward_kernel, forward, constants)
    assert compile_for_hopper(kernels._backward_kernel, backward, constants)


def test_recurrence() -> None:
    from sieve.kernels import recurrence_triton as kernels

    types = ["*fp32", "*fp32", "*fp32", "i32", "i32"]
    assert compile_for_hopper(kernels._kernel, types, {"REVERSE": True, "BLOCK": 64})


@pytest.mark.parametrize("has_words", [True, False])
def test_beams(has_words: bool) -> None:
    from sieve.kernels import beams_triton as kernels

    words = "*i64" if has_words else "*fp16"
    beams = ["*fp32", "*i64", "*i8", "*fp32", "*i64", "*i64", "*fp32", "*fp32"]
    record = ["*i64", "*i64", "*fp32", "*i64", "*i64", "*i32"]
    types = ["*fp16"] + ["*fp32"] * 3 + [words, *beams, *record] + ["i32"] * 8
    sizes = {"K": 5, "KP": 8, "RP": 16, "CP": 512, "PP": 8, "WIDTH": 64, "END": 2}
    constants = {**sizes, "HAS_WORDS": has_words}
    assert compile_for_hopper(kernels._advance, types, constants)
    summary = ["*fp16", "*fp32", "*fp32", "*fp32", "i32", "i32", "i32"]
    assert compile_for_hopper(kernels._summarize, summary, {"BLOCK": 1024, "WIDTH": 64})


@pytest.mark.parametrize("kind", ["*fp16", "*fp32"])
@pytest.mark.parametrize("block", [16, 64])
def test_output_words(kind: str, block: int) -> None:
    from sieve.kernels import output_tokens_triton as kernels

    types = [kind] * 3 + ["*i64", "*i64", kind, "*fp32", "*fp32"] + ["i32"] * 5
    shape = {"KP": 16, "BN": block, "BK": 64}
    assert "mma" in compile_for_hopper(kernels._token_logits, types, shape) or kind == "*fp32"
    types = ["*fp32", "*fp32", "*i64", "*i64", "i32", "i32"]
    assert compile_for_hopper(kernels._select, types, {"BLOCK": 4096, "END": 2})


def test_trace() -> None:
    from sieve.kernels import trace_triton as kernels

    types = ["*fp32", "*i64", "*i64", "*fp32", "*i64", "*i64", "*i32", "i32", "i32"]
    assert compile_for_hopper(kernels._trace, types, {"K": 5, "KP": 8, "HEAD": 2})


@pytest.mark.parametrize("kind", ["*fp16", "*fp32"])
def test_fused_layers(kind: str) -> None:
    from sieve.kernels import fused_triton as kernels

    pair = [kind] * 2
    size = {"BLOCK": 1024}
    assert compile_for_hopper(kernels._add_norm, [*pair * 3, "i32", "fp32"], size)
    cells = ["*fp32", "*i64", "*i64"]
    types = [*pair, *cells, *pair * 2, "i32", "i32", "fp32"]
    assert compile_for_hopper(kernels._ssru_add_norm, types, size)
    lookup = ["*i64", kind, kind, "*i64"]
    types = [*lookup, *pair * 2, "fp32", "i32", "fp32"]
    assert compile_for_hopper(kernels._embed_norm, types, size)
    shape = {"KP": 16, "DH": 64, "BT": 32}
    assert compile_for_hopper(kernels._attend, [kind] * 5 + ["fp32"] + ["i32"] * 7, shape)


@pytest.mark.parametrize(("kind", "block"), [("*fp16", 128), ("*fp32", 64)])
@pytest.mark.parametrize("rows", [16, 64])
def test_few_rows(kind: str, block: int, rows: int) -> None:
    from sieve.kernels import few_rows_triton as kernels

    tiles = {"M": rows, "CP": 64, "BK": block}
    map_ = [kind, "*fp32", kind, "*fp32", "*fp32"]
    choice = {"NORM": True, "RELU": True, "ADD": False, "BN": 32}
    types = [*map_, kind, kind, "*fp32", *["i32"] * 4, "fp32"]
    assert compile_for_hopper(kernels._product, types, {**tiles, **choice})
    choice = {"NORM": False, "RELU": False, "ADD": True, "BN": 16}
    assert compile_for_hopper(kernels._product, types, {**tiles, **choice})
    types = [*map_, "*fp32", "*i64", "*i64", kind, "*fp32", *["i32"] * 4, "fp32"]
    assert compile_for_hopper(kernels._ssru, types, {**tiles, "BN": 16})
    types = [*map_, *[kind] * 4, *["i32"] * 5, "fp32", "fp32"]
    assert compile_for_hopper(kernels._query_attend, types, {**tiles, "DH": 64, "BT": 32})
    lookup = ["*i64", kind, kind, "*i64", kind, "*fp32", "fp32", "i32", "i32", "i32"]
    choice = {"BLOCK": 1024}
    assert compile_for_hopper(kernels._embed, lookup, {**choice, "STEP": True})
    assert compile_for_hopper(kernels._norm, [kind] * 4 + ["i32", "fp32"], choice)


@pytest.mark.parametrize(("positions", "sentences", "block"), [(32, 4, 128), (64, 1, 64)])
def test_pooling(positions: int, sentences: int, block: int) -> None:
    from sieve.kernels import pooling_triton as kernels

    types = ["*fp16", "*i8", "*fp16", "*fp32", "*fp32", "i32", "i32", "i32", "i32"]
    shape = {"TP": positions, "SENTENCES": sentences, "BN": block, "BK": 64}
    assert "mma" in compile_for_hopper(kernels._pool, types, shape)
