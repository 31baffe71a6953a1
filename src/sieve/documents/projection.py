"""Where the markup of a source goes in its translation.

Every element becomes one run of output pieces: the run with the most pieces that come from the
element's words and the fewest that do not. Elements stay inside their parents and apart from their
neighbours, so the result nests as the source did and each mark appears exactly once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sieve.documents.alignment import Links, Weights
from sieve.documents.inline import Element, Layout
from sieve.documents.runs import best_run, by_word, is_edge, leading_marks
from sieve.documents.text_places import TextPlaces
from sieve.repair.draft import Span

Flags = npt.NDArray[np.bool_]

_EVEN = 0.5
"""An output piece of which less than this comes from an element rather lies outside."""
_FOREIGN = 4.0
"""What a piece costs that belongs to a neighbour."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a block: where it stands, what it became, what came from where."""

    start: int
    end: int
    translation: str
    links: Links
    """Source spans count from the start of the block, target spans from that of the sentence."""


@dataclass(frozen=True)
class Placed:
    """Translated text of a block and where each element goes in it, as character offsets."""

    text: str
    spans: tuple[Span, ...]


def project(layout: Layout, sentences: Sequence[Sentence]) -> Placed:
    """Places every element of a block in the translations of its sentences."""
    board = _Board(layout, sentences)
    spans = [board.place(number, element) for number, element in enumerate(layout.elements)]
    return Placed(board.text, tuple(spans))


