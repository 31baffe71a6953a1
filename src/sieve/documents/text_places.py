"""Where words and white space are in a text; asked for as many places as it has markup."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property

from sieve.repair.draft import Span

_INK, _WORD = re.compile(r"\S+"), re.compile(r"[^\W_]+")


class TextPlaces:
    """A text of which each question costs no more than a search in a sorted list."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.inner = len(text) - len(text.lstrip()), len(text.rstrip())
        """Its characters without white space at the ends."""

    def ink_before(self, here: int) -> int:
        """The last character before a place that is no white space; there is one."""
        starts, ends = self._ink
        return min(ends[bisect_left(starts, here) - 1], here) - 1

    def ink_from(self, here: int) -> int:
        """The first character from a place on that is no white space; there is one."""
        starts, ends = self._ink
        return max(starts[bisect_right(ends, here)], here)

    def word(self, place: int) -> Span:
        """The row of letters and digits that a character is in, or the character."""
        starts, ends = self._words
        number = bisect_right(starts, place) - 1
        if number >= 0 and place < ends[number]:
            return starts[number], ends[number]
        return place, place + 1

    @cached_property
    def _ink(self) -> tuple[list[int], list[int]]:
        return self._spans(_INK)

    @cached_property
    def _words(self) -> tuple[list[int], list[int]]:
        return self._spans(_WORD)

    def _spans(self, pattern: re.Pattern[str]) -> tuple[list[int], list[int]]:
        spans = [match.span() for match in pattern.finditer(self._text)]
        return [start for start, _ in spans], [end for _, end in spans]
