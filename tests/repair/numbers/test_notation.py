"""Numbers in figures as languages write them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.repair.numbers.notation import NOTATIONS, in_notation, value_of

EN, DE, FR, RU = (NOTATIONS[language] for language in ("en", "de", "fr", "ru"))


@pytest.mark.parametrize(
    ("figures", "language", "expected"),
    [
        ("1,234.5", "en", "1234.5"),
        ("1.234,5", "de", "1234.5"),
        ("1,234", "en", "1234"),
        ("1.234", "en", "1.234"),
        ("1.234", "de", "1234"),
        ("1,234", "de", "1.234"),
        ("0.125", "de", "0.125"),  # no group begins with zero
        ("3.5", "de", "3.5"),  # as in section 3.5
        ("1,234,567", "de", "1234567"),
        ("12 500,75", "fr", "12500.75"),
        ("1\u202f234", "fr", "1234"),
        ("1'234.50", "en", "1234.5"),
        ("15.03.2024", "de", None),
        ("1.2.3", "en", None),
        ("007", "en", "7"),
    ],
)
def test_value(figures: str, language: str, expected: str | None) -> None:
    value = value_of(figures, NOTATIONS[language])
    assert value == (None if expected is None else Fraction(expected))


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ("1,234.5", "1.234,5"),
        ("1,234", "1.234"),
        ("2.25", "2,25"),
        ("2015", "2015"),
        ("1.2.3", "1.2.3"),
        ("12,345,678", "12.345.678"),
    ],
)
def test_from_english_to_german(figures: str, expected: str) -> None:
    assert in_notation(figures, EN, DE) == expected
    assert in_notation(expected, DE, EN) == figures


def test_languages_that_are_not_known() -> None:
    assert in_notation("1,234.5", None, DE) == in_notation("1,234.5", EN, None) == "1,234.5"


@given(
    st.integers(0, 10**9), st.integers(0, 99), st.sampled_from(["en", "de", "fr", "ru"]),
    st.sampled_from(["en", "de", "fr", "ru"]),
)  # fmt: skip
def test_the_value_stays(whole: int, cents: int, source: str, target: str) -> None:
    ours, theirs = NOTATIONS[source], NOTATIONS[target]
    figures = f"{whole:,}".replace(",", ours.group) + f"{ours.decimal}{cents:02d}"
    value = Fraction(whole) + Fraction(cents, 100)
    assert value_of(figures, ours) == value
    assert value_of(in_notation(figures, ours, theirs), theirs) == value
