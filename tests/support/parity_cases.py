"""Models, selections and searches on which the two engines are compared."""

from collections.abc import Sequence
from functools import cache
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

from sieve.bundle.config import ModelConfig
from sieve.engines.engine import Hypothesis
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import Blocked, Sampling, SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.checkpoint import load_tensors
from sieve.model.transformer import TranslationModel
from sieve.selection.fusion import Fusion, LexiconBonus
from sieve.selection.lexicon import Lexicon
from sieve.selection.plan import Selector
from sieve.selection.selectors import (
    Adjusted,
    FrequentTokens,
    FullVocabulary,
    LexiconTopK,
    NeuralSelection,
    Union,
)
from sieve.tokenize.vocabulary import EOS, IntArray

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
    "ssru, factored head": ModelConfig(
        90, 150, 1, 1, 32, 50, 4, "ssru", "output", nvs_head="factored", nvs_rank=7, nvs_slack=0.4
    ),
    "ssru, factored full head, one look": ModelConfig(
        90,
        90,
        1,
        1,
        24,
        50,
        4,
        "ssru",
        "none",
        nvs_head="factored",
        nvs_words="own",
        nvs_rank=20,
    ),
}
# seeds with which some translations end, some are cut, and many words are said
SEEDS = dict(zip(CONFIGS, (1, 5, 1, 6, 0, 0, 6, 1, 1, 1), strict=True))
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
    by_lexicon, frequent = LexiconTopK(words, 5), FrequentTokens.from_counts(words.target_counts, 9)
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
        evidence = LexiconBonus(words, Fusion((1, 3, 5), (1.5, 0.5, -0.25)))
        found |= {
            "nvs": NeuralSelection(0.4),
            "nvs, most words": NeuralSelection(0.2),
            "nvs, all words": NeuralSelection(0.0),
            "nvs, no word": NeuralSelection(1 - 1e-12),
            "nvs adjusted": Adjusted(NeuralSelection(0.4), some, (4, 5, 6, some[0])),
            "all three": Union((by_lexicon, NeuralSelection(0.4), frequent)),
            "all three adjusted": Adjusted(
                Union((by_lexicon, NeuralSelection(0.4), frequent)), some, some[5:]
            ),
            "two thresholds": Union((NeuralSelection(0.6), NeuralSelection(0.4))),
            "nvs, some words at least": NeuralSelection(0.9, 25),
            "nvs, more words than there are": NeuralSelection(0.9, 10**6),
            "fused": NeuralSelection(0.6, 0, evidence),
            "fused, some words at least": NeuralSelection(0.9, 25, evidence),
            "fused and nvs": Union((NeuralSelection(0.7, 9, evidence), NeuralSelection(0.6))),
            "fused, lists, adjusted": Adjusted(
                Union((NeuralSelection(0.7, 0, evidence), frequent)), some, (4, 5, 6)
            ),
            "at least some, adjusted": Adjusted(NeuralSelection(0.99, 25), some, (4, 5, 6)),
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


def blocked_words(words: int) -> tuple[Blocked, ...]:
    """Words, pairs and triples, some only where a word begins."""
    rng = np.random.default_rng(9)
    found = [Blocked(())]
    for length in (1, 1, 2, 3):
        for _ in range(20):
            tokens = tuple(rng.integers(4, words, length).tolist())
            found.append(Blocked(tokens, bool(rng.integers(2))))
    return tuple(found)


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
        nvs_head=["tied", "full", "factored", "none"][rng.integers(4)],  # type: ignore[arg-type]
        nvs_hidden=int(rng.integers(0, 100)),
        nvs_words=["output", "own"][rng.integers(2)],  # type: ignore[arg-type]
        nvs_rank=int(rng.integers(1, 7)),
        nvs_slack=[None, 0.0, 0.5, 100.0][rng.integers(4)],
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
