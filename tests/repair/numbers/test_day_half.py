"""Hours whose half of the day got lost."""

import pytest
from whole_words import WHOLE_WORDS, repaired

from sieve.repair.numbers.kept_numbers import KeptNumbers
from sieve.repair.numbers.notation import NOTATIONS
from sieve.repair.numbers.number_reader import NumberReader
from sieve.repair.rules.spoken import SPOKEN


def reader(language: str) -> NumberReader:
    return NumberReader(NOTATIONS.get(language), SPOKEN.get(language))


@pytest.mark.parametrize(
    ("languages", "line", "written", "expected"),
    [
        ("en pt", "The train leaves at 1:40 pm.", "O trem sai às 1:40.", "O trem sai às 13:40."),
        ("en pt", "at 1:40 pm", "às 1:40 da tarde", "às 1:40 da tarde"),
        ("en pt", "at 3:05 pm", "às 3:05", "às 15:05"),
        ("en pt", "at 3:05 pm", "às 15:05", "às 15:05"),
        ("en pt", "at 1:40 am", "às 1:40", "às 1:40"),
        ("en pt", "at 12:40 pm", "às 12:40", "às 12:40"),
        ("en fr", "at 3 p.m. sharp", "à 3 h", "à 15 h"),
        ("pt en", "às 14h30", "at 2:30", "at 14:30"),
        ("pt en", "às 14h30", "at 2:30 pm", "at 2:30 pm"),
        (
            "en de",
            "off at 10:05, there at 12:48",
            "um 22:05 ab, um 12:48 an",
            "um 10:05 ab, um 12:48 an",
        ),
        ("en pt", "6:25 pm to 9:35 am", "18:25 a 21:35", "18:25 a 9:35"),
        ("en de", "at 7:30 tonight", "um 19:30", "um 19:30"),
        ("en de", "3 cats", "3 Katzen", "3 Katzen"),
    ],
)
def test_hours(languages: str, line: str, written: str, expected: str) -> None:
    source, target = map(reader, languages.split())
    draft, asked = repaired(line, [KeptNumbers(source, target, WHOLE_WORDS)], lambda _: written)
    assert (draft.text, draft.warnings, len(asked)) == (expected, (), 1)
