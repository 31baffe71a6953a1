"""Lossless search against a search over all words: the same tokens, the same scores."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from generated_models import Given, native, random_weights
from parity_cases import CONFIGS, SEEDS, engines, source, with_models

from sieve.engines.engine import Engine, Hypothesis
from sieve.engines.options import Blocked, Sampling, SearchOptions
from sieve.selection.plan import Plan, Selector
from sieve.selection.selectors import (
    Adjusted,
    FullVocabulary,
    NeuralSelection,
    Union,
)
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import EOS

TOLERANCE = 1e-4
GREEDY = SearchOptions(beam_size=1)
THRESHOLDS = (1e-6, 0.1, 0.5, 0.9, 0.99, 0.999999)
ENGINES = ("torch", "native", "int8")


def engine_of(kind: str, name: str) -> Engine[Any]:
    torch_engine, native_engine = engines(name)
    if kind == "int8":
        config = CONFIGS[name]
        return native(config, random_weights(config, SEEDS[name]), int8=True)
    return torch_engine if kind == "torch" else native_engine


@dataclass(frozen=True)
class Everything:
    """All words but those that another selector excludes."""

    inner: Selector

    def plan(self) -> Plan:
        return self.inner.plan().unrestricted()


def assert_lossless(
    engine: Engine[Any], name: str, selection: Selector, options: SearchOptions = GREEDY
) -> list[list[Hypothesis]]:
    ids = source(name, seed=3, number=12)
    expected = engine.translate(ids, Everything(selection), options)
    found = engine.translate(ids, selection, replace(options, lossless=True))
    for wanted, got in zip(expected, found, strict=True):
        assert [one.tokens for one in got] == [one.tokens for one in wanted]
        for a, b in zip(got, wanted, strict=True):
            assert a.token_scores == pytest.approx(b.token_scores, abs=TOLERANCE)
            assert a.positions == b.positions
    return found


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("name", [name for name in CONFIGS if CONFIGS[name].nvs_head != "none"])
def test_every_threshold(kind: str, name: str) -> None:
    engine = engine_of(kind, name)
    for threshold in THRESHOLDS:
        assert_lossless(engine, name, NeuralSelection(threshold))


@pytest.mark.parametrize("kind", ENGINES)
@with_models
def test_eos_alone(kind: str, name: str) -> None:
    lists = [Shortlist.of([])] * 12
    found = assert_lossless(engine_of(kind, name), name, Given(lists))
    for [one] in found:
        said = sum(token != EOS for token in one.tokens)
        assert one.returns >= min(said, 1)


@pytest.mark.parametrize("kind", ENGINES)
@with_models
def test_nothing_to_go_back_for(kind: str, name: str) -> None:
    found = assert_lossless(engine_of(kind, name), name, FullVocabulary())
    assert all(one.returns == 0 for [one] in found)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(beam_size=5, n_best=3),
        SearchOptions(beam_size=1, alignment=True),
        SearchOptions(beam_size=1, max_length_factor=0.3),
        SearchOptions(beam_size=1, blocked=(Blocked((7, 8)), Blocked((11,)))),
        SearchOptions(beam_size=3, sampling=Sampling(seed=4), n_best=2),
    ],
    ids=["beam", "alignment", "cut", "blocked", "samples"],
)
def test_every_search(kind: str, options: SearchOptions) -> None:
    assert_lossless(engine_of(kind, "small"), "small", NeuralSelection(0.95), options)


@pytest.mark.parametrize("kind", ENGINES)
@with_models
def test_excluded_words_stay_out(kind: str, name: str) -> None:
    engine = engine_of(kind, name)
    usual = engine.translate(source(name, seed=3, number=12), FullVocabulary(), GREEDY)
    said = {token for [one] in usual for token in one.tokens[:2]}
    exclude = tuple(sorted(said - {EOS}))
    frequent = Given([Shortlist.of(range(4, 24))] * 12)
    for inner in (frequent, Union((frequent, Given([Shortlist.of([9])] * 12)))):
        found = assert_lossless(engine, name, Adjusted(inner, (5,), exclude))
        assert not any(set(exclude) & set(one.tokens) for [one] in found)


@pytest.mark.parametrize("kind", ENGINES)
@with_models
def test_prefixes(kind: str, name: str) -> None:
    engine = engine_of(kind, name)
    ids = source(name, seed=5, number=6)
    prefixes = [(9, 12, 15), (), (33,), (8, 8), (), (20, 21, 22, 23, 24, 25, 26)]
    selection = Given([Shortlist.of(range(4, 14))] * 6)
    for chosen in (selection, Adjusted(selection, (), (12, 40))):
        expected = engine.translate(ids, Everything(chosen), GREEDY, prefixes)
        found = engine.translate(ids, chosen, replace(GREEDY, lossless=True), prefixes)
        for [got], [wanted] in zip(found, expected, strict=True):
            assert got.tokens == wanted.tokens
            assert got.token_scores == pytest.approx(wanted.token_scores, abs=TOLERANCE)
