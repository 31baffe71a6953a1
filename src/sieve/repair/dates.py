"""Dates in digits: whether a translation has them, and those that it garbled put right."""

import re

_DATE = re.compile(  # or two of them with a hyphen in between
    r"(?<![\w.,/:-])(\d{1,4}([./-])\d{1,2}\2\d{2,4})"
    r"(?:-(\d{1,4}([./])\d{1,2}\4\d{2,4}))?(?![\w/:-]|[.,]\w)"
)
_RUN = re.compile(r"\d[\d.,/-]*\d")
_MONTH = re.compile(r"\b(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])", re.I)


def dates(text: str) -> list[str]:
    """The dates of a text, each once."""
    found = (match.group(1, 3) for match in _DATE.finditer(text))
    return list(dict.fromkeys(date for both in found for date in both if date))


def lost_dates(source: str, translation: str) -> list[str]:
    """Dates of a text that its translation lacks, in whatever order of day and month."""
    found = dates(source)
    written = [_numbers(date) for date in dates(translation)] if found else []
    return [d for d in found if _numbers(d) not in written and not _in_words(d, translation)]


def put_dates_right(source: str, translation: str) -> str:
    """A translation in which digits that hold a date of the source, or its numbers, are that date.

    Args:
        source: The text that was translated.
        translation: What the model wrote.
    """
    for date in lost_dates(source, translation):
        for match in _RUN.finditer(translation):
            if _numbers(match[0]) == _numbers(date) or date in match[0]:
                translation = translation[: match.start()] + date + translation[match.end() :]
                break
    return translation


def _numbers(date: str) -> list[int]:
    """Of which the year may have two digits or four."""
    return sorted(int(number) % 100 for number in re.findall(r"\d+", date))


def _in_words(date: str, translation: str) -> bool:
    """Whether a translation has day, a month's name and year."""
    if not _MONTH.search(translation):
        return False
    there = {int(number) % 100 for number in re.findall(r"\d+", translation)}
    return len(there.intersection(_numbers(date))) >= len(set(_numbers(date))) - 1
