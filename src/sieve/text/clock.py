"""Times of day that a translation took for the other half of the day, put right again.

English counts twelve hours twice, German twenty-four; small models mix them up: 9:15 am becomes
21:15 Uhr, 14:30 Uhr becomes 14:30am. The source says which is meant, unless words do (abends, in
the evening): then nothing is changed, and neither is a time that the source does not have.
"""

import re
from collections.abc import Callable, Iterable

_TIME = r"(?<![\d:.,])(?P<hour>\d{1,2})(?P<minutes>[:.]\d{2})?(?![\d:]|[.,]\d)"
_HALF = re.compile(_TIME + r"(?P<gap>\s*)(?P<half>[ap])\.?m\b\.?", re.I)
_UHR = re.compile(_TIME + r"\s*Uhr\b")
_BARE = re.compile(r"(?<![\d:.,])(?P<hour>\d{1,2})(?P<minutes>:\d{2})(?![\d:]|[.,]\d)")
_GERMAN_PART = re.compile(
    r"(?:\W+\w+){0,2}?\W+(?:morgens?|früh|abends?|nachts?|(?:vor|nach)?mittags?)\b", re.I
)
_ENGLISH_PART = re.compile(
    r"(?:\W+\w+){0,3}?\W+(?:morning|afternoon|evening|night|noon)\b|\s*[ap]\.?m\b", re.I
)
Face = tuple[int, int]
"""What a clock shows: the hour of twelve, and minutes."""


def put_times_right(source: str, translation: str, languages: tuple[str, str]) -> str:
    """A translation whose times of day are the source's.

    Args:
        source: The text that was translated.
        translation: What the model wrote.
        languages: Of source and target.
    """
    rule = _RULES.get(languages)
    return rule(source, translation) if rule else translation


def _german(source: str, translation: str) -> str:
    """From a.m. and p.m. to Uhr."""
    meant = _meant((_face(m), _of_half(m)) for m in _HALF.finditer(source))
    there = {(_hour(m), _minutes(m)) for m in _UHR.finditer(translation)} if meant else set()

    def right(match: re.Match[str]) -> str:
        hour = meant.get(_face(match), _hour(match))
        said = _GERMAN_PART.match(translation, match.end())
        if hour == _hour(match) or (hour, _minutes(match)) in there or said:
            return match[0]
        return f"{hour}{match[0][len(match['hour']) :]}"

    return _UHR.sub(right, translation) if meant else translation


def _english(source: str, translation: str) -> str:
    """From Uhr to a.m. and p.m., or to the same twenty-four hours."""
    spoken = (m for m in _UHR.finditer(source) if not _GERMAN_PART.match(source, m.end()))
    meant = _meant((_face(m), _hour(m)) for m in spoken)

    def half(match: re.Match[str]) -> str:
        hour = meant.get(_face(match))
        if hour is None or _of_half(match) == hour:
            return match[0]
        begun = f"{match['hour']}{match['minutes'] or ''}"
        if not 1 <= _hour(match) <= 12:  # 14:30am
            return begun
        letter = "ap"[hour >= 12]
        letter = letter.upper() if match["half"].isupper() else letter
        return f"{begun}{match['gap']}{letter}{match[0][match.end('half') - match.start() :]}"

    def bare(match: re.Match[str]) -> str:
        hour = meant.get(_face(match), _hour(match))
        said = _ENGLISH_PART.match(match.string, match.end())
        return match[0] if said or hour == _hour(match) else f"{hour}{match['minutes']}"

    return _BARE.sub(bare, _HALF.sub(half, translation)) if meant else translation


def _meant(times: Iterable[tuple[Face, int]]) -> dict[Face, int]:
    """The hour of twenty-four that each face stands for, unless it is two."""
    found: dict[Face, set[int]] = {}
    for face, hour in times:
        found.setdefault(face, set()).add(hour)
    return {face: hours.pop() for face, hours in found.items() if len(hours) == 1}


def _face(match: re.Match[str]) -> Face:
    return _hour(match) % 12, _minutes(match)


def _hour(match: re.Match[str]) -> int:
    return int(match["hour"])


def _minutes(match: re.Match[str]) -> int:
    return int((match["minutes"] or ":00")[1:])


def _of_half(match: re.Match[str]) -> int:
    """The hour of twenty-four that one of twelve stands for; −1 for 14:30 am."""
    hour = _hour(match)
    return hour % 12 + 12 * (match["half"] in "pP") if 1 <= hour <= 12 else -1


_RULES: dict[tuple[str, str], Callable[[str, str], str]] = {
    ("en", "de"): _german,
    ("de", "en"): _english,
}
