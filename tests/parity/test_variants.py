"""Other toolkits' architectures: the native engine against equations in numpy, and torch's."""

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from generated_models import (
    Given,
    Weights,
    native,
    random_sentences,
    random_shortlists,
    random_weights,
)
from parity_cases import SEARCHES, assert_same
from variants import SEEDS, VARIANTS

from sieve.bundle.config import ModelConfig
from sieve.engines.engine import Hypothesis
from sieve.engines.native.native_engine import NativeEngine, available_kernels
from sieve.engines.options import Blocked, Sampling, SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.importers.forward import Forward
from sieve.model.checkpoint import load_tensors
from sieve.model.transformer import TranslationModel
from sieve.selection.selectors import FullVocabulary, NeuralSelection
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray

TOLERANCE = 2e-4
"""Of a log-probability, and of a logit that is as high as another."""
EVERYTHING = FullVocabulary()
GREEDY = SearchOptions(beam_size=1, max_length_factor=1.5, alignment=True)
BEAM = SearchOptions(beam_size=4, n_best=4, max_length_factor=1.5, alignment=True)
Array = npt.NDArray[np.float64]

with_variants = pytest.mark.parametrize("name", VARIANTS)


@cache
def weights_of(name: str) -> Weights:
    return random_weights(VARIANTS[name], SEEDS[name])


@cache
def engine_of(name: str) -> NativeEngine:
    return native(VARIANTS[name], weights_of(name))


def source(name: str, seed: int = 0, number: int = 8) -> list[IntArray]:
    config = VARIANTS[name]
    return random_sentences(seed, number, config.src_vocab_size, eos=config.eos)


class Said:
    """What the equations say while a translation is given."""

    def __init__(self, name: str, src_ids: IntArray, tgt_ids: tuple[int, ...]) -> None:
        self.config = VARIANTS[name]
        model = Forward(self.config, weights_of(name))
        (given,) = model.forced([src_ids.tolist()], [tgt_ids])
        self.logits: Array = model.logits(given.states)
        top = self.logits.max(axis=1, keepdims=True)
        self.log_probs: Array = (
            self.logits - top - np.log(np.exp(self.logits - top).sum(1))[:, None]
        )
        attention = given.attention[self.config.alignment_layer]
        self.looks: Array = attention[list(self.config.alignment_heads)].mean(axis=0)


def steps(config: ModelConfig, hypothesis: Hypothesis) -> list[int]:
    """Every token that was generated, EOS included."""
    return [*hypothesis.tokens, config.eos][: len(hypothesis.token_scores)]


def assert_scores(said: Said, hypothesis: Hypothesis) -> None:
    ids = steps(said.config, hypothesis)
    expected = said.log_probs[np.arange(len(ids)), ids]
    assert hypothesis.token_scores == pytest.approx(expected.tolist(), abs=TOLERANCE)


@with_variants
def test_forced_scores(name: str) -> None:
    sentences, config = source(name), VARIANTS[name]
    rng = np.random.default_rng(2)
    lengths = rng.integers(0, 15, len(sentences))
    targets = [tuple(rng.integers(0, config.tgt_vocab_size, n).tolist()) for n in lengths]
    scored = engine_of(name).score(sentences, targets, EVERYTHING)
    for src_ids, target, hypothesis in zip(sentences, targets, scored, strict=True):
        assert len(hypothesis.token_scores) == len(target) + 1
        assert_scores(Said(name, src_ids, target), hypothesis)


@with_variants
def test_greedy_search(name: str) -> None:
    """Every token is the best that may be generated; probabilities count all tokens."""
    config, hidden = VARIANTS[name], 0
    for src_ids, row in zip(
        source(name), engine_of(name).translate(source(name), EVERYTHING, GREEDY), strict=True
    ):
        said = Said(name, src_ids, row[0].tokens)
        forced = len(config.forced_start)
        assert row[0].tokens[:forced] == config.forced_start
        assert_scores(said, row[0])
        allowed = said.logits.copy()
        allowed[:, list(config.never)] = -np.inf
        for step, token in enumerate(steps(config, row[0])[forced:], forced):
            assert token not in config.never
            assert allowed[step, token] >= allowed[step].max() - TOLERANCE
            hidden += said.logits[step].max() > allowed[step].max()
    assert hidden > 0 or len(config.never) < 5  # so many hide the best token now and then


@with_variants
def test_beam_search(name: str) -> None:
    config = VARIANTS[name]
    found = engine_of(name).translate(source(name), EVERYTHING, BEAM)
    assert len({token for row in found for token in row[0].tokens}) > 3
    for src_ids, row in zip(source(name), found, strict=True):
        assert len({hypothesis.tokens for hypothesis in row}) == len(row)
        for hypothesis in row:
            assert not set(config.never).intersection(hypothesis.tokens)
            assert_scores(Said(name, src_ids, hypothesis.tokens), hypothesis)


@with_variants
def test_alignment_by_the_heads_of_the_model(name: str) -> None:
    found = engine_of(name).translate(source(name), EVERYTHING, GREEDY)
    for src_ids, row in zip(source(name), found, strict=True):
        looks = Said(name, src_ids, row[0].tokens).looks
        for step, position in enumerate(row[0].positions):
            assert looks[step, position] >= looks[step].max() - 1e-5


