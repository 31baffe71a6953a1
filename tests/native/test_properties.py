"""What holds for the native engine whatever the model."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

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
from hypothesis import given, settings
from hypothesis import strategies as st
from small_engines import BEAM, GREEDY, KINDS, SAMPLES, V, engine, source, with_kinds

from sieve.bundle.config import Mixer, ModelConfig
from sieve.engines.options import Blocked, Sampling, SearchOptions
from sieve.selection.plan import Plan, Source
from sieve.selection.selectors import Adjusted, FullVocabulary, NeuralSelection
from sieve.selection.shortlist import Shortlist, ShortlistArray
from sieve.tokenize.vocabulary import EOS


def words_of(shortlist: Shortlist) -> set[int]:
    return set(shortlist.ids.tolist())


# ---- what a result depends on, bit for bit


@with_kinds
@pytest.mark.parametrize("options", [GREEDY, BEAM, SAMPLES], ids=["greedy", "beam", "samples"])
def test_threads_mates_and_order_change_nothing(
    mixer: Mixer, int8: bool, options: SearchOptions
) -> None:
    sentences, words = source(0, 40, 25), random_shortlists(0, 40, V)
    order = np.random.default_rng(0).permutation(40)
    one = engine(mixer, int8)
    together = one.translate(sentences, NeuralSelection(0.4), options)
    listed = one.translate(sentences, Given(words), options)
    assert together != listed
    for threads in (2, 5):
        several = engine(mixer, int8, threads)
        shuffled = several.translate([sentences[i] for i in order], NeuralSelection(0.4), options)
        assert shuffled == [together[i] for i in order]
        assert several.translate(sentences, Given(words), options) == listed
    for i in range(40):
        assert one.translate([sentences[i]], NeuralSelection(0.4), options) == [together[i]]
        assert one.translate([sentences[i]], Given([words[i]]), options) == [listed[i]]


@with_kinds
def test_logits_and_scores_depend_on_nothing_else(mixer: Mixer, int8: bool) -> None:
    sentences = source(1, 20, 30)
    targets = [ids[:-1].tolist() for ids in source(2, 20)]
    one = engine(mixer, int8)
    logits = one.bow_logits(one.encode(sentences))
    scores = one.score(sentences, targets, NeuralSelection(0.4))
    for threads in (2, 5):
        several = engine(mixer, int8, threads)
        np.testing.assert_array_equal(several.bow_logits(several.encode(sentences)), logits)
        assert several.score(sentences, targets, NeuralSelection(0.4)) == scores
    for i in range(20):
        alone = one.bow_logits(one.encode([sentences[i]]))
        np.testing.assert_array_equal(alone[0], logits[i])
        assert one.score([sentences[i]], [targets[i]], NeuralSelection(0.4)) == [scores[i]]


@with_kinds
def test_what_came_before_changes_nothing(mixer: Mixer, int8: bool) -> None:
    """Memory is used again from call to call: what other sentences left there is not seen."""
    fresh = native(
        replace(SMALL, decoder_mixer=mixer),
        random_weights(replace(SMALL, decoder_mixer=mixer), seed=1),
        int8=int8,
    )
    sentences = source(3, 10)
    before = fresh.translate(sentences, NeuralSelection(0.4), BEAM)
    wide = SearchOptions(beam_size=20, blocked=(Blocked((5,)),), alignment=True)
    fresh.translate(source(4, 3, 90), FullVocabulary(), wide, [[7, 8]] * 3)
    fresh.score(source(4, 3, 90), [[4] * 50] * 3, FullVocabulary())
    assert fresh.translate(sentences, NeuralSelection(0.4), BEAM) == before


def test_python_threads_share_an_engine() -> None:
    shared = engine("attention", True, threads=2)
    batches = [source(seed, 12) for seed in range(16)]
    expected = [shared.translate(batch, NeuralSelection(0.4), BEAM) for batch in batches]
    with ThreadPoolExecutor(6) as pool:
        jobs = [
            pool.submit(shared.translate, batch, NeuralSelection(0.4), BEAM)
            for batch in batches * 2
        ]
        assert [job.result() for job in jobs] == expected * 2


# ---- selection


@with_kinds
def test_a_full_shortlist_is_no_selection(mixer: Mixer, int8: bool) -> None:
    sentences = source(5, 12)
    unmarked = Given([Shortlist(np.arange(V, dtype=np.int32))] * 12)
    expected = engine(mixer, int8).translate(sentences, FullVocabulary(), BEAM)
    for selector in (unmarked, NeuralSelection(0.0)):
        assert engine(mixer, int8).translate(sentences, selector, BEAM) == expected


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    options=st.sampled_from([GREEDY, BEAM, SAMPLES]),
)
def test_results_lie_in_their_shortlists(
    seed: int, kind: tuple[str, bool], options: SearchOptions
) -> None:
    sentences, words = source(seed, 10), random_shortlists(seed, 10, V)
    found = engine(*kind).translate(sentences, Given(words), options)
    for row, shortlist in zip(found, words, strict=True):
        assert len(row) == len({one.tokens for one in row}) or options.sampling
        for one in row:
            assert set(one.tokens) <= words_of(shortlist)
            assert one.shortlist_size == len(shortlist)
            assert len(one.token_scores) - len(one.tokens) in (0, 1)
            assert max(one.token_scores) <= 1e-6


@with_kinds
def test_a_higher_threshold_never_gives_a_larger_set(mixer: Mixer, int8: bool) -> None:
    one = engine(mixer, int8)
    sentences = source(6, 10)
    encoded = one.encode(sentences)
    before = [Shortlist.everything(V)] * 10
    for threshold in (0.0, 1e-9, 0.1, 0.3, 0.4, 0.5, 0.7, 0.9, 0.999, 1 - 1e-12):
        found = NeuralSelection(threshold).plan().select(encoded)
        assert all(
            words_of(small) <= words_of(large) for small, large in zip(found, before, strict=True)
        )
        translated = one.translate(sentences, NeuralSelection(threshold), GREEDY)
        assert [row[0].shortlist_size for row in translated] == list(map(len, found))
        before = found
    assert [words_of(shortlist) for shortlist in before] == [{EOS}] * 10


@pytest.mark.parametrize("int8", [False, True], ids=["fp32", "int8"])
@pytest.mark.parametrize("head", ["tied", "full"])
def test_votes_in_blocks(head: str, int8: bool) -> None:
    """The core selects and gathers block by block: here in three blocks of 1024 words."""
    config = ModelConfig(
        2300,
        2300,
        1,
        1,
        256,
        64,
        4,
        "ssru",
        "none",
        nvs_head=head,  # type: ignore[arg-type]
    )
    one = native(config, random_weights(config), int8=int8)
    sentences = random_sentences(15, 6, 2300)
    encoded = one.encode(sentences)
    logits = one.bow_logits(encoded)
    prefixes = [[5, 1100], [], [2299], [1024], [1023], [4]]
    some, others = (9, 1023, 1024, 2299), (10, 1025, 2047, 2048, 5)
    for share in (0.0, 0.01, 0.3, 0.45, 0.499, 0.5, 0.501, 0.55, 0.8, 1.0):
        border = float(np.quantile(logits, 1.0 - share))
        selector = NeuralSelection(float(1 / (1 + np.exp(-border))))
        words = selector.plan().select(encoded)
        apart = one.decode(encoded, words, GREEDY)
        assert one.translate(sentences, selector, GREEDY) == apart
        adjusted = Adjusted(selector, some, others)
        words = adjusted.plan().select(encoded)
        apart = one.decode(encoded, words, BEAM, prefixes)
        assert one.translate(sentences, adjusted, BEAM, prefixes) == apart


@with_kinds
@pytest.mark.parametrize("size", [3, 20, V // 2, V // 2 + 1, V - 3])
def test_restricted_is_masked_and_renormalised(mixer: Mixer, int8: bool, size: int) -> None:
    """Gathered and masked sets alike: p(w) over S is p(w) / Σ p over the words of S."""
    one = engine(mixer, int8)
    (sentence,) = source(size, 1)
    target = np.random.default_rng(size).integers(4, V, 3).tolist()
    words = Shortlist.of([*target, *np.random.default_rng(size).permutation(V)[:size]])
    (restricted,) = one.score([sentence], [target], Given([words]))
    for step in range(4):
        every = [[*target[:step], word] for word in range(V)]
        free = one.score([sentence] * V, every, FullVocabulary())
        log_probs = np.array([found.token_scores[step] for found in free])
        assert np.exp(log_probs).sum() == pytest.approx(1.0, abs=1e-4)
        total = np.log(np.exp(log_probs[words.ids]).sum())
        word = (*target, EOS)[step]
        assert restricted.token_scores[step] == pytest.approx(log_probs[word] - total, abs=2e-4)


@with_kinds
def test_the_smallest_sets(mixer: Mixer, int8: bool) -> None:
    one = engine(mixer, int8)
    sentences = source(7, 5)
    for selector in (NeuralSelection(1 - 1e-12), Given([Shortlist.of([])] * 5)):
        for options in (GREEDY, BEAM, SAMPLES):
            for row in one.translate(sentences, selector, options):
                assert {hypothesis.tokens for hypothesis in row} == {()}
                assert all(hypothesis.token_scores == (0.0,) for hypothesis in row)
                assert all(hypothesis.shortlist_size == 1 for hypothesis in row)
    for row in one.translate(sentences, Given([Shortlist.of([9])] * 5), BEAM):
        assert all(set(hypothesis.tokens) <= {9} for hypothesis in row)
        assert len({len(hypothesis.tokens) for hypothesis in row}) == len(row)
    (nothing,) = one.score(sentences[:1], [[9]], NeuralSelection(1 - 1e-12))
    assert nothing.token_scores[0] == -np.inf


def test_a_selector_of_ones_own_may_use_the_engine() -> None:
    class Head:
        def plan(self) -> Plan:
            return Plan(asked=(self.words,))

        def words(self, source: Source) -> list[ShortlistArray]:
            return [one.ids for one in NeuralSelection(0.4).plan().select(source)]

    one, sentences = engine(), source(14, 5)
    assert one.translate(sentences, Head(), BEAM) == one.translate(
        sentences, NeuralSelection(0.4), BEAM
    )


# ---- sizes


@with_kinds
@pytest.mark.parametrize("beam", [64, V + 37, 300])
def test_wide_beams(mixer: Mixer, int8: bool, beam: int) -> None:
    one = engine(mixer, int8)
    options = SearchOptions(beam_size=beam, n_best=beam, max_length_factor=0.3, stop="exact")
    for selector in (FullVocabulary(), Given([Shortlist.of([5, 6])] * 3)):
        for row in one.translate(source(8, 3), selector, options):
            assert len({hypothesis.tokens for hypothesis in row}) == len(row) <= beam
            scores = [hypothesis.normalized_score(1.0) for hypothesis in row]
            assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-5)


@with_kinds
def test_sources_without_tokens(mixer: Mixer, int8: bool) -> None:
    one = engine(mixer, int8)
    empty, end = np.zeros(0, np.int64), np.array([EOS])
    for selector in (FullVocabulary(), NeuralSelection(0.4)):
        assert one.translate([empty], selector, BEAM) == one.translate([end], selector, BEAM)
        assert one.score([empty], [[4]], selector) == one.score([end], [[4]], selector)
    found = one.bow_logits(one.encode([empty, end]))
    np.testing.assert_array_equal(found[0], found[1])


@with_kinds
def test_a_source_of_ten_thousand_tokens(mixer: Mixer, int8: bool) -> None:
    config = replace(SMALL, d_model=16, heads=1, encoder_layers=1, decoder_mixer=mixer)
    one = native(config, random_weights(config), int8=int8)
    (long,) = random_sentences(0, 1, V, 10_000, 10_000)
    short = source(9, 2)
    options = SearchOptions(
        beam_size=2, max_length_factor=0.01, alignment=True, blocked=(Blocked((EOS,)),)
    )
    found = one.translate([short[0], long, short[1]], NeuralSelection(0.4), options)
    assert len(found[1][0].tokens) == 110
    assert all(0 <= place < 10_001 for place in found[1][0].positions)
    again = one.translate(short, NeuralSelection(0.4), options)
    assert again == [found[0], found[2]]


def test_nothing_to_do() -> None:
    one = engine()
    assert one.translate([], FullVocabulary(), BEAM) == []
    assert one.score([], [], FullVocabulary()) == []
    encoded = one.encode([])
    assert one.bow_logits(encoded).shape == (0, V)
    assert one.decode(encoded, [], BEAM) == []


def test_absurd_settings_are_no_overflow() -> None:
    options = SearchOptions(beam_size=1, max_length_factor=1e300)
    only = Given([Shortlist.of([])])
    assert engine().translate(source(0, 1), only, options)[0][0].tokens == ()
    wide, all_words = (
        engine().translate(
            source(0, 3), FullVocabulary(), replace(BEAM, sampling=Sampling(seed=1, top_k=top_k))
        )
        for top_k in (2**70, 0)
    )
    assert wide == all_words
