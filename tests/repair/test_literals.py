"""Literals of the source that a translation spells wrongly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.repair.draft import Draft, Edit
from sieve.repair.literals import Literals
from sieve.repair.step import Line


def put_right(source: str, written: str) -> str:
    return Literals().after(Line(source), Draft(written), None).text


WRONG = [
    ("See https://a.org/x?b=1 now.", "Siehe HTTP:/a.org/x?b=1.", "Siehe https://a.org/x?b=1."),
    ("Mail j.doe@site.com!", "Mail an j.do@site.com!", "Mail an j.doe@site.com!"),
    ("It is 10:45.", "Es ist 20:45 Uhr.", "Es ist 10:45 Uhr."),
    ("On 12 May 2021", "Am 12. Mai 2012", "Am 12. Mai 2021"),
    ("It costs £99.99.", "Es kostet 999,99 £.", "Es kostet 99,99 £."),
    ("Das kostet 1.234,56 €.", "This costs $1,234.56.", "This costs €1,234.56."),
    ("I owe 1,234.56.", "Je dois 1 234,65.", "Je dois 1 234,56."),
    ("From 1914 to 1918.", "Von 1915 bis 1918.", "Von 1914 bis 1918."),
]
RIGHT = [
    ("It costs $1,234.56.", "Es kostet 1.234,56 $."),  # other separators
    ("At 3:45 pm we left.", "Um 15:45 fuhren wir."),  # another clock
    ("He has 2 dogs.", "Er hat zwei Hunde."),  # spelled out
    ("In the 1990s", "In den neunziger Jahren"),
    ("Call 12 people", "Rufe 21 Leute an"),  # too short to be sure
    ("$5 are 4 €.", "5 $ sind 4 €."),
    ("5 dollars, not €", "5 $, nicht £ oder €"),
    ("I owe 1,234.56 for 1 of 2,000,000.", "Je dois 1 234,56 pour 1 de 2 000 000."),
    ("12 500 personnes", "12,500 people"),  # one number in groups
    ("Le 12 500 personnes", "On 12 May 500 people"),  # two numbers
    ("On May 12, 300 came, 1 went", "Le 12 300 sont venues, 1 est partie"),
    ("Nothing to check", "Nichts zu prüfen 123"),
]


@pytest.mark.parametrize(("source", "written", "expected"), WRONG)
def test_puts_right(source: str, written: str, expected: str) -> None:
    assert put_right(source, written) == expected


@pytest.mark.parametrize(("source", "written"), RIGHT)
def test_leaves_alone(source: str, written: str) -> None:
    assert put_right(source, written) == written


@given(st.text("ab 0123456789.,:@/€$", max_size=40))
def test_a_copy_is_right(text: str) -> None:
    assert put_right(text, text) == text


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_it_gives_it_leaves_alone(source: str, written: str) -> None:
    once = put_right(source, written)
    assert put_right(source, once) == once


def test_what_was_changed() -> None:
    line = Line("From 1914 to 1918 for $5.")
    draft = Literals().after(line, Draft("Von 1915 bis 1918 für 5 €."), None)
    assert draft.edits == (Edit(4, 8, "1914", "literals"), Edit(24, 25, "$", "literals"))
