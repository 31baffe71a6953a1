"""Sentence pairs that batches are drawn from: a corpus, pairs in memory, or several mixed.

Knows neither batches nor what is done with the pairs. numpy only; no torch.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sieve.data.corpus import Ragged
from sieve.data.corpus_writer import ragged
from sieve.tokenize.vocabulary import IntArray


class PairSource(Protocol):
    """What batching needs of a corpus."""

    @property
    def num_pairs(self) -> int:
        """How many sentence pairs there are."""
        ...

    @property
    def src_lengths(self) -> IntArray:
        """Source tokens of every pair, EOS not counted."""
        ...

    @property
    def tgt_lengths(self) -> IntArray:
        """Target tokens of every pair, EOS not counted."""
        ...

    def pairs(self, indices: IntArray) -> tuple[Ragged, Ragged]:
        """The ids of the given pairs, in the given order."""
        ...


class Mixture:
    """Several corpora as one, each repeated a whole number of times in every epoch."""

    def __init__(self, sources: Sequence[PairSource], repeats: Sequence[int] | None = None) -> None:
        """Joins `sources`; pair ids count through them in order, repeats share their id."""
        self.sources: list[PairSource] = list(sources)
        self.repeats: list[int] = list(repeats) if repeats is not None else [1] * len(self.sources)
        counts = [source.num_pairs for source in self.sources]
        self.starts: IntArray = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self.src_lengths: IntArray = _joined([source.src_lengths for source in self.sources])
        self.tgt_lengths: IntArray = _joined([source.tgt_lengths for source in self.sources])

    @property
    def num_pairs(self) -> int:
        """Distinct pairs."""
        return int(self.starts[-1])

    def epoch_ids(self) -> IntArray:
        """Pair ids of one epoch, repeats included, not yet shuffled."""
        spans = zip(self.starts[:-1], self.starts[1:], self.repeats, strict=True)
        return np.concatenate([np.tile(np.arange(a, b, dtype=np.int64), r) for a, b, r in spans])

    def pairs(self, indices: IntArray) -> tuple[Ragged, Ragged]:
        """The ids of the given pairs; `indices` must be sorted."""
        if len(self.sources) == 1:
            return self.sources[0].pairs(indices)
        edges = np.searchsorted(indices, self.starts)
        parts = [
            source.pairs(indices[a:b] - start)
            for source, start, a, b in zip(
                self.sources, self.starts[:-1], edges[:-1], edges[1:], strict=True
            )
            if b > a
        ]
        return _joined_ragged([src for src, _ in parts]), _joined_ragged([tgt for _, tgt in parts])


class MemoryPairs:
    """Tokenized pairs held in memory: a PairSource for validation and small data."""

    def __init__(self, src: Sequence[Sequence[int]], tgt: Sequence[Sequence[int]]) -> None:
        """Takes token ids without BOS and EOS, one list a sentence."""
        self._src, self._tgt = ragged(src), ragged(tgt)
        self.src_lengths: IntArray = np.diff(self._src.offsets)
        self.tgt_lengths: IntArray = np.diff(self._tgt.offsets)

    @property
    def num_pairs(self) -> int:
        """How many sentence pairs there are."""
        return len(self.src_lengths)

    def pairs(self, indices: IntArray) -> tuple[Ragged, Ragged]:
        """The ids of the given pairs, in the given order."""
        return (
            _take(self._src, self.src_lengths, indices),
            _take(self._tgt, self.tgt_lengths, indices),
        )


def _take(sentences: Ragged, lengths: IntArray, indices: IntArray) -> Ragged:
    first, counts = sentences.offsets[indices], lengths[indices]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    flat = np.repeat(first - offsets[:-1], counts) + np.arange(offsets[-1])
    return Ragged(sentences.ids[flat], offsets)


def _joined(arrays: Sequence[IntArray]) -> IntArray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _joined_ragged(parts: Sequence[Ragged]) -> Ragged:
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    ids = np.concatenate([part.ids for part in parts])
    return Ragged(ids, np.concatenate([[0], np.cumsum(lengths)]))
