"""What a translation should not have: loops, invented numbers, broken markup, U+FFFD."""

import re
from collections import Counter
from decimal import Decimal

from kept.numerals import numbers
from kept.wants import MONTHS

FAULTS = ("replacement characters", "loops", "invented numbers", "markup broken", "empty")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_OPENED = re.compile(r"[A-Za-z]+")
_CLOCK = re.compile(r"(?<![0-9])([0-9]{1,2})[:h]([0-9]{2})(?![0-9])")
_WORD = re.compile(r"\w+")
_REPEATS, _LETTERS = 4, 12
_SMALLEST = {"digits": 0, "word": 13, "roman": 4000}
"""Number words may stand for "both", "a few", "a dozen", and Roman numerals may be abbreviations:
what is smaller than this is not called invented.
"""


def faults(source: str, output: str, languages: tuple[str, str]) -> set[str]:
    """The names of what is wrong with a translation."""
    present = {
        "replacement characters": output.count("\ufffd") > source.count("\ufffd"),
        "loops": loops(source, output),
        "invented numbers": bool(invented(source, output, languages)),
        "markup broken": markup_broken(source, output),
        "empty": bool(source.strip()) and not output.strip(),
    }
    return {name for name, there in present.items() if there}


def loops(source: str, output: str) -> bool:
    """Whether words or letters repeat, or the output is far too long.

    Up to six words four times in a row, or twelve letters of a short unit, and more than in the
    source; three times as many words as the source and twenty more.
    """
    if len(output.split()) > 3 * len(source.split()) + 20:
        return True
    most = max(_REPEATS - 1, _words_repeat(source))
    letters = max(_LETTERS - 1, _letters_repeat(source))
    return _words_repeat(output) > most or _letters_repeat(output) > letters


def _words_repeat(text: str) -> int:
    return max(longest_repeat(text.split()), longest_repeat(_WORD.findall(text)))


def longest_repeat(words: list[str]) -> int:
    """How often in a row the most repeated sequence of one to six words comes."""
    best = 1 if words else 0
    for size in range(1, 7):
        run = 0  # places in a row that equal those `size` before
        for place in range(size, len(words)):
            run = run + 1 if words[place] == words[place - size] else 0
            best = max(best, run // size + 1)
    return best


def _letters_repeat(text: str) -> int:
    """How many letters repeat up to six others within a word: 8 in kakakaka."""
    matches = re.finditer(r"([^\W\d_]{1,6}?)\1{2,}", text)
    return max((len(match[0]) for match in matches), default=0)


def invented(source: str, output: str, languages: tuple[str, str]) -> list[Decimal]:
    """Numbers of the output that no reading of the source explains."""
    known = set(_readings(source, languages[0])) | set(_readings(source, languages[1]))
    known |= {amount + 12 for amount in known if amount < 12}
    known |= {amount - 12 for amount in known if 12 < amount <= 24}
    return [
        min(number.values)
        for number in numbers(output, languages[1])
        if not number.values & known and min(number.values) >= _SMALLEST[number.form]
    ]


def _readings(text: str, language: str) -> list[Decimal]:
    values = [amount for number in numbers(text, language) for amount in number.values]
    values += [Decimal(digits) for digits in re.findall("[0-9]+", text)]
    for clock in _CLOCK.finditer(text):  # 10.45 Uhr
        values += [Decimal(f"{int(clock[1]) + late}.{clock[2]}") for late in (0, 12)]
    for month, stem in enumerate(MONTHS[language].split(), start=1):
        if re.search(rf"\b{stem}", text, re.IGNORECASE):
            days = [amount for amount in values if 0 < amount < 32 and amount % 1 == 0]
            values += [Decimal(month), *(Decimal(f"{int(day)}.{month}") for day in days)]  # 12.3.
    return values


def markup_broken(source: str, output: str) -> bool:
    """Whether tags are missing, added or closed before they are opened, or brackets stray."""
    tags, found = _TAG.findall(source), _TAG.findall(output)
    brackets = any(source.count(bracket) != output.count(bracket) for bracket in "<>")
    if Counter(tags) != Counter(found) or brackets:
        return True
    return _nested(tags) and not _nested(found)


def _nested(tags: list[str]) -> bool:
    """Whether every end tag has its start tag before it; void tags need no end."""
    opened: Counter[str] = Counter()
    for tag in tags:
        name = _OPENED.search(tag)
        assert name is not None
        opened[name[0]] += -1 if tag.startswith("</") else 1
        if opened[name[0]] < 0:
            return False
    return True
