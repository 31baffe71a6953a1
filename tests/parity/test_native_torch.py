"""The native engine in fp32 against the torch engine: the same words, the same numbers.

Eight generated models of odd shapes, every way to select and to search: about 3,000 sentences.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from generated_models import (
    SMALL,
    Given,
    native,
    random_sentences,
    random_shortlists,
    random_weights,
)

from sieve.errors import ModelError
from sieve.inference.engine import Hypothesis
from sieve.inference.native_engine import NativeEngine, available_kernels
from sieve.inference.options import Blocked, Sampling, SearchOptions
from sieve.inference.torch_engine import TorchEngine
from sieve.model.checkpoint import load_tensors
from sieve.model.config import ModelConfig
from sieve.model.translation import TranslationModel
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import (
    Adjusted,
    FrequentWords,
    FullVocabulary,
    LexiconTopK,
    NeuralSelection,
    Selector,
    Union,
)
from sieve.selection.shortlist import Shortlist
from sieve.text.vocabulary import BOS, EOS, PAD, UNK, IntArray

TOLERANCE = 2e-4
"""Of the log-probability of a token; seen: 7e-5, where logits reach 20."""
SENTENCES = 8

CONFIGS = {
    "small": SMALL,
    "ssru, all tied, odd": ModelConfig(70, 70, 2, 1, 20, 50, 2, "ssru", "all"),
    "ssru, output tied, full head": ModelConfig(
        81, 131, 1, 2, 48, 70, 3, "ssru", "output", nvs_head="full"
    ),
    "ssru, wide": ModelConfig(700, 700, 2, 1, 128, 192, 8, "ssru", "none", nvs_hidden=50),
    "ssru, many words": ModelConfig(2300, 2300, 1, 1, 256, 64, 4, "ssru", "none"),
    "attention, no head": ModelConfig(
        700, 700, 1, 2, 64, 130, 4, "attention", "none", nvs_head="none"
    ),
    "attention, all tied, full head": ModelConfig(
        257, 257, 3, 1, 20, 50, 2, "attention", "all", nvs_head="full"
    ),
    "attention, heads of 6": ModelConfig(
        120, 333, 2, 2, 36, 66, 6, "attention", "output", nvs_hidden=30
    ),
}
# seeds with which some translations end, some are cut, and many words are said
SEEDS = dict(zip(CONFIGS, (1, 5, 1, 6, 0, 0, 6, 1), strict=True))
with_models = pytest.mark.parametrize("name", CONFIGS)


@cache
def engines(name: str) -> tuple[TorchEngine, NativeEngine]:
    config = CONFIGS[name]
    weights = random_weights(config, SEEDS[name])
    model = TranslationModel(config)
    load_tensors(model, weights, "generated")
    return TorchEngine(model.eval()), native(config, weights, threads=2)


def source(name: str, seed: int, number: int = SENTENCES, longest: int = 12) -> list[IntArray]:
    return random_sentences(seed, number, CONFIGS[name].src_vocab_size, longest)


def lexicon(config: ModelConfig) -> Lexicon:
    """Up to seven random words for each source token."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 8, config.src_vocab_size)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    targets = rng.integers(4, config.tgt_vocab_size, offsets[-1]).astype(np.int32)
    counts = rng.integers(0, 99, config.tgt_vocab_size).astype(np.int64)
    links = np.ones(len(targets), np.int32)
    return Lexicon(offsets, targets, links, sizes.astype(np.int64), counts)


def selections(config: ModelConfig, number: int = SENTENCES) -> dict[str, Selector]:
    words = lexicon(config)
    by_lexicon, frequent = LexiconTopK(words, 5), FrequentWords.from_counts(words.target_counts, 9)
    some = tuple(range(10, 31))
    given = Given(random_shortlists(1, number, config.tgt_vocab_size))
    found: dict[str, Selector] = {
        "none": FullVocabulary(),
        "frequent": frequent,
        "lexicon": by_lexicon,
        "some of someone's making": given,
        "a union of those": Union((by_lexicon, given)),
        "lexicon and all": Union((by_lexicon, FullVocabulary())),
        "all but some": Adjusted(FullVocabulary(), exclude=(*some, EOS)),
        "lexicon adjusted": Adjusted(by_lexicon, (5, 6, 7, *some), some[::2]),
        "adjusted twice": Adjusted(Adjusted(by_lexicon, some), (11,), some[:4]),
        "union of adjusted": Union((Adjusted(frequent, some, (13,)), by_lexicon)),
    }
    if config.nvs_head != "none":
        found |= {
            "nvs": NeuralSelection(0.4),
            "nvs, most words": NeuralSelection(0.2),
            "nvs, all words": NeuralSelection(0.0),
            "nvs, no word": NeuralSelection(1.0),
            "nvs adjusted": Adjusted(NeuralSelection(0.4), some, (4, 5, 6, some[0])),
            "all three": Union((by_lexicon, NeuralSelection(0.4), frequent)),
            "all three adjusted": Adjusted(
                Union((by_lexicon, NeuralSelection(0.4), frequent)), some, some[5:]
            ),
            "two thresholds": Union((NeuralSelection(0.6), NeuralSelection(0.4))),
        }
    return found


def searching(**settings: Any) -> SearchOptions:
    return SearchOptions(**{"max_length_factor": 1.0, **settings})


