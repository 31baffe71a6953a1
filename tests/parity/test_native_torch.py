"""The native engine in fp32 against the torch engine: the same words, the same numbers.

Eight generated models of odd shapes, every way to select and to search: about 2,500 sentences.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from generated_models import (
    SMALL,
    Given,
    native,
    random_sentences,
    random_shortlists,
    random_weights,
)
from parity_cases import (
    CONFIGS,
    SEARCHES,
    SEEDS,
    SENTENCES,
    TOLERANCE,
    assert_same,
    blocked_words,
    engines,
    random_case,
    searching,
    selections,
    source,
    with_models,
)

from sieve.engines.engine import Engine
from sieve.engines.native.native_engine import available_kernels
from sieve.engines.options import Blocked, Sampling, SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.errors import ModelError
from sieve.model.checkpoint import load_tensors
from sieve.model.transformer import TranslationModel
from sieve.selection.plan import LONG
from sieve.selection.selectors import (
    Adjusted,
    FullVocabulary,
    NeuralSelection,
)
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import BOS, EOS, PAD, UNK


def test_the_models_say_something() -> None:
    """What is compared is neither one word for ever nor always cut."""
    for name in CONFIGS:
        _, engine = engines(name)
        found = engine.translate(source(name, 0, 40), FullVocabulary(), searching())
        assert len({token for (one,) in found for token in one.tokens}) > 10
        ended = sum(one.finished for (one,) in found)
        assert 0 < ended < 40


# the larger ones cost more and show no more
@pytest.mark.parametrize("name", [name for name in CONFIGS if CONFIGS[name].tgt_vocab_size < 700])
@pytest.mark.parametrize("search", SEARCHES)
def test_searches(name: str, search: str) -> None:
    reference, engine = engines(name)
    sentences = source(name, 1)
    selector, options = NeuralSelection(0.4), SEARCHES[search]
    expected = reference.translate(sentences, selector, options)
    assert_same(expected, engine.translate(sentences, selector, options))
    assert all(bool(one.positions) <= options.alignment for row in expected for one in row)


@pytest.mark.parametrize("name", ["small", "ssru, factored head"])
def test_thresholds_that_fall_for_long_sentences(name: str) -> None:
    reference, engine = engines(name)
    sentences = source(name, 3, longest=LONG + 30)
    level, falling = NeuralSelection(0.6, 3), NeuralSelection(0.6, 3, fall=0.1)
    options = searching(beam_size=2)
    expected = reference.translate(sentences, falling, options)
    found = engine.translate(sentences, falling, options)
    assert_same(expected, found)
    more = engine.translate(sentences, level, options)
    for ids, [long], [short] in zip(sentences, found, more, strict=True):
        assert (long.shortlist_size > short.shortlist_size) == (len(ids) > LONG)


@with_models
def test_selections(name: str) -> None:
    reference, engine = engines(name)
    sentences = source(name, 3)  # of 2, two hypotheses tie to 3e-5
    for selector in selections(CONFIGS[name]).values():
        options = searching(beam_size=4, n_best=2)
        expected = reference.translate(sentences, selector, options)
        assert_same(expected, engine.translate(sentences, selector, options))


@with_models
def test_blocked_sequences(name: str) -> None:
    reference, engine = engines(name)
    V = CONFIGS[name].tgt_vocab_size
    sentences, free = source(name, 3), searching(beam_size=4, n_best=2)
    unrestricted = engine.translate(sentences, FullVocabulary(), free)
    # pairs that would be said, so that blocking them does something
    said = [pair for row in unrestricted for one in row for pair in pairwise(one.tokens)]
    blocked = (*blocked_words(V), *(Blocked(pair, i % 2 == 0) for i, pair in enumerate(said)))
    opens = tuple(range(4, V, 3))
    everything, few = FullVocabulary(), selections(CONFIGS[name])["lexicon adjusted"]
    for selector, options in (
        (everything, replace(free, blocked=blocked)),
        (everything, replace(free, blocked=blocked, open_ids=opens, alignment=True)),
        (few, replace(free, blocked=blocked, open_ids=opens, sampling=Sampling(seed=1))),
        (few, searching(beam_size=1, blocked=blocked, open_ids=(BOS, *opens))),
    ):
        found = engine.translate(sentences, selector, options)
        assert_same(reference.translate(sentences, selector, options), found)
        for one in (one for row in found for one in row):
            assert_free_of(one.tokens, options)


def assert_free_of(tokens: Sequence[int], options: SearchOptions) -> None:
    before = (BOS, *tokens)
    for one in options.blocked:
        length = len(one.tokens)
        for start in range(1, len(before) - length + 1 if length else 0):
            inside = one.at_word_start and before[start - 1] in options.open_ids
            assert inside or before[start : start + length] != one.tokens


@with_models
def test_prefixes(name: str) -> None:
    reference, engine = engines(name)
    V, sentences = CONFIGS[name].tgt_vocab_size, source(name, 4)
    rng = np.random.default_rng(4)
    prefixes = [tuple(rng.integers(4, V, n).tolist()) for n in (0, 1, 2, 3, 5, 0, 9, 2)]
    prefixes[3] = (UNK, BOS, 7)
    prefixes[5] = tuple(range(4, 64))  # longer than any translation may be
    prefixes[7] = (9, EOS, 9)  # ends at once
    blocked = tuple(Blocked((id,)) for id in range(4, V, 2))
    for options in (
        searching(beam_size=1),
        searching(beam_size=5, n_best=3, alignment=True),
        searching(n_best=2, sampling=Sampling(seed=8), blocked=blocked),
    ):
        for selector in ("lexicon", "all but some"):
            chosen = selections(CONFIGS[name])[selector]
            found = engine.translate(sentences, chosen, options, prefixes)
            expected = reference.translate(sentences, chosen, options, prefixes)
            assert_same(expected, found)
            for row, prefix in zip(found, prefixes, strict=True):
                until = prefix.index(EOS) if EOS in prefix else len(prefix)
                assert all(one.tokens == prefix[: len(one.tokens)] for one in row) or all(
                    one.tokens[:until] == prefix[:until] for one in row
                )


@with_models
def test_forced_scores(name: str) -> None:
    reference, engine = engines(name)
    V, sentences = CONFIGS[name].tgt_vocab_size, source(name, 5)
    rng = np.random.default_rng(6)
    targets = [rng.integers(4, V, n).tolist() for n in (0, 1, 2, 3, 5, 8, 13, 21)]
    every = selections(CONFIGS[name])
    some = (
        "none",
        "some of someone's making",
        "all but some",
        "lexicon",
        "nvs",
        "all three adjusted",
    )
    for selector in (every[kind] for kind in some if kind in every):
        found = engine.score(sentences, targets, selector)
        assert_same([reference.score(sentences, targets, selector)], [found])
        assert [one.tokens for one in found] == [tuple(ids) for ids in targets]


@with_models
def test_what_was_translated_scores_the_same(name: str) -> None:
    _, engine = engines(name)
    sentences = source(name, 6)
    for selector in selections(CONFIGS[name]).values():
        found = [row[0] for row in engine.translate(sentences, selector, searching())]
        forced = engine.score(sentences, [one.tokens for one in found], selector)
        for one, other in zip(found, forced, strict=True):
            scores = other.token_scores[: len(one.token_scores)]
            assert one.token_scores == pytest.approx(scores, abs=TOLERANCE)


@with_models
def test_seam(name: str) -> None:
    """Encoding, votes of the head and decoding, apart."""
    reference, engine = engines(name)
    sentences = source(name, 7)
    expected, encoded = reference.encode(sentences), engine.encode(sentences)
    words = random_shortlists(8, SENTENCES, CONFIGS[name].tgt_vocab_size)
    options = searching(beam_size=3, n_best=3)
    prefixes = [[4]] * SENTENCES
    found = engine.decode(encoded, words, options, prefixes)
    assert_same(reference.decode(expected, words, options, prefixes), found)
    assert found == engine.translate(sentences, Given(words), options, prefixes)
    if CONFIGS[name].nvs_head == "none":
        both: tuple[Engine[Any], ...] = (reference, engine)
        for one in both:
            with pytest.raises(ModelError, match="this model has no selection head"):
                one.bow_logits(one.encode(sentences))
        return
    logits = engine.bow_logits(encoded)
    np.testing.assert_allclose(logits, reference.bow_logits(expected), atol=2e-5)
    for threshold in (0.0, 0.1, 0.4, 0.9, 1 - 1e-12):
        selector = NeuralSelection(threshold)
        assert selector.plan().select(encoded) == selector.plan().select(expected)


@pytest.mark.parametrize("kernels", available_kernels())
@pytest.mark.parametrize("name", ["ssru, all tied, odd", "ssru, wide", "attention, heads of 6"])
def test_all_kernels(name: str, kernels: str) -> None:
    reference, _ = engines(name)
    config = CONFIGS[name]
    engine = native(config, random_weights(config, SEEDS[name]), kernels=kernels)
    assert engine.kernels == kernels
    sentences = source(name, 9, longest=40)
    for selector in ("all but some", "lexicon adjusted", "all three"):
        chosen = selections(config).get(selector, FullVocabulary())
        options = searching(beam_size=5, n_best=2, alignment=True)
        expected = reference.translate(sentences, chosen, options)
        assert_same(expected, engine.translate(sentences, chosen, options))
    targets = [[4, 5, 6]] * SENTENCES
    assert_same(
        [reference.score(sentences, targets, FullVocabulary())],
        [engine.score(sentences, targets, FullVocabulary())],
    )


def test_long_sources() -> None:
    """Beyond the positions that are held ready, and beyond one block of keys."""
    reference, engine = engines("small")
    sentences = random_sentences(10, 3, 90, longest=700, shortest=600)
    options = searching(beam_size=2, max_length_factor=0.05)
    expected = reference.translate(sentences, NeuralSelection(0.4), options)
    assert_same(expected, engine.translate(sentences, NeuralSelection(0.4), options))
    forced = searching(beam_size=1, max_length_factor=30.0)
    never = Adjusted(FullVocabulary(), exclude=(PAD,))
    blocked = replace(forced, blocked=(Blocked((EOS,)),))  # 20 · 30 + 10 steps
    short = random_sentences(11, 1, 90, longest=19, shortest=19)
    assert_same(reference.translate(short, never, blocked), engine.translate(short, never, blocked))


def test_equal_words_in_their_order() -> None:
    """Of words with equal probabilities the one with the lower id comes first."""
    weights = random_weights(SMALL, SEEDS["small"])
    weights["output.weight"][40:60] = weights["output.weight"][10:30]
    weights["output.bias"][10:30] = weights["output.bias"][40:60] = 9.0
    model = TranslationModel(SMALL)
    load_tensors(model, weights, "generated")
    reference, engine = TorchEngine(model.eval()), native(SMALL, weights)
    sentences = source("small", 12)
    for options in (searching(beam_size=1), searching(beam_size=4, n_best=4)):
        for chosen in (FullVocabulary(), Given([Shortlist.of(range(20, 55))] * SENTENCES)):
            found = engine.translate(sentences, chosen, options)
            assert_same(reference.translate(sentences, chosen, options), found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_random_models_and_searches(part: int) -> None:
    """3,200 sentences. Narrow models are ill-conditioned: both engines are off by up to 6e-4."""
    for seed in range(40 * part, 40 * (part + 1)):
        config, selector, chosen = random_case(seed)
        weights = random_weights(config, seed)
        model = TranslationModel(config)
        load_tensors(model, weights, "generated")
        kernels = available_kernels()[seed % len(available_kernels())]
        reference = TorchEngine(model.eval())
        engine = native(config, weights, threads=2, kernels=kernels)
        sentences = random_sentences(seed, SENTENCES, config.src_vocab_size, longest=20)
        expected = reference.translate(sentences, selector, chosen)
        assert_same(expected, engine.translate(sentences, selector, chosen), tolerance=1e-3)
