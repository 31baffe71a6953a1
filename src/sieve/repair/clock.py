"""Times of day that a translation took for the other half of the day, put right again.

English counts twelve hours twice, German twenty-four; small models mix them up: 9:15 am becomes
21:15 Uhr, 14:30 Uhr becomes 14:30am. The source says which is meant. Where it says so in words
(abends, in the night), where one time stands for two, or where the translation has the source's own
digits, nothing is changed.
"""

import re
from collections.abc import Callable, Iterable

_TIME = r"(?<![\d:.,])(?P<hour>\d{1,2})(?P<minutes>[:.]\d{2})?(?![\d:]|[.,]\d)"
_HALF = re.compile(_TIME + r"(?P<gap>\s*)(?P<half>[ap])(?P<rest>\.\s?m\b\.?|m\b)", re.I)
_UHR = re.compile(_TIME + r"\s*Uhr\b")
_BARE = re.compile(_TIME.replace(")?(?!", ")(?!") + r"(?!\s*(?:Uhr\b|[ap]\.?\s?m\b))", re.I)
_GERMAN_PART = re.compile("morgens|früh|abend|nacht|mittag", re.I)
_ENGLISH_PART = re.compile(r"(?:\W+\w+){0,3}?\W+(?:morning|afternoon|evening|night|noon)\b", re.I)
Time = tuple[int, int]
"""Hour of twenty-four and minutes; or what a clock shows, the hour of twelve and minutes."""


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
    meant = _by_face(_of_half(match) for match in _HALF.finditer(source))
    said = {_time(match) for match in _BARE.finditer(source)}
    there = {_time(match) for match in _UHR.finditer(translation)}

    def right(match: re.Match[str]) -> str:
        time = meant.get(_face(match))
        if time is None or time in there or _time(match) in said:
            return match[0]
        if _GERMAN_PART.search(match.string, match.end(), match.end() + 15):
            return match[0]
        return f"{time[0]}{match[0][len(match['hour']) :]}"

    return _UHR.sub(right, translation) if meant else translation


def _english(source: str, translation: str) -> str:
    """From Uhr to a.m. and p.m., or to the same twenty-four hours."""
    times = [_time(match) for match in _UHR.finditer(source)]
    if _GERMAN_PART.search(source):  # 8 Uhr may be the evening's
        times = [time for time in times if time[0] > 12]
    meant = _by_face(times)
    said = {_time(match) for match in _BARE.finditer(source)}

    def half(match: re.Match[str]) -> str:
        time = meant.get(_face(match))
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
        time = meant.get(_face(match))
        there = {_time(m) for m in _BARE.finditer(match.string)}
        there |= {_of_half(m) for m in _HALF.finditer(match.string)}
        if time is None or time in there or _time(match) in said:
            return match[0]
        if _ENGLISH_PART.match(match.string, match.end()):
            return match[0]
        return f"{time[0]}{match['minutes']}"

    return _BARE.sub(bare, _HALF.sub(half, translation)) if meant else translation


def _by_face(times: Iterable[Time]) -> dict[Time, Time]:
    """The time of day that each face of the clock stands for, unless it is two."""
    found: dict[Time, set[Time]] = {}
    for hour, minutes in times:
        if hour < 24:
            found.setdefault((hour % 12, minutes), set()).add((hour, minutes))
    return {face: meant.pop() for face, meant in found.items() if len(meant) == 1}


def _time(match: re.Match[str]) -> Time:
    return int(match["hour"]), int((match["minutes"] or ":00")[1:])


def _face(match: re.Match[str]) -> Time:
    hour, minutes = _time(match)
    return hour % 12, minutes


def _of_half(match: re.Match[str]) -> Time:
    """The time of day that 2:30 pm stands for; 14:30 pm says it itself."""
    hour, minutes = _time(match)
    if 1 <= hour <= 12:
        hour = hour % 12 + 12 * (match["half"] in "pP")
    return hour, minutes


_RULES: dict[tuple[str, str], Callable[[str, str], str]] = {
    ("en", "de"): _german,
    ("de", "en"): _english,
}
