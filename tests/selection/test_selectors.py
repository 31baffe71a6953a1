from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.errors import ConfigError, ModelError
from sieve.selection.bonus import Bonus, among_candidates, with_bonuses
from sieve.selection.fusion import Fusion, LexiconBonus
from sieve.selection.lexicon import Lexicon
from sieve.selection.parsing import Resources, parse_selection
from sieve.selection.plan import Cuts
from sieve.selection.selectors import FullVocabulary, LexiconTopK, NeuralSelection, Union, log_odds
from sieve.selection.shortlist import Shortlist, ShortlistArray, shortlists_above
from sieve.tokenize.vocabulary import EOS, OWN, IntArray, Specials

LEXICON = Lexicon(
    offsets=np.array([0, 0, 0, 0, 0, 2, 3]),
    targets=np.array([7, 5, 6], np.int32),
    counts=np.array([4, 3, 9], np.int32),
    source_counts=np.array([0, 0, 0, 0, 7, 9]),
    target_counts=np.array([0, 0, 0, 1, 5, 5, 9, 2, 0]),
)
FUSION = Fusion((1, 2), (2.0, 1.0))
EVERYTHING = Resources(threshold=0.9, lexicon=lambda: LEXICON, fusion=FUSION)


@dataclass(frozen=True)
class FakeSource:
    """Two sentences over nine words; the head's logit of word w is w - 5 in both."""

    src_ids: Sequence[IntArray] = (np.array([4, EOS]), np.array([5, 4, EOS]))
    vocab_size: int = 9
    specials: Specials = OWN

    def tokens_above(
        self,
        cuts: Cuts,
        least: int = 0,
        bonuses: Sequence[Bonus] = (),
        candidates: Sequence[ShortlistArray] = (),
    ) -> list[Shortlist]:
        logits = with_bonuses(np.tile(np.arange(9, dtype=np.float32) - 5, (2, 1)), bonuses)
        logits = among_candidates(logits, candidates)
        return shortlists_above(logits, cuts, least)


def select(text: str | None, resources: Resources = EVERYTHING) -> list[list[int]]:
    return [s.ids.tolist() for s in parse_selection(text, resources).plan().select(FakeSource())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("none", [list(range(9))] * 2),
        ("frequent:1", [[EOS, 6]] * 2),
        ("frequent:2", [[EOS, 4, 6]] * 2),  # 4 and 5 are as frequent: the lower id
        ("lexicon:1", [[EOS, 7], [EOS, 6, 7]]),
        ("lexicon:2", [[EOS, 5, 7], [EOS, 5, 6, 7]]),
        ("nvs:0.5", [[EOS, 6, 7, 8]] * 2),
        ("nvs", [[EOS, 8]] * 2),  # log(0.9 / 0.1) = 2.197
        # 7 is the best word of 4 and gets 2, 5 the second best and gets 1; 6 is the best of 5
        ("fused", [[EOS, 7, 8], [EOS, 6, 7, 8]]),
        ("fused:0.9", [[EOS, 7, 8], [EOS, 6, 7, 8]]),
        ("fused:0.74", [[EOS, 7, 8], [EOS, 6, 7, 8]]),  # 1.046, 5 and 6 have 1 in the first
        ("fused:0.72", [[EOS, 5, 6, 7, 8]] * 2),  # 0.944
        ("fused:0.74:4", [[EOS, 5, 6, 7, 8]] * 2),
        ("fused:0.9+lexicon:2", [[EOS, 5, 7, 8], [EOS, 5, 6, 7, 8]]),
        # candidates: the best of each source token's list, and the most frequent one (6)
        ("among:1", [[EOS, 7], [EOS, 6, 7]]),
        ("among:1:0.72", [[EOS, 6, 7], [EOS, 6, 7]]),
        ("among:1:0.98:9", [[EOS, 6, 7]] * 2),  # at least 9, but only these are candidates
        ("fused:0.98+nvs:0.98", [[EOS, 7], [EOS, 7]]),  # 3.892
        (None, [[EOS, 7, 8], [EOS, 6, 7, 8]]),
        ("nvs:0.999999", [[EOS]] * 2),
        ("nvs:0", [list(range(9))] * 2),
        ("lexicon:1+nvs:0.9", [[EOS, 7, 8], [EOS, 6, 7, 8]]),
        ("lexicon:1 + frequent:1", [[EOS, 6, 7], [EOS, 6, 7]]),
        ("none+nvs", [list(range(9))] * 2),
    ],
)
def test_parse_and_select(text: str | None, expected: list[list[int]]) -> None:
    assert select(text) == expected


def test_the_default_is_what_the_model_was_calibrated_for() -> None:
    plain = replace(EVERYTHING, fusion=None)
    assert parse_selection(None, plain) == NeuralSelection(0.9)
    evidence = LexiconBonus(LEXICON, FUSION)
    assert parse_selection(None, EVERYTHING) == NeuralSelection(0.9, 0, evidence)


