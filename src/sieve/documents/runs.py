"""Arithmetic of runs: which stretch of a row of pieces is best, and where words and marks end."""

import numpy as np

from sieve.documents.alignment import Links, Weights
from sieve.repair.draft import Span


def by_word(links: Links) -> Weights:
    """Weights with all pieces of an output word alike."""
    if not links.words:
        return links.weights
    numbers = np.array(links.words)
    sums = np.zeros((numbers.max() + 1, links.weights.shape[1]))
    np.add.at(sums, numbers, links.weights)
    totals = sums.sum(axis=1, keepdims=True)
    shares: Weights = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    alike: Weights = shares[numbers]
    return alike


def best_run(scores: Weights) -> Span | None:
    """The run with the highest sum, the shortest of several; None where no sum is above 0."""
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    least = np.minimum.accumulate(sums)
    gains = sums - least
    last = int(gains.argmax())
    if gains[last] <= 1e-6:
        return None
    first = int(np.flatnonzero(sums[: last + 1] <= least[last] + 1e-6)[-1])
    return first, last


def leading_marks(text: str) -> int:
    """How many characters a text begins with that are neither letter nor digit."""
    return next((place for place, c in enumerate(text) if c.isalnum()), len(text))


def is_edge(text: str, place: int) -> bool:
    """Whether no word goes on over this place."""
    return not (0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum())
