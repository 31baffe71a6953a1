"""What is kept and what is lost, by hand."""

from decimal import Decimal

import pytest

from kept.wants import Kind, Want, judge


def number(text: str, amount: str) -> Want:
    return Want("number", text, (Decimal(amount),))


KEPT = [
    (number("18", "18"), "Ich habe 18 Katzen.", True),
    (number("18", "18"), "Ich habe achtzehn Katzen.", True),
    (number("18", "18"), "Ich habe zwei Katzen.", False),
    (number("18", "18"), "Ich habe 180 Katzen.", False),
    (number("2", "2"), "zweimal am Tag", True),
    (number("1,234.5", "1234.5"), "1.234,5 Euro", True),
    (number("3.5 million", "3500000"), "3,5 Mio. Menschen", True),
    (number("3.5 million", "3500000"), "3,5 Milliarden Menschen", False),
    (number("XIV", "14"), "Kapitel 14", True),
    (Want("verbatim", "{name}"), "Hallo {name}!", True),
    (Want("verbatim", "{name}"), "Hallo {Name}!", False),
    (Want("unit", "mg"), "50mg davon", True),
    (Want("unit", "mg"), "50 Mg davon", False),
    (Want("unit", "g"), "50 Mg davon", False),
    (Want("unit", "µg"), "50 μg davon", True),
    (Want("digits", "555-0142"), "unter 555 0142 an", True),
    (Want("digits", "555-0142"), "unter 55-0142 an", False),
    (Want("time", "3:45 pm", (Decimal(15), Decimal(45))), "um 15.45 Uhr", True),
    (Want("time", "3:45 pm", (Decimal(15), Decimal(45))), "um 3:45 nachmittags", True),
    (Want("time", "3:45 pm", (Decimal(15), Decimal(45))), "um 3:45 Uhr", False),
    (Want("date", "", (Decimal(12), Decimal(3), Decimal(2024))), "am 12. März 2024", True),
    (Want("date", "", (Decimal(12), Decimal(3), Decimal(2024))), "am 12.3.2024", True),
    (Want("date", "", (Decimal(12), Decimal(3), Decimal(2024))), "am 12. April 2024", False),
    (Want("date", "", (Decimal(12), Decimal(3), Decimal(2024))), "im März 2024", False),
]


@pytest.mark.parametrize(("want", "output", "kept"), KEPT)
def test_one_want_of_a_german_translation(want: Want, output: str, kept: bool) -> None:
    assert [verdict.kept for verdict in judge([want], output, "de")] == [kept]


def test_a_number_answers_one_want_only() -> None:
    wants = [number("two", "2"), number("two", "2")]
    assert [each.kept for each in judge(wants, "2 Katzen und Hunde", "de")] == [True, False]
    assert [each.kept for each in judge(wants, "2 Katzen, zwei Hunde", "de")] == [True, True]


@pytest.mark.parametrize("kind", ["verbatim"])
def test_a_placeholder_that_comes_twice_must_come_twice(kind: Kind) -> None:
    wants = [Want(kind, "%d"), Want(kind, "%d")]
    assert [each.kept for each in judge(wants, "%d von 3", "de")] == [True, False]


def test_kept_as_written_in_another_notation_is_kept_and_misread() -> None:
    (verdict,) = judge([number("1,234", "1234")], "1,234 Euro", "de")
    assert verdict.kept and verdict.misread
    (verdict,) = judge([number("1,234", "1234")], "1.234 Euro", "de")
    assert verdict.kept and not verdict.misread
