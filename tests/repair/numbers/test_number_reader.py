"""The numbers of a text."""

from fractions import Fraction

import pytest

from sieve.repair.numbers.notation import NOTATIONS
from sieve.repair.numbers.number_reader import Number, NumberReader, run_of
from sieve.repair.rules.spoken import SPOKEN


def reader(language: str) -> NumberReader:
    return NumberReader(NOTATIONS.get(language), SPOKEN.get(language))


READ = [
    ("I have 18 cats and twenty-one dogs", ["18", "twenty-one"]),
    ("from 10-15 of 1,234.5", ["10", "15", "1,234.5"]),
    ("on 15.03.2024 at 7.30 pm", ["15", "03", "2024", "7", "30"]),
    ("World War II, Louis XIV, I am", ["II", "XIV"]),
    ("version 3.5 of A380", ["3.5", "380"]),
    ("1.7 million four years ago", ["1.7", "four"]),
    ("nothing to count", []),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_texts(text: str, expected: list[str]) -> None:
    assert [number.text for number in reader("en").read(text)] == expected


def only(text: str, language: str = "en") -> Number:
    [number] = reader(language).read(text)
    return number


def test_what_a_number_may_mean() -> None:
    assert only("at 3 pm").values == {3, 15}
    assert only("um 15 Uhr", "de").values == {3, 15}
    assert only("the 1990s").values == {1990, 90, 2090}
    assert only("XIV, etc").values == {14}
    assert only("$2.5 billion").scaled == Fraction(2_500_000_000)
    assert only("2,5 Mrd. Euro", "de").scaled == Fraction(2_500_000_000)
    assert only("two million").values == {2_000_000}


def test_thousands_between_hyphens_are_no_date() -> None:
    assert [number.date for number in reader("de").read("1.000-2-000 am 01-02-2000")] == [
        False, False, False, True, True, True
    ]  # fmt: skip


def test_what_must_not_be_in_a_translation() -> None:
    assert [number.certain for number in reader("en").read("at 3:00, a second day")] == [
        True, False, False
    ]  # fmt: skip


def test_figures_with_spaces() -> None:
    assert [n.text for n in reader("fr").read("12 500 personnes")] == ["12 500"]
    assert [n.text for n in reader("de").read("12 500")] == ["12", "500"]
    assert [n.text for n in reader("de").read("12 500", {Fraction(12500)})] == ["12 500"]


def test_runs() -> None:
    text = "on 15.03.2024, 10-12 twenty"
    numbers = reader("en").read(text)
    assert [text[slice(*run_of(text, number))] for number in numbers] == [
        "15.03.2024", "15.03.2024", "15.03.2024", "10-12", "10-12", "twenty"
    ]  # fmt: skip


def test_words() -> None:
    assert reader("en").has_words("seven")
    assert not reader("xx").has_words("seven")
    assert not reader("en").has_words("a word of 7")
