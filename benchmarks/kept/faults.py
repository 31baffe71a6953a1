"""What a translation has that it should not have: loops, invented numbers, broken markup, U+FFFD."""

import re
from collections import Counter
from decimal import Decimal

from kept.numerals import numbers
from kept.wants import MONTHS

FAULTS = ("replacement characters", "loops", "invented numbers", "markup broken", "empty")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_OPENED = re.compile(r"[A-Za-z]+")
_REPEATS = 4
_NOT_BY_CHANCE = 13
"""Number words below it may stand for "both", "a few", "a pair": only larger ones are invented."""


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
    """Whether up to six words repeat four times in a row, oftener than in the source; or it
    is three times as long as the source and twenty words more.
    """
    words, allowed = output.split(), source.split()
    if len(words) > 3 * len(allowed) + 20:
        return True
    most = max(_REPEATS - 1, longest_repeat(allowed))
    return longest_repeat(words) > most or _letters_repeat(output) > max(12, _letters_repeat(source))


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
    """The same within a word, for one to four characters: kakakaka."""
    matches = re.finditer(r"([^\W\d_]{1,4}?)\1{3,}", text)
    return max((len(match[0]) // len(match[1]) for match in matches), default=0)


def invented(source: str, output: str, languages: tuple[str, str]) -> list[Decimal]:
    """Numbers of the output that no reading of the source explains."""
    known = set(_readings(source, languages[0])) | set(_readings(source, languages[1]))
    known |= {amount + 12 for amount in known if amount < 12}
    known |= {amount - 12 for amount in known if 12 < amount <= 24}
    return [
        min(number.values)
        for number in numbers(output, languages[1])
        if not number.values & known
        and (number.form == "digits" or (number.form == "word" and min(number.values) >= _NOT_BY_CHANCE))
    ]


def _readings(text: str, language: str) -> list[Decimal]:
    values = [amount for number in numbers(text, language) for amount in number.values]
    values += [Decimal(digits) for digits in re.findall("[0-9]+", text)]
    for month, stem in enumerate(MONTHS[language].split(), start=1):
        if re.search(rf"\b{stem}", text, re.IGNORECASE):
            values.append(Decimal(month))
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
