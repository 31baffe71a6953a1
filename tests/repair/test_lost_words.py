"""Names and dates that a translation lost: what is asked for again, and what is taken."""

import numpy as np
import pytest

import sieve
from sieve.bundle.catalogue import built_in
from sieve.engines.options import Sampling, SearchOptions
from sieve.repair.lost_words import with_lost_words
from sieve.repair.names import Names
from sieve.repair.word_set import WordSet
from sieve.translate.translation import Translation
from sieve.translate.translator import Translator

NAMES = Names(translated_source=WordSet.of(["the", "mayor", "of"], 20))


def found(text: str) -> list[Translation]:
    return [Translation(text, -1.0, 5, 9, (text,), (-0.5, -0.5))]


def test_only_texts_change() -> None:
    lines = ["the mayor of Viersen", "the mayor of Macron", "", "the mayor"]
    first = [found("der Bürgermeister von Wien"), found("der Makron"), [], found("er")]
    asked: list[list[str]] = []

    def search(again: list[str]) -> list[list[Translation]]:
        asked.append(again)
        return [found("von Peter der Bürgermeister")]

    result = with_lost_words(lines, first, NAMES, search)
    assert asked == [["the mayor of Peter"]]
    texts = [[one.text for one in some] for some in result]
    assert texts == [["von Viersen der Bürgermeister"], ["der Macron"], [], ["er"]]
    for before, after in zip(first, result, strict=True):
        for old, new in zip(before, after, strict=True):
            assert (new.pieces, new.score, new.shortlist_size) == (old.pieces, old.score, 5)


@pytest.mark.parametrize("second", [[found("der Bürgermeister")], [[]]])
def test_a_second_translation_that_lost_it_too_is_not_taken(
    second: list[list[Translation]],
) -> None:
    first = [found("der Bürgermeister von Wien")]
    asked = []

    def search(again: list[str]) -> list[list[Translation]]:
        asked.append(again)
        return second

    result = with_lost_words(["the mayor of Viersen"], first, NAMES, search)
    assert result[0][0].text == "der Bürgermeister von Wien"
    assert asked == [["the mayor of Peter"], ["the mayor of Maria"]]


def test_a_third_translation_may_be_taken() -> None:
    first = [found("der Bürgermeister von Wien")]
    answers = {"the mayor of Peter": "er", "the mayor of Maria": "Marias Bürger von Maria"}
    result = with_lost_words(
        ["the mayor of Viersen"], first, NAMES, lambda again: [found(answers[x]) for x in again]
    )
    assert result[0][0].text == "Marias Bürger von Viersen"


def test_one_that_loses_as_much_elsewhere_is_not_taken() -> None:
    first = [found("Viersen")]
    line = "the mayor of Viersen of Boisheim"
    result = with_lost_words([line], first, NAMES, lambda again: [found("Peter")] * len(again))
    assert result[0][0].text == "Viersen"


def test_nothing_is_asked_for_again() -> None:
    first = [found("der Bürgermeister von Wien")]
    assert with_lost_words(["the mayor of Viersen"], first, NAMES, None) == first


def test_the_second_translation_is_spelled_right_too() -> None:
    line = "the mayor of Viersen, Macron"
    first = [found("der Makron")]
    second = [found("Peter, Makron")]
    result = with_lost_words([line], first, NAMES, lambda again: second)
    assert result[0][0].text == "Viersen, Macron"


def test_names_are_not_lost_for_a_date() -> None:
    line = "the mayor of 1.2.2023, 3.4.2023 of Viersen, Boisheim"
    first = [found("1.2.2023 Viersen, Boisheim")]
    for second, expected in (
        ("2015, 2012 von jemand", first[0][0].text),
        ("2015, 2012 Viersen, Boisheim", "1.2.2023, 3.4.2023 Viersen, Boisheim"),
    ):
        answer = [found(second)]
        result = with_lost_words([line], first, NAMES, lambda again, answer=answer: answer)
        assert result[0][0].text == expected


@pytest.fixture(scope="module")
def english() -> Translator:
    if "en-de" not in built_in():
        pytest.skip("the built-in model en-de is not here")
    return sieve.load("en-de", threads=1)


LINE = "Emmanuel Macron spoke."


def test_with_a_model(english: Translator) -> None:
    plain = english.translate(LINE)
    assert plain.text == "Emmanuel Macron sprach."
    assert "Macron" not in "".join(plain.pieces).replace("▁", " ")  # the model's own spelling
    both = english.translate([LINE, "Good morning!", LINE])
    assert [one.text for one in both] == [plain.text, "Guten Morgen!", plain.text]


@pytest.mark.parametrize(
    "asked", [{"include": ["Makron"]}, {"exclude": ["Macron"]}, {"prefix": "Emmanuel Makron"}]
)
def test_who_names_words_gets_them(english: Translator, asked: dict[str, object]) -> None:
    assert "Macron" not in english.translate(LINE, **asked).text


def test_a_prefix_is_its_own_line_s(english: Translator) -> None:
    first, second = english.translate([LINE, "Hello"], prefix=["", "Hallo"])
    assert first.text == english.translate(LINE).text
    assert second.text.startswith("Hallo")


def test_samples_and_alternatives_are_spelled_alone(
    english: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = "The meeting with Plinganser Auerfeld is on 15.03.2024 in Boisheim."
    lines: list[int] = []
    engine = english.engine
    search = engine.translate

    def counted(src_ids: list[np.ndarray], *rest: object) -> object:
        lines.append(len(src_ids))
        return search(src_ids, *rest)

    monkeypatch.setattr(engine, "translate", counted)
    for options in (SearchOptions(n_best=2), SearchOptions(sampling=Sampling(seed=1))):
        english.translate(lost, options=options)
    assert lines == [1, 1]
