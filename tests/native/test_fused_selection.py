"""Evidence added up: the same shortlists in both engines, with no more cost than a sum."""

from functools import cache

import numpy as np
import pytest
from generated_models import SMALL, native, random_weights
from small_engines import BEAM, GREEDY, V, source
from toy_lexicon import random_lexicon

from sieve.engines.engine import FloatArray
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.checkpoint import load_tensors
from sieve.model.transformer import TranslationModel
from sieve.selection.candidates import LexiconCandidates
from sieve.selection.fusion import Fusion, LexiconBonus
from sieve.selection.selectors import NeuralSelection
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray

LEXICON = random_lexicon(V)
FUSION = Fusion((1, 3, 6), (2.0, 1.0, -0.5))
EVIDENCE = LexiconBonus(LEXICON, FUSION)


@cache
def engines() -> tuple[TorchEngine, NativeEngine]:
    weights = random_weights(SMALL, seed=1)
    model = TranslationModel(SMALL)
    load_tensors(model, weights, "generated")
    return TorchEngine(model.eval()), native(SMALL, weights, threads=1)


def summed(engine: NativeEngine, sentences: list[IntArray]) -> FloatArray:
    """The head's logits and the lexicon's bonuses, entry by entry."""
    logits = engine.bow_logits(engine.encode(sentences)).copy()
    for row, ids in zip(logits, sentences, strict=True):
        for target in range(V):
            lists = [LEXICON.row(int(token))[0].tolist() for token in ids]
            ranks = [targets.index(target) for targets in lists if target in targets]
            if ranks:
                row[target] += np.float32([2.0, 1.0, 1.0, -0.5, -0.5, -0.5][min(ranks)])
    return logits


@pytest.mark.parametrize(("threshold", "least"), [(0.6, 0), (0.9, 0), (0.9, 30)])
def test_both_engines_select_by_the_sum(threshold: float, least: int) -> None:
    reference, engine = engines()
    sentences = source(3, 12)
    selector = NeuralSelection(threshold, least, EVIDENCE)
    shortlists = selector.plan().select(engine.encode(sentences))
    assert shortlists == selector.plan().select(reference.encode(sentences))
    cut = np.log(threshold / (1 - threshold))
    for shortlist, row in zip(shortlists, summed(engine, sentences), strict=True):
        expected = {*np.flatnonzero(row > cut).tolist(), *np.argsort(-row)[:least].tolist()}
        assert shortlist == Shortlist.of(sorted(expected))
    first, second = (one.translate(sentences, selector, BEAM) for one in engines())
    assert [[h.tokens for h in row] for row in first] == [[h.tokens for h in row] for row in second]
    sizes = [[h.shortlist_size for h in row] for row in second]
    assert sizes == [
        [len(shortlist)] * len(row) for shortlist, row in zip(shortlists, second, strict=True)
    ]
    assert [[h.shortlist_size for h in row] for row in first] == sizes


@pytest.mark.parametrize("least", [0, 25])
def test_without_bonuses_it_is_the_head_alone_bit_for_bit(least: int) -> None:
    nothing = LexiconBonus(LEXICON, Fusion((6,), (0.0,)))
    sentences = source(4, 12)
    for engine in engines():
        plain = engine.translate(sentences, NeuralSelection(0.7, least), BEAM)
        fused = engine.translate(sentences, NeuralSelection(0.7, least, nothing), BEAM)
        assert fused == plain
        assert [h.margin for row in fused for h in row] == [h.margin for row in plain for h in row]


def test_the_margin_is_of_the_sum() -> None:
    _, engine = engines()
    sentences = source(5, 12)
    selector = NeuralSelection(0.6, 0, EVIDENCE)
    totals = summed(engine, sentences)
    for [best], row in zip(engine.translate(sentences, selector, GREEDY), totals, strict=True):
        written = [*best.tokens, SMALL.eos]
        assert best.margin == pytest.approx(row[written].min() - np.log(0.6 / 0.4), abs=1e-5)


