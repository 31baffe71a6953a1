"""Numbers in words: a language's words as data, and what they add up to in a text.

`rules` has the words of each language. Articles and words that are hardly ever a number (one,
second, neuf) count as a number where one is missing, and are not missed themselves.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

_CLOSE = re.compile(r"[\s\u00ad-]{1,2}")
_SHORTEST_STEM = 3
_MOST_KNOWN = 20_000  # words about which something is remembered
_Known = TypeVar("_Known")


@dataclass(frozen=True)
class Spoken:
    """A number in words."""

    start: int
    end: int
    value: int
    certain: bool
    """Whether the words can mean nothing else."""


@dataclass(frozen=True)
class NumberWords:
    """The words for numbers of a language, in lower case."""

    cardinals: Mapping[str, int]
    ordinals: Mapping[str, int]
    scales: Mapping[str, int]
    """Words that multiply what is before them: hundred, thousand, million."""
    hints: Mapping[str, tuple[float, ...]]
    """Beginnings of words that may say a number: both, dozen, half; short ones are whole words."""
    months: tuple[str, ...]
    """Beginnings of the names of the twelve months."""
    unsure: frozenset[str] = frozenset()
    """Cardinals that are other words as well."""
    links: frozenset[str] = frozenset()
    """Words between parts of a number."""
    linked_tens: bool = False
    """Whether they also join tens and units: vinte e dois."""
    twenties: bool = False
    """Whether sixty-ten is seventy and four-twenty is eighty."""
    compound: bool = False
    """Whether a number is a single word, units before tens."""
    _known: dict[str, int | None] = field(default_factory=dict, compare=False, repr=False)
    _sparks: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)
    _said: dict[str, frozenset[float]] = field(default_factory=dict, compare=False, repr=False)

    def read(self, text: str) -> list[Spoken]:
        """The numbers in words of a text."""
        return list(self._runs(text)) if self.sparks(text) else []

    def sparks(self, text: str) -> bool:
        """Whether a text may have a number in words that is more than one."""
        return any(map(self._sparks_in, text.lower().split()))

    def _sparks_in(self, word: str) -> bool:
        known = self._sparks.get(word)
        if known is None:
            known = _room_in(self._sparks)[word] = self._spark.search(word) is not None
        return known

    def said(self, text: str) -> set[float]:
        """What single words of a text may say: both is 2, zweijährig is 2."""
        words = re.findall(r"[^\W\d_]+", text.lower())
        return set().union(*map(self._said_by, words))

    def _said_by(self, word: str) -> frozenset[float]:
        known = self._said.get(word)
        if known is None:
            known = _room_in(self._said)[word] = frozenset(self._suggested(word))
        return known

    def _suggested(self, word: str) -> Iterator[float]:
        for hint, values in self.hints.items():
            if word == hint or (len(hint) > _SHORTEST_STEM and word.startswith(hint)):
                yield from values
        value = self.value(word)
        if value is not None:
            yield value
        elif self.compound:
            yield from (n for stem, n in self._stems.items() if word.startswith(stem))

    @cached_property
    def _stems(self) -> dict[str, int]:
        every = {**self.ordinals, **self.cardinals}
        return {word: value for word, value in every.items() if len(word) >= _SHORTEST_STEM}

    @cached_property
    def _spark(self) -> re.Pattern[str]:
        words = {*self.cardinals, *self.ordinals, *self.scales}
        return re.compile(self._spelled({word for word in words if not self._is_one(word)}))

    @cached_property
    def _word(self) -> re.Pattern[str]:
        """A word that belongs to a number, perhaps."""
        words = {*self.cardinals, *self.ordinals, *self.scales, *self.links}
        return re.compile(rf"{self._spelled(words)}\.?")

    def _spelled(self, words: Iterable[str]) -> str:
        longest_first = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        if self.compound:
            return rf"(?<![^\W\d_])[^\W\d_]*(?:{longest_first})[^\W\d_]*"
        return rf"\b(?:{longest_first})(?![^\W\d_])"

    def _is_one(self, word: str) -> bool:
        return self.cardinals.get(word, self.ordinals.get(word)) == 1

    def _runs(self, text: str) -> Iterator[Spoken]:
        """Words that add up to a number, from left to right."""
        run = _Run(self)
        behind = 0
        lower = text.lower()
        for match in self._word.finditer(lower if len(lower) == len(text) else text):
            word = match[0]
            word = word if word in self.scales else word.rstrip(".")
            close = run.start >= 0 and _CLOSE.fullmatch(text, behind, match.start())
            if close and word in self.links:
                run.linked, behind = True, match.end()
                continue
            end = match.start() + len(word)
            if not close or not run.takes(word, end):
                yield from run.ended()
                run = _Run(self)
                if run.takes(word, end):
                    run.start = match.start()
                    run.other = self.compound and _is_other(text, *match.span())
            behind = end
        yield from run.ended()

    def value(self, word: str) -> int | None:
        """What a single word says, 100 and more included; None for other words."""
        if word in self.cardinals:
            return self.cardinals[word]
        if word in self.ordinals:
            return self.ordinals[word]
        if not self.compound:
            return None
        if word not in self._known:
            _room_in(self._known)[word] = self._compound(word)
        return self._known[word]

    def _compound(self, word: str) -> int | None:
        """What a German word says: dreihundertfünfundzwanzig, achtzehnte."""
        if word in self.cardinals:
            return self.cardinals[word]
        ordinal = re.fullmatch(r"(.+?)s?te[nrsm]?", word)
        if ordinal and word not in self.ordinals:
            return self.ordinals.get(ordinal[1] + "te", self._compound(ordinal[1]))
        for name, factor in (("tausend", 1000), ("hundert", 100)):
            if name in word:
                factors, _, rest = word.partition(name)
                sides = self._compound(factors) if factors else 1, self._rest(rest)
                return None if None in sides else sides[0] * factor + sides[1]  # type: ignore[operator]
        units, _, tens = word.partition("und")
        both = self.cardinals.get(units), self.cardinals.get(tens)
        if both[0] and both[1] and both[0] < 10 and both[1] in range(20, 100, 10):
            return both[0] + both[1]
        return self.ordinals.get(word)

    def _rest(self, rest: str) -> int | None:
        return self._compound(rest.removeprefix("und")) if rest else 0


def _room_in(known: dict[str, _Known]) -> dict[str, _Known]:
    """What is known about words, forgotten when it is much."""
    if len(known) > _MOST_KNOWN:
        known.clear()
    return known


class _Run:
    """Words that belong to one number."""

    def __init__(self, words: NumberWords) -> None:
        self.words = words
        self.start = -1
        self.end = -1
        self.linked = False
        self.certain = False
        self.closed = False
        self.other = False
        self.total = self.part = 0
        self.scaled = False

    def takes(self, word: str, end: int) -> bool:
        """Whether a word is the next of this number; then it is counted."""
        scale = self.words.scales.get(word)
        first = self.end < 0
        value = self.words.value(word) if scale is None else None
        if self.closed or (scale is None and value is None):
            return False
        if scale is not None and not self._multiplied(scale, first):
            return False
        if value is not None and not self._added(value, first):
            return False
        self.end, self.linked, self.scaled = end, False, scale is not None
        if not first or scale is None:
            alone = word in self.words.unsure or word not in self.words.cardinals
            compound = self.words.compound and word not in self.words.ordinals and len(word) > 6
            self.certain = not first or not alone or (compound and word not in self.words.unsure)
        self.closed = word in self.words.ordinals and word not in self.words.cardinals
        return True

    def _multiplied(self, scale: int, first: bool) -> bool:
        if scale == 100:
            if self.part % 100 == 0 and self.part:
                return False
            self.part = max(1, self.part) * 100
            return True
        if not first and self.total and self.total < scale:
            return False
        self.total += max(1, self.part) * scale
        self.part = 0
        return True

    def _added(self, value: int, first: bool) -> bool:
        room = self.part % 100
        if first:
            self.part = value
            return True
        if self.words.twenties and room == 4 and value == 20:
            self.part += 76
            return True
        deep = self.words.twenties and room in (60, 80) and 10 <= value < 20
        fits = value < 10 and room >= 20 and room % 10 == 0
        if self.linked and not self.scaled and not self.words.linked_tens and room:
            return False
        if value >= 100:
            fits = self.part == 0
        elif room == 0 and (self.part or self.total):
            fits = True
        if not fits and not deep:
            return False
        self.part += value
        return True

    def ended(self) -> Iterator[Spoken]:
        """The number, if there is one."""
        value = self.total + self.part
        if self.end >= 0 and self.start >= 0:
            certain = self.certain and value > 1 and not self.other
            yield Spoken(self.start, self.end, value, certain)


def _is_other(text: str, start: int, end: int) -> bool:
    """Whether a German word is a noun (seine Elf) or a time that is counted backwards."""
    before, word = text[:start].rstrip(), text[start:end]
    noun = word[0].isupper() and before[-1:].isalpha() and not word.isupper()
    return noun or before.endswith("halb")
