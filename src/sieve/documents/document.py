"""A document from its reader to its writer: sentences out, translations in.

Reading and writing know no model but for sentence lengths, so whoever has a queue of its own can
put the sentences of many documents through it.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from sieve.documents.alignment import Links, entire, linked, unchanged
from sieve.documents.blocks import Block, Part, blocks_of
from sieve.documents.html_blocks import html_parts
from sieve.documents.inline import Layout, layout
from sieve.documents.markdown_blocks import markdown_parts
from sieve.documents.plain import text_parts
from sieve.documents.projection import Sentence, project
from sieve.documents.writing import written
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError
from sieve.repair.draft import Span
from sieve.segment import sentences
from sieve.tokenize.normalize import normalize
from sieve.translate.parts import MAX_TOKENS
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator

Format: TypeAlias = Literal["html", "markdown", "text"]

_READERS: Mapping[str, Callable[[str], Iterator[Part]]] = {
    "html": html_parts,
    "markdown": markdown_parts,
    "text": text_parts,
}
_TOKEN = re.compile(r"\S+")


def translate_document(translator: Translator, text: str, format: Format, **options: Any) -> str:
    """Translates a document; markup, code and layout stay.

    Examples:
        >>> import sieve
        >>> translator = sieve.load("en-de")
        >>> translate_document(translator, "<p>I gave her the apple <b>yesterday</b>.</p>", "html")
        '<p>Ich gab ihr <b>gestern</b> den Apfel.</p>'

    Args:
        translator: What `sieve.load` gave.
        text: The whole document.
        format: `html`, `markdown` or `text`. In a text, lines stay lines.
        options: Of `Translator.translate`: `selection`, `threshold`, `beam_size`, `include`, …
    """
    document = read_document(text, format, token_counter(translator))
    return document.translated(translator, **options)


def read_document(text: str, format: Format, length: Callable[[str], int] = len) -> Document:
    """Reads a document of any kind; whatever it holds, it can be read.

    Args:
        text: The whole document.
        format: `html`, `markdown` or `text`.
        length: Number of tokens of a sentence; longer ones than a model takes are cut.
    """
    if format not in _READERS:
        known = ", ".join(get_args(Format))
        raise ConfigError(f"format: got '{format}', expected one of {known}")
    parts = tuple(_READERS[format](text))
    prepared = tuple(_Prepared.of(block, length) for block in blocks_of(parts))
    return Document(parts, prepared)


def token_counter(translator: Translator) -> Callable[[str], int]:
    """Counts the tokens of a sentence; a sentence of few characters has few tokens."""
    source = translator.tokenizers.source
    return lambda text: 1 if len(text) <= MAX_TOKENS else len(source.encode([text])[0])


@dataclass(frozen=True)
class _Source:
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
class _Prepared:
    """A block with its markup read and its sentences cut."""

    block: Block
    layout: Layout
    sources: tuple[_Source, ...]

    @classmethod
    def of(cls, block: Block, length: Callable[[str], int]) -> _Prepared:
        text_layout = layout(block)
        sources, start = [], 0
        for part in sentences.divided(text_layout.text, length, MAX_TOKENS):
            if part.strip():
                sources.append(_source(part, start))
            start += len(part)
        return cls(block, text_layout, tuple(sources))

    @cached_property
    def _edges(self) -> list[int]:
        elements = self.layout.elements
        return sorted(place for element in elements for place in (element.start, element.end))

    def is_marked(self, source: _Source) -> bool:
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


def _source(part: str, start: int) -> _Source:
    tokens = [(match.start(), normalize(match[0]), match[0]) for match in _TOKEN.finditer(part)]
    text, places = "", []
    for place, token, raw in tokens:
        if text and token:
            text += " "
            places.append(start + place)
        text += token
        places += [start + place + min(i, len(raw) - 1) for i in range(len(token))]
    first = len(part) - len(part.lstrip())
    return _Source(start + first, start + len(part.rstrip()), text, tuple(places))


@dataclass(frozen=True)
class Document:
    """A document that was read: what stays, and the sentences to translate."""

    parts: tuple[Part, ...]
    prepared: tuple[_Prepared, ...]

    @property
    def sentences(self) -> list[str]:
        """What there is to translate, in order."""
        return [source.text for source in self._sources()]

    def _sources(self) -> list[_Source]:
        return [
            source
            for prepared in self.prepared
            if prepared.is_text
            for source in prepared.sources
            if source.is_text
        ]

    def translated(self, translator: Translator, **options: Any) -> str:
        """The document with its sentences translated; options as for `Translator.translate`."""
        search = options.pop("options", None) or SearchOptions()

        def run(texts: list[str], request: Request) -> list[Translation]:
            return translator.translate(texts, options=request.options, **options)

        return self._filled(translator, Request(options=search), run)

    def requested(self, translator: Translator, request: Request) -> str:
        """The document with its sentences translated as one request, without prefixes, says."""
        return self._filled(translator, request, translator.run)

    def calls(self, request: Request) -> list[tuple[list[int], Request]]:
        """Which sentences to translate with which request: those with markup need alignment."""
        marked = self._marked()
        calls = []
        for aligned in (True, False):
            if rows := [row for row, flag in enumerate(marked) if flag is aligned]:
                options = dataclasses.replace(request.options, alignment=aligned)
                calls.append((rows, dataclasses.replace(request, options=options)))
        return calls

    def _filled(
        self,
        translator: Translator,
        request: Request,
        run: Callable[[list[str], Request], list[Translation]],
    ) -> str:
        texts = self.sentences
        translations: dict[int, Translation] = {}
        for rows, asked in self.calls(request):
            batch = run([texts[row] for row in rows], asked)
            translations.update(zip(rows, batch, strict=True))
        return self.written(translator, [translations[row] for row in range(len(texts))])

    def _marked(self) -> list[bool]:
        """For each sentence, whether markup begins or ends inside it."""
        return [
            prepared.is_marked(source)
            for prepared in self.prepared
            if prepared.is_text
            for source in prepared.sources
            if source.is_text
        ]

    def written(self, translator: Translator, translations: Sequence[Translation]) -> str:
        """The document with given translations of its sentences.

        Args:
            translator: Whose tokenizers and heads say what came from where.
            translations: One for each of `sentences`, those with markup made with alignment.
        """
        waiting = iter(zip(self._links(translator, translations), translations, strict=True))
        done: dict[int, str] = {}
        for prepared in self.prepared:
            if not prepared.is_text:
                done[id(prepared.block)] = prepared.block.raw
                continue
            finished = [
                _sentence(source, *next(waiting))
                if source.is_text
                else _kept(source, prepared.layout)
                for source in prepared.sources
            ]
            placed = project(prepared.layout, finished)
            done[id(prepared.block)] = written(prepared.block, prepared.layout, placed, done)
        return "".join(part if isinstance(part, str) else done[id(part)] for part in self.parts)

    def _links(self, translator: Translator, translations: Sequence[Translation]) -> list[Links]:
        """Links of all sentences; where markup covers all or nothing, no model is asked."""
        marked = self._marked()
        rows = [row for row, needed in enumerate(marked) if needed]
        texts = self.sentences
        links = dict(
            zip(
                rows,
                linked(translator, [texts[r] for r in rows], [translations[r] for r in rows]),
                strict=True,
            )
        )
        return [
            links.get(row) or entire(texts[row], translations[row].text)
            for row in range(len(marked))
        ]


def _sentence(source: _Source, links: Links, translation: Translation) -> Sentence:
    if not translation.text.strip():  # a model may say nothing; a document loses nothing
        return Sentence(
            source.start, source.end, source.text, _moved(unchanged(source.text), source)
        )
    return Sentence(source.start, source.end, translation.text, _moved(links, source))


def _moved(links: Links, source: _Source) -> Links:
    """Source spans counted in the block instead of in what the model read."""
    last = len(source.places) - 1

    def moved(span: Span) -> Span:
        a, b = min(span[0], last), min(max(span[0], span[1] - 1), last)
        return source.places[a], source.places[b] + 1

    return dataclasses.replace(links, source=tuple(map(moved, links.source)))


def _kept(source: _Source, layout: Layout) -> Sentence:
    text = layout.text[source.start : source.end]
    links = unchanged(text)
    spans = tuple((a + source.start, b + source.start) for a, b in links.source)
    return Sentence(source.start, source.end, text, dataclasses.replace(links, source=spans))
