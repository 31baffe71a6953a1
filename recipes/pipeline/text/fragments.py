"""Phrases that teach a selection head to choose for less than a sentence.

A phrase pair is cut out of an aligned sentence pair by the rule of phrase-based translation: some
words in a row, at least one of them aligned, and the words from the first to the last that they
are aligned to, none of which is aligned to a word outside. Some are put in lower case on both
sides, as entries of a dictionary and queries are. All go without the punctuation at their ends.
"""

import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sieve.data.alignments import Alignments
from sieve.data.corpus import Corpus
from sieve.tokenize.tokenizer import Tokenizer

SHARE = 0.5  # of the pairs that a phrase is looked for in
LOWER = 0.5  # of the phrases
LONGEST = 7  # words of a source phrase
TRIES = 3  # phrases to look at before a pair is given up
_ENDS = " .,;:!?…'\"“”„‚‘’«»()[]{}-–—/*"

Link = tuple[int, int]
Span = tuple[int, int]


def partner(links: Sequence[Link], span: Span) -> Span | None:
    """The target words of some source words, both spans with their ends; None if they have none.

    >>> partner([(0, 0), (1, 2), (2, 1)], (1, 2))
    (1, 2)
    >>> partner([(0, 0), (1, 2), (2, 1), (3, 2)], (1, 2)) is None
    True
    """
    first, last = span
    inside = [target for source, target in links if first <= source <= last]
    if not inside:
        return None
    low, high = min(inside), max(inside)
    leaves = any(low <= t <= high and not first <= s <= last for s, t in links)
    return None if leaves else (low, high)


def phrase(words: int, links: Sequence[Link], rng: random.Random) -> tuple[Span, Span] | None:
    """Any consistent phrase of a pair whose source has so many words."""
    for _ in range(TRIES):
        length = rng.randint(1, min(LONGEST, words))
        first = rng.randint(0, words - length)
        span = (first, first + length - 1)
        if partners := partner(links, span):
            return span, partners
    return None


def word_starts(tokenizer: Tokenizer) -> npt.NDArray[np.bool_]:
    """(V,) whether a piece begins a word."""
    pieces = map(tokenizer.piece, range(tokenizer.vocab_size))
    return np.array([piece.startswith("▁") for piece in pieces])


class Words:
    """Where the words of a sentence of pieces are."""

    def __init__(self, ids: npt.NDArray[np.int32], starts: npt.NDArray[np.bool_]) -> None:
        begins = starts[ids]
        begins[:1] = True
        self._ids = ids
        self._edges = [*np.flatnonzero(begins).tolist(), len(ids)]
        self.of_piece: list[int] = (np.cumsum(begins) - 1).tolist()

    def __len__(self) -> int:
        return len(self._edges) - 1

    def pieces(self, span: Span) -> list[int]:
        """Of some words in a row."""
        first, last = span
        pieces: list[int] = self._ids[self._edges[first] : self._edges[last + 1]].tolist()
        return pieces


def finished(text: str, lower: bool) -> str:
    """A phrase as it is learned from."""
    text = text.strip(_ENDS)
    return text.lower() if lower else text


def fragments(corpus: Corpus, alignments: Alignments, seed: int) -> tuple[list[str], list[str]]:
    """Phrases from some of the pairs, each pair of phrases once; the same for the same seed.

    Args:
        corpus: Aligned pairs.
        alignments: Links between their pieces.
        seed: Decides which pairs and which of their words.
    """
    rng = random.Random(seed)
    tokenizers = corpus.tokenizers()
    starts = word_starts(tokenizers.source), word_starts(tokenizers.target)
    chosen = [pair for pair in range(corpus.num_pairs) if rng.random() < SHARE]
    phrases: tuple[list[list[int]], list[list[int]]] = ([], [])
    src, tgt = corpus.pairs(chosen)
    for row, pair in enumerate(chosen):
        source, target = Words(src[row], starts[0]), Words(tgt[row], starts[1])
        links = {
            (source.of_piece[s], target.of_piece[t]) for s, t in alignments.links(pair).tolist()
        }
        if spans := phrase(len(source), sorted(links), rng):
            phrases[0].append(source.pieces(spans[0]))
            phrases[1].append(target.pieces(spans[1]))
    texts = tokenizers.source.decode(phrases[0]), tokenizers.target.decode(phrases[1])
    lowered = [rng.random() < LOWER for _ in texts[0]]
    rows = (
        (finished(source, lower), finished(target, lower))
        for source, target, lower in zip(*texts, lowered, strict=True)
    )
    pairs = dict.fromkeys(row for row in rows if all(row))
    return [source for source, _ in pairs], [target for _, target in pairs]
