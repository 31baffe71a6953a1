"""A head of low rank: what its two looks select, and when they are the exact head's."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from generated_models import SMALL, Weights, native, random_weights
from small_engines import BEAM, V, source
from toy_lexicon import random_lexicon

from sieve.bundle.config import ModelConfig, Words
from sieve.engines.engine import Engine
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.errors import ConfigError
from sieve.model.checkpoint import load_tensors
from sieve.model.transformer import TranslationModel
from sieve.selection.candidates import LexiconCandidates
from sieve.selection.fusion import Fusion, LexiconBonus
from sieve.selection.selectors import NeuralSelection

LEXICON = random_lexicon(V)
D = SMALL.d_model
WORDS: dict[str, Words] = {"tied": "output", "full": "own"}
kinds = pytest.mark.parametrize("kind", WORDS)


def exact(kind: str) -> tuple[ModelConfig, Weights]:
    config = replace(SMALL, nvs_head=kind)  # type: ignore[arg-type]
    return config, random_weights(config, seed=4)


def factored(
    kind: str, rank: int, slack: float | None, rotation: np.ndarray | None = None
) -> tuple[ModelConfig, Weights]:
    """The exact head's model with factors; of a rotation's first rows, else random ones."""
    config, weights = exact(kind)
    config = replace(
        config, nvs_head="factored", nvs_words=WORDS[kind], nvs_rank=rank, nvs_slack=slack
    )
    rng = np.random.default_rng(rank)
    for side in ("tokens", "positions"):
        factor = rng.normal(size=(rank, D)) / np.sqrt(D) if rotation is None else rotation[:rank]
        weights = {**weights, f"nvs.factors.{side}.weight": factor.astype(np.float32)}
    return config, weights


@cache
def rotation() -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(7).normal(size=(D, D)))[0]


@cache
def engines(kind: str, rank: int, slack: float | None) -> tuple[TorchEngine, NativeEngine]:
    config, weights = factored(kind, rank, slack)
    model = TranslationModel(config)
    load_tensors(model, weights, "generated")
    return TorchEngine(model.eval()), native(config, weights, threads=2)


@kinds
@pytest.mark.parametrize("int8", [False, True])
def test_full_rank_is_the_exact_head(kind: str, int8: bool) -> None:
    sentences = source(3, 12)
    plain = native(*exact(kind), int8=int8)
    low = native(*factored(kind, D, None, rotation()), int8=int8)
    expected, found = (one.bow_logits(one.encode(sentences)) for one in (plain, low))
    assert expected.std() > 0.2
    np.testing.assert_allclose(found, expected, atol=0.1 if int8 else 2e-5)
    # and a rank of half the width is not
    half = native(*factored(kind, D // 2, None, rotation()), int8=int8)
    assert np.abs(half.bow_logits(half.encode(sentences)) - expected).max() > 0.2


@kinds
@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("least", [0, 30])
def test_a_second_look_at_all_tokens_is_the_exact_head(kind: str, int8: bool, least: int) -> None:
    sentences = source(5, 12)
    plain = native(*exact(kind), int8=int8)
    twice = native(*factored(kind, 3, 1e6), int8=int8)
    logits = [one.bow_logits(one.encode(sentences)) for one in (plain, twice)]
    np.testing.assert_array_equal(logits[0], logits[1])
    for threshold in (0.3, 0.6, 0.9):
        selector = NeuralSelection(threshold, least)
        found = [one.translate(sentences, selector, BEAM) for one in (plain, twice)]
        assert found[0] == found[1]


@kinds
def test_sets_are_what_both_looks_leave(kind: str) -> None:
    """By definition: within the slack at the first look, above the threshold at the second."""
    sentences, slack = source(6, 12), 0.3
    first, second = (
        one.bow_logits(one.encode(sentences))
        for one in (native(*factored(kind, 5, None)), native(*exact(kind)))
    )
    twice = native(*factored(kind, 5, slack))
    encoded = twice.encode(sentences)
    some = 0
    for threshold in (0.2, 0.4, 0.6):
        cut = np.log(threshold / (1 - threshold))
        expected = (first + np.float32(slack) > cut) & (second > cut)
        hypotheses = twice.translate(sentences, NeuralSelection(threshold), BEAM)
        for row, (best, *_) in zip(expected, hypotheses, strict=True):
            row[SMALL.eos] = True
            assert best.shortlist_size == row.sum()
        shortlists = NeuralSelection(threshold).plan().select(encoded)
        for row, shortlist in zip(expected, shortlists, strict=True):
            assert shortlist.ids.tolist() == np.flatnonzero(row).tolist()
        some += int((expected != (second > cut)).sum())
    assert some > 20  # the slack left some out


@kinds
@pytest.mark.parametrize("slack", [None, 0.0, 0.4, 3.0])
@pytest.mark.parametrize("least", [0, 25, 10**6])
def test_both_engines_select_the_same(kind: str, slack: float | None, least: int) -> None:
    sentences = source(8, 12)
    evidence = LexiconBonus(LEXICON, Fusion((1, 3), (1.5, -0.5)))
    for selector in (
        NeuralSelection(0.5, least),
        NeuralSelection(0.5, least, evidence),
        NeuralSelection(0.5, least, evidence, LexiconCandidates(LEXICON, 40)),
    ):
        first, second = (
            one.translate(sentences, selector, BEAM) for one in engines(kind, 6, slack)
        )
        for expected, found in zip(first, second, strict=True):
            assert [h.tokens for h in found] == [h.tokens for h in expected]
            assert [h.shortlist_size for h in found] == [h.shortlist_size for h in expected]


@kinds
def test_explained_votes_are_those_of_the_sentence(kind: str) -> None:
    both: tuple[Engine[Any], ...] = engines(kind, 6, 0.4)
    for engine in both:
        encoded = engine.encode(source(9, 6))
        pooled = engine.bow_logits(encoded)
        for row, alone in zip(pooled, engine.position_logits(encoded), strict=True):
            np.testing.assert_allclose(alone.max(axis=0), row, atol=1e-5)


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"model.nvs_rank: got 33, expected 1 to d_model \(32\)"):
        replace(SMALL, nvs_head="factored", nvs_rank=33)
    with pytest.raises(ConfigError, match=r"model.nvs_slack: got -1.0, expected log-odds"):
        replace(SMALL, nvs_slack=-1.0)
