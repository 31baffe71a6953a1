"""How a word can be written in a tokenizer's pieces: for words a translation may or may not use.

Asks a tokenizer only for its pieces: ▁ before a word means SentencePiece, anything else words split
with @@. Knows nothing of search.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from sieve.tokenize.tokenizer import Tokenizer

_SPACE = "▁"
_JOIN = "@@"
_MOST_SPELLINGS = 200
_UNSPACED = re.compile("CJK|HIRAGANA|KATAKANA|THAI|LAO|KHMER|MYANMAR|TIBETAN")


@dataclass(frozen=True)
class Spelling:
    """One way to write a word."""

    ids: tuple[int, ...]
    at_word_start: bool
    """Whether these ids are the word only where no other word is going on before them."""


def pieces_of(tokenizer: Tokenizer, word: str) -> tuple[int, ...]:
    """Ids of every piece of a word, with and without a space before it."""
    ids = set(tokenizer.encode([word])[0])
    if _marks_spaces(tokenizer):
        text = tokenizer.normalize(word).replace(" ", _SPACE)
        shortest = sorted(_segmentations(tokenizer, text), key=len)[:1]
        ids.update(*shortest)
    return tuple(sorted(ids - tokenizer.specials.all))


def spellings(tokenizer: Tokenizer, word: str) -> list[Spelling]:
    """The ways to write a word: the tokenizer's own first, then others, shorter ones first.

    Spaces within it are part of it. Where words are written without spaces, a spelling counts
    anywhere; else one without a space before it counts only after something that is not a letter
    or digit.
    """
    text = tokenizer.normalize(word)
    own = tuple(tokenizer.encode([text])[0])
    if not own or tokenizer.specials.unk in own:
        return []
    if not _marks_spaces(tokenizer):
        return [Spelling(own, at_word_start=True)]
    unspaced = any(_UNSPACED.search(unicodedata.name(c, "")) for c in text)
    marked = text.replace(" ", _SPACE)
    known = [Spelling(own, at_word_start=False)]
    for form, at_start in ((_SPACE + marked, False), (marked, not unspaced)):
        for ids in sorted(_segmentations(tokenizer, form), key=len):
            spelling = Spelling(ids, at_start)
            if spelling not in known:
                known.append(spelling)
    return known


def open_ids(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Ids after which a word goes on, or may go on with a piece that has no space before it."""
    marks = _marks_spaces(tokenizer)
    kept = (index for index in range(tokenizer.vocab_size) if index not in tokenizer.specials.all)
    pieces = ((index, tokenizer.piece(index)) for index in kept)
    if not marks:
        return tuple(index for index, piece in pieces if piece.endswith(_JOIN))
    return tuple(
        index for index, piece in pieces if piece[-1:].isalnum() and not piece.endswith(">")
    )


def _marks_spaces(tokenizer: Tokenizer) -> bool:
    return tokenizer.piece_id(_SPACE) is not None


def _segmentations(tokenizer: Tokenizer, text: str) -> list[tuple[int, ...]]:
    """Ways to cut a text into pieces of the vocabulary, at most some; bytes are left out."""
    special = tokenizer.specials.all
    ends: list[list[tuple[int, int]]] = [[] for _ in text]  # per start: (end, id)
    for start in range(len(text)):
        for end in range(len(text), start, -1):
            index = tokenizer.piece_id(text[start:end])
            if index is not None and index not in special:
                ends[start].append((end, index))
    segmentations = []
    for ids in _walk(ends, 0, ()):
        segmentations.append(ids)
        if len(segmentations) == _MOST_SPELLINGS:
            break
    return segmentations


def _walk(
    ends: list[list[tuple[int, int]]], start: int, ids: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    if start == len(ends):
        yield ids
        return
    for end, index in ends[start]:
        yield from _walk(ends, end, (*ids, index))
