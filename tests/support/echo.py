"""Translators whose translation is their source, in other capitals or in another order.

They read any text: every word and every mark is a piece, with an id from when it is first seen.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.selection.parsing import Resources
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import OWN, SPECIAL_PIECES, IntArray
from sieve.tokenize.words import word_spans
from sieve.translate.translator import Translator

_PIECE = re.compile(r" ?(?:\w+|[^\w\s])")
_SPACE = "▁"


class WordTokenizer:
    """Words and marks; what stands after a space begins with ▁."""

    specials = OWN
    fingerprint = "words"
    tags: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._pieces = [*SPECIAL_PIECES, _SPACE]
        self._ids = {piece: index for index, piece in enumerate(self._pieces)}

    @property
    def vocab_size(self) -> int:
        return len(self._pieces)

    def normalize(self, text: str) -> str:
        return text

    def take(self, piece: str) -> int:
        if piece not in self._ids:
            self._ids[piece] = len(self._pieces)
            self._pieces.append(piece)
        return self._ids[piece]

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        return [
            [self.take(piece.replace(" ", _SPACE)) for piece in _PIECE.findall(f" {line}")]
            for line in lines
        ]

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        texts = ("".join(self._pieces[index] for index in ids if index > 3) for ids in sentences)
        return [text.replace(_SPACE, " ").removeprefix(" ") for text in texts]

    def piece(self, index: int) -> str:
        return self._pieces[index]

    def piece_id(self, piece: str) -> int | None:
        return self._ids.get(piece)

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        raise NotImplementedError


class Echo:
    """An engine that gives back what it reads, forwards or backwards, each piece changed.

    Changes need a tokenizer that takes any piece.
    """

    def __init__(
        self, tokenizer: Any, change: Callable[[str], str] | None = None, backwards: bool = False
    ) -> None:
        self._tokenizer, self._change, self._backwards = tokenizer, change, backwards

    @property
    def vocab_size(self) -> int:
        return int(self._tokenizer.vocab_size)

    def translate(
        self,
        src_ids: Sequence[IntArray],
        selection: Any,
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        return [[self._hypothesis(ids.tolist()[:-1])] for ids in src_ids]

    def _hypothesis(self, ids: list[int]) -> Hypothesis:
        spans = word_spans(self._tokenizer, ids)
        order = spans[::-1] if self._backwards else spans
        places = [place for span in order for place in span]
        tokens = tuple(self._changed(ids[place]) for place in places)
        return Hypothesis(tokens, (0.0,) * (len(ids) + 1), 1, tuple(places))

    def _changed(self, token: int) -> int:
        if self._change is None:
            return token
        return int(self._tokenizer.take(self._change(self._tokenizer.piece(token))))


def echo(
    change: Callable[[str], str] | None = None,
    backwards: bool = False,
    languages: tuple[str, str] = ("", ""),
) -> Translator:
    """A translator that copies.

    Args:
        change: What becomes of each piece.
        backwards: Whether the last word comes first.
        languages: Codes of source and target.
    """
    tokenizer: Any = WordTokenizer()
    engine: Any = Echo(tokenizer, change, backwards)
    tokenizers = Tokenizers(tokenizer, tokenizer)
    return Translator(engine, tokenizers, Resources(threshold=None), languages)


def swapped(text: str) -> str:
    """ASCII capitals as small letters and the other way round."""
    return "".join(c.swapcase() if c.isascii() else c for c in text)
