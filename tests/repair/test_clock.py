"""Times of day in two ways to count the hours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_words import WHOLE_WORDS

from sieve.repair.clock import Clock
from sieve.repair.draft import Draft
from sieve.repair.registry import HOURS, repairs_for
from sieve.repair.step import Line


def put_times_right(source: str, translation: str, languages: tuple[str, str]) -> str:
    clock = Clock(HOURS[languages[0]], HOURS[languages[1]])
    return clock.after(Line(source), Draft(translation), None).text


GERMAN = [
    ("at 9:15 am.", "um 21:15 Uhr.", "um 9:15 Uhr."),
    ("It is 11 pm.", "Es ist 11 Uhr.", "Es ist 23 Uhr."),
    ("at 2:30 P.M.", "um 2.30 Uhr", "um 14.30 Uhr"),
    ("at 12:30 a.m.", "um 12:30 Uhr", "um 0:30 Uhr"),
    ("at 12 pm", "um 0 Uhr", "um 12 Uhr"),
    ("at 7 pm", "um 7 Uhr abends", None),  # said in words
    ("from 7 am to 7 pm", "von 7 Uhr bis 19 Uhr", None),
    ("at 7 am and 7 pm", "um 7 Uhr und 7 Uhr", None),  # either may be meant
    ("at 9:15", "um 21:15 Uhr", None),  # the source does not say
    ("at 9:15 am", "um 21:20 Uhr", None),  # another time
    ("I am 9", "Ich bin 9 Uhr", None),
    ("at 14:30 pm.", "um 14:30 Uhr.", None),  # says it itself
    ("at 00:30 am", "um 12:30 Uhr", "um 0:30 Uhr"),
    ("at 25 pm", "um 25 Uhr", None),
    ("7:00 am to 19:00", "von 19:00 Uhr", None),  # the source has it
    ("I have 3 AM radios and left at 15:00", "und ging um 15:00 Uhr", None),
]
ENGLISH = [
    ("um 14:30 Uhr", "at 14:30am", "at 14:30"),
    ("um 10:45 Uhr", "at 10:45pm", "at 10:45am"),
    ("um 21 Uhr", "at 9 a.m. sharp", "at 9 p.m. sharp"),
    ("um 21 Uhr", "at 9 AM", "at 9 PM"),
    ("um 0:15 Uhr", "at 12:15 pm", "at 12:15 am"),
    ("Um 20 Uhr", "at 8:00.", "at 20:00."),
    ("Um 20 Uhr", "at 8:00 in the evening", None),
    ("Um 20 Uhr", "at 8:00 pm", None),
    ("um 7 Uhr abends", "at 7 pm", None),
    ("um 9 Uhr", "at 9 o'clock", None),
    ("um 9.30 Uhr", "at 9:30", None),
    ("Gestern Abend um 11 Uhr", "at 11 p.m.", None),  # said in words
    ("8 Uhr Samstagabend", "8pm on Saturday", None),
    ("Heute Abend um 20 Uhr", "Tonight at 8am", "Tonight at 8pm"),
    ("in 1:45 Stunden, Start 13:45 Uhr", "in 1:45 hours, start 1:45pm", None),
    ("Psalm 8:30 um 20:30 Uhr", "Psalm 8:30 at 20:30", None),
    ("um 23:59 Uhr.", "at 23:59pm.", "at 23:59."),
    ("um 23:59 Uhr.", "at 23:59 p.m.", "at 23:59."),
    ("Um 15 Uhr", "15pm", "15:00"),
    ("um 24 Uhr", "at 12 am", None),
]


@pytest.mark.parametrize(("source", "written", "expected"), GERMAN)
def test_german(source: str, written: str, expected: str | None) -> None:
    assert put_times_right(source, written, ("en", "de")) == (expected or written)


@pytest.mark.parametrize(("source", "written", "expected"), ENGLISH)
def test_english(source: str, written: str, expected: str | None) -> None:
    assert put_times_right(source, written, ("de", "en")) == (expected or written)


def test_other_languages_are_left() -> None:
    steps = repairs_for(("en", "nl"), WHOLE_WORDS).steps
    assert not any(isinstance(step, Clock) for step in steps)
    assert any(isinstance(step, Clock) for step in repairs_for(("de", "en"), WHOLE_WORDS).steps)


@given(st.integers(0, 23), st.integers(0, 59), st.booleans())
def test_there_and_back(hour: int, minutes: int, wrong: bool) -> None:
    half = f"{hour % 12 or 12}:{minutes:02d} {'ap'[hour >= 12]}m"
    other = (hour + 12 * wrong) % 24
    right = f"um {hour}:{minutes:02d} Uhr"
    assert put_times_right(half, f"um {other}:{minutes:02d} Uhr", ("en", "de")) == right
    mixed = f"{hour % 12 or 12}:{minutes:02d} {'ap'[other >= 12]}m"
    assert put_times_right(right, mixed, ("de", "en")) == half


@given(st.text("0129:. apmUhr", max_size=30), st.text("0129:. apmUhr", max_size=30))
def test_any_text(source: str, translation: str) -> None:
    for languages in (("en", "de"), ("de", "en")):
        found = put_times_right(source, translation, languages)
        assert put_times_right(source, found, languages) == found
        assert "-" not in found
