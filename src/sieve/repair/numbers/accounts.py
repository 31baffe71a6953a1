"""Which numbers of a line its translation has, which it lacks, and which it made up."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sieve.repair.numbers.notation import Value
from sieve.repair.numbers.number_reader import Number, NumberReader

_DIGIT = re.compile("[0-9]")
_NO_DIGIT = re.compile("[^0-9]")


@dataclass(frozen=True)
class Account:
    """The numbers of both sides, compared."""

    missing: tuple[Number, ...]
    """Numbers of the line without their like in the translation."""
    strange: tuple[Number, ...]
    """Figures of the translation that nothing in the line explains."""
    spare: tuple[Number, ...]
    """The same with numbers in words."""
    pairs: tuple[tuple[Number, Number], ...]
    """Numbers of the line and what they became."""

    @property
    def faults(self) -> int:
        """How many numbers are not right."""
        return len(self.missing) + len(self.strange)


def compared(line: str, translation: str, source: NumberReader, target: NumberReader) -> Account:
    """The numbers of a line and of its translation."""
    ours = source.read(line)
    if not any(number.certain for number in ours) and not _DIGIT.search(translation):
        return Account((), (), (), ())
    values = frozenset(value for number in ours for value in number.values)
    theirs = target.read(translation, values)
    left = list(theirs)
    pairs: list[tuple[Number, Number]] = []
    lacking: list[Number] = []
    for alike in (_same, _same_digits):
        lacking = []
        for number in ours:
            match = next((other for other in left if alike(number, other)), None)
            if match is None:
                lacking.append(number)
            else:
                left.remove(match)
                pairs.append((number, match))
        ours = lacking
    missing = [number for number in lacking if number.certain]
    if missing:
        missing = _unsaid(missing, line, translation, target)
    explained: set[float | Value] = set(values)
    left = [n for n in left if n.certain and not n.date and values.isdisjoint(n.values)]
    if left and source.words is not None:
        explained |= source.words.said(line)
    spare = [number for number in left if explained.isdisjoint(number.values)]
    strange = [number for number in spare if number.kind == "figures"]
    return Account(tuple(missing), tuple(strange), tuple(spare), tuple(pairs))


def _unsaid(
    missing: Sequence[Number], line: str, translation: str, target: NumberReader
) -> list[Number]:
    """Those that no word of the translation may say, no month and no other number."""
    if target.words is None:
        return [n for n in missing if n.kind == "figures" and not _is_small(n)]
    said = target.words.said(translation)
    lower = translation.lower()
    unsaid = []
    for number in missing:
        if _is_copied(number, line, translation):
            continue
        small = [value for value in number.values if 1 <= value <= 12 and value.denominator == 1]
        month = number.date and any(
            re.search(rf"(?<![^\W_]){target.words.months[int(value) - 1]}", lower)
            for value in small
        )
        values = number.values if number.text == "1" else number.values - {1}  # 13:20 is not "one"
        if not month and not said.intersection(values):
            unsaid.append(number)
    return unsaid


def _is_copied(number: Number, line: str, translation: str) -> bool:
    """Whether a number in words is a part of a name that stays: Snow White and the Seven Dwarfs."""
    behind = re.match(r"\W{1,2}\w+", line[number.end :])
    return (
        number.kind != "figures"
        and behind is not None
        and (line[number.start : number.end + behind.end()] in translation)
    )


def _is_small(number: Number) -> bool:
    """Whether a number may have become a word of a language whose numbers are not known."""
    return number.scaled is None and min(number.values) <= 12  # as style guides have it


def _same(number: Number, other: Number) -> bool:
    if number.scaled is not None and other.scaled is not None:
        return number.scaled == other.scaled
    if not number.values.isdisjoint(other.values):
        return True
    return number.scaled in other.values or other.scaled in number.values


def _same_digits(number: Number, other: Number) -> bool:
    """Whether the figures are the same but for the signs between them."""
    if number.kind != "figures" or other.kind != "figures" or number.scaled != other.scaled:
        return False
    ours, theirs = (_NO_DIGIT.sub("", each.text) for each in (number, other))
    return len(ours) > 3 and ours == theirs  # 1,23 is not 123
