"""English: hours in two halves of the day, months, endings."""

import re
from collections.abc import Mapping

from sieve.repair.clock import BARE, NAME, TIME, Time, face_of, time_of
from sieve.repair.draft import Draft

MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
YEAR = "years?"
ENDINGS = "(?:i?ans?|i?a|ics?|is|ism|ists|ity|s|us|y)"
"""Of words that another language ends in its own way: Habsburgs, Apoptosis."""

_HALF = re.compile(TIME + r"(?P<gap>\s*)(?P<half>[ap])(?P<rest>\.\s?m\b\.?|m\b)", re.I)
_PART_OF_DAY = re.compile(r"(?:\W+\w+){0,3}?\W+(?:morning|afternoon|evening|night|noon)\b", re.I)


def times(source: str) -> list[Time]:
    """See `Hours`: those with a.m. or p.m."""
    return [_of_half(match) for match in _HALF.finditer(source)]


def with_times(draft: Draft, meant: Mapping[Time, Time], said: set[Time]) -> Draft:
    """See `Hours`: to a.m. and p.m., or to the same twenty-four hours."""

    def half(match: re.Match[str]) -> str:
        time = meant.get(face_of(match))
        hour = int(match["hour"])
        if time is None or (_of_half(match) == time and 1 <= hour <= 12):
            return match[0]
        if not 1 <= hour <= 12:  # 14:30am
            stop = "." if match["rest"].endswith(".") and match.end() == len(match.string) else ""
            return f"{hour}{match['minutes'] or ':00'}{stop}"
        letter = "ap"[time[0] >= 12]
        letter = letter.upper() if match["half"].isupper() else letter
        return f"{hour}{match['minutes'] or ''}{match['gap']}{letter}{match['rest']}"

    def bare(match: re.Match[str]) -> str:
        time = meant.get(face_of(match))
        there = set(map(time_of, BARE.finditer(match.string)))
        there.update(map(_of_half, _HALF.finditer(match.string)))
        if time is None or time in there or time_of(match) in said:
            return match[0]
        if _PART_OF_DAY.match(match.string, match.end()):
            return match[0]
        return f"{time[0]}{match['minutes']}"

    return draft.substituted(_HALF, half, NAME).substituted(BARE, bare, NAME)


def _of_half(match: re.Match[str]) -> Time:
    """The time of day that 2:30 pm stands for; 14:30 pm says it itself."""
    hour, minutes = time_of(match)
    if 1 <= hour <= 12:
        hour = hour % 12 + 12 * (match["half"] in "pP")
    return hour, minutes