class _Board:
    """All output pieces of a block in a row, and which element each lies in so far."""

    def __init__(self, layout: Layout, sentences: Sequence[Sentence]) -> None:
        self._layout = layout
        self._sentences = [sentence for sentence in sentences if sentence.links.target]
        texts, end, length = [], 0, 0
        self._first = [0]  # first piece of each sentence, and the number of pieces
        self._text_ends: list[int] = []
        targets: list[Span] = []
        for sentence in sentences:
            gap = layout.text[end : sentence.start]
            texts += [gap, sentence.translation]
            length += len(gap)
            targets += [(a + length, b + length) for a, b in sentence.links.target]
            length += len(sentence.translation)
            end = sentence.end
            if sentence.links.target:
                self._first.append(len(targets))
                self._text_ends.append(length)
        self.text = "".join([*texts, layout.text[end:]])
        self._targets = targets
        self._words = self._numbered()
        self._is_mark = np.array(
            [a < b and not any(map(str.isalnum, self.text[a:b])) for a, b in targets], bool
        )
        self._smooth = [by_word(sentence.links) for sentence in self._sentences]
        self._totals = [sentence.links.weights.sum(axis=1) for sentence in self._sentences]
        self._middles = [
            np.array([(a + b - 1) / 2 for a, b in sentence.links.source])
            for sentence in self._sentences
        ]
        self._inside: dict[tuple[int, int], Flags] = {}
        self._inner = np.full(len(targets), -1)
        self._ranges: dict[int, Span] = {-1: (0, len(targets))}
        self._starts = [sentence.start for sentence in self._sentences]
        self._ends = [sentence.end for sentence in self._sentences]
        self._places = TextPlaces(layout.text)
        children: dict[int, list[Span]] = {}
        for element in layout.elements:
            if not element.is_point:
                children.setdefault(element.parent, []).append((element.start, element.end))
        self._children = {parent: np.array(spans) for parent, spans in children.items()}

    def _numbered(self) -> list[int]:
        numbers: list[int] = []
        for sentence in self._sentences:
            base = numbers[-1] + 1 if numbers else 0
            numbers += [base + number for number in sentence.links.words]
        return numbers

    def place(self, number: int, element: Element) -> Span:
        """Characters that an element covers; the same twice for a point."""
        low, high = self._ranges[element.parent]
        if element.is_point:
            self._ranges[number] = (low, low)
            offset = self._point(element, low, high)
            return offset, offset
        first, last = self._run(element, low, high)
        self._ranges[number] = (first, last)
        self._inner[first:last] = number
        if first == last:
            offset = self._offset(first)
            return offset, offset
        start = self._targets[first][0]
        span = start, max(start, self._targets[last - 1][1])
        return self._exact(element, span)

    def _exact(self, element: Element, span: Span) -> Span:
        """The characters of a run: a piece at its ends may hold marks that belong to others.

        Where the translation has the very text of something opaque, that; else the run without
        marks at its ends that the text does not have.
        """
        wanted = " ".join(self._layout.text[element.start : element.end].split())
        if element.opaque:
            near = self.text.find(wanted, max(0, span[0] - len(wanted)), span[1] + len(wanted))
            if near >= 0:
                return near, near + len(wanted)
        if not any(map(str.isalnum, wanted)) or not any(map(str.isalnum, self.text[slice(*span)])):
            return span
        start, end = span
        mine = leading_marks(wanted), leading_marks(wanted[::-1])
        run = self.text[start:end]
        start += max(0, leading_marks(run) - mine[0])
        end -= max(0, leading_marks(run[::-1]) - mine[1])
        return start, max(start, end)

    def _offset(self, piece: int) -> int:
        if piece < len(self._targets):
            return self._targets[piece][0]
        return self._targets[-1][1] if self._targets else len(self.text)

    def _run(self, element: Element, low: int, high: int) -> Span:
        """The run of pieces, inside `low` to `high`, that an element takes."""
        if self._fills_parent(element):
            return low, high
        shares, base = self._shares(element)
        first, last = max(low, base), min(high, base + len(shares))
        if first >= last:
            return low, low
        shares = shares[first - base : last - base]
        free = self._inner[first:last] == element.parent
        if not free.any():
            return first, first
        scores = np.where(free, shares - _EVEN, -1.0 - len(shares))
        content = self._layout.text[element.start : element.end]
        if element.opaque:  # takes the place of its run: no word of others may be in it
            scores[(shares < _EVEN) & free] = -1.0 - len(shares)
        elif any(map(str.isalnum, content)):
            marks = self._is_mark[first:last] & free
            scores[marks] = 0.0
            shares = np.where(marks, shares - 1, shares)
        run = best_run(scores)
        if run is None:
            best = int(np.where(free, shares, -np.inf).argmax())
            around = self._word_around(first + best, first, last, free)
            run = (best, best) if element.opaque else (around[0] - first, around[1] - first)
        if element.opaque:
            return run[0] + first, run[1] + first
        return self._with_marks(content, (run[0] + first, run[1] + first), free, first)

    def _fills_parent(self, element: Element) -> bool:
        return (element.start, element.end) == self._around(element)

    def _around(self, element: Element) -> Span:
        """Characters of what an element lies in, without white space at the ends."""
        if element.parent < 0:
            return self._places.inner
        parent = self._layout.elements[element.parent]
        return parent.start, parent.end

    def _shares(self, element: Element) -> tuple[Weights, int]:
        """How much of each piece comes from an element, and the piece that this begins with."""
        begin = bisect_right(self._ends, element.start)
        end = max(begin, bisect_left(self._starts, element.end))
        text = self._layout.text
        words_only = (
            is_edge(text, element.start) and is_edge(text, element.end) and not element.opaque
        )
        shares = []
        for place in range(begin, end):
            weights = self._smooth[place] if words_only else self._sentences[place].links.weights
            middles = self._middles[place]
            inside = (element.start <= middles) & (middles < element.end)
            foreign = self._in_children(element.parent, place) & ~inside
            if not inside.any():  # a part of a piece
                spans = self._sentences[place].links.source
                inside = np.array([a < element.end and element.start < b for a, b in spans], bool)
            mine = weights[:, inside].sum(axis=1)
            theirs = weights[:, foreign].sum(axis=1)
            mine = np.where(self._totals[place] > 0, mine, _EVEN - 0.1)
            shares.append(mine - np.where(theirs > _EVEN, _FOREIGN, 0.0))
        return np.concatenate(shares) if shares else np.zeros(0), self._first[begin]

    def _in_children(self, parent: int, place: int) -> Flags:
        """Which source pieces of a sentence lie in children of an element."""
        known = self._inside.get((parent, place))
        if known is None:
            middles = self._middles[place]
            known = np.zeros(len(middles), bool)
            if parent in self._children:
                starts, ends = self._children[parent].T
                child = np.searchsorted(starts, middles, side="right") - 1
                known = np.asarray((child >= 0) & (middles < ends[child]), bool)
            self._inside[parent, place] = known
        return known

    def _word_around(self, piece: int, low: int, high: int, free: Weights | None = None) -> Span:
        """The pieces of a word, inside `low` to `high`; `free` says of each whether it counts."""
        a, b = piece, piece + 1
        word = self._words[piece]
        while a > low and self._words[a - 1] == word and (free is None or free[a - 1 - low]):
            a -= 1
        while b < high and self._words[b] == word and (free is None or free[b - low]):
            b += 1
        return a, b

    def _with_marks(self, content: str, run: Span, free: Weights, first: int) -> Span:
        """Takes in the punctuation that an element begins and ends with."""
        a, b = run
        left = len("".join(content[: leading_marks(content)].split()))
        while a > first and free[a - 1 - first] and self._is_mark[a - 1] and left > 0:
            a -= 1
            left -= self._targets[a][1] - self._targets[a][0]
        right = len("".join(content[len(content) - leading_marks(content[::-1]) :].split()))
        while b - first < len(free) and free[b - first] and self._is_mark[b] and right > 0:
            right -= self._targets[b][1] - self._targets[b][0]
            b += 1
        return a, b

    def _point(self, element: Element, low: int, high: int) -> int:
        """Character before which a point goes."""
        between = self._between(element.start, low, high)
        if between is not None:
            return between
        text, here = self._layout.text, element.start
        start, end = self._around(element)
        if here <= start:
            return self._offset(low)
        if here >= end or low == high:
            return self._targets[high - 1][1] if high else self._offset(0)
        lean = element.leans
        if lean == 0:
            lean = 1 if text[here - 1].isspace() else -1
        place = self._places.ink_before(here) if lean < 0 else self._places.ink_from(here)
        piece = self._piece_from(place, low, high)
        run = self._word_around(piece, low, high)
        return self._targets[run[0]][0] if lean > 0 else self._targets[run[1] - 1][1]

    def _between(self, here: int, low: int, high: int) -> int | None:
        """The place of a point that stands between sentences: these are not moved about."""
        before = bisect_right(self._ends, here)
        if before < len(self._starts) and self._starts[before] < here:
            return None
        offset = here
        if before:
            offset += self._text_ends[before - 1] - self._ends[before - 1]
        if (low, high) != self._ranges[-1] and low < high:
            offset = min(max(offset, self._targets[low][0]), self._targets[high - 1][1])
        return offset

    def _piece_from(self, place: int, low: int, high: int) -> int:
        """The piece that comes most from the word around a character."""
        start, end = self._places.word(place)
        sentence = min(bisect_right(self._ends, place), len(self._ends) - 1)
        a = min(place, max(start, self._starts[sentence]))  # a word of any length is cut
        b = max(place + 1, min(end, self._ends[sentence]))
        word = Element(a, b, -1, [])
        shares, base = self._shares(word)
        first, last = max(low, base), min(high, base + len(shares))
        if first >= last:
            return min(max(low, base), high - 1)
        return first + int(shares[first - base : last - base].argmax())