def test_the_threshold_1_needs_a_minimum() -> None:
    message = "got the threshold 1, expected a number from 0 to below 1: at 1 every translation"
    with pytest.raises(ConfigError, match=message):
        NeuralSelection(1.0)
    assert parse_selection("nvs:1:5", EVERYTHING) == NeuralSelection(1.0, 5)


def test_the_stored_fall_belongs_to_the_stored_threshold() -> None:
    stored = replace(EVERYTHING, least=3, fall=0.25)
    assert parse_selection("nvs", stored) == NeuralSelection(0.9, 3, fall=0.25)
    assert parse_selection("nvs:0.9:3", stored) == NeuralSelection(0.9, 3)
    assert parse_selection("nvs:0.9:3:0.5", stored) == NeuralSelection(0.9, 3, fall=0.5)
    for text in (None, "fused", "among:4"):
        selection = parse_selection(text, stored)
        assert isinstance(selection, NeuralSelection)
        assert selection.fall == 0.25


def test_default_without_a_head_is_no_selection() -> None:
    assert parse_selection(None, Resources()) == FullVocabulary()


@pytest.mark.parametrize(
    "text",
    [
        "none",
        "frequent:2",
        "lexicon:7",
        "nvs:0.25",
        "lexicon:1+nvs:0.9",
        "fused:0.8",
        "fused:1:9",
        "among:7:0.8",
        "among:7:1:9",
        "nvs:0",
        "nvs:0.9:512:0.015",
        "nvs:0.9:0:0.5",
    ],
)
def test_printed_as_it_was_written(text: str) -> None:
    assert str(parse_selection(text, EVERYTHING)) == text


def test_values_are_frozen_and_comparable() -> None:
    parsed = parse_selection("lexicon:1+nvs:0.9", EVERYTHING)
    assert parsed == Union((LexiconTopK(LEXICON, 1), NeuralSelection(0.9)))


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_asks_for_less(first: float, second: float) -> None:
    low, high = sorted([first, second])
    assert log_odds(low) <= log_odds(high)


@pytest.mark.parametrize(
    ("text", "resources", "message"),
    [
        ("nsv:0.9", EVERYTHING, "unknown selection 'nsv'; did you mean 'nvs'\\?"),
        ("", EVERYTHING, "unknown selection ''; known: among, frequent, fused, lexicon, none"),
        ("nvs:0.9+", EVERYTHING, "unknown selection ''"),
        ("nvs:high", EVERYTHING, "'nvs:high': got 'high', expected a threshold from 0 to below 1"),
        ("nvs:1.5", EVERYTHING, "got '1.5', expected a threshold from 0 to below 1, as in nvs:0.9"),
        ("nvs:1", EVERYTHING, "got '1', expected a threshold from 0 to below 1, as in nvs:0.9"),
        ("nvs:1.0+safe", EVERYTHING, "got '1.0', expected a threshold from 0 to below 1"),
        ("nvs:1:0", EVERYTHING, "got '1:0', expected a threshold from 0 to below 1"),
        ("nvs:0.9:3:-1", EVERYTHING, "got '0.9:3:-1', expected a threshold from 0 to below 1"),
        ("nvs:0.9:3:0.1:1", EVERYTHING, "0.03 to fall by 0.03 log-odds a token in long sentences"),
        ("nvs:nan", EVERYTHING, "got 'nan', expected a threshold"),
        ("lexicon", EVERYTHING, "got '', expected a whole number above 0, as in lexicon:200"),
        ("lexicon:0", EVERYTHING, "got '0', expected a whole number above 0"),
        ("frequent:-1", EVERYTHING, "got '-1', expected a whole number"),
        ("fused:1", EVERYTHING, "'fused:1': got '1', expected a threshold .* below 1, as in fused"),
        ("among", EVERYTHING, "'among': got '', expected a whole number above 0, as in among:200"),
        (
            "among:5:2",
            EVERYTHING,
            "got '2', expected a threshold from 0 to below 1, as in among:5:0.9, or",
        ),
        ("fused:0.9:few", EVERYTHING, "got '0.9:few', expected a threshold from 0 to below 1"),
        ("none:3", EVERYTHING, "'none' takes no value"),
    ],
)
def test_bad_strings(text: str, resources: Resources, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_selection(text, resources)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nvs:0.9", "this model has no NVS head"),
        ("lexicon:5", "selection 'lexicon:5': the model directory has no lexicon.safetensors"),
        ("frequent:5", "the model directory has no lexicon.safetensors"),
        ("fused:0.9", "this model has no NVS head"),
        ("among:9", "this model has no NVS head"),
    ],
)
def test_what_the_model_lacks(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        parse_selection(text, Resources())


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (replace(EVERYTHING, lexicon=None), "'fused:0.9': the model directory has no lexicon"),
        (
            replace(EVERYTHING, fusion=None),
            "'fused:0.9': what this model's lexicon adds to its head was not learnt; run sieve "
            "calibrate --fuse on it",
        ),
    ],
)
def test_what_fused_selection_needs(resources: Resources, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        parse_selection("fused:0.9", resources)
