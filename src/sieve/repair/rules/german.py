"""German: hours of twenty-four, months, endings."""

import re
from collections.abc import Mapping

from sieve.repair.clock import NAME, TIME, Time, face_of, time_of
from sieve.repair.draft import Draft

MONTHS = "jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez"
YEAR = r"Jahr\w*"
ENDINGS = "(?:e|i?en|i?er|ie|iker?|ische?n?|ismus|isten|ität|n)"
"""Of words that another language ends in its own way: Habsburger, Apoptose."""
NAME_ENDINGS = frozenset(("e", "en", "er", "erin", "ern", "ers", "es", "in", "is", "n", "s"))
"""What a name may have that its translation has not: Neymars Tore, Neymar's goals."""

_UHR = re.compile(TIME + r"\s*Uhr\b")
_PART_OF_DAY = re.compile("morgens|früh|abend|nacht|mittag", re.I)
_NEAR = 15  # characters after a time in which a part of the day belongs to it


def times(source: str) -> list[Time]:
    """See `Hours`: those with Uhr; beside a part of the day, 8 Uhr may be the evening's."""
    all_times = [time_of(match) for match in _UHR.finditer(source)]
    if _PART_OF_DAY.search(source):
        return [time for time in all_times if time[0] > 12]
    return all_times


def with_times(draft: Draft, meant: Mapping[Time, Time], said: set[Time]) -> Draft:
    """See `Hours`: the hour before Uhr."""
    there = {time_of(match) for match in _UHR.finditer(draft.text)}

    def right(match: re.Match[str]) -> str:
        time = meant.get(face_of(match))
        if time is None or time in there or time_of(match) in said:
            return match[0]
        if _PART_OF_DAY.search(match.string, match.end(), match.end() + _NEAR):
            return match[0]
        return f"{time[0]}{match[0][len(match['hour']) :]}"

    return draft.substituted(_UHR, right, NAME)
