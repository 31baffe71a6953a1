"""Lines whose numbers are right at a glance: most, and to read all numbers takes long.

Knows neither values nor languages.
"""

import re

from sieve.repair.numbers.units import UNITS

_RUN = re.compile(r"[0-9](?:[0-9.,:/'’–-]*[0-9])?")
_MARKED = re.compile(r"[.,:/'’]")
_ROMAN = re.compile("[IVX]{2}")
_CLOSE_LOOK = re.compile(  # money, times of day, groups with spaces, units
    r"[€$£¥₽]|[0-9]\s?(?:[ap]\.?\s?m\b|[Uu]hr|h\b|o['’]clock|час)"
    rf"|[0-9][ \u00a0\u202f][0-9]|[0-9][ \u00a0\u202f-]?(?:{'|'.join(sorted(UNITS))})(?!\w)"
)


def right_at_a_glance(line: str, translation: str) -> bool:
    """Whether both have the same plain figures, and the line nothing to look at closely."""
    ours = _RUN.findall(line)
    if ours and (_MARKED.search("".join(ours)) or _CLOSE_LOOK.search(line)):
        return False
    if _ROMAN.search(line):
        return False
    return sorted(ours) == sorted(_RUN.findall(translation))
