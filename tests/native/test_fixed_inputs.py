"""Inputs with fixed multipliers in the native engine: the layers that have them, and no others."""

# private: the C++ core is what is tested

from dataclasses import replace

import numpy as np
import pytest
from generated_models import SMALL, random_sentences, random_weights

from sieve import _native
from sieve.bundle.fixed_inputs import FixedInput
from sieve.bundle.quantization import quantize, unpack
from sieve.engines.native.native_engine import NativeEngine, available_kernels
from sieve.selection.selectors import FullVocabulary, NeuralSelection

CONFIG = replace(SMALL, nvs_head="tied", tie="output")
SOURCES = random_sentences(5, 9, CONFIG.src_vocab_size)
TARGETS = [[4 + n, 9, 5] for n in range(9)]


def engine(multiplier: float | None, kernels: str) -> NativeEngine:
    """A model whose output layer's input has a multiplier, or none."""
    weights = random_weights(CONFIG, seed=6)
    tensors = quantize(weights, "here")
    if multiplier is not None:
        rows, columns = weights["tgt_embedding.weight"].shape
        ones = np.ones(len(tensors["tgt_embedding.weight_scale"]), np.float32)
        sums = unpack(tensors["tgt_embedding.weight"], ones, (rows, columns)).sum(axis=1)
        scale = np.float32(1 / multiplier) * tensors["tgt_embedding.weight_scale"][:rows]
        bias = weights["output.bias"] - 127 * sums * scale
        fixed = FixedInput(multiplier, scale, bias.astype(np.float32))
        tensors |= quantize({**weights, **fixed.tensors("tgt_embedding")}, "here")
    return NativeEngine(CONFIG, tensors, int8=True, threads=1, kernels=kernels)


@pytest.mark.parametrize("kernels", available_kernels())
def test_the_output_layer_alone(kernels: str) -> None:
    """Scores change by rounding; the head, whose rows are its own, votes as before."""
    plain, fixed, coarse = (engine(m, kernels) for m in (None, 5.0, 0.5))
    votes = [one.bow_logits(one.encode(SOURCES)) for one in (plain, fixed, coarse)]
    np.testing.assert_array_equal(votes[0], votes[1])
    np.testing.assert_array_equal(votes[0], votes[2])
    full = [
        np.concatenate([one.token_scores for one in e.score(SOURCES, TARGETS, FullVocabulary())])
        for e in (plain, fixed, coarse)
    ]
    assert 0 < np.abs(full[0] - full[1]).max() < 1.0
    assert np.abs(full[0] - full[2]).max() > np.abs(full[0] - full[1]).max()


@pytest.mark.parametrize("kernels", available_kernels())
def test_gathered_rows_and_all_rows_give_the_same(kernels: str) -> None:
    """What is selected has the same logits, gathered or not: their differences stay."""
    fixed = engine(5.0, kernels)
    selector = NeuralSelection(0.9)
    few = fixed.score(SOURCES, TARGETS, selector)
    all_of_them = fixed.score(SOURCES, TARGETS, FullVocabulary())
    compared = 0
    for some, every in zip(few, all_of_them, strict=True):
        places = [n for n, score in enumerate(some.token_scores) if np.isfinite(score)]
        compared += len(places)
        for n in places:
            assert some.token_scores[n] >= every.token_scores[n] - 1e-5
    assert compared > 0


@pytest.mark.parametrize("multiplier", [0.0, -1.0, 1e37])
def test_a_multiplier_that_is_none_is_refused(multiplier: float) -> None:
    tensors = quantize(random_weights(CONFIG, seed=6), "here")
    size = tensors["tgt_embedding.weight_scale"].shape
    tensors["tgt_embedding.input_multiplier"] = np.array([multiplier], np.float32)
    tensors["tgt_embedding.product_scale"] = np.ones(size, np.float32)
    tensors["tgt_embedding.product_bias"] = np.ones(size, np.float32)
    with pytest.raises(_native.ModelError, match="input_multiplier is not from 1e-36"):
        NativeEngine(CONFIG, tensors, int8=True)
