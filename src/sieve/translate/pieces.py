"""A line far too long for one answer, translated piece by piece in little memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from sieve.segment import sentences
from sieve.translate.translation import Request

if TYPE_CHECKING:
    from sieve.translate.translator import Translator

_SENTENCES = 256
"""In one piece: enough to keep every core busy."""


@dataclass(frozen=True)
class Piece:
    """Some sentences of a line, translated."""

    text: str
    """Begins with the space behind the piece before it."""
    characters: int
    """Of the source."""


def translated_pieces(
    translator: Translator, line: str, request: Request, prefix: str = ""
) -> Iterator[Piece]:
    """The translation of a long line; together the pieces are what `run` gives for the line.

    Args:
        translator: What translates.
        line: Any number of sentences.
        request: For all of them.
        prefix: What the whole translation must begin with.
    """
    source, language = translator.tokenizers.source, translator.languages[1]
    parts = sentences.divided(
        line, lambda text: len(source.encode([text])[0]), translator.max_tokens
    )
    waiting = iter(parts)
    separator = ""
    while chunk := list(islice(waiting, _SENTENCES)):
        texts = [text for part in chunk if (text := part.strip())]
        first = (prefix, *[""] * (len(texts) - 1)) if prefix and texts else ()
        prefix = "" if texts else prefix
        translations = translator.run(texts, replace(request, prefixes=first))
        joined = sentences.join([translation.text for translation in translations], language)
        yield Piece(separator + joined if joined else "", sum(map(len, chunk)))
        separator = sentences.separator(language) if joined else separator
