"""Recall of vocabulary selection: which share of the tokens a sentence needs is in its shortlist.

One definition for validation, evaluation and the tests. Works on max-pooled logits (B, V) that
come batch by batch, or on explicit sets; knows no model and no tokenizer.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.errors import ConfigError
from sieve.selection.selectors import log_odds
from sieve.tokenize.vocabulary import OWN, Specials

Ids = Sequence[int] | npt.NDArray[Any]
FloatArray = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Recall:
    """One point of the curve; the vocabulary size stands beside every such number."""

    recall: float
    """Share (0 to 1) of a sentence's unique target tokens in its set, averaged over sentences."""
    mean_size: float
    """Mean number of tokens in a shortlist, EOS included."""
    vocab_size: int
    threshold: float | None = None
    """λ: tokens with logit > log(λ / (1 − λ)) are selected. None for shortlists from elsewhere."""

    def __str__(self) -> str:
        return f"{100 * self.recall:.1f} at {self.mean_size:.0f} of {self.vocab_size}"


def needed_tokens(reference: Ids, specials: Specials = OWN) -> npt.NDArray[np.int64]:
    """The unique tokens of a reference that selection has to find: no EOS, start or padding."""
    ids = np.unique(np.asarray(reference, dtype=np.int64))
    never = [index for index in (specials.pad, specials.start, specials.eos) if index is not None]
    return np.setdiff1d(ids, never)


class RecallMeter:
    """Recall at given thresholds and mean shortlist sizes, from logits that come in batches.

    "At a mean of N tokens" is one threshold for the whole test set: the lowest at which the
    shortlists, with EOS, hold at most N tokens on average. Equal logits fall on the same side.
    Memory does not grow with the vocabulary: max(sizes) · num_sentences logits are kept.

    A sentence with nothing to find counts for the shortlist size and not for recall.
    """

    def __init__(
        self,
        num_sentences: int,
        vocab_size: int,
        thresholds: Sequence[float] = (0.5, 0.9, 0.99),
        sizes: Sequence[int] = (500, 1000, 2000),
        specials: Specials = OWN,
    ) -> None:
        if any(size < 1 for size in sizes):
            raise ConfigError(f"got sizes {list(sizes)}, expected at least 1 (EOS is in each)")
        self._specials = specials
        self.num_sentences = num_sentences
        self.vocab_size = vocab_size
        self.thresholds: tuple[float, ...] = tuple(thresholds)
        self.sizes: tuple[int, ...] = tuple(sizes)
        self._odds = np.array([log_odds(threshold) for threshold in thresholds])
        self._counts = np.zeros(len(self.thresholds), np.int64)  # tokens selected, EOS not counted
        self._seen = 0
        # EOS is always in, so it takes one place a sentence; one more shows where the cut lies
        self._capacity = (max(self.sizes, default=1) - 1) * num_sentences + 1
        self._top: npt.NDArray[np.float32] = np.empty(0, np.float32)
        self._floor = -math.inf  # logits at or below it are not among the largest any more
        self._needed: list[npt.NDArray[np.float32]] = []  # logits of the tokens to find, a sentence

    def add(self, logits: FloatArray, references: Sequence[Ids]) -> None:
        """Adds a batch: max-pooled logits (B, V) and the target tokens of each sentence."""
        if logits.shape != (len(references), self.vocab_size):
            raise ValueError(
                f"logits {logits.shape}, expected {(len(references), self.vocab_size)}"
            )
        self._seen += len(references)
        if self._seen > self.num_sentences:
            raise ValueError(f"{self._seen} sentences, but {self.num_sentences} were announced")
        logits = np.array(logits, dtype=np.float32)  # (B, V), a copy
        for row, reference in zip(logits, references, strict=True):
            self._needed.append(row[needed_tokens(reference, self._specials)])
        logits[:, self._specials.eos] = -np.inf
        for index, odds in enumerate(self._odds):
            self._counts[index] += np.count_nonzero(logits > odds)
        if self.sizes:
            self._keep(logits[logits > self._floor])

    def at_thresholds(self) -> list[Recall]:
        """One point for each threshold λ, in the given order."""
        return [
            self._point(float(odds), int(count), threshold)
            for odds, count, threshold in zip(
                self._odds, self._counts, self.thresholds, strict=True
            )
        ]

    def in_reach(self) -> list[float]:
        """For each mean shortlist size the share of the sentences none of whose tokens is missing.

        Sentences with nothing to find do not count.
        """
        least = np.array([needed.min() for needed in self._needed if len(needed)])
        ordered = np.sort(self._top)[::-1]
        return [float(np.mean(least > self._cut(ordered, size))) for size in self.sizes]

    def at_sizes(self) -> list[Recall]:
        """One point for each mean shortlist size, in the given order."""
        ordered = np.sort(self._top)[::-1]
        points = []
        for size in self.sizes:
            odds = self._cut(ordered, size)
            selected = len(ordered) - int(np.searchsorted(ordered[::-1], odds, side="right"))
            points.append(self._point(odds, selected, _sigmoid(odds)))
        return points

    def _cut(self, ordered: FloatArray, size: int) -> float:
        """What a logit must exceed for shortlists of a mean size."""
        places = (size - 1) * self._seen  # for tokens other than EOS
        return float(ordered[places]) if places < len(ordered) else -math.inf

    def _point(self, odds: float, selected: int, threshold: float) -> Recall:
        shares = [float(np.mean(needed > odds)) for needed in self._needed if len(needed)]
        size = (self._seen + selected) / self._seen if self._seen else 0.0
        return Recall(_mean(shares), size, self.vocab_size, threshold)

    def _keep(self, candidates: npt.NDArray[np.float32]) -> None:
        """Keeps the `_capacity` largest logits so far."""
        self._top = np.concatenate([self._top, candidates])
        if len(self._top) >= 2 * self._capacity:
            cut = len(self._top) - self._capacity
            # a copy, so that the larger array can go
            self._top = np.partition(self._top, cut)[cut:].copy()
            self._floor = float(self._top.min())


def recall_of_sets(
    sets: Iterable[Ids],
    references: Sequence[Ids],
    vocab_size: int,
    weights: Sequence[float] | None = None,
    specials: Specials = OWN,
) -> Recall:
    """Recall of explicit sets, one for each sentence; EOS belongs to each, given or not.

    Args:
        sets: Ids of each.
        references: What they must hold.
        vocab_size: Stands beside the result.
        weights: How much each sentence counts for recall; None for the same.
        specials: Of the model.
    """
    shares, sizes, counts = [], [], []
    weights = weights or [1.0] * len(references)
    for shortlist, reference, weight in zip(sets, references, weights, strict=True):
        tokens = np.union1d(np.asarray(shortlist, dtype=np.int64), specials.eos)
        needed = needed_tokens(reference, specials)
        sizes.append(float(len(tokens)))
        if len(needed):
            shares.append(float(np.isin(needed, tokens).mean()) * weight)
            counts.append(weight)
    recall = math.fsum(shares) / math.fsum(counts) if counts else 0.0
    return Recall(recall, _mean(sizes), vocab_size)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _sigmoid(odds: float) -> float:
    if odds < 0:
        return math.exp(odds) / (1.0 + math.exp(odds))
    return 1.0 / (1.0 + math.exp(-odds))
