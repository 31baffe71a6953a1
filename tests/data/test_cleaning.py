# private: the fast way beside the library's

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.data.cleaning import (
    RULES,
    CleaningOptions,
    EmptySide,
    FarTooLong,
    TestSetOverlap,
    TextRule,
    TokenOverlap,
    WrongLanguage,
    apply_text_rules,
    apply_token_rules,
    sentence_hash,
    text_rules,
)
from sieve.data.deduplicate import mark_duplicates
from sieve.data.language_check import LanguageIdentifier, _bytes
from sieve.errors import ConfigError, MissingExtraError
from sieve.tokenize.normalize import normalize

ENGLISH = "The committee will meet again on Tuesday to discuss the report."
GERMAN = "Der Ausschuss trifft sich am Dienstag wieder, um den Bericht zu besprechen."
RUSSIAN = "Комитет снова соберётся во вторник, чтобы обсудить доклад."


@pytest.mark.parametrize(
    ("rule", "source", "target", "refused"),
    [
        (EmptySide(), "a", "b", False),
        (EmptySide(), "", "b", True),
        (EmptySide(), "a", "", True),
        # 3 of 4 unique words: 0.75
        (TokenOverlap(0.7), "Tom is in Boston", "Tom ist in Boston", True),
        (TokenOverlap(0.75), "Tom is in Boston", "Tom ist in Boston", False),
        # 2 of 3 unique words of the larger side: 0.67
        (TokenOverlap(0.7), "Mining the Data Data", "Data Mining", False),
        (TokenOverlap(0.7), "", "", False),
        (TestSetOverlap(frozenset([sentence_hash("x")])), "x", "y", True),
        (TestSetOverlap(frozenset([sentence_hash("x")])), "y", "x", True),
        (TestSetOverlap(frozenset([sentence_hash("x")])), "y", "xx", False),
        (FarTooLong(10), "a" * 1000, "b", False),
        (FarTooLong(10), "a", "b" * 1001, True),
    ],
)
def test_rules_on_text(rule: TextRule, source: str, target: str, refused: bool) -> None:
    assert rule.refuses([source], [target]).tolist() == [refused]
    assert rule.name in RULES


@pytest.mark.parametrize(
    ("lengths", "options", "rule"),
    [
        ((2, 3), CleaningOptions(), None),
        ((2, 4), CleaningOptions(), "length ratio"),
        ((4, 2), CleaningOptions(), "length ratio"),
        ((2, 4), CleaningOptions(length_slack=2), None),
        ((2, 5), CleaningOptions(length_slack=2), "length ratio"),
        ((2, 4), CleaningOptions(max_length_ratio=2.0), None),
        ((2, 9), CleaningOptions(max_length_ratio=None), None),
        ((0, 0), CleaningOptions(), None),
        ((0, 1), CleaningOptions(), "length ratio"),
        ((100, 100), CleaningOptions(), None),
        ((100, 101), CleaningOptions(), "too long"),
        ((10, 101), CleaningOptions(), "too long"),
        ((100, 101), CleaningOptions(max_tokens=None), None),
        ((6, 6), CleaningOptions(max_tokens=5), "too long"),
    ],
)
def test_rules_on_tokens(
    lengths: tuple[int, int], options: CleaningOptions, rule: str | None
) -> None:
    keep, counts = apply_token_rules(options, np.array(lengths[:1]), np.array(lengths[1:]))
    assert keep.tolist() == [rule is None]
    assert +counts == (Counter() if rule is None else Counter({rule: 1}))


def test_a_pair_counts_for_the_first_rule_that_refuses_it() -> None:
    rules = text_rules(CleaningOptions(), None, frozenset([sentence_hash("same")]))
    source, target = ["", "same", "same", "a", "keep"], ["x", "same", "y", "a", "behalte"]
    kept, counts = apply_text_rules(rules, source, target)
    assert kept == (["keep"], ["behalte"])
    assert counts == {"empty": 1, "test set": 2, "overlap": 1}


def test_every_rule_can_be_switched_off() -> None:
    off = CleaningOptions(
        empty=False, max_overlap=None, language_odds=None, max_tokens=None, max_length_ratio=None
    )
    assert text_rules(off, ("en", "de"), frozenset()) == []
    keep, _ = apply_token_rules(off, np.array([0, 500]), np.array([9, 1]))
    assert keep.all()
    names = [rule.name for rule in text_rules(CleaningOptions(), ("en", "de"), frozenset([1]))]
    assert names == ["empty", "too long", "test set", "overlap", "language"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_overlap", 1.5),
        ("language_odds", 0.5),
        ("max_tokens", 0),
        ("max_length_ratio", 0.9),
        ("length_slack", -1),
    ],
)
def test_limits_out_of_range_are_named(key: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"^{key}: got {value}, expected"):
        CleaningOptions(**{key: value})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def identifier() -> LanguageIdentifier:
    return LanguageIdentifier()


def test_wrong_languages(identifier: LanguageIdentifier) -> None:
    rule = WrongLanguage(identifier, ("en", "de"), 10.0)
    source = [ENGLISH, GERMAN, ENGLISH, ENGLISH, "Berlin 2019", "OK"]
    target = [GERMAN, ENGLISH, ENGLISH, RUSSIAN, "Berlin 2019", "?!"]
    assert rule.refuses(source, target).tolist() == [False, True, True, True, False, False]
    assert identifier.check("de-AT") == identifier.check("de_CH") == "de"
    with pytest.raises(ConfigError, match=r"unknown language 'xq'.*--no-language-check"):
        identifier.check("xq")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=5))
def test_many_at_once_as_the_library_one_by_one(
    identifier: LanguageIdentifier, texts: list[str]
) -> None:
    assert identifier._tables is not None, "the library has changed: this is now slow"
    texts = [normalize(text) for text in texts]
    fast = identifier._tables.odds([_bytes(text) for text in texts], "de")
    for text, one in zip(texts, fast, strict=True):
        ranking = identifier._identifier.rank(text)
        if ranking[0][1] > ranking[-1][1]:  # else: not a single feature, no opinion
            other = dict(ranking)["de"] / ranking[0][1]
            np.testing.assert_allclose(one, other, rtol=2e-2, atol=1e-5)


def test_without_the_library_the_check_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    monkeypatch.delitem(sys.modules, "py3langid.langid")
    with pytest.raises(
        MissingExtraError, match=r"needs py3langid.*pip install.*--no-language-chec"
    ):
        text_rules(CleaningOptions(), ("en", "de"), frozenset())
    assert text_rules(CleaningOptions(language_odds=None), ("en", "de"), frozenset())


def test_sentences_without_features_are_no_evidence(identifier: LanguageIdentifier) -> None:
    assert (identifier.odds(["", "!", "12"], "de") > 0.1).all()
    assert len(identifier.odds([], "de")) == 0


@given(
    values=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=60),
    part=st.integers(1, 20),
)
def test_duplicates_first_one_wins(
    values: list[int], part: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory: Path = tmp_path_factory.mktemp("hashes")
    np.array(values, np.uint64).tofile(directory / "h")
    found = mark_duplicates(directory / "h", directory / "m", part)
    marks = np.fromfile(directory / "m", np.uint8).tolist()
    expected = [int(value in values[:i]) for i, value in enumerate(values)]
    assert marks == expected
    assert found == sum(expected)
