"""Units behind numbers: mg stays mg, and never becomes g, Mg, ml, micrograms or nothing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from sieve.repair.draft import Draft
from sieve.repair.numbers.number_reader import Number, run_of

UNITS = frozenset(
    (
        *("ng", "µg", "μg", "mcg", "mg", "g", "kg", "µl", "μl", "ml", "cl", "dl", "l", "nm", "µm"),
        *("μm", "mm", "cm", "dm", "m", "km", "ms", "Hz", "kHz", "MHz", "GHz", "mV", "V", "kV"),
        *("mA", "W", "kW", "MW", "kWh", "kB", "KB", "MB", "GB", "TB", "kPa", "hPa", "mmol", "mol"),
        *("mmHg", "mSv", "kcal", "kJ"),
    )
)
_BEHIND = re.compile(r"[ \u00a0\u202f-]?([^\W\d_]+)(?!\w)")
_SPELLED = re.compile(  # in the languages whose number words are known and their like
    r"(?:nano|mi[ck]ro|mill?i|[czs]enti|de[czs]i|[hk][ei][ck]?[tl]o|quilo|mega|giga|tera)?"
    r"(?:gram|lit[er]|m[eèé]t[er]|hert[zs]|volt|watt|amp[eè]|byte|mol[es]?$|pas[ck]al)\w*",
    re.I,
)
_OTHER_SCRIPT = re.compile("[\u0370-\u1cff\u2c00-\uffef]")


def units_kept(
    source: str, draft: Draft, pairs: Sequence[tuple[Number, Number]], step: str
) -> Draft:
    """A translation whose numbers have the source's units where they have others."""
    for ours, theirs in sorted(pairs, key=lambda pair: -pair[1].start):
        unit = _BEHIND.match(source, ours.end)
        other = _BEHIND.match(draft.text, theirs.end)
        if unit is None or other is None or unit[1] not in UNITS or other[1] == unit[1]:
            continue
        alike = other[1] in UNITS or other[1].lower() == unit[1].lower()
        if alike or _SPELLED.fullmatch(other[1]):
            draft = draft.replaced(*other.span(1), unit[1], step)
    return draft


def units_lost(
    source: str, translation: str, pairs: Sequence[tuple[Number, Number]]
) -> Iterator[Number]:
    """The numbers of a line whose units a translation lacks, with these units.

    Other scripts have units of their own, and a single letter may be anything but g and l.
    """
    if _OTHER_SCRIPT.search(translation):
        return
    for ours, theirs in pairs:
        unit = _BEHIND.match(source, ours.end)
        if unit is None or unit[1] not in UNITS or (len(unit[1]) < 2 and unit[1] not in "gl"):
            continue
        if ours.scaled is None and theirs.scaled is None and _lacks(source, translation, unit[1]):
            start = run_of(source, ours)[0]
            text = source[start : unit.end()]
            yield replace(ours, start=start, end=unit.end(), text=text, kind="measure")


def _lacks(source: str, translation: str, unit: str) -> bool:
    sign = _sign(unit)
    return len(sign.findall(translation)) < len(sign.findall(source))


@cache
def _sign(unit: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W\d_]){unit}(?![^\W\d_])")