SEARCHES: dict[str, SearchOptions] = {
    "greedy": searching(beam_size=1),
    "beam": searching(beam_size=5),
    "n-best": searching(beam_size=5, n_best=5),
    "n-best of more": searching(beam_size=7, n_best=3, stop="exact"),
    "exact": searching(beam_size=4, n_best=4, stop="exact"),
    "exact, no penalty": searching(beam_size=4, stop="exact", length_penalty=0.0),
    "exact, some penalty": searching(beam_size=4, stop="exact", length_penalty=0.6),
    "first, no penalty": searching(beam_size=4, n_best=2, length_penalty=0.0),
    "first, some penalty": searching(beam_size=3, n_best=3, length_penalty=0.6),
    "short": searching(beam_size=3, n_best=3, max_length_factor=0.01),
    "long": searching(beam_size=2, max_length_factor=8.0),
    "alignment": searching(beam_size=5, n_best=2, alignment=True),
    "greedy alignment": searching(beam_size=1, alignment=True),
    "samples": searching(n_best=3, sampling=Sampling(seed=1)),
    "other samples": searching(n_best=1, sampling=Sampling(seed=2**62)),
    "few words": searching(n_best=4, sampling=Sampling(seed=3, top_k=4)),
    "cold": searching(n_best=2, sampling=Sampling(seed=4, temperature=0.3, top_k=60)),
    "hot": searching(
        n_best=2, sampling=Sampling(seed=5, temperature=2.5), alignment=True, length_penalty=0.0
    ),
    "one by one": searching(n_best=2, sampling=Sampling(seed=6, top_k=1)),
}


def assert_same(
    first: Sequence[Sequence[Hypothesis]],
    second: Sequence[Sequence[Hypothesis]],
    tolerance: float = TOLERANCE,
) -> None:
    for expected, found in zip(first, second, strict=True):
        for one, other in zip(expected, found, strict=True):
            assert one.tokens == other.tokens
            assert one.positions == other.positions
            assert one.shortlist_size == other.shortlist_size
            assert one.token_scores == pytest.approx(other.token_scores, abs=tolerance)
            assert one.score == pytest.approx(other.score, abs=5 * tolerance)


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_the_models_say_something() -> None:
    """What is compared is neither one word for ever nor always cut."""
    for name in CONFIGS:
        _, engine = engines(name)
        found = engine.translate(source(name, 0, 40), FullVocabulary(), searching())
        assert len({token for (one,) in found for token in one.tokens}) > 10
        ended = sum(one.finished for (one,) in found)
        assert 0 < ended < 40


@with_models
@pytest.mark.parametrize("search", SEARCHES)
def test_searches(name: str, search: str) -> None:
    reference, engine = engines(name)
    sentences = source(name, 1)
    has_head = CONFIGS[name].nvs_head != "none"
    selector = NeuralSelection(0.4) if has_head else FullVocabulary()
    options = SEARCHES[search]
    expected = reference.translate(sentences, selector, options)
    assert_same(expected, engine.translate(sentences, selector, options))
    assert all(bool(one.positions) <= options.alignment for row in expected for one in row)


@with_models
def test_selections(name: str) -> None:
    reference, engine = engines(name)
    sentences = source(name, 2)
    for selector in selections(CONFIGS[name]).values():
        options = searching(beam_size=4, n_best=2)
        expected = reference.translate(sentences, selector, options)
        assert_same(expected, engine.translate(sentences, selector, options))


def blocked_words(words: int) -> tuple[Blocked, ...]:
    """Words, pairs and triples, some only where a word begins."""
    rng = np.random.default_rng(9)
    found = [Blocked(())]
    for length in (1, 1, 2, 3):
        for _ in range(20):
            tokens = tuple(rng.integers(4, words, length).tolist())
            found.append(Blocked(tokens, bool(rng.integers(2))))
    return tuple(found)


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
        for one in (reference, engine):
            with pytest.raises(ModelError, match="this model has no selection head"):
                one.bow_logits(one.encode(sentences))  # type: ignore[attr-defined]
        return
    logits = engine.bow_logits(encoded)
    np.testing.assert_allclose(logits, reference.bow_logits(expected), atol=2e-5)
    for threshold in (0.0, 0.1, 0.4, 0.9, 1.0):
        selector = NeuralSelection(threshold)
        assert selector.select(encoded) == selector.select(expected)


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


def random_case(seed: int) -> tuple[ModelConfig, Selector, SearchOptions]:
    """A model, a selection and a search, all of them random."""
    rng = np.random.default_rng(seed)
    heads = int(rng.integers(1, 7))
    V = int(rng.integers(60, 400))
    config = ModelConfig(
        src_vocab_size=V,
        tgt_vocab_size=V,
        encoder_layers=int(rng.integers(1, 4)),
        decoder_layers=int(rng.integers(1, 4)),
        d_model=heads * 2 * int(rng.integers(3, 12)),
        d_ff=int(rng.integers(1, 200)),
        heads=heads,
        decoder_mixer=["ssru", "attention"][rng.integers(2)],  # type: ignore[arg-type]
        tie=["all", "output", "none"][rng.integers(3)],  # type: ignore[arg-type]
        nvs_head=["tied", "full", "none"][rng.integers(3)],  # type: ignore[arg-type]
        nvs_hidden=int(rng.integers(0, 100)),
    )
    some = list(selections(config).values())
    beam = int(rng.integers(1, 10))
    sampling = None
    if rng.integers(4) == 0:
        sampling = Sampling(int(rng.integers(99)), float(rng.uniform(0.2, 2)), int(rng.integers(9)))
    chosen = SearchOptions(
        beam_size=beam,
        n_best=int(rng.integers(1, beam + 1)),
        length_penalty=float(rng.uniform(0, 1.5)),
        max_length_factor=float(rng.uniform(0.1, 2)),
        stop=["exact", "first"][rng.integers(2)],  # type: ignore[arg-type]
        sampling=sampling,
        alignment=bool(rng.integers(2)),
        blocked=blocked_words(V) if rng.integers(3) == 0 else (),
        open_ids=tuple(range(4, V, int(rng.integers(2, 5)))),
    )
    return config, some[rng.integers(len(some))], chosen


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
