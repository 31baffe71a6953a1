"""A head's votes over a text as a lexicon: a static shortlist for toolkits that have no head.

A source token's entry for a target token is the head's mean probability for it over the token's
occurrences, none where it did not vote: how often and how surely in one number. EOS stands in every
sentence; its row holds what the head finds likely anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.engines.engine import Engine, FloatArray
from sieve.log import progress
from sieve.selection.aligners.translation_table import TranslationTable
from sieve.selection.lexicon import Lexicon, lexicon_of_table
from sieve.selection.selectors import log_odds
from sieve.tokenize.vocabulary import IntArray

_AT_ONCE = 16
"""Sentences: their votes at every position are (T, V) numbers each."""


@dataclass(frozen=True)
class DistilOptions:
    """Which votes count, and how many stay."""

    threshold: float
    """λ above which the head votes for a token."""
    top: int = 200
    """Target tokens kept for each source token."""


def lexicon_of_head(
    engine: Engine[Any],
    src_ids: Sequence[IntArray],
    sizes: tuple[int, int],
    options: DistilOptions,
) -> Lexicon:
    """What a head votes for with each source token.

    Args:
        engine: Of a model with a head.
        src_ids: The text, as the encoder reads it.
        sizes: Tokens of the source and the target vocabulary.
        options: Which votes count.
    """
    votes = _VoteSums(sizes, engine.specials.all)
    cut = log_odds(options.threshold)
    starts = range(0, len(src_ids), _AT_ONCE)
    for start in progress(starts, unit=" batches", label="distilling"):
        batch = src_ids[start : start + _AT_ONCE]
        logits = engine.position_logits(engine.encode(batch))
        votes.add(np.concatenate(batch), np.concatenate(logits), cut)
    return lexicon_of_table(votes.table(), votes.sentences, options.top)


class _VoteSums:
    """Probabilities summed for each pair of tokens; memory grows with distinct pairs only."""

    def __init__(self, sizes: tuple[int, int], without: frozenset[int]) -> None:
        self._src_size, self._tgt_size = sizes
        self._without = sorted(without)
        self._occurrences = np.zeros(self._src_size, np.int64)
        self.sentences = np.zeros(self._tgt_size, np.int64)
        """How often each target token was voted for, by any source token."""
        # pairs as source · V_tgt + target, sorted, and the sum of each
        self._keys = np.empty(0, np.int64)
        self._sums = np.empty(0, np.float64)
        self._waiting: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []

    def add(self, src_ids: IntArray, logits: FloatArray, cut: float) -> None:
        """Votes (N, V) of N source tokens."""
        chosen = logits > np.float32(cut)
        chosen[:, self._without] = False
        rows, targets = np.nonzero(chosen)
        self._occurrences += np.bincount(src_ids, minlength=self._src_size)
        self.sentences += np.bincount(targets, minlength=self._tgt_size)
        keys = src_ids[rows].astype(np.int64) * self._tgt_size + targets
        sums = 1.0 / (1.0 + np.exp(-logits[rows, targets].astype(np.float64)))
        self._waiting.append((keys, sums))
        if sum(len(waiting) for waiting, _ in self._waiting) > len(self._keys):
            self._merge()

    def table(self) -> TranslationTable:
        """Mean probabilities, by source token."""
        self._merge()
        src_ids, targets = np.divmod(self._keys, self._tgt_size)
        offsets = np.searchsorted(src_ids, np.arange(self._src_size + 1)).astype(np.int64)
        means = (self._sums / self._occurrences[src_ids]).astype(np.float32)
        return TranslationTable(offsets, targets.astype(np.int32), means)

    def _merge(self) -> None:
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._waiting)])
        sums = np.concatenate([self._sums, *(sums for _, sums in self._waiting)])
        self._waiting = []
        self._keys, places = np.unique(keys, return_inverse=True)
        self._sums = np.zeros(len(self._keys))
        np.add.at(self._sums, places, sums)
