"""int8 arithmetic of whole models: against numpy, and against fp32."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from generated_models import SMALL, Weights, native, random_sentences, random_weights
from int8_arithmetic import Int8Model

from sieve.bundle.config import ModelConfig
from sieve.bundle.quantization import dequantize, quantize
from sieve.engines.native.native_engine import available_kernels
from sieve.engines.options import SearchOptions
from sieve.selection.selectors import FullVocabulary, NeuralSelection
from sieve.tokenize.vocabulary import IntArray

CONFIGS = {
    "ssru": SMALL,
    "ssru, all tied, odd": ModelConfig(70, 70, 2, 1, 20, 50, 2, "ssru", "all"),
    "ssru, full head": ModelConfig(81, 131, 1, 2, 48, 70, 3, "ssru", "output", nvs_head="full"),
    "ssru, factored head": replace(SMALL, nvs_head="factored", nvs_rank=9),
    "ssru, two looks, full": replace(
        SMALL, nvs_head="factored", nvs_words="own", nvs_rank=30, nvs_slack=0.3
    ),
    "attention": replace(SMALL, decoder_mixer="attention"),
    "attention, wide": ModelConfig(99, 700, 1, 1, 136, 300, 4, "attention", "output"),
}
with_models = pytest.mark.parametrize("name", CONFIGS)


@cache
def weights(name: str) -> Weights:
    return random_weights(CONFIGS[name], seed=2)


def sources(name: str, number: int) -> list[IntArray]:
    return random_sentences(3, number, CONFIGS[name].src_vocab_size)


@with_models
@pytest.mark.parametrize("kernels", available_kernels())
def test_against_numpy(name: str, kernels: str) -> None:
    """A value near the middle of two integers may be rounded to the other one: few are."""
    oracle = Int8Model(CONFIGS[name], weights(name))
    engine = native(CONFIGS[name], weights(name), int8=True, kernels=kernels)
    sentences = sources(name, 12)
    rng = np.random.default_rng(4)
    targets = [rng.integers(4, CONFIGS[name].tgt_vocab_size, n % 6).tolist() for n in range(12)]
    found = engine.score(sentences, targets, FullVocabulary())
    logits = engine.bow_logits(engine.encode(sentences))
    exact = []
    for ids, target, one, row in zip(sentences, targets, found, logits, strict=True):
        scores = oracle.forced(ids.tolist(), target)
        difference = np.abs([*np.subtract(one.token_scores, scores)]).max()
        difference = max(difference, np.abs(row - oracle.bow_logits(ids.tolist())).max())
        assert difference < 0.3  # some steps of rounding, passed on
        exact.append(difference < 2e-5)
    assert sum(exact) >= 10


@with_models
def test_what_was_translated_scores_the_same(name: str) -> None:
    engine = native(CONFIGS[name], weights(name), int8=True)
    sentences = sources(name, 12)
    for selector in (FullVocabulary(), NeuralSelection(0.4)):
        options = SearchOptions(beam_size=4, max_length_factor=1.0)
        found = [row[0] for row in engine.translate(sentences, selector, options)]
        forced = engine.score(sentences, [one.tokens for one in found], selector)
        for one, other in zip(found, forced, strict=True):
            # bit for bit but for the sum over all words
            scores = other.token_scores[: len(one.token_scores)]
            assert one.token_scores == pytest.approx(scores, abs=1e-5)


@with_models
def test_near_to_fp32(name: str) -> None:
    config = CONFIGS[name]
    quantised, exact = (native(config, weights(name), int8=int8) for int8 in (True, False))
    sentences = sources(name, 40)
    first, second = (e.bow_logits(e.encode(sentences)) for e in (quantised, exact))
    assert np.abs(first - second).mean() < 0.1 * second.std()
    for threshold in (0.3, 0.5):
        sizes, expected = (
            np.mean(
                [
                    row[0].shortlist_size
                    for row in e.translate(
                        sentences, NeuralSelection(threshold), SearchOptions(beam_size=1)
                    )
                ]
            )
            for e in (quantised, exact)
        )
        assert sizes == pytest.approx(expected, rel=0.05)


@with_models
def test_rounded_weights_alone(name: str) -> None:
    """fp32 arithmetic on the numbers that the integers stand for: `--precision float32`."""
    config, given = CONFIGS[name], weights(name)
    shapes = {n: w.shape for n, w in given.items()}
    back = dequantize(quantize(given, "here"), shapes, "here")
    engine = native(config, back)
    assert all(np.abs(back[n] - w).max() <= np.abs(w).max() / 250 for n, w in given.items())
    assert engine.translate(sources(name, 3), FullVocabulary(), SearchOptions())


def test_rows_and_scales_of_zero() -> None:
    given = {n: w.copy() for n, w in weights("ssru").items()}
    given["output.weight"][5:70] = 0.0
    given["encoder.layers.0.feed_forward.hidden.weight"][:] = 0.0
    given["encoder.layers.0.feed_forward.hidden.bias"][:] = -1.0  # what follows reads zeros
    engine, oracle = native(SMALL, given, int8=True), Int8Model(SMALL, given)
    sentences = sources("ssru", 8)
    found = engine.score(sentences, [[5, 80]] * 8, FullVocabulary())
    differences = [
        np.abs(np.subtract(one.token_scores, oracle.forced(ids.tolist(), [5, 80]))).max()
        for ids, one in zip(sentences, found, strict=True)
    ]
    assert np.median(differences) < 1e-4
