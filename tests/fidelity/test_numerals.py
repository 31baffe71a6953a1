"""Numbers of whole texts."""

from decimal import Decimal

import pytest

from kept.numerals import numbers, roman, value

TEXTS = [
    ("de", "Es waren 1.234 Menschen.", ["1234"]),
    ("en", "There were 1,234 people.", ["1234"]),
    ("fr", "Il y avait 1\u202f234 personnes.", ["1234"]),
    ("de", "3,5 Millionen", ["3.5", "3500000", "1000000"]),
    ("pt", "R$ 2.313,93", ["2313.93"]),
    ("de", "am 12.03.2024", ["12", "3", "2024"]),
    ("en", "forty-eight birds", ["48"]),
    ("en", "Henry VIII", ["8"]),
    ("en", "20 mm or 30 I", ["20", "30"]),
    ("fr", "quatre-vingt-dix-sept euros, deux cents", ["97", "200"]),
]


@pytest.mark.parametrize(("language", "text", "values"), TEXTS)
def test_numbers_of_a_text(language: str, text: str, values: list[str]) -> None:
    readings = {reading for number in numbers(text, language) for reading in number.values}
    assert readings == {Decimal(each) for each in values}


def test_a_mark_that_breaks_the_notation_gives_no_value() -> None:
    assert value("1.234", "de") == 1234
    assert value("1.234", "en") == Decimal("1.234")
    assert value("1.23", "de") is None
    assert value("1,234.5", "en") == Decimal("1234.5")
    assert value("1.234,5", "en") is None


def test_roman_numerals() -> None:
    assert [roman(numeral) for numeral in ("IV", "IX", "XIV", "MCMXC")] == [4, 9, 14, 1990]
