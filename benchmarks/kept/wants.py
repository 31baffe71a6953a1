"""What must come through a translation, and whether it did."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from kept.numerals import Number, numbers, value

Kind = Literal["number", "verbatim", "unit", "digits", "time", "date"]
MONTHS = {
    "en": "jan feb mar apr may jun jul aug sep oct nov dec",
    "de": "jan feb mär apr mai jun jul aug sep okt nov dez",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "pt": "jan fev mar abr mai jun jul ago set out nov dez",
    "ru": "янв фев мар апр ма июн июл авг сен окт ноя дек",
}
_TIME = re.compile(
    r"(?<![0-9])([0-9]{1,2})(?:\s?(?:[:.hч]|Uhr|heures?|horas?(?: e)?)\s?([0-9]{2}))?(?![0-9])"
)
_AFTERNOON = re.compile(
    r"(?:\b|(?<=[0-9]))p\.?\s?m\b|nachmittag|abend|tarde|noite|après-midi|soir|\bдня\b|вечера|\b(?:after|evening)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Want:
    """One thing of a source that its translation must have."""

    kind: Kind
    text: str
    """As the source has it."""
    values: tuple[Decimal, ...] = ()
    """A number's value; hour and minute of a time; day, month and year of a date."""


@dataclass(frozen=True)
class Verdict:
    """What a translation made of one want."""

    want: Want
    kept: bool
    misread: bool = False
    """Kept as written only, where the target's notation gives it another value: 1,234 in German."""


def judge(wants: Sequence[Want], output: str, language: str) -> list[Verdict]:
    """One verdict for each want; a number of the output answers one want alone.

    Args:
        wants: Of the source.
        output: Its translation.
        language: Of the output.
    """
    unused = numbers(output, language)
    verbatim = Counter({want.text: output.count(want.text) for want in wants})
    verdicts = []
    for want in wants:
        if want.kind == "number":
            verdicts.append(_number(want, unused, output, language))
        elif want.kind == "verbatim":
            verbatim[want.text] -= 1
            verdicts.append(Verdict(want, verbatim[want.text] >= 0))
        else:
            verdicts.append(Verdict(want, _CHECKS[want.kind](want, output, language)))
    return verdicts


def _number(want: Want, unused: list[Number], output: str, language: str) -> Verdict:
    for place, number in enumerate(unused):
        if want.values[0] in number.values:
            del unused[place]
            return Verdict(want, True)
    as_written = rf"(?<![0-9])(?<![0-9][.,]){re.escape(want.text)}(?![.,]?[0-9])"
    kept = bool(want.text) and bool(re.search(as_written, output))
    reading = value(want.text, language) if kept else None
    return Verdict(want, kept, reading is not None and reading != want.values[0])


def _same_unit(want: Want, output: str, language: str) -> bool:
    """Whether the unit stands alone or behind a number, in its own letters: no Mg for mg."""
    text = re.escape(want.text).replace("µ", "[µμ]")
    return re.search(rf"(?<![^\W\d_]){text}(?![^\W\d_])", output) is not None


def _same_digits(want: Want, output: str, language: str) -> bool:
    """Whether a telephone number has all its digits, however they are grouped."""
    wanted = re.sub(r"[^0-9]", "", want.text)
    return wanted in re.sub(r"(?<=[0-9])[\s().\-–/\u00a0\u202f]+(?=[0-9(])", "", output)


def _same_time(want: Want, output: str, language: str) -> bool:
    hour, minute = want.values
    late = 12 if _AFTERNOON.search(output) else 0
    for match in _TIME.finditer(output):
        found = int(match[1]), int(match[2] or 0)
        if found[1] == minute and hour in (found[0], found[0] + late):
            return True
    return False


def _same_date(want: Want, output: str, language: str) -> bool:
    day, month, year = want.values
    values = {amount for number in numbers(output, language) for amount in number.values}
    stem = MONTHS[language].split()[int(month) - 1]
    named = re.search(rf"\b{stem}", output, re.IGNORECASE) is not None
    return day in values and year in values and (named or month in values - {day, year})


_CHECKS = {"unit": _same_unit, "digits": _same_digits, "time": _same_time, "date": _same_date}
