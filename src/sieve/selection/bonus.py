"""What is added to the selection head's logits of a sentence's tokens: evidence from elsewhere.

A value that engines add before they compare with the threshold; knows neither where it comes from
nor who compares.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.selection.shortlist import ShortlistArray
from sieve.tokenize.vocabulary import IntArray


@dataclass(frozen=True, eq=False)
class Bonus:
    """Log-odds for some tokens of one sentence; all others get none."""

    ids: ShortlistArray
    """(N,) ascending, each once."""
    values: npt.NDArray[np.float32]
    """(N,)"""

    def __post_init__(self) -> None:
        if self.ids.dtype != np.int32 or self.values.dtype != np.float32:
            raise ValueError(f"bonuses of {self.ids.dtype} and {self.values.dtype}")
        if self.ids.ndim != 1 or self.ids.shape != self.values.shape:
            raise ValueError(f"bonuses of {self.ids.shape} ids and {self.values.shape} values")
        if not bool(np.all(self.ids[1:] > self.ids[:-1])):
            raise ValueError("the ids of bonuses must be sorted and unique")


Bonuses = Callable[[Sequence[IntArray]], Sequence[Bonus]]
"""Of each sentence, by its source ids."""


def entries(
    bonuses: Sequence[Bonus],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Sentence, id and value of all bonuses, (N,) each."""
    rows = np.repeat(np.arange(len(bonuses)), [len(bonus.ids) for bonus in bonuses])
    ids = np.concatenate([bonus.ids for bonus in bonuses]).astype(np.int64)
    return rows, ids, np.concatenate([bonus.values for bonus in bonuses])


def with_bonuses(
    logits: npt.NDArray[np.floating[Any]], bonuses: Sequence[Bonus]
) -> npt.NDArray[np.floating[Any]]:
    """Logits (B, V) with each sentence's bonuses; the same array where there are none."""
    if not bonuses:
        return logits
    rows, ids, values = entries(bonuses)
    total: npt.NDArray[np.floating[Any]] = logits.copy()
    total[rows, ids] += values  # each place once
    return total


def among_candidates(
    logits: npt.NDArray[np.floating[Any]], candidates: Sequence[ShortlistArray]
) -> npt.NDArray[np.floating[Any]]:
    """Logits (B, V), −∞ for what is no candidate of a sentence; the same array without any."""
    if not candidates:
        return logits
    left: npt.NDArray[np.floating[Any]] = np.full_like(logits, -np.inf)
    for row, ids in enumerate(candidates):
        left[row, ids] = logits[row, ids]
    return left
