"""Units behind numbers: mg stays mg, and never becomes g, Mg or ml."""

import re
from collections.abc import Sequence

from sieve.repair.draft import Draft
from sieve.repair.numbers.number_reader import Number

_UNITS = frozenset(
    (
        *("ng", "µg", "μg", "mcg", "mg", "g", "kg", "µl", "μl", "ml", "cl", "dl", "l", "nm", "µm"),
        *("μm", "mm", "cm", "dm", "m", "km", "ms", "Hz", "kHz", "MHz", "GHz", "mV", "V", "kV"),
        *("mA", "W", "kW", "MW", "kWh", "kB", "KB", "MB", "GB", "TB", "kPa", "hPa", "mmol", "mol"),
    )
)
_BEHIND = re.compile(r"[ \u00a0\u202f]?([^\W\d_]{1,4})(?![\w])")


def units_kept(
    source: str, draft: Draft, pairs: Sequence[tuple[Number, Number]], step: str
) -> Draft:
    """A translation whose numbers have the source's units where they have others."""
    for ours, theirs in sorted(pairs, key=lambda pair: -pair[1].start):
        unit = _BEHIND.match(source, ours.end)
        other = _BEHIND.match(draft.text, theirs.end)
        if unit is None or other is None or unit[1] not in _UNITS or other[1] == unit[1]:
            continue
        if other[1] in _UNITS or other[1].lower() == unit[1].lower():
            draft = draft.replaced(*other.span(1), unit[1], step)
    return draft
