"""Dates in digits: whether a translation has them, and those that it garbled put right."""

import re
from dataclasses import dataclass
from typing import ClassVar

from sieve.repair.draft import Draft
from sieve.repair.rules import english, german
from sieve.repair.step import Line, Step, Trait

_DATE = re.compile(  # or two of them with a hyphen in between
    r"(?<![\w.,/:-])(\d{1,4}([./-])\d{1,2}\2\d{2,4})"
    r"(?:-(\d{1,4}([./])\d{1,2}\4\d{2,4}))?(?![\w/:-]|[.,]\w)"
)
_RUN = re.compile(r"\d[\d.,/-]*\d")
_NUMBER = re.compile(r"\d+")
_MONTH = re.compile(rf"\b(?:{english.MONTHS}|{german.MONTHS})", re.I)


def dates(text: str) -> list[str]:
    """The dates of a text, each once."""
    pairs = (match.group(1, 3) for match in _DATE.finditer(text))
    return list(dict.fromkeys(date for pair in pairs for date in pair if date))


def lost_dates(source: str, translation: str) -> list[str]:
    """Dates of a text that its translation lacks, in whatever order of day and month."""
    ours = dates(source)
    written = [_numbers(date) for date in dates(translation)] if ours else []
    return [d for d in ours if _numbers(d) not in written and not _in_words(d, translation)]


def put_dates_right(source: str, draft: Draft) -> Draft:
    """A translation in which digits that hold a date of the source, or its numbers, are that date.

    Args:
        source: The text that was translated.
        draft: What the model wrote.
    """
    for date in lost_dates(source, draft.text):
        for match in _RUN.finditer(draft.text):
            if _numbers(match[0]) == _numbers(date) or date in match[0]:
                draft = draft.replaced(match.start(), match.end(), date, "dates")
                break
    return draft


@dataclass(frozen=True)
class Dates(Step):
    """Puts garbled dates right."""

    # who names words gets them; stand-ins may be years
    unsuited: ClassVar[frozenset[Trait]] = frozenset(("prefix", "stand-ins", "words"))

    def after(self, line: Line, draft: Draft, state: None) -> Draft:
        """The translation with the line's dates where it has their numbers."""
        return put_dates_right(line.text, draft)


def _numbers(date: str) -> list[int]:
    """Of which the year may have two digits or four."""
    return sorted(int(number) % 100 for number in _NUMBER.findall(date))


def _in_words(date: str, translation: str) -> bool:
    """Whether a translation has day, a month's name and year."""
    if not _MONTH.search(translation):
        return False
    there = {int(number) % 100 for number in _NUMBER.findall(translation)}
    return len(there.intersection(_numbers(date))) >= len(set(_numbers(date))) - 1
