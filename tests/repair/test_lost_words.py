"""Names that a translation lost: what is asked for again, and what is taken."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

import sieve
from sieve.bundle.catalogue import built_in
from sieve.engines.engine import Hypothesis
from sieve.engines.options import Sampling, SearchOptions
from sieve.repair.draft import Draft
from sieve.repair.lost_words import LostWords
from sieve.repair.names import Names, NameSpelling
from sieve.repair.pipeline import Rounds
from sieve.repair.step import Line, Trait
from sieve.repair.word_set import WordSet
from sieve.tokenize.vocabulary import IntArray
from sieve.translate.translator import Translator

NAMES = Names(translated_source=WordSet.of(["the", "mayor", "of"], 20))
STEPS = LostWords(NAMES), NameSpelling(NAMES)
WRITTEN = Hypothesis((4, 5), (-0.5, -0.5, -0.5), 5)
Asked = list[list[str]]


def repaired(
    lines: Sequence[str], model: Callable[[str], str | None], *traits: Trait
) -> tuple[list[list[Draft]], Asked]:
    """Drafts of lines by a model that writes one text for each, or nothing; what it was asked."""
    rounds = Rounds([Line(line, frozenset(traits)) for line in lines], STEPS)
    asked: Asked = []
    while queries := rounds.queries:
        asked.append([line.text for line in queries])
        texts = [model(line.text) for line in queries]
        rounds.answer([[] if text is None else [Draft(text, (), WRITTEN)] for text in texts])
    return rounds.drafts, asked


def test_only_texts_change() -> None:
    answers = {
        "the mayor of Viersen": "der Bürgermeister von Wien",
        "the mayor of Macron": "der Makron",
        "lost": None,
        "the mayor": "er",
        "the mayor of Peter": "von Peter der Bürgermeister",
    }
    drafts, asked = repaired([*answers][:4], answers.__getitem__)
    assert asked == [[*answers][:4], ["the mayor of Peter"]]
    texts = [[draft.text for draft in ranked] for ranked in drafts]
    assert texts == [["von Viersen der Bürgermeister"], ["der Macron"], [], ["er"]]
    assert all(draft.hypothesis is WRITTEN for ranked in drafts for draft in ranked)
    assert [edit.step for edit in drafts[0][0].edits] == ["lost words"]
    assert [edit.step for edit in drafts[1][0].edits] == ["names"]


LINE = "the mayor of Viersen"


@pytest.mark.parametrize("second", ["der Bürgermeister", None])
def test_a_second_translation_that_lost_it_too_is_not_taken(second: str | None) -> None:
    drafts, asked = repaired([LINE], lambda line: "von Wien" if line == LINE else second)
    assert drafts[0][0].text == "von Wien"
    assert asked == [[LINE], ["the mayor of Peter"], ["the mayor of Maria"]]


def test_a_third_translation_may_be_taken() -> None:
    answers = {LINE: "von Wien", "the mayor of Peter": "er"}
    drafts, _ = repaired([LINE], lambda line: answers.get(line, "Marias Bürger von Maria"))
    assert drafts[0][0].text == "Marias Bürger von Viersen"


def test_one_that_loses_as_much_elsewhere_is_not_taken() -> None:
    line = "the mayor of Viersen of Boisheim"
    drafts, _ = repaired([line], lambda text: "Viersen" if text == line else "Peter")
    assert drafts[0][0].text == "Viersen"


def test_nothing_is_asked_for_again() -> None:
    traits: tuple[Trait, ...] = "alignment", "n-best", "prefix", "samples", "words"
    for trait in traits:
        drafts, asked = repaired([LINE], lambda _: "von Wien", trait)
        assert (drafts[0][0].text, asked) == ("von Wien", [[LINE]])


def test_the_second_translation_is_spelled_right_too() -> None:
    line = "the mayor of Viersen, Macron"
    drafts, _ = repaired([line], lambda text: "der Makron" if text == line else "Peter, Makron")
    assert drafts[0][0].text == "Viersen, Macron"


@pytest.fixture(scope="module")
def english() -> Translator:
    if "en-de" not in built_in():
        pytest.skip("the built-in model en-de is not here")
    return sieve.load("en-de", threads=1)


MACRON = "Emmanuel Macron spoke."


def test_with_a_model(english: Translator) -> None:
    plain = english.translate(MACRON)
    assert plain.text == "Emmanuel Macron sprach."
    assert "Macron" not in "".join(plain.pieces).replace("▁", " ")  # the model's own spelling
    both = english.translate([MACRON, "Good morning!", MACRON])
    assert [one.text for one in both] == [plain.text, "Guten Morgen!", plain.text]


@pytest.mark.parametrize(
    "asked", [{"include": ["Makron"]}, {"exclude": ["Macron"]}, {"prefix": "Emmanuel Makron"}]
)
def test_who_names_words_gets_them(english: Translator, asked: dict[str, Any]) -> None:
    assert "Macron" not in english.translate(MACRON, **asked).text


def test_a_prefix_is_its_own_line_s(english: Translator) -> None:
    first, second = english.translate([MACRON, "Hello"], prefix=["", "Hallo"])
    assert first.text == english.translate(MACRON).text
    assert second.text.startswith("Hallo")


class Counted:
    """An engine that says how many lines each call had."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.vocab_size = engine.vocab_size
        self.lines: list[int] = []

    def translate(self, src_ids: Sequence[IntArray], *rest: Any) -> list[list[Hypothesis]]:
        self.lines.append(len(src_ids))
        hypotheses: list[list[Hypothesis]] = self.engine.translate(src_ids, *rest)
        return hypotheses


def test_samples_and_alternatives_are_spelled_alone(english: Translator) -> None:
    lost = "The meeting with Plinganser Auerfeld is in Boisheim."
    engine: Any = Counted(english.engine)
    translator = replace(english, engine=engine)
    for options in (SearchOptions(n_best=2), SearchOptions(sampling=Sampling(seed=1))):
        translator.translate(lost, options=options)
    assert engine.lines == [1, 1]


def test_without_repair(english: Translator) -> None:
    line = "EMMANUEL MACRON 🎉"
    plain = english.translate(line, repair=False)
    assert not plain.edits
    assert plain.text == english.tokenizers.target.decode([plain.ids])[0]
    assert english.translate(line).edits
