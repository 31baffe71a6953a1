"""A block made ready: its markup as a layout, its text cut into the sentences that a model reads.

Knows a model only by the length of a sentence, and a translation by its text and its links.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from sieve.documents.alignment import Links, unchanged
from sieve.documents.blocks import BREAK, Block
from sieve.documents.inline import Layout, layout
from sieve.documents.projection import Sentence
from sieve.repair.draft import Span
from sieve.segment import sentences
from sieve.tokenize.normalize import normalize
from sieve.translate.parts import MAX_TOKENS
from sieve.translate.translation import Translation

_TOKEN = re.compile(r"\S+")


@dataclass(frozen=True)
class SourceSentence:
    """A sentence in the text of its block."""

    start: int
    end: int
    text: str
    """As the model reads it: spaces and line breaks are one space each."""
    places: tuple[int, ...]
    """Where each character of `text` stands in the block."""

    @property
    def is_text(self) -> bool:
        """Whether there is anything to translate."""
        return any(map(str.isalpha, self.text))


@dataclass(frozen=True)
class Prepared:
    """A block with its markup read and its sentences cut."""

    block: Block
    layout: Layout
    sources: tuple[SourceSentence, ...]

    @classmethod
    def of(cls, block: Block, length: Callable[[str], int]) -> Prepared:
        """Reads a block; `length` counts the tokens of a sentence."""
        text_layout = layout(block)
        sources, start = [], 0
        for stretch in _stretches(text_layout):
            for part in sentences.divided(stretch, length, MAX_TOKENS):
                if part.strip():
                    sources.append(_source(part, start))
                start += len(part)
        return cls(block, text_layout, tuple(sources))

    @cached_property
    def _edges(self) -> list[int]:
        elements = self.layout.elements
        return sorted(place for element in elements for place in (element.start, element.end))

    def is_marked(self, source: SourceSentence) -> bool:
        """Whether markup begins or ends inside a sentence."""
        place = bisect_right(self._edges, source.start)
        return place < len(self._edges) and self._edges[place] < source.end

    @cached_property
    def is_text(self) -> bool:
        """Whether there is a letter outside of what is kept as it is."""
        text, end = self.layout.text, 0
        for element in self.layout.elements:
            if element.opaque:
                if any(map(str.isalpha, text[end : element.start])):
                    return True
                end = element.end
        return any(map(str.isalpha, text[end:]))


def _stretches(layout: Layout) -> list[str]:
    """The text of a block where no sentence goes over a mark that breaks it."""
    return re.split(f"(?<={BREAK})", layout.text) if layout.breaks else [layout.text]


def _source(part: str, start: int) -> SourceSentence:
    tokens = [(match.start(), normalize(match[0]), match[0]) for match in _TOKEN.finditer(part)]
    text, places = "", []
    for place, token, raw in tokens:
        if text and token:
            text += " "
            places.append(start + place)
        text += token
        places += [start + place + min(i, len(raw) - 1) for i in range(len(token))]
    first = len(part) - len(part.lstrip())
    return SourceSentence(start + first, start + len(part.rstrip()), text, tuple(places))


def finished(source: SourceSentence, links: Links, translation: Translation) -> Sentence:
    """A sentence with its translation, its links counted in the block."""
    if not translation.text.strip():  # a model may say nothing; a document loses nothing
        return Sentence(
            source.start, source.end, source.text, _moved(unchanged(source.text), source)
        )
    return Sentence(source.start, source.end, translation.text, _moved(links, source))


def _moved(links: Links, source: SourceSentence) -> Links:
    """Source spans counted in the block instead of in what the model read."""
    last = len(source.places) - 1

    def moved(span: Span) -> Span:
        a, b = min(span[0], last), min(max(span[0], span[1] - 1), last)
        return source.places[a], source.places[b] + 1

    return dataclasses.replace(links, source=tuple(map(moved, links.source)))


def kept(source: SourceSentence, layout: Layout) -> Sentence:
    """A sentence without a letter: it stays as it is."""
    text = layout.text[source.start : source.end]
    links = unchanged(text)
    spans = tuple((a + source.start, b + source.start) for a, b in links.source)
    return Sentence(source.start, source.end, text, dataclasses.replace(links, source=spans))
