"""Lossless beam search that drafts, whatever the model's size: the tokens of a search over all."""

from dataclasses import replace

import pytest
from generated_models import Given, native, random_weights
from parity_cases import CONFIGS, SEEDS, source, with_models

from sieve.engines.engine import Hypothesis
from sieve.engines.native.native_engine import FAR, NativeEngine
from sieve.engines.options import Blocked, Sampling, SearchOptions
from sieve.selection.plan import Selector
from sieve.selection.selectors import Adjusted, FullVocabulary, NeuralSelection
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import EOS

TOLERANCE = 1e-4
BEAM = SearchOptions(beam_size=4, n_best=3)
HEADS = [name for name in CONFIGS if CONFIGS[name].nvs_head != "none"]


def drafting(name: str, int8: bool) -> NativeEngine:
    config = CONFIGS[name]
    engine = native(config, random_weights(config, SEEDS[name]), int8=int8)
    engine.drafts_beams = True
    return engine


def assert_lossless(
    engine: NativeEngine, name: str, selection: Selector, options: SearchOptions = BEAM
) -> list[list[Hypothesis]]:
    ids = source(name, seed=3, number=12)
    excluded = Adjusted(FullVocabulary(), exclude=selection.plan().exclude)
    expected = engine.translate(ids, excluded, options)
    found = engine.translate(ids, selection, replace(options, lossless=True))
    for wanted, got in zip(expected, found, strict=True):
        assert [one.tokens for one in got] == [one.tokens for one in wanted]
        for a, b in zip(got, wanted, strict=True):
            assert a.token_scores == pytest.approx(b.token_scores, abs=TOLERANCE)
            assert a.positions == b.positions
    return found


def few(*ids: int) -> Given:
    return Given([Shortlist.of(ids)] * 12)


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("name", HEADS)
def test_every_threshold(name: str, int8: bool) -> None:
    engine = drafting(name, int8)
    for threshold in (0.1, 0.5, 0.9, 0.999999):
        assert_lossless(engine, name, NeuralSelection(threshold))


@pytest.mark.parametrize("int8", [False, True])
@with_models
def test_a_draft_from_few_tokens_goes_back_and_grows(name: str, int8: bool) -> None:
    found = assert_lossless(drafting(name, int8), name, few(*range(4, 24)))
    assert any(best.returns for best, *_ in found)
    said = [{token for one in ranked for token in one.tokens} for ranked in found]
    new = [len(tokens - {*range(4, 24), EOS}) for tokens in said]
    sizes = [best.shortlist_size for best, *_ in found]
    assert all(21 + more <= size for more, size in zip(new, sizes, strict=True))
    assert min(sizes) < CONFIGS[name].tgt_vocab_size


@pytest.mark.parametrize("name", ["small", "attention, heads of 6"])
@pytest.mark.parametrize("stop", ["first", "exact"])
@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(beam_size=2),
        SearchOptions(beam_size=5, n_best=5, length_penalty=0.0),
        SearchOptions(beam_size=6, length_penalty=0.6, alignment=True),
        SearchOptions(beam_size=3, max_length_factor=0.3),
    ],
    ids=["two", "all, no penalty", "alignment", "cut"],
)
def test_every_search(name: str, stop: str, options: SearchOptions) -> None:
    options = replace(options, stop=stop)  # type: ignore[arg-type]
    assert_lossless(drafting(name, False), name, few(*range(4, 34)), options)


@with_models
def test_excluded_tokens_stay_out(name: str) -> None:
    exclude = tuple(range(5, 40, 2))
    found = assert_lossless(drafting(name, True), name, Adjusted(few(*range(4, 44)), (), exclude))
    assert not any({*exclude} & {*one.tokens} for ranked in found for one in ranked)


def test_what_cannot_be_drafted_is_searched_in_full() -> None:
    engine, ids = drafting("small", False), source("small", seed=3, number=6)
    selection = NeuralSelection(0.9)
    for options in (
        replace(BEAM, blocked=(Blocked((7, 8)), Blocked((11,)))),
        SearchOptions(sampling=Sampling(seed=4), n_best=2),
    ):
        found = engine.translate(ids, selection, replace(options, lossless=True))
        assert found == engine.translate(ids, FullVocabulary(), options)
    prefixes = [(9, 12), (), (33,), (8, 8), (), (20,)]
    found = engine.translate(ids, selection, replace(BEAM, lossless=True), prefixes)
    expected = engine.translate(ids, FullVocabulary(), BEAM, prefixes)
    for wanted, got in zip(expected, found, strict=True):
        assert [one.tokens for one in got] == [one.tokens for one in wanted]


def test_small_output_layers_are_searched_in_full() -> None:
    config = CONFIGS["small"]
    assert config.tgt_vocab_size * config.d_model * 4 < FAR
    engine = native(config, random_weights(config, SEEDS["small"]))
    found = engine.translate(source("small", 3), NeuralSelection(0.9), replace(BEAM, lossless=True))
    assert {best.shortlist_size for best, *_ in found} == {config.tgt_vocab_size}
