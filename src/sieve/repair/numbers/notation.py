"""How languages write numbers in figures: 1,234.5 in English is 1.234,5 in German.

Knows single numbers and neither texts nor translations.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

Value = int | Fraction
"""Of a number; int where it is whole, which is faster."""
_SPACES = " \u00a0\u202f"
_PARTS = re.compile(rf"[.,'’{_SPACES}]")
_NARROW = "\u202f"


@dataclass(frozen=True)
class Notation:
    """The signs of a language between figures."""

    decimal: str
    group: str


_POINT, _COMMA = Notation(".", ","), Notation(",", ".")
NOTATIONS: Mapping[str, Notation] = {
    language: notation
    for languages, notation in (
        ("en ga mt zh ja ko th he hi bn ms", _POINT),
        ("de es it nl pt da el id tr ro hr sl vi ca gl eu sr bs is", _COMMA),
        ("fr", Notation(",", _NARROW)),
        ("ru uk be bg pl cs sk fi sv nb nn no hu lt lv et", Notation(",", "\u00a0")),
    )
    for language in languages.split()
}
"""By language; of others nothing is known."""


def value_of(figures: str, notation: Notation | None) -> Value | None:
    """What figures say in a notation; None where they are no single number, as in 15.03.2024.

    1.5 is one and a half even where commas are usual: only 1.500 depends on the language.
    """
    marks = _PARTS.findall(figures)
    if not marks:
        return int(figures)
    digits = _PARTS.split(figures)
    last = marks[-1]
    grouped = all(len(part) == 3 for part in digits[1:]) and 0 < len(digits[0]) <= 3
    if len(marks) == 1:
        is_group = grouped and digits[0] != "0" and (notation is None or last != notation.decimal)
        return int("".join(digits)) if is_group else Fraction(".".join(digits))
    if len(set(marks)) == 1:
        return int("".join(digits)) if grouped else None
    inner = digits[1:-1]
    if len(set(marks[:-1])) == 1 and all(len(part) == 3 for part in inner) and last in ".,":
        return Fraction("".join(digits[:-1]) + "." + digits[-1])
    return None


def in_notation(figures: str, source: Notation | None, target: Notation | None) -> str:
    """Figures of one language as another writes them; as they are where that is not known."""
    marks = _PARTS.findall(figures)
    if source is None or target is None or not marks or value_of(figures, source) is None:
        return figures
    digits = _PARTS.split(figures)
    value = value_of(figures, source)
    has_decimals = int("".join(digits)) != value
    integer, decimals = (digits[:-1], digits[-1]) if has_decimals else (digits, "")
    text = target.group.join(integer)
    return f"{text}{target.decimal}{decimals}" if has_decimals else text
