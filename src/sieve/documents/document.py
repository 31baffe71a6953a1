"""A document, or a window of one, from its reader to its writer: sentences out, translations in.

Reading and writing know no model but for sentence lengths, so whoever has a queue of its own can
put the sentences of many documents through it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from sieve.documents.alignment import Links, entire, linked
from sieve.documents.blocks import (
    Arranged,
    Block,
    LanguageCode,
    Member,
    Piece,
    blocks_of,
    inner_parts,
)
from sieve.documents.prepared import Prepared, SourceSentence, finished, kept
from sieve.documents.projection import Sentence, project
from sieve.documents.writing import written
from sieve.translate.parts import MAX_TOKENS
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator

Run: TypeAlias = Callable[[list[str], Request], list[Translation]]
"""Translates sentences as a request says."""


def token_counter(translator: Translator) -> Callable[[str], int]:
    """Counts the tokens of a sentence; a sentence of few characters has few tokens."""
    source = translator.tokenizers.source
    return lambda text: 1 if len(text) <= MAX_TOKENS else len(source.encode([text])[0])


@dataclass(frozen=True)
class Document:
    """What was read: what stays, and the sentences to translate."""

    parts: tuple[Piece, ...]
    prepared: tuple[Prepared, ...]

    @classmethod
    def of(cls, parts: Sequence[Piece], length: Callable[[str], int]) -> Document:
        """Cuts the blocks of a document into sentences.

        Args:
            parts: What a reader handed over.
            length: Number of tokens of a sentence; longer ones than a model takes are cut.
        """
        return cls(tuple(parts), tuple(Prepared.of(block, length) for block in blocks_of(parts)))

    @property
    def sentences(self) -> list[str]:
        """What there is to translate, in order."""
        return [source.text for _, source in self._asked]

    @cached_property
    def _asked(self) -> list[tuple[Prepared, SourceSentence]]:
        return [
            (prepared, source)
            for prepared in self.prepared
            if prepared.is_text
            for source in prepared.sources
            if source.is_text
        ]

    @cached_property
    def _marked(self) -> list[bool]:
        """For each sentence, whether markup begins or ends inside it."""
        return [prepared.is_marked(source) for prepared, source in self._asked]

    def calls(self, request: Request) -> list[tuple[list[int], Request]]:
        """Which sentences to translate with which request: those with markup need alignment."""
        calls = []
        for aligned in (True, False):
            if rows := [row for row, flag in enumerate(self._marked) if flag is aligned]:
                options = dataclasses.replace(request.options, alignment=aligned)
                calls.append((rows, dataclasses.replace(request, options=options)))
        return calls

    def translations(self, request: Request, run: Run) -> list[Translation]:
        """Translations of its sentences, as one request, without prefixes, says."""
        texts = self.sentences
        translations: dict[int, Translation] = {}
        for rows, asked in self.calls(request):
            batch = run([texts[row] for row in rows], asked)
            translations.update(zip(rows, batch, strict=True))
        return [translations[row] for row in range(len(texts))]

    def written(self, translator: Translator, translations: Sequence[Translation]) -> str:
        """The document with given translations of its sentences.

        Args:
            translator: Whose tokenizers and heads say what came from where.
            translations: One for each of `sentences`, those with markup made with alignment.
        """
        pieces = self.pieces(translator, translations)
        return "".join(piece for piece in pieces if isinstance(piece, str))

    def pieces(
        self, translator: Translator, translations: Sequence[Translation]
    ) -> Iterator[str | Member]:
        """As `written`, in the pieces that the reader handed over."""
        answers = zip(translations, self._links(translator, translations), strict=True)
        done = _Done(translator.languages, self.prepared, answers)
        for part in self.parts:
            if isinstance(part, str | Member):
                yield part
                continue
            for inside in inner_parts(part):
                done.take(inside)
            yield done.texts[id(part)]

    def _links(self, translator: Translator, translations: Sequence[Translation]) -> list[Links]:
        """Links of all sentences; where markup covers all or nothing, no model is asked."""
        rows = [row for row, needed in enumerate(self._marked) if needed]
        texts = self.sentences
        sources, results = [texts[row] for row in rows], [translations[row] for row in rows]
        links = dict(zip(rows, linked(translator, sources, results), strict=True))
        return [
            links.get(row) or entire(text, translations[row].text) for row, text in enumerate(texts)
        ]


class _Done:
    """What the blocks of a document became, each taken after those inside it."""

    def __init__(
        self,
        languages: tuple[str, str],
        prepared: Sequence[Prepared],
        answers: Iterator[tuple[Translation, Links]],
    ) -> None:
        self.texts: dict[int, str] = {}
        self._languages, self._answers = languages, answers
        self._prepared = {id(each.block): each for each in prepared}

    def take(self, part: Block | LanguageCode | Arranged) -> None:
        """Writes a block, or what the languages say."""
        if id(part) in self.texts:
            return
        if isinstance(part, LanguageCode):
            self.texts[id(part)] = part.written(self._languages)
        elif isinstance(part, Arranged):
            texts = [self.texts[id(block)] for block in part.blocks]
            self.texts[id(part)] = part.written(self._languages, texts)
        else:
            self.texts[id(part)] = self._block(self._prepared[id(part)])

    def _block(self, prepared: Prepared) -> str:
        if not prepared.is_text:
            return self._original(prepared.block)
        sentences: list[Sentence] = []
        changed = False
        for source in prepared.sources:
            if source.is_text:
                translation, links = next(self._answers)
                changed = changed or translation.text not in ("", source.text)
                sentences.append(finished(source, links, translation))
            else:
                sentences.append(kept(source, prepared.layout))
        if not changed:
            return self._original(prepared.block)
        placed = project(prepared.layout, sentences)
        return written(prepared.block, prepared.layout, placed, self.texts)

    def _original(self, block: Block) -> str:
        """A block whose own text stays, with what the blocks inside it became."""
        return "".join(
            part if isinstance(part, str) else self.texts[id(part)] for part in block.kept
        )
