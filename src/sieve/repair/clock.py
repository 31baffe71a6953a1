"""Times of day that a translation took for the other half of the day, put right again.

English counts twelve hours twice, German twenty-four; small models mix them up: 9:15 am becomes
21:15 Uhr, 14:30 Uhr becomes 14:30am. The source says which is meant. Where it says so in words
(abends, in the night), where one time stands for two, or where the translation has the source's own
digits, nothing is changed. How a language says the time is in its file of `rules`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from sieve.repair.draft import Draft
from sieve.repair.step import Line, Step

TIME = r"(?<![\w:.,])(?P<hour>\d{1,2})(?P<minutes>[:.]\d{2})?(?![\d:]|[.,]\d)"
"""Digits that may be a time."""
_NAMED = r"(?!\s*(?:Uhr\b|[ap]\.?\s?m\b))"
BARE = re.compile(TIME.replace(")?(?!", ")(?!") + _NAMED, re.I)
"""Hour and minutes that are not said to be a time."""
NAME = "clock"
"""Of the step, in edits."""

Time = tuple[int, int]
"""Hour of twenty-four and minutes; or what a clock shows, the hour of twelve and minutes."""


class Hours(Protocol):
    """How a language says the time."""

    def times(self, source: str) -> list[Time]:
        """The times of day that a text names beyond doubt."""

    def with_times(self, draft: Draft, meant: Mapping[Time, Time], said: set[Time]) -> Draft:
        """A text in this language with its times put right.

        Args:
            draft: What the model wrote.
            meant: The time of day for each face of the clock that the source has.
            said: Times that stand in the source without the half of the day.
        """


@dataclass(frozen=True)
class Clock(Step):
    """Puts times of day right that belong to the other half of the day."""

    source: Hours
    target: Hours

    def after(self, line: Line, draft: Draft, state: None) -> Draft:
        """The translation with the times of the line."""
        meant = _by_face(self.source.times(line.text))
        if not meant:
            return draft
        return self.target.with_times(draft, meant, set(map(time_of, BARE.finditer(line.text))))


def _by_face(times: Iterable[Time]) -> dict[Time, Time]:
    """The time of day that each face of the clock stands for, unless it is two."""
    faces: dict[Time, set[Time]] = {}
    for hour, minutes in times:
        if hour < 24:
            faces.setdefault((hour % 12, minutes), set()).add((hour, minutes))
    return {face: meant.pop() for face, meant in faces.items() if len(meant) == 1}


def time_of(match: re.Match[str]) -> Time:
    """What the digits of `TIME` say."""
    return int(match["hour"]), int((match["minutes"] or ":00")[1:])


def face_of(match: re.Match[str]) -> Time:
    """The same on a clock of twelve hours."""
    hour, minutes = time_of(match)
    return hour % 12, minutes
