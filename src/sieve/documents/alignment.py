"""Which characters of a translation come from which characters of its source.

Two witnesses: the model's alignment head, which names one source piece for each output piece, and
the selection head, in which every source piece votes for output pieces. The first is sharp and now
and then one word off; the second knows words rather than places. Together they err less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.repair.draft import Span, carried
from sieve.tokenize.tokenizer import Tokenizer
from sieve.tokenize.words import word_spans
from sieve.translate.translation import Translation
from sieve.translate.translator import Translator

Weights = npt.NDArray[np.float64]

_NEAR, _FAR = 0.3, 0.05
"""What the alignment head leaves to the neighbours of the piece it names, and to every piece."""
_AT_ONCE = 16
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, eq=False)
class Links:
    """Pieces of a translation and of its source, and how strongly each belongs to each."""

    source: tuple[Span, ...]
    """Characters of each source piece, T of them."""
    target: tuple[Span, ...]
    """Characters of each output piece, U of them."""
    words: tuple[int, ...]
    """Number of the word that an output piece is part of."""
    weights: Weights
    """(U, T); rows sum to 1, or to 0 where nothing is known."""


def unchanged(text: str) -> Links:
    """Links of a text that stays as it is."""
    spans = tuple(match.span() for match in _WORD.finditer(text))
    return Links(spans, spans, tuple(range(len(spans))), np.eye(len(spans)))


def entire(source: str, translation: str) -> Links:
    """Links of a sentence that markup covers as a whole or not at all: all comes from all."""
    spans = tuple(match.span() for match in _WORD.finditer(translation))
    return Links(((0, len(source)),), spans, tuple(range(len(spans))), np.ones((len(spans), 1)))


def linked(
    translator: Translator, sources: Sequence[str], translations: Sequence[Translation]
) -> list[Links]:
    """Links of translations that were made with `SearchOptions(alignment=True)`."""
    src, tgt = translator.tokenizers.source, translator.tokenizers.target
    src_ids = src.encode(list(sources))
    tgt_ids = [list(translation.ids) for translation in translations]
    votes = _votes(translator, src_ids, tgt_ids)
    links = []
    for source, translation, ids, pieces, logits in zip(
        sources, translations, src_ids, tgt_ids, votes, strict=True
    ):
        if not pieces:  # given back as it was
            links.append(unchanged(translation.text))
            continue
        weights = _attention(translation, len(pieces), len(ids))
        if logits is not None:
            weights = _mixed(weights, logits)
        numbers = [n for n, span in enumerate(word_spans(tgt, pieces)) for _ in span]
        target = carried(_spans(tgt, pieces), translation.edits)
        links.append(Links(_source_spans(src, source, ids), tuple(target), tuple(numbers), weights))
    return links


def _attention(translation: Translation, U: int, T: int) -> Weights:
    weights = np.zeros((U, T))
    for row, place in enumerate(translation.positions[:U]):
        if place < T:  # the end of the sentence stands for no word
            weights[row, place] = 1.0
    return weights


def _votes(
    translator: Translator, src_ids: Sequence[Sequence[int]], tgt_ids: Sequence[Sequence[int]]
) -> Iterator[Weights | None]:
    """Logits (U, T) of each sentence's own words; None where the model has no head.

    A few sentences at a time: what every source piece says of every word is large.
    """
    if translator.resources.threshold is None:
        yield from [None] * len(src_ids)
        return
    engine, special = translator.engine, translator.tokenizers.source.specials
    for start in range(0, len(src_ids), _AT_ONCE):
        batch = src_ids[start : start + _AT_ONCE]
        encoded: Any = engine.encode([special.source_ids(ids) for ids in batch])
        for row, logits in enumerate(engine.position_logits(encoded)):
            head = len(special.source_prefix)
            yield logits[head:-1, tgt_ids[start + row]].T.astype(np.float64)


def _mixed(attention: Weights, logits: Weights) -> Weights:
    """Both witnesses as one, (U, T): shares are multiplied, as of two that know different things.

    An article gets votes from every noun and follows the alignment head; a noun or a verb gets its
    votes from one word and follows those.
    """
    if not logits.size:
        return attention
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    nearby = attention + _NEAR * (_shifted(attention, 1) + _shifted(attention, -1)) + _FAR
    both: Weights = nearby * shares
    both /= both.sum(axis=1, keepdims=True)
    return both


def _shifted(weights: Weights, by: int) -> Weights:
    moved = np.zeros_like(weights)
    if by > 0:
        moved[:, by:] = weights[:, :-by]
    else:
        moved[:, :by] = weights[:, -by:]
    return moved


def _source_spans(tokenizer: Tokenizer, text: str, ids: Sequence[int]) -> tuple[Span, ...]:
    """Characters of each piece in a source; of words that are not spelled as given, all of them."""
    spans = _spans(tokenizer, ids)
    if tokenizer.decode([list(ids)])[0] == text:
        return spans
    words = [match.span() for match in re.finditer(r"\S+", text)]
    pieces = tokenizer.encode([text[start:end] for start, end in words])
    if sum(map(len, pieces)) != len(ids):  # pieces that reach across spaces
        return spans
    return tuple(
        (start + a, start + b) if same else (start, end)
        for (start, end), own in zip(words, pieces, strict=True)
        for same in (tokenizer.decode([own])[0] == text[start:end],)
        for a, b in _spans(tokenizer, own)
    )


def _spans(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[Span, ...]:
    """Characters of each piece in the text that the pieces make; spaces belong to no piece."""
    prefixes = tokenizer.decode([list(ids[:end]) for end in range(len(ids) + 1)])
    ends = np.maximum.accumulate(list(map(len, prefixes))).tolist()
    text, spans = prefixes[-1], []
    for start, end in pairwise(ends):
        end = min(end, len(text))
        start = min(start, end)
        while start < end and text[start].isspace():
            start += 1
        spans.append((start, end))
    return tuple(spans)
