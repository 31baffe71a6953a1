"""Numbers of a line that its translation must have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_words import WHOLE_WORDS, repaired

from sieve.repair.numbers.accounts import compared
from sieve.repair.numbers.kept_numbers import KeptNumbers
from sieve.repair.numbers.notation import NOTATIONS
from sieve.repair.numbers.number_reader import NumberReader
from sieve.repair.rules.spoken import SPOKEN
from sieve.repair.step import Trait


def reader(language: str) -> NumberReader:
    return NumberReader(NOTATIONS.get(language), SPOKEN.get(language))


def step(source: str = "en", target: str = "de") -> KeptNumbers:
    return KeptNumbers(reader(source), reader(target), WHOLE_WORDS)


RIGHT = [
    ("en", "de", "It costs 1,234.56.", "Es kostet 1.234,56."),
    ("en", "de", "At 3:45 pm we left.", "Um 15:45 fuhren wir."),
    ("en", "de", "He has 2 dogs.", "Er hat zwei Hunde."),
    ("en", "de", "He has twenty-one dogs.", "Er hat 21 Hunde."),
    ("en", "de", "In the 1990s", "In den 90er Jahren"),
    ("en", "de", "$2 billion", "2 Milliarden $"),
    ("en", "de", "2 million people", "2.000.000 Menschen"),
    ("en", "de", "both dogs, a dozen", "2 Hunde, 12"),
    ("en", "de", "World War II", "Zweiter Weltkrieg"),
    ("en", "de", "On 15.03.2024", "Am 15. März 2024"),
    ("en", "de", "March 15, 2024", "15.03.2024"),
    ("en", "fr", "12,500 people", "12 500 personnes"),
    ("fr", "en", "quatre-vingt-dix jours", "ninety days"),
    ("pt", "en", "duzentos e cinquenta", "250"),
    ("ru", "en", "двадцать пять дней", "25 days"),
    ("en", "de", "Section 3.5", "Abschnitt 3.5"),
    ("de", "en", "um halb drei", "at 2:30"),
    ("en", "xx", "18 and 2 cats", "18 x y"),  # two may be a word there
    ("en", "de", "the house", "das Haus"),
]


@pytest.mark.parametrize(("source", "target", "line", "written"), RIGHT)
def test_right_ones_are_left(source: str, target: str, line: str, written: str) -> None:
    draft, asked = repaired(line, [step(source, target)], lambda _: written)
    assert (draft.text, draft.warnings, len(asked)) == (written, (), 1)


MENDED = [
    ("It costs 1,234.", "Es kostet 1,234.", "Es kostet 1.234."),  # that would be one and a bit
    ("In 1914 it began.", "Im Jahr 1915 begann es.", "Im Jahr 1914 begann es."),
    ("I have 18 cats.", "Ich habe zwei Katzen.", "Ich habe 18 Katzen."),
    ("497 mph", "49 mph", "497 mph"),
    ("It costs £99.99.", "Es kostet 99,99 €.", "Es kostet 99,99 £."),
    ("It costs £99.99.", "Es kostet 99,99.", "Es kostet 99,99\u00a0£."),
    ("Take 75 mg now.", "Nehmen Sie 75 g.", "Nehmen Sie 75 mg."),
    ("Take 75 mg now.", "Nehmen Sie 75 Mikrogramm.", "Nehmen Sie 75 mg."),
    ("a 100-km race", "ein 100-Kilometer-Rennen", "ein 100-km-Rennen"),
    ("Part XII was shot", "Ein Teil XI wurde", "Ein Teil XII wurde"),
    ("Take 75 g now.", "Nehmen Sie 75 G.", "Nehmen Sie 75 g."),
]


@pytest.mark.parametrize(("line", "written", "expected"), MENDED)
def test_put_right_without_asking_again(line: str, written: str, expected: str) -> None:
    draft, asked = repaired(line, [step()], lambda _: written)
    assert (draft.text, draft.warnings, len(asked)) == (expected, (), 1)


def test_a_unit_that_is_lost_is_asked_for_again() -> None:
    answers = {"It needs 4 cl": "Es braucht 4 Kle", "It needs Q7": "Es braucht Q7"}
    draft, asked = repaired("It needs 4 cl", [step()], answers.__getitem__)
    assert (draft.text, asked) == ("Es braucht 4 cl", list(answers))


def test_a_short_word_for_a_number_is_no_beginning() -> None:
    """par is a pair, para is for."""
    draft, _ = repaired("2 dogs for you", [step("en", "pt")], lambda _: "cães para vocês")
    assert "2" in draft.text


def test_units_of_another_script_are_its_own() -> None:
    draft, asked = repaired("It needs 4 cl", [step("en", "ru")], lambda _: "Нужно 4 сл")
    assert (draft.text, draft.warnings, len(asked)) == ("Нужно 4 сл", (), 1)


def test_an_hour_is_no_article() -> None:
    written = "at 3:20pm one at 3:20pm"
    draft, _ = repaired("von 15:20 Uhr bis 13:20 Uhr", [step("de", "en")], lambda _: written)
    assert "13" in draft.text


def test_asked_again_with_stand_ins() -> None:
    answers = {
        "We saw 18 of 20 cats": "Wir sahen 20 Katzen",
        "We saw Q7 of 20 cats": "Wir sahen Q7 von 20 Katzen",
    }
    draft, asked = repaired("We saw 18 of 20 cats", [step()], answers.__getitem__)
    assert asked == list(answers)
    assert (draft.text, draft.warnings) == ("Wir sahen 18 von 20 Katzen", ())


def test_number_words_become_figures_in_the_target_s_notation() -> None:
    line = "for fifty men and 1,234.5 more"

    def model(read: str) -> str:
        return "für Q7 Leute und Q8 mehr" if "Q7" in read else "für Leute und mehr"

    draft, _ = repaired(line, [step()], model)
    assert draft.text == "für 50 Leute und 1.234,5 mehr"


def test_placed_where_stand_ins_are_lost() -> None:
    draft, asked = repaired("We saw 18 cats", [step()], lambda read: "Wir sahen Katzen")
    assert asked == ["We saw 18 cats", "We saw Q7 cats", "We saw B12 cats", "We saw cats"]
    assert (draft.text, draft.warnings) == ("Wir sahen 18 Katzen", ())


def test_invented_numbers_are_warned_of() -> None:
    draft, asked = repaired("We saw 20 cats", [step()], lambda read: f"{read} in 1999")
    assert draft.text == "We saw 20 cats in 1999"
    assert draft.warnings == ("the source has no number 1999",)
    assert len(asked) == 3


@pytest.mark.parametrize("trait", ["n-best", "samples"])
def test_alternatives_are_not_asked_for_again(trait: Trait) -> None:
    draft, asked = repaired("18 and 20 cats", [step()], lambda _: "Katzen", trait)
    assert (draft.text, len(asked)) == ("Katzen", 1)
    assert draft.warnings == ("the number 18 is missing", "the number 20 is missing")


def test_positions_are_the_line_s() -> None:
    def model(read: str) -> tuple[str, list[int]]:
        return ("Katzen Q7", [1, 0]) if "Q7" in read else ("Katzen", [1])

    draft, _ = repaired("18 cats", [step()], model, "alignment")
    assert draft.text == "Katzen 18"
    assert draft.hypothesis is not None
    assert draft.hypothesis.positions == (1, 0)


def test_accounts() -> None:
    account = compared("18 of 20 cats", "20 Katzen im Jahr 1999", reader("en"), reader("de"))
    assert [number.text for number in account.missing] == ["18"]
    assert [number.text for number in account.strange] == ["1999"]
    assert account.faults == 2


NUMBERS = st.lists(st.integers(13, 9999), min_size=1, max_size=4)


@given(NUMBERS, st.sampled_from(["lost", "kept", "changed"]))
def test_every_number_comes_out(numbers: list[int], way: str) -> None:
    line = " and ".join(f"{number} cats" for number in numbers)

    def model(read: str) -> str:
        words = read.replace("and", "und").replace("cats", "Katzen").split()
        if way == "kept":
            return " ".join(words)
        return " ".join(
            "7" if way == "changed" and w.isdigit() else w
            for w in words
            if (way == "changed" or not w.isdigit())
        )

    draft, _ = repaired(line, [step()], model)
    said = reader("de").read(draft.text)
    for number in numbers:
        assert any(number in each.values for each in said) or draft.warnings


@given(st.text("ab 0123456789.,:/-€$IVX", max_size=40))
def test_a_copy_is_right(text: str) -> None:
    draft, asked = repaired(text, [step("en", "en")], lambda _: text)
    assert len(asked) <= 1
    assert draft.text in (text, "")