def test_forced_scores_are_over_the_fused_shortlist() -> None:
    reference, engine = engines()
    sentences, targets = source(6, 6), [[4, 5]] * 6
    selector = NeuralSelection(0.6, 0, EVIDENCE)
    first, second = (one.score(sentences, targets, selector) for one in (reference, engine))
    shortlists = selector.plan().select(engine.encode(sentences))
    assert [one.shortlist_size for one in second] == [len(shortlist) for shortlist in shortlists]
    for one, other in zip(first, second, strict=True):
        assert one.token_scores == pytest.approx(other.token_scores, abs=1e-4)


def test_bonuses_of_words_that_the_model_does_not_have() -> None:
    _, engine = engines()
    selector = NeuralSelection(0.6, 0, LexiconBonus(random_lexicon(V + 60), FUSION))
    with pytest.raises(ValueError, match=f"bonuses: got id .*, expected 0 to {V - 1}"):
        engine.translate(source(7, 12), selector, GREEDY)


def kept_to_candidates(engine: NativeEngine, sentences: list[IntArray], k: int) -> FloatArray:
    """Logits with bonuses, −∞ for what neither a list nor frequency proposes; EOS always is."""
    logits = summed(engine, sentences)
    frequent = np.argsort(-LEXICON.target_counts, kind="stable")[:k].tolist()
    for row, ids in zip(logits, sentences, strict=True):
        proposed = {SMALL.eos, *frequent}
        for token in ids:
            proposed |= {*LEXICON.row(int(token))[0][:k].tolist()}
        row[sorted({*range(V)} - proposed)] = -np.inf
    return logits


@pytest.mark.parametrize(("k", "threshold", "least"), [(2, 0.5, 0), (6, 0.7, 0), (3, 0.9, 25)])
def test_both_engines_decide_among_candidates(k: int, threshold: float, least: int) -> None:
    reference, engine = engines()
    sentences = source(8, 12)
    selector = NeuralSelection(threshold, least, EVIDENCE, LexiconCandidates(LEXICON, k))
    shortlists = selector.plan().select(engine.encode(sentences))
    assert shortlists == selector.plan().select(reference.encode(sentences))
    cut = np.log(threshold / (1 - threshold))
    for shortlist, row in zip(shortlists, kept_to_candidates(engine, sentences, k), strict=True):
        best = np.argsort(-row)[:least]
        expected = {*np.flatnonzero(row > cut).tolist(), *best[np.isfinite(row[best])].tolist()}
        assert shortlist == Shortlist.of(sorted(expected))
    first, second = (one.translate(sentences, selector, BEAM) for one in engines())
    assert [[h.tokens for h in row] for row in first] == [[h.tokens for h in row] for row in second]
    sizes = [[len(shortlist)] * len(row) for shortlist, row in zip(shortlists, second, strict=True)]
    assert [[h.shortlist_size for h in row] for row in second] == sizes
    assert [[h.shortlist_size for h in row] for row in first] == sizes


def test_all_tokens_as_candidates_are_the_head_alone_bit_for_bit() -> None:
    everything = LexiconCandidates(LEXICON, V)
    sentences = source(9, 12)
    for engine in engines():
        plain = engine.translate(sentences, NeuralSelection(0.7, 20), BEAM)
        among = engine.translate(sentences, NeuralSelection(0.7, 20, None, everything), BEAM)
        assert among == plain
        assert [h.margin for row in among for h in row] == [h.margin for row in plain for h in row]


def test_the_margin_among_candidates_is_of_theirs_alone() -> None:
    _, engine = engines()
    sentences = source(10, 12)
    selector = NeuralSelection(0.6, 0, None, LexiconCandidates(LEXICON, 4))
    logits = engine.bow_logits(engine.encode(sentences))
    for [best], row in zip(engine.translate(sentences, selector, GREEDY), logits, strict=True):
        written = [*best.tokens, SMALL.eos]
        assert best.margin == pytest.approx(row[written].min() - np.log(0.6 / 0.4), abs=1e-5)
