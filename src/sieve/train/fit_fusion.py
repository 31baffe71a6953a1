"""What a lexicon adds to a selection head, learnt from what the model itself writes.

Logistic regression of "the model writes this token" on the head's logit z, whose coefficient stays
1, and the token's rank in the lexicon:

    log-odds = z + c + bonus of the rank's bucket,  0 where no list has the token

The head is over-sure on purpose (λ_p, a calibrated bias): c undoes that. Logits are counted in
narrow bins, so that a fit costs the same for any amount of text. Knows no engine.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.evaluate.measure.recall import needed_tokens
from sieve.selection.fusion import EDGES, Fusion, best_ranks
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.vocabulary import OWN, IntArray, Specials

_CENTRES = np.arange(-40.0, 40.01, 0.05)  # logits of the bins
_DECAY = 1.0  # of bonuses: a bucket without tokens gets none
_STEPS = 200

Table = npt.NDArray[np.float64]


class FusionTally:
    """Counts tokens by bucket (0: not in a list), bin of their logit, and whether written."""

    def __init__(self, lexicon: Lexicon, specials: Specials = OWN) -> None:
        self._lexicon = lexicon
        self._specials = specials
        self._table = np.zeros((len(EDGES) + 1, len(_CENTRES), 2))

    def add(
        self,
        logits: npt.NDArray[np.floating[Any]],
        src_ids: Sequence[IntArray],
        outputs: Sequence[Sequence[int]],
    ) -> None:
        """Counts a batch: logits (B, V) of the head alone, sources, what the model writes."""
        width = _CENTRES[1] - _CENTRES[0]
        for row, ids, output in zip(logits, src_ids, outputs, strict=True):
            places = np.rint((row - _CENTRES[0]) / width)
            bins = np.clip(places, 0, len(_CENTRES) - 1).astype(np.int64)
            buckets = np.zeros(len(row), np.int64)
            targets, ranks = best_ranks(self._lexicon, ids, EDGES[-1])
            buckets[targets] = 1 + np.searchsorted(EDGES, ranks + 1)
            written = np.zeros(len(row), np.int64)
            written[needed_tokens(output, self._specials)] = 1
            keys = ((buckets * len(_CENTRES) + bins) * 2 + written)[self._counted(len(row))]
            counts = np.bincount(keys, minlength=self._table.size)
            self._table += counts.reshape(self._table.shape)

    def _counted(self, vocab_size: int) -> npt.NDArray[np.bool_]:
        """All but EOS, whose logit is high and which no output is said to hold, and its like."""
        special = (self._specials.pad, self._specials.start, self._specials.eos)
        counted = np.ones(vocab_size, np.bool_)
        counted[[index for index in special if index is not None]] = False
        return counted

    def fit(self) -> Fusion:
        """The most probable bonuses."""
        bonus = fitted(self._table, _CENTRES)[1:]
        return Fusion(EDGES, tuple(float(value) for value in bonus))


def fitted(table: Table, logits: Table) -> Table:
    """C and the bonuses of buckets 1, 2, … by Newton's method, a step halved until it helps.

    Args:
        table: (buckets, bins, 2) tokens that were not and that were written.
        logits: (bins,) of the head.
    """
    total, written = table.sum(axis=2), table[..., 1]
    decay = np.array([1e-6, *[_DECAY] * (len(table) - 1)])
    weights = np.zeros(len(table))

    def log_odds(weights: Table) -> Table:
        shift = np.concatenate(([0.0], weights[1:])) + weights[0]
        odds: Table = logits + shift[:, None]  # (buckets, bins)
        return odds

    def loss(weights: Table) -> float:
        odds = log_odds(weights)
        wrong = total * np.logaddexp(0.0, odds) - written * odds
        return float(wrong.sum() + 0.5 * (decay * weights**2).sum())

    for _ in range(_STEPS):
        p = 0.5 + 0.5 * np.tanh(0.5 * log_odds(weights))
        slope = (total * p - written).sum(axis=1)
        bend = (total * p * (1 - p)).sum(axis=1)
        gradient = np.array([slope.sum(), *slope[1:]]) + decay * weights
        curvature = np.diag(np.array([bend.sum(), *bend[1:]]) + decay)
        curvature[0, 1:] = curvature[1:, 0] = bend[1:]
        step, before = np.linalg.solve(curvature, gradient), loss(weights)
        while loss(weights - step) > before and np.abs(step).max() > 1e-9:
            step /= 2
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    return weights
