"""The numbers of a text, in figures and in words, each with all that it may mean."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sieve.repair.numbers.notation import Notation, Value, value_of
from sieve.repair.numbers.number_words import NumberWords

_FIGURES = re.compile(
    r"[0-9]{1,3}(?:[\u00a0\u202f][0-9]{3})+(?![0-9])(?:[.,][0-9]+)?|[0-9]+(?:[.,'’][0-9]+)*"
)
_SPACED = re.compile(r"(?<![0-9.,:])[0-9]{1,3}(?: [0-9]{3})+(?![0-9])(?:[.,][0-9]+)?")
_RUN = re.compile(r"[0-9](?:[0-9.,:/'’\u00a0\u202f–h-]*[0-9])?")
_TIME_BEHIND = re.compile(r"\s*(?:[ap]\.?\s?m\b|uhr\b|h\b|[h:][0-9]{2}|o['’]clock|час)", re.I)
_DECADE = re.compile(r"['’]?s\b|er\b|ern\b|-?х\b")
_ROMAN = re.compile(r"(?<![\w.-])(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})(?![\w-])")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10}
_DATE = re.compile(
    r"(?<![0-9.,])(?:[0-9]{4}|[0-9]{1,2})([/-])[0-9]{1,2}\1(?:[0-9]{4}|[0-9]{2})(?![0-9])"
)
_SCALE = re.compile(r"[\s\u00a0-]?([^\W\d_]+\.?)")


@dataclass(frozen=True)
class Number:
    """A number of a text."""

    start: int
    end: int
    text: str
    values: frozenset[Value]
    """What it may mean: 3 in 3 pm is 15, too."""
    scaled: Value | None = None
    """With the million behind it."""
    kind: str = "figures"
    """Or words, roman; measure is figures with their unit."""
    certain: bool = True
    """Whether it must be in a translation."""
    date: bool = False
    """Whether it is a part of a date in figures, of which the month may become a word."""


@dataclass(frozen=True)
class NumberReader:
    """How a language's numbers are read."""

    notation: Notation | None
    words: NumberWords | None

    def has_words(self, text: str) -> bool:
        """Whether a text may have a number in words."""
        return self.words is not None and self.words.sparks(text)

    def read(self, text: str, spaced: Collection[Value] = ()) -> list[Number]:
        """The numbers of a text, from left to right.

        Args:
            text: Of the language.
            spaced: What figures with spaces may say where the language has none: 380 000.
        """
        numbers = [*self._figures(text, spaced), *_romans(text)]
        if self.words is not None:
            for spoken in self.words.read(_without_scales(text, numbers)):
                value, said = frozenset((spoken.value,)), text[spoken.start : spoken.end]
                numbers.append(
                    Number(spoken.start, spoken.end, said, value, None, "words", spoken.certain)
                )
        return sorted(numbers, key=lambda number: number.start)

    def _figures(self, text: str, spaced: Collection[Value]) -> Iterator[Number]:
        usual = self.notation is not None and self.notation.group in "\u00a0\u202f"
        inside: set[int] = set()
        for match in _SPACED.finditer(text) if usual or spaced else ():
            if usual or value_of(match[0], self.notation) in spaced:
                inside.update(range(match.start(), match.end()))
                yield self._number(text, match.start(), match.end())
        for match in _FIGURES.finditer(text):
            if match.start() not in inside:
                yield from self._single(text, match)

    def _single(self, text: str, match: re.Match[str]) -> Iterator[Number]:
        """A match as one number, or as several where it is a date or a time."""
        figures = match[0]
        is_time = re.fullmatch(r"[0-9]{1,2}[.,][0-9]{2}", figures) and _TIME_BEHIND.match(
            text, match.end()
        )
        if value_of(figures, self.notation) is not None and not is_time:
            yield self._number(text, match.start(), match.end(), _in_date(text, match))
            return
        for part in re.finditer("[0-9]+", figures):
            start, end = match.start() + part.start(), match.start() + part.end()
            yield self._number(text, start, end, date=not is_time, time=bool(is_time))

    def _number(
        self, text: str, start: int, end: int, date: bool = False, time: bool = False
    ) -> Number:
        figures = text[start:end]
        value = value_of(figures, self.notation)
        assert value is not None
        values = {value}
        before, behind = text[max(0, start - 1) : start] or " ", text[end : end + 12]
        if value < 25 and (time or _TIME_BEHIND.match(behind) or behind.startswith(":")):
            values |= {value % 12, value % 12 + 12}
        if _DECADE.match(behind) or before in "'’" or date:
            values |= {value % 100, value % 100 + 1900, value % 100 + 2000}
        scale = _SCALE.match(behind)
        factor = self._factor(scale[1]) if scale else None
        minutes = before in ":.h" and figures == "00"
        scaled = None if factor is None else factor * value
        certain = not minutes
        return Number(start, end, figures, frozenset(values), scaled, "figures", certain, date)

    def _factor(self, word: str) -> int | None:
        if self.words is None:
            return None
        scales, word = self.words.scales, word.lower()
        return scales.get(word, scales.get(word.rstrip(".")))


def _without_scales(text: str, numbers: Sequence[Number]) -> str:
    """A text of the same length without the words that belong to figures: 1.7 million."""
    for number in numbers:
        if number.scaled is not None and (scale := _SCALE.match(text, number.end)):
            text = text[: number.end] + "#" * len(scale[0]) + text[scale.end() :]
    return text


def run_of(text: str, number: Number) -> tuple[int, int]:
    """The date, time or range that a number is a part of."""
    if number.kind != "figures":
        return number.start, number.end
    for match in _RUN.finditer(text, max(0, number.start - 30)):
        if match.start() <= number.start and number.end <= match.end():
            return match.span()
    return number.start, number.end


def _in_date(text: str, match: re.Match[str]) -> bool:
    """Whether figures stand in something like 15/03/2024 or 2024-03-15."""
    around = text[max(0, match.start() - 8) : match.end() + 8]
    return _DATE.search(around) is not None


def _romans(text: str) -> Iterator[Number]:
    if text.isupper():
        return
    for match in _ROMAN.finditer(text):
        digits = [_ROMAN_VALUES[c] for c in match[0]]
        value = sum(-d if d < max(digits[i:]) else d for i, d in enumerate(digits))
        yield Number(match.start(), match.end(), match[0], frozenset((value,)), None,
                     "roman")  # fmt: skip
