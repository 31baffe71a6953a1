"""Lossless search with the models that come with the program, against a search over all words.

Every translation must be that of a search over all words, token for token, its scores within 1e-4,
whatever was selected: sets of usual thresholds, of one that leaves almost nothing, of EOS alone.
2,000 sentences for each model, of files that are not part of the repository; four minutes of one
core:

- 1,700 short ones (Tatoeba) in int8, every selection, greedy search and beam 5;
- 300 long ones (news) in int8, three selections greedily, one with beam 5;
- of the short ones, 100 in fp32 and 40 with the torch engine, every selection, both searches.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from generated_models import Given

import sieve
from sieve.bundle.catalogue import built_in
from sieve.engines.engine import Engine
from sieve.engines.options import SearchOptions
from sieve.selection.plan import Selector
from sieve.selection.selectors import FullVocabulary, NeuralSelection
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import EOS, IntArray
from sieve.translate.translator import Translator

DATA = Path(__file__).parents[3] / "shared" / "data" / "test"
TOLERANCE = 1e-4
SHORT, LONG, IN_FP32, IN_TORCH = 1700, 300, 100, 40
SEARCHES = {"greedy": SearchOptions(beam_size=1), "beam": SearchOptions(beam_size=5, n_best=2)}
ALMOST_NOTHING = 0.999999
THRESHOLDS = (0.5, 0.9, 0.99, ALMOST_NOTHING)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared test sets beside the checkout"),
]
both_models = pytest.mark.parametrize("name", ["en-de", "de-en"])
every_search = pytest.mark.parametrize("search", SEARCHES)


@cache
def translator(name: str, kind: str = "int8") -> Translator:
    if name not in built_in():
        pytest.skip(f"the built-in model {name} is not here")
    if kind == "torch":
        return sieve.load(name, engine="torch")
    return sieve.load(name, threads=1, precision=None if kind == "int8" else "float32")


@cache
def sources(name: str, test: str, number: int) -> list[IntArray]:
    language = name.partition("-")[0]
    lines = (DATA / f"{test}.en-de.{language}").read_text(encoding="utf-8").splitlines()[:number]
    assert len(lines) == number
    encoded = translator(name).tokenizers.source.encode(lines)
    return [np.array([*ids, EOS]) for ids in encoded]


def selections(number: int) -> dict[str, Selector]:
    by_threshold = {str(threshold): NeuralSelection(threshold) for threshold in THRESHOLDS}
    return {**by_threshold, "EOS alone": Given([Shortlist.of([])] * number)}


def assert_lossless(
    engine: Engine[Any],
    ids: Sequence[IntArray],
    chosen: dict[str, Selector],
    options: SearchOptions,
) -> None:
    """Every selection gives what all words give; where little was selected, it went back for it."""
    expected = engine.translate(ids, FullVocabulary(), options)
    for selection, selector in chosen.items():
        found = engine.translate(ids, selector, replace(options, lossless=True))
        for row, (wanted, got) in enumerate(zip(expected, found, strict=True)):
            where = f"sentence {row}, {selection}"
            assert [one.tokens for one in got] == [one.tokens for one in wanted], where
            for a, b in zip(got, wanted, strict=True):
                assert a.token_scores == pytest.approx(b.token_scores, abs=TOLERANCE), where
        if options.beam_size == 1 and selection in (str(ALMOST_NOTHING), "EOS alone"):
            assert np.mean([one.returns > 0 for [one] in found]) > 0.9  # else nothing was tested


@both_models
@every_search
def test_short_sentences(name: str, search: str) -> None:
    ids = sources(name, "tatoeba2021", SHORT)
    assert_lossless(translator(name).engine, ids, selections(SHORT), SEARCHES[search])


@both_models
@every_search
def test_long_sentences(name: str, search: str) -> None:
    ids, every = sources(name, "newstest2019", LONG), selections(LONG)
    kept = ("0.9", str(ALMOST_NOTHING), "EOS alone") if search == "greedy" else ("0.9",)
    chosen = {selection: every[selection] for selection in kept}
    assert_lossless(translator(name).engine, ids, chosen, SEARCHES[search])


@both_models
@every_search
@pytest.mark.parametrize(("kind", "number"), [("fp32", IN_FP32), ("torch", IN_TORCH)])
def test_other_engines(name: str, search: str, kind: str, number: int) -> None:
    ids = sources(name, "tatoeba2021", SHORT)[:number]
    engine = translator(name, kind).engine
    assert_lossless(engine, ids, selections(number), SEARCHES[search])
