"""Properties of the reference engine, on small models with random weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.bundle.config import ModelConfig
from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.transformer import TranslationModel
from sieve.selection.plan import Plan, Selector
from sieve.selection.selectors import FullVocabulary, NeuralSelection
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import BOS, EOS, IntArray

V = 60
CONFIG = ModelConfig(
    src_vocab_size=V,
    tgt_vocab_size=V,
    encoder_layers=2,
    decoder_layers=2,
    d_model=32,
    d_ff=64,
    heads=4,
    tie="none",  # tied random embeddings repeat one word for ever
)

# so that some translations end and some are cut
EOS_BIAS = {"ssru": 2.0, "attention": 1.0}


def build(**changes: Any) -> TorchEngine:
    torch.manual_seed(7)
    model = TranslationModel(replace(CONFIG, **changes))
    with torch.no_grad():
        for parameter in model.parameters():  # away from zero biases and an idle head
            parameter.add_((0.15 if parameter.dim() > 1 else 0.05) * torch.randn_like(parameter))
        model.output.bias[EOS] += EOS_BIAS[model.config.decoder_mixer]
    return TorchEngine(model.eval())


ENGINES = {mixer: build(decoder_mixer=mixer) for mixer in ("ssru", "attention")}
ENGINE = ENGINES["ssru"]
OPTIONS = SearchOptions(beam_size=1, max_length_factor=1.0)
BEAM = SearchOptions(beam_size=4, n_best=3, max_length_factor=1.0)


@dataclass(frozen=True)
class Given:
    """A selector of fixed shortlists."""

    shortlists: Sequence[Shortlist]

    def plan(self) -> Plan:
        return Plan.given(self.shortlists)


def sentences(seed: int, number: int) -> list[IntArray]:
    rng = np.random.default_rng(seed)
    return [np.array([*rng.integers(4, V, rng.integers(1, 13)), EOS]) for _ in range(number)]


def shortlists(seed: int, number: int) -> list[Shortlist]:
    rng = np.random.default_rng(seed + 1)
    return [Shortlist.of(rng.integers(4, V, rng.integers(1, 40))) for _ in range(number)]


def translate(
    engine: TorchEngine,
    source: Sequence[IntArray],
    selection: Selector,
    options: SearchOptions = OPTIONS,
) -> list[Hypothesis]:
    """All hypotheses of all sentences, one after the other."""
    return [one for found in engine.translate(source, selection, options) for one in found]


def assert_same(first: Sequence[Hypothesis], second: Sequence[Hypothesis]) -> None:
    for one, other in zip(first, second, strict=True):
        assert one.tokens == other.tokens
        assert one.token_scores == pytest.approx(other.token_scores, abs=1e-5)


def naive(engine: TorchEngine, source: IntArray, allowed: Sequence[int]) -> Hypothesis:
    """Greedy search by teacher-forced passes: full logits, masked and renormalised."""
    tokens, scores = [BOS], []
    src_ids = torch.from_numpy(source)[None]
    mask = torch.full((V,), -math.inf)
    mask[list(allowed)] = 0.0
    with torch.no_grad():
        for _ in range(OPTIONS.max_length(len(source))):
            states = engine.model(src_ids, torch.tensor([tokens])).states[0, -1]
            log_probs = (engine.model.output(states) + mask).log_softmax(-1)
            tokens.append(int(log_probs.argmax()))
            scores.append(float(log_probs.max()))
            if tokens[-1] == EOS:
                break
    end = len(tokens) - (tokens[-1] == EOS)
    return Hypothesis(tuple(tokens[1:end]), tuple(scores), len(allowed))


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
def test_against_teacher_forced_passes(mixer: str) -> None:
    engine, source = ENGINES[mixer], sentences(0, 12)
    found = translate(engine, source, FullVocabulary())
    assert_same(found, [naive(engine, ids, range(V)) for ids in source])
    assert any(one.finished for one in found)
    assert any(not one.finished for one in found)


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
def test_restricted_is_masked_and_renormalised(mixer: str) -> None:
    engine, source, words = ENGINES[mixer], sentences(1, 12), shortlists(1, 12)
    found = translate(engine, source, Given(words))
    expected = [naive(engine, ids, s.ids.tolist()) for ids, s in zip(source, words, strict=True)]
    assert_same(found, expected)
    for one, shortlist in zip(found, words, strict=True):
        assert set(one.tokens) <= set(shortlist.ids.tolist())
        assert one.shortlist_size == len(shortlist)


def test_full_shortlist_is_no_selection() -> None:
    source = sentences(2, 9)
    unmarked = Shortlist(np.arange(V, dtype=np.int32))  # gathered, since it is not marked as full
    assert_same(
        translate(ENGINE, source, FullVocabulary()),
        translate(ENGINE, source, Given([unmarked] * 9)),
    )


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["ssru", "attention"]))
def test_a_sentence_does_not_depend_on_its_batch(seed: int, mixer: str) -> None:
    number, engine = 64, ENGINES[mixer]
    source, words = sentences(seed, number), shortlists(seed, number)
    words[3], words[7] = Shortlist.everything(V), Shortlist.of(range(3, V))
    order = np.random.default_rng(seed).permutation(number)
    together = engine.translate(source, Given(words), BEAM)
    shuffled = engine.translate([source[i] for i in order], Given([words[i] for i in order]), BEAM)
    neural = engine.translate(source, NeuralSelection(0.5), BEAM)
    for i in [*order[:8], 3, 7]:
        (alone,) = engine.translate([source[i]], Given([words[i]]), BEAM)
        assert_same(together[i], alone)
        (alone,) = engine.translate([source[i]], NeuralSelection(0.5), BEAM)
        assert_same(neural[i], alone)
    for i, found in zip(order, shuffled, strict=True):
        assert_same(together[i], found)


def test_many_sentences_take_turns() -> None:
    source, words = sentences(3, 12), shortlists(3, 12)
    together = translate(ENGINE, source, Given(words))
    engine = TorchEngine(ENGINE.model)
    engine.words = replace(engine.words, gathered_elements=3 * 64 * 32)
    assert max(map(len, engine.words.turns(words, 1))) == 3
    assert_same(together, translate(engine, source, Given(words)))


def test_neural_selection_is_the_definition() -> None:
    source = sentences(4, 8)
    encoded = ENGINE.encode(source)
    logits = ENGINE.bow_logits(encoded)
    assert logits.shape == (8, V)
    previous: list[Shortlist] | None = None
    for threshold in (0.0, 0.2, 0.5, 0.9, 0.999, 1 - 1e-12):
        found = NeuralSelection(threshold).plan().select(encoded)
        probabilities = 1 / (1 + np.exp(-logits.astype(np.float64)))
        expected = [Shortlist.of(np.flatnonzero(row > threshold)) for row in probabilities]
        assert found == expected
        if previous is not None:  # a higher threshold never gives a larger set
            assert all(
                set(s.ids) <= set(larger.ids) for s, larger in zip(found, previous, strict=True)
            )
        previous = found
    assert all(len(s) == 1 for s in found)


def test_padding_changes_no_logit() -> None:
    source = sentences(5, 8)
    together = ENGINE.bow_logits(ENGINE.encode(source))
    alone = np.concatenate([ENGINE.bow_logits(ENGINE.encode([ids])) for ids in source])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_equal_logits_give_the_lower_id() -> None:
    engine = build()
    with torch.no_grad():
        engine.model.output.weight[20] = engine.model.output.weight[10]
        engine.model.output.bias[[10, 20]] = 50.0
    (found,) = translate(engine, sentences(6, 1), Given([Shortlist.of([20, 10, 30])]))
    assert set(found.tokens) == {10}


def test_maximum_length() -> None:
    engine = build()
    with torch.no_grad():
        engine.model.output.bias[EOS] = -1e9
    source = sentences(8, 5)
    for ids, found in zip(source, translate(engine, source, FullVocabulary()), strict=True):
        assert len(found.tokens) == len(found.token_scores) == len(ids) + 10
        assert not found.finished


def test_half_precision_is_near() -> None:
    source = sentences(9, 6)
    engine = TorchEngine(ENGINE.model, "bfloat16")
    exact, near = (e.bow_logits(e.encode(source)) for e in (ENGINE, engine))
    np.testing.assert_allclose(near, exact, atol=0.5)
    assert len(translate(engine, source, NeuralSelection(0.5))) == 6


def test_misuse() -> None:
    with pytest.raises(ValueError, match="training mode"):
        TorchEngine(TranslationModel(CONFIG)).encode(sentences(0, 1))
    with pytest.raises(ValueError, match="1 shortlists, 2 prefixes, 2 sentences"):
        ENGINE.decode(ENGINE.encode(sentences(0, 2)), [Shortlist.of([4])], OPTIONS)
    assert ENGINE.translate([], FullVocabulary(), OPTIONS) == []
