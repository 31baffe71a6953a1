"""All numbers of a text as values: digits in a notation, number words, Roman numerals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from kept.number_words import read, scale

DECIMAL_MARK = {"en": ".", "de": ",", "fr": ",", "pt": ",", "ru": ","}
_SPACES = " \u00a0\u202f\u2009"
_DIGITS = re.compile(
    rf"(?<![0-9])[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}})+(?![0-9])(?:[.,][0-9]+)?"
    r"|[0-9]+(?:[.,'’][0-9]+)*"
)
_WORD = re.compile(r"[^\W\d_]+")
_BREAK = re.compile(r"[^\w\s\-–’']|[0-9]+|\b(?:por cento|pour cent)\b")
_ROMAN = re.compile(r"\b(?=[IVXLCDM]{2})M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})\b")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


@dataclass(frozen=True)
class Number:
    """One number of a text."""

    values: frozenset[Decimal]
    """What it may mean: 3.5 and 3,500,000 for "3.5 million"."""
    form: str
    """`digits`, `word` or `roman`."""


def numbers(text: str, language: str) -> list[Number]:
    """Every number of a text.

    Args:
        text: In the language.
        language: Says which mark is the decimal one, and the number words.
    """
    return [*_digits(text, language), *_words(text, language), *_romans(text)]


def value(written: str, language: str) -> Decimal | None:
    """The value of digits with marks in a language's notation, if they follow it."""
    mark = DECIMAL_MARK[language]
    groups = f"[.,'’{_SPACES}]".replace(mark, "")
    whole = rf"(?:[0-9]{{1,3}}(?P<group>{groups})[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*|[0-9]+)"
    if not re.fullmatch(rf"{whole}(?:{re.escape(mark)}[0-9]+)?", written):
        return None
    before, _, after = written.partition(mark)
    return Decimal(re.sub(r"[^0-9]", "", before) + ("." + after if after else ""))


def roman(numeral: str) -> int:
    """The value of a Roman numeral: XIV is 14."""
    digits = [_ROMAN_DIGITS[letter] for letter in numeral]
    pairs = zip(digits, [*digits[1:], 0], strict=True)
    return sum(-digit if digit < behind else digit for digit, behind in pairs)


def _digits(text: str, language: str) -> Iterator[Number]:
    other = "de" if DECIMAL_MARK[language] == "." else "en"
    for match in _DIGITS.finditer(text):
        written = match.group()
        amount = value(written, language)
        if amount is None:
            amount = value(written, other)
        if amount is None:  # 12.03.2024
            parts = re.findall("[0-9]+", written)
            yield from (Number(frozenset({Decimal(part)}), "digits") for part in parts)
            continue
        factor = _scale_behind(text[match.end() :], language)
        yield Number(frozenset({amount, amount * factor}), "digits")


def _scale_behind(text: str, language: str) -> int:
    factor = 1
    for word in re.match(rf"(?:[{_SPACES}-]?[^\W\d_]+){{0,2}}", text).group().lower().split():  # type: ignore[union-attr]
        size = scale(word.lstrip("-"), language)
        if size is None:
            break
        factor *= size
    return factor


def _words(text: str, language: str) -> Iterator[Number]:
    for part in _BREAK.split(text.lower()):
        for amount in read(_WORD.findall(part), language):
            yield Number(frozenset({Decimal(amount)}), "word")


def _romans(text: str) -> Iterator[Number]:
    for match in _ROMAN.finditer(text):
        if match.group():  # no numeral: IIX
            yield Number(frozenset({Decimal(roman(match.group()))}), "roman")