@with_variants
def test_lossless_search(name: str) -> None:
    config, sentences = VARIANTS[name], source(name)
    rng = np.random.default_rng(3)
    few = Given(
        [Shortlist.of([*rng.integers(0, config.tgt_vocab_size, 12), config.eos]) for _ in sentences]
    )
    lossless = SearchOptions(**{**vars(GREEDY), "lossless": True})
    whole = engine_of(name).translate(sentences, EVERYTHING, GREEDY)
    checked = engine_of(name).translate(sentences, few, lossless)
    assert sum(row[0].returns for row in checked) > 0
    for (one,), (other,) in zip(whole, checked, strict=True):
        assert (one.tokens, one.positions) == (other.tokens, other.positions)
        assert one.token_scores == pytest.approx(other.token_scores, abs=TOLERANCE)


@with_variants
def test_lossless_beam_search_that_drafts(name: str) -> None:
    config, sentences = VARIANTS[name], source(name)
    engine = native(config, weights_of(name))
    engine.drafts_beams = True
    few = Given([Shortlist.of([*range(4, 24), config.eos])] * len(sentences))
    whole = engine.translate(sentences, EVERYTHING, BEAM)
    drafted = engine.translate(sentences, few, SearchOptions(**{**vars(BEAM), "lossless": True}))
    for ranked, others in zip(whole, drafted, strict=True):
        for one, other in zip(ranked, others, strict=True):
            assert (one.tokens, one.positions) == (other.tokens, other.positions)
            assert one.token_scores == pytest.approx(other.token_scores, abs=TOLERANCE)
    free = not config.forced_start  # who must begin with given tokens does not draft
    assert any(row[0].returns for row in drafted) == free


@with_variants
def test_tokens_that_are_never_generated_are_not_sampled(name: str) -> None:
    config = VARIANTS[name]
    options = SearchOptions(n_best=4, sampling=Sampling(seed=4, temperature=3.0))
    blocked = SearchOptions(beam_size=2, blocked=(Blocked((5,), True),), open_ids=(6,))
    for search in (options, blocked):
        for row in engine_of(name).translate(source(name), EVERYTHING, search):
            for hypothesis in row:
                assert not set(config.never).intersection(hypothesis.tokens)


@with_variants
def test_prefixes_come_after_the_forced_start(name: str) -> None:
    config, sentences = VARIANTS[name], source(name, number=2)
    hidden = config.never[:1]  # whoever gives it wants it
    prefixes = [(9, 10), (*hidden, 11)]
    for search in (GREEDY, SearchOptions(**{**vars(GREEDY), "lossless": True})):
        found = engine_of(name).translate(sentences, EVERYTHING, search, prefixes)
        for src_ids, prefix, row in zip(sentences, prefixes, found, strict=True):
            begin = (*config.forced_start, *prefix)
            assert row[0].tokens[: len(begin)] == begin
            assert_scores(Said(name, src_ids, row[0].tokens), row[0])


@pytest.mark.parametrize("kernels", available_kernels())
@with_variants
def test_all_kernels(name: str, kernels: str) -> None:
    engine = native(VARIANTS[name], weights_of(name), kernels=kernels)
    targets = [(5, 6, 7, 8)] * 8
    for src_ids, hypothesis in zip(
        source(name), engine.score(source(name), targets, EVERYTHING), strict=True
    ):
        assert_scores(Said(name, src_ids, (5, 6, 7, 8)), hypothesis)


@with_variants
def test_int8_says_about_the_same(name: str) -> None:
    targets = [(5, 6, 7, 8)] * 8
    rounded = native(VARIANTS[name], weights_of(name), int8=True)
    scored = rounded.score(source(name), targets, EVERYTHING)
    exact = engine_of(name).score(source(name), targets, EVERYTHING)
    differences = [
        np.subtract(one.token_scores, other.token_scores)
        for one, other in zip(scored, exact, strict=True)
    ]
    assert np.abs(differences).mean() < 0.5  # of logits that spread by five


def test_heads_select_with_other_special_ids() -> None:
    name = "pre-norm, swish, zero start, head"
    encoded = engine_of(name).encode(source(name))
    for shortlist in NeuralSelection(0.9).plan().select(encoded):
        assert VARIANTS[name].eos in shortlist.ids


def test_a_source_without_tokens_is_its_end_alone() -> None:
    for name, config in VARIANTS.items():
        engine = engine_of(name)
        empty, ended = np.zeros(0, np.int64), np.array([config.eos])
        one, other = engine.translate([empty, ended], EVERYTHING, GREEDY)
        assert [one[0].tokens, one[0].token_scores] == [other[0].tokens, other[0].token_scores]


@cache
def torch_engine(name: str) -> TorchEngine:
    model = TranslationModel(VARIANTS[name])
    load_tensors(model, weights_of(name), "generated")
    return TorchEngine(model.eval())


@with_variants
def test_both_engines_find_the_same(name: str) -> None:
    sentences, reference, engine = source(name), torch_engine(name), engine_of(name)
    V = VARIANTS[name].tgt_vocab_size
    given = Given(random_shortlists(1, len(sentences), V))
    for search in SEARCHES.values():
        for selector in (EVERYTHING, given):
            expected = reference.translate(sentences, selector, search)
            assert_same(expected, engine.translate(sentences, selector, search))
    targets = [(5, 6, 7), (), (8,), (9, 10), (11,), (5, 5), (6,), (7, 8)]
    expected_scores = reference.score(sentences, targets, given)
    assert_same([expected_scores], [engine.score(sentences, targets, given)])
