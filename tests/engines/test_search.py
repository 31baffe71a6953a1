"""Beam search against definitions: a slow search, an exhaustive one, hand-made distributions."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pytest
import torch

from sieve.bundle.config import ModelConfig
from sieve.engines.engine import Hypothesis
from sieve.engines.options import Blocked, Sampling, SearchOptions
from sieve.engines.torch.beams import best, candidates
from sieve.engines.torch.output_tokens import AllTokens
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.errors import ConfigError, ModelError
from sieve.model.transformer import TranslationModel
from sieve.selection.plan import Plan
from sieve.selection.selectors import FullVocabulary
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import BOS, EOS, IntArray

V = 40


def build(seed: int = 3, words: int = V, **changes: Any) -> TorchEngine:
    torch.manual_seed(seed)
    settings: dict[str, Any] = {
        "encoder_layers": 1, "decoder_layers": 2, "d_model": 16, "d_ff": 32, "heads": 2,
        "tie": "none", **changes,
    }  # fmt: skip
    model = TranslationModel(ModelConfig(words, words, **settings))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_((0.4 if parameter.dim() > 1 else 0.1) * torch.randn_like(parameter))
    return TorchEngine(model.eval())


ENGINES = {mixer: build(decoder_mixer=mixer) for mixer in ("ssru", "attention")}
ENGINE = ENGINES["ssru"]


@dataclass(frozen=True)
class Given:
    """A selector of fixed shortlists."""

    shortlists: Sequence[Shortlist]

    def plan(self) -> Plan:
        return Plan.given(self.shortlists)


def sentence(seed: int, length: int = 4, words: int = V) -> IntArray:
    return np.array([*np.random.default_rng(seed).integers(4, words, length), EOS])


def log_probs(
    engine: TorchEngine, source: IntArray, tokens: Sequence[int], allowed: Sequence[int]
) -> torch.Tensor:
    """(V,) of the next token by a teacher-forced pass, masked and renormalised."""
    mask = torch.full((engine.vocab_size,), -math.inf)
    mask[list(allowed)] = 0.0
    with torch.no_grad():
        out = engine.model(torch.from_numpy(source)[None], torch.tensor([[BOS, *tokens]]))
        logits: torch.Tensor = engine.model.output(out.states[0, -1])
        return (logits + mask).log_softmax(-1)


def slow_beam(
    engine: TorchEngine, source: IntArray, options: SearchOptions, allowed: Sequence[int]
) -> list[tuple[float, tuple[int, ...]]]:
    """The definition of the search, one hypothesis at a time; `exact` goes to the limit."""
    K, limit = options.beam_size, options.max_length(len(source))
    alive: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    final: list[tuple[float, tuple[int, ...]]] = []
    for step in range(1, limit + 1):
        found = []
        for score, tokens in alive:
            values = log_probs(engine, source, tokens, allowed).tolist()
            found += [(score + v, (*tokens, w)) for w, v in enumerate(values) if v > -math.inf]
        found.sort(key=lambda one: -one[0])
        ended = [(s, t) for s, t in found[:K] if t[-1] == EOS or step == limit]
        final += [(s / step**options.length_penalty, t) for s, t in ended]
        alive = [(s, t) for s, t in found if t[-1] != EOS][:K]
        enough = options.stop == "first" or K == 1
        if not alive or (enough and len(final) >= K):
            break
    return sorted(final, key=lambda one: -one[0])[: options.n_best]


def as_pairs(
    found: Sequence[Hypothesis], length_penalty: float
) -> list[tuple[float, tuple[int, ...]]]:
    return [
        (one.normalized_score(length_penalty), one.tokens + (EOS,) * one.finished) for one in found
    ]


def assert_close(first: Sequence[Any], second: Sequence[Any]) -> None:
    assert [tokens for _, tokens in first] == [tokens for _, tokens in second]
    assert [s for s, _ in first] == pytest.approx([s for s, _ in second], abs=1e-4)


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
@pytest.mark.parametrize(("beam_size", "n_best"), [(1, 1), (2, 2), (4, 3)])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
@pytest.mark.parametrize("stop", ["exact", "first"])
def test_against_slow_search(
    mixer: str,
    beam_size: int,
    n_best: int,
    length_penalty: float,
    stop: Literal["exact", "first"],
) -> None:
    options = SearchOptions(beam_size, n_best, length_penalty, max_length_factor=0.1, stop=stop)
    source = [sentence(seed) for seed in range(6)]
    words = [Shortlist.everything(V)] * 3 + [Shortlist.of(range(4, n)) for n in (9, 16, 40)]
    found = ENGINES[mixer].translate(source, Given(words), options)
    for ids, shortlist, hypotheses in zip(source, words, found, strict=True):
        expected = slow_beam(ENGINES[mixer], ids, options, shortlist.ids.tolist())
        assert_close(as_pairs(hypotheses, length_penalty), expected)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6])
def test_against_exhaustive_search(length_penalty: float) -> None:
    """All sequences of a six-word vocabulary up to four tokens: a beam that holds them all."""
    engine = build(words=8)
    allowed, limit = [EOS, 4, 5, 6, 7], 4
    options = SearchOptions(
        beam_size=4**3, n_best=8, length_penalty=length_penalty, max_length_factor=0.01
    )
    short = _Short(**vars(options), limit=limit)
    source = sentence(1, words=8)
    (found,) = engine.translate([source], Given([Shortlist.of(allowed)]), short)
    everything = []
    table: dict[tuple[int, ...], torch.Tensor] = {}
    for length in range(limit + 1):
        for tokens in itertools.product(allowed[1:], repeat=length):
            ended = (*tokens, EOS)[:limit]
            score = 0.0
            for place, token in enumerate(ended):
                if tokens[:place] not in table:
                    table[tokens[:place]] = log_probs(engine, source, tokens[:place], allowed)
                score += table[tokens[:place]][token].item()
            everything.append((score / len(ended) ** length_penalty, ended))
    everything.sort(key=lambda one: -one[0])
    assert_close(as_pairs(found, length_penalty), everything[:8])


@dataclass(frozen=True)
class _Short(SearchOptions):
    limit: int = 4

    def max_length(self, src_length: int) -> int:
        return self.limit


def test_early_stopping_changes_nothing() -> None:
    """The slow search never stops early; and `first` may only be worse."""
    source = [sentence(seed, 6) for seed in range(40)]
    options = SearchOptions(max_length_factor=2.0)
    exact = ENGINE.translate(source, FullVocabulary(), options)
    first = ENGINE.translate(source, FullVocabulary(), replace(options, stop="first"))
    for one, other in zip(exact, first, strict=True):
        assert one[0].normalized_score(1.0) >= other[0].normalized_score(1.0) - 1e-6
    for ids, hypotheses in list(zip(source, exact, strict=True))[:3]:
        assert_close(as_pairs(hypotheses, 1.0), slow_beam(ENGINE, ids, options, range(V)))


def test_ties_go_to_the_lower_beam_and_id() -> None:
    """Equal logits everywhere: the search must list words in order."""
    logits = torch.zeros(2 * 3, 64)
    words = AllTokens(64, torch.tensor([64, 64]), torch.zeros(64, 1), torch.zeros(64))
    score = torch.tensor([[0.0, 0.0, -1.0], [-2.0, 0.0, -0.5]])
    found = candidates(logits, torch.logsumexp(logits, 1), score, words, 6)
    assert found.beam.tolist() == [[0] * 6, [1] * 6]
    assert found.ids.tolist() == [[0, 1, 2, 3, 4, 5]] * 2
    values, places = best(torch.tensor([[-1.0, -0.5, -math.inf, -0.5, -1.0]]), 4)
    assert places.tolist() == [[1, 3, 0, 4]]
    assert values.tolist() == [[-0.5, -0.5, -1.0, -1.0]]


@pytest.mark.parametrize("width", [64, 8192 + 64])
def test_candidates_are_the_best(width: int) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2 * 4, width, generator=generator).mul(3).round()  # many ties
    sums = torch.logsumexp(logits, 1)
    score = -torch.rand(2, 4, generator=generator).mul(4).round()
    words = AllTokens(width, torch.tensor([width] * 2), torch.zeros(width, 1), torch.zeros(width))
    found = candidates(logits, sums, score, words, 8)
    values = ((logits - sums[:, None]) + score.view(-1, 1)).view(2, -1)
    expected = values.sort(dim=1, descending=True, stable=True).indices[:, :8]
    assert torch.equal(found.beam * width + found.ids, expected)
    torch.testing.assert_close(found.value, values.gather(1, expected))


@pytest.mark.parametrize("beam_size", [1, 5, 64])
def test_small_sets(beam_size: int) -> None:
    """More hypotheses than words; EOS alone; an empty source."""
    options = SearchOptions(beam_size, min(3, beam_size), max_length_factor=0.1)
    only_end, two = Shortlist.of([EOS]), Shortlist.of([7])
    source = [sentence(0), sentence(1), np.array([EOS])]
    one, other, empty = ENGINE.translate(source, Given([only_end, two, two]), options)
    assert [h.tokens for h in one] == [()]
    assert one[0].token_scores == pytest.approx((0.0,), abs=1e-6)
    for found in (other, empty):
        assert 1 <= len(found) <= 3
        assert all(set(h.tokens) <= {7} for h in found)
        assert all(math.isfinite(h.score) for h in found)
        assert len({(h.tokens, h.finished) for h in found}) == len(found)


@pytest.mark.parametrize("sampling", [None, Sampling(seed=5)])
def test_prefix(sampling: Sampling | None) -> None:
    options = SearchOptions(3, 2, max_length_factor=0.5, sampling=sampling, alignment=True)
    source = [sentence(0), sentence(1), sentence(2)]
    prefixes = [[9, 11, 30], [], [8]]
    words = [Shortlist.of(range(4, 20))] * 3
    found = ENGINE.translate(source, Given(words), options, prefixes)
    free = ENGINE.translate(source, Given(words), options)
    for prefix, hypotheses in zip(prefixes, found, strict=True):
        for one in hypotheses:
            assert list(one.tokens[: len(prefix)]) == prefix
            assert len(one.positions) == len(one.tokens)
    assert [h.shortlist_size for h in found[0]] == [18, 18]  # 30 was added
    assert found[1] == free[1]
    expected = [
        log_probs(ENGINE, source[0], prefixes[0][:i], [EOS, *range(4, 20), 30])[token].item()
        for i, token in enumerate(prefixes[0])
    ]
    assert found[0][0].token_scores[:3] == pytest.approx(expected, abs=1e-4)


def test_prefix_is_the_best_continuation() -> None:
    """Forcing what the search says anyway changes nothing."""
    options = SearchOptions(4, max_length_factor=1.0)
    (found,) = ENGINE.translate([sentence(5)], FullVocabulary(), options)
    for size in range(1, len(found[0].tokens)):
        prefix = [found[0].tokens[:size]]
        (again,) = ENGINE.translate([sentence(5)], FullVocabulary(), options, prefix)
        assert again[0].normalized_score(1.0) >= found[0].normalized_score(1.0) - 1e-5


def contains(tokens: tuple[int, ...], part: tuple[int, ...]) -> bool:
    size = len(part)
    return any(tokens[i : i + size] == part for i in range(len(tokens) - size + 1))


@pytest.mark.parametrize("sampling", [None, Sampling(seed=1)])
def test_blocked_sequences(sampling: Sampling | None) -> None:
    source = [sentence(seed, 6) for seed in range(12)]
    options = SearchOptions(3, 3, max_length_factor=1.0, sampling=sampling)
    free = ENGINE.translate(source, FullVocabulary(), options)
    said = [h.tokens for found in free for h in found if len(h.tokens) > 3]
    parts = {tokens[i : i + n] for tokens in said for i in (0, 2) for n in (1, 2, 3)}
    parts = {part for part in parts if len(part) > 1}
    options = replace(options, blocked=tuple(Blocked(part) for part in sorted(parts)))
    for found in ENGINE.translate(source, FullVocabulary(), options):
        assert not any(contains(h.tokens, part) for h in found for part in parts)
    single = {tokens[0] for tokens in said}
    options = replace(options, blocked=tuple(Blocked((word,)) for word in sorted(single)))
    for found in ENGINE.translate(source, FullVocabulary(), options):
        assert not any(single & set(h.tokens) for h in found)


def test_blocked_at_word_start_only() -> None:
    """Where the piece before is open, the same ids are part of another word."""
    source = [sentence(seed, 6) for seed in range(40)]
    options = SearchOptions(1, max_length_factor=1.0)
    free = ENGINE.translate(source, FullVocabulary(), options)
    first = [found[0].tokens[:4] for found in free]
    index, tokens = next((i, t) for i, t in enumerate(first) if len(set(t)) == 4)
    blocked = (Blocked(tokens[2:4], at_word_start=True),)
    open_before = replace(options, blocked=blocked, open_ids=(tokens[1],))
    closed = replace(options, blocked=blocked, open_ids=())
    (same,) = ENGINE.translate([source[index]], FullVocabulary(), open_before)
    (other,) = ENGINE.translate([source[index]], FullVocabulary(), closed)
    assert same[0].tokens[:4] == tokens[:4]
    assert not contains(other[0].tokens[:4], tokens[2:4])


def test_samples_are_functions_of_seed_and_sentence() -> None:
    options = SearchOptions(1, 4, max_length_factor=1.0, sampling=Sampling(seed=11))
    source = [sentence(seed, 5) for seed in range(10)]
    together = ENGINE.translate(source, FullVocabulary(), options)
    assert all(len(found) == 4 for found in together)
    for ids, found in zip(source, together, strict=True):
        (alone,) = ENGINE.translate([ids], FullVocabulary(), options)
        assert {h.tokens for h in alone} == {h.tokens for h in found}
    other = ENGINE.translate(source, FullVocabulary(), replace(options, sampling=Sampling(seed=12)))
    assert other != together
    fewer = ENGINE.translate(source, FullVocabulary(), replace(options, n_best=2))
    for some, found in zip(fewer, together, strict=True):
        assert {h.tokens for h in some} <= {h.tokens for h in found}


def test_samples_follow_the_distribution() -> None:
    options = SearchOptions(1, 4000, max_length_factor=0.01, sampling=Sampling(seed=2))
    (found,) = ENGINE.translate([sentence(4)], FullVocabulary(), options)
    first = [next(iter((*h.tokens, EOS))) for h in found]
    share = np.bincount(first, minlength=V) / len(first)
    expected = log_probs(ENGINE, sentence(4), (), range(V)).exp().numpy()
    np.testing.assert_allclose(share, expected, atol=5 * np.sqrt(0.25 / 4000))
    cold = replace(options, n_best=3, sampling=Sampling(seed=2, temperature=1e-4))
    top = replace(options, n_best=3, sampling=Sampling(seed=2, top_k=1))
    (greedy,) = ENGINE.translate(
        [sentence(4)], FullVocabulary(), SearchOptions(1, max_length_factor=0.01)
    )
    for sampled in (cold, top):
        (found,) = ENGINE.translate([sentence(4)], FullVocabulary(), sampled)
        assert {h.tokens for h in found} == {greedy[0].tokens}
        assert found[0].token_scores == pytest.approx(greedy[0].token_scores, abs=1e-5)


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
def test_positions_are_the_alignment_heads(mixer: str) -> None:
    engine, source = ENGINES[mixer], [sentence(seed, 5 + seed) for seed in range(5)]
    options = SearchOptions(3, max_length_factor=1.0, alignment=True)
    for ids, found in zip(source, engine.translate(source, FullVocabulary(), options), strict=True):
        tokens = found[0].tokens
        with torch.no_grad():
            out = engine.model(
                torch.from_numpy(ids)[None], torch.tensor([[BOS, *tokens]]), with_alignment=True
            )
        expected = out.alignment[0].argmax(-1).tolist()[: len(tokens)]
        assert list(found[0].positions) == expected


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
def test_forced_scores(mixer: str) -> None:
    source = [sentence(seed, 3 + seed) for seed in range(6)]
    words = [Shortlist.of(range(4, 20))] * 3 + [Shortlist.everything(V)] * 3
    engine = build(decoder_mixer=mixer)
    with torch.no_grad():
        engine.model.output.bias[EOS] += 3.0
    options = SearchOptions(3, length_penalty=0.0, max_length_factor=4.0)
    found = engine.translate(source, Given(words), options)
    ended = [i for i, hypotheses in enumerate(found) if hypotheses[0].finished]
    assert ended
    scored = engine.score(
        [source[i] for i in ended],
        [found[i][0].tokens for i in ended],
        Given([words[i] for i in ended]),
    )
    for i, one in zip(ended, scored, strict=True):
        assert one.token_scores == pytest.approx(found[i][0].token_scores, abs=1e-4)
        assert one.tokens == found[i][0].tokens
    (outside,) = engine.score(source[:1], [[5, 30]], Given(words[:1]))
    assert outside.token_scores[1] == -math.inf
    assert math.isfinite(outside.token_scores[0])
    assert engine.score([], [], FullVocabulary()) == []


def test_damaged_weights_are_an_error() -> None:
    engine = build()
    with torch.no_grad():
        engine.model.output.bias.fill_(math.nan)
    with pytest.raises(ModelError, match="no finite score"):
        engine.translate([sentence(0)], FullVocabulary(), SearchOptions())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": 0}, "beam_size: got 0, expected at least 1"),
        ({"n_best": 6}, r"n_best: got 6, expected at most beam_size \(5\)"),
        ({"length_penalty": -1.0}, "length_penalty: got -1.0, expected 0 or more"),
        ({"stop": "soon"}, "stop: got 'soon', expected exact or first"),
    ],
)
def test_bad_options(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SearchOptions(**settings)
    with pytest.raises(ConfigError, match="temperature: got 0"):
        Sampling(temperature=0)
