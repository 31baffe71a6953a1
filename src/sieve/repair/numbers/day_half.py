"""The half of the day: 1:40 pm is 13:40 where nothing else says so, and 10:05 is not 22:05.

Knows hours and no dates.
"""

import re

from sieve.repair.numbers.number_reader import Number

_PM = re.compile(r"(?::[0-9]{2})?\s?p\.?\s?m\b", re.I)
_AM = re.compile(r"(?::[0-9]{2})?\s?a\.?\s?m\b", re.I)
_SAID = re.compile(
    r"[ap]\.?\s?m\b|tarde|noite|manhã|soir|après|matin|abend|mittag|nacht|morgen|evening|night"
    r"|afternoon|morning|вечер|дня|ночи|утра",
    re.I,
)
_NOON = 12


def hour_meant(line: str, ours: Number, theirs: Number, translation: str) -> str | None:
    """The hour that was meant where a translation lost the half of the day, or made one up."""
    if ours.start and line[ours.start - 1] in ":.h":  # minutes
        return None
    if len(ours.text) > 2 or len(theirs.text) > 2:
        return None
    hour, written = int(ours.text), int(theirs.text)
    if written == hour + _NOON and (_AM.match(line, ours.end) or not _SAID.search(line)):
        return ours.text
    if _SAID.search(translation):
        return None
    afternoon = hour + _NOON if _PM.match(line, ours.end) and hour < _NOON else hour
    return str(afternoon) if written and afternoon == written + _NOON else None
