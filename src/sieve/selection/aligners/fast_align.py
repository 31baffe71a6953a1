"""fast_align's model: IBM model 2 with a prior along the diagonal (Dyer et al. 2013).

    p(t_j | s) = p0 · θ(t_j | NULL) + (1 − p0) Σ_i a(i | j) θ(t_j | s_i),
    a(i | j) ∝ exp(−tension · |i/T − j/U|)

θ is estimated by variational EM with a Dirichlet prior, the tension by gradient steps. One
direction, from source to target; whoever wants the other swaps the sides. numpy only.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.data.corpus import Ragged
from sieve.selection.aligners.translation_table import TranslationTable
from sieve.selection.aligners.word_pairs import WordPairs

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]
Report = Callable[[int], None]
"""Told how many sentence pairs were worked through since it was last called."""

Shape = tuple[int, int, int]
"""Source length T, target length U, and how many pairs have them."""

_CELLS = 1 << 17  # of the matrices of a batch: they stay in the cache
_UNSEEN = np.float32(1e-9)  # θ of tokens that never met in training
_TENSION_STEPS = 8


@dataclass(frozen=True)
class FastAlignOptions:
    """Settings of the model; defaults are fast_align's recommended ones (-d -o -v)."""

    iterations: int = 5
    p_null: float = 0.08
    """Probability that a target token comes from no source token."""
    tension: float = 4.0
    """How strongly the diagonal is preferred, before it is estimated."""
    alpha: float = 0.01
    """Dirichlet prior of the translation probabilities."""


@dataclass(frozen=True)
class _Batch:
    """Sentence pairs of one shape, so that nothing is padded."""

    index: npt.NDArray[np.int64]
    """(B,) numbers of the pairs."""
    src: Ids
    """(B, T)."""
    tgt: Ids
    """(B, U)."""


class FastAlign:
    """A model of one direction: trained on sentence pairs, then aligns any."""

    name = "fast_align"

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        options: FastAlignOptions | None = None,
    ) -> None:
        self.options: FastAlignOptions = options or FastAlignOptions()
        self.passes: int = 1 + self.options.iterations
        self.tension: float = self.options.tension
        self._pairs = WordPairs(src_vocab_size, tgt_vocab_size)
        self._theta: Floats = np.zeros(0, np.float32)  # by place, and one more for unseen pairs
        self._theta_null: Floats = np.zeros(tgt_vocab_size, np.float32)
        self._met = np.zeros(tgt_vocab_size, bool)  # target tokens of the training data

    def train(
        self, src: Ragged, tgt: Ragged, weights: npt.NDArray[np.integer], report: Report
    ) -> None:
        """Estimates the model; each pair counts as often as its weight says."""
        for batch in _batches(src, tgt):
            self._pairs.add(self._pairs.keys(batch.src, batch.tgt).reshape(-1))
            report(len(batch.index))
        self._pairs.freeze()
        self._theta = np.ones(len(self._pairs) + 1, np.float32)
        self._met = np.bincount(tgt.ids, minlength=len(self._theta_null)) > 0
        self._theta_null[:] = 1.0
        shapes = _shapes(src, tgt, weights)
        for iteration in range(self.options.iterations):
            expected = self._expect(src, tgt, weights, report)
            if iteration > 0:
                self._fit_tension(expected.feature, shapes)
            self._maximize(expected)

    def align(self, src: Ragged, tgt: Ragged) -> npt.NDArray[np.int16]:
        """For each target token its most probable source position, -1 for none; flat as tgt."""
        positions = np.full(len(tgt.ids), -1, np.int16)
        for batch in _batches(src, tgt):
            places = self._pairs.places(self._pairs.keys(batch.src, batch.tgt), all_known=False)
            joint, null = self._joint(batch, places)
            best = joint.argmax(axis=2)  # (B, U)
            linked = np.take_along_axis(joint, best[:, :, None], 2)[:, :, 0] > null
            tokens = tgt.offsets[batch.index][:, None] + np.arange(batch.tgt.shape[1])
            positions[tokens] = np.where(linked, best, -1)
        return positions

    def table(self) -> TranslationTable:
        """θ(t | s) of all token pairs that met."""
        targets = np.concatenate(list(self._pairs.rows()))
        return TranslationTable(self._pairs.row_starts(), targets, self._theta[:-1])

    @classmethod
    def from_counts(
        cls, table: TranslationTable, tgt_counts: npt.NDArray[np.integer], tension: float
    ) -> "FastAlign":
        """A model that was not trained but read off a table of counts."""
        model = cls(len(table.offsets) - 1, len(tgt_counts))
        model.tension = tension
        src = np.repeat(np.arange(len(table.offsets) - 1), np.diff(table.offsets))
        keys = model._pairs.pair_keys(src, table.targets)
        model._pairs.add(keys)
        model._pairs.freeze()
        model._theta = np.full(len(model._pairs) + 1, _UNSEEN, np.float32)
        model._theta[model._pairs.places(keys, all_known=True)] = table.probabilities
        model._theta_null = (tgt_counts / max(int(tgt_counts.sum()), 1)).astype(np.float32)
        return model

    def _joint(self, batch: _Batch, places: npt.NDArray[np.int32]) -> tuple[Floats, Floats]:
        """(B, U, T) probability of each target token with each link, and (B, U) without one."""
        T, U = batch.src.shape[1], batch.tgt.shape[1]
        joint = self._theta[places]
        joint *= np.float32(1.0 - self.options.p_null) * _diagonal(_distances(T, U), self.tension)
        null: Floats = np.float32(self.options.p_null) * self._theta_null[batch.tgt]
        return joint, null

    def _expect(
        self, src: Ragged, tgt: Ragged, weights: npt.NDArray[np.integer], report: Report
    ) -> "_Expected":
        """The expected number of times each token pair is linked."""
        # float32: what a count of many millions loses is far below what sampling noise is
        counts = np.zeros(len(self._theta) - 1, np.float32)
        null_counts = np.zeros(len(self._theta_null), np.float64)
        feature = 0.0
        for batch in _batches(src, tgt):
            places = self._pairs.places(self._pairs.keys(batch.src, batch.tgt), all_known=True)
            posterior, null = self._joint(batch, places)
            weight = weights[batch.index].astype(np.float32)[:, None]
            total = (posterior.sum(axis=2) + null) / weight  # (B, U)
            posterior /= total[:, :, None]
            np.add.at(counts, places.reshape(-1), posterior.reshape(-1))
            null_counts += np.bincount(
                batch.tgt.reshape(-1), (null / total).reshape(-1), len(null_counts)
            )
            distances = _distances(batch.src.shape[1], batch.tgt.shape[1])
            feature -= float(np.tensordot(posterior.sum(axis=0), distances, 2))
            report(len(batch.index))
        return _Expected(counts, null_counts, feature)

    def _maximize(self, expected: "_Expected") -> None:
        """Variational M step: θ = exp(ψ(c + α) − ψ(Σ (c + α)))."""
        alpha = self.options.alpha
        starts = self._pairs.row_starts()
        sums = np.concatenate([[0.0], np.cumsum(expected.counts, dtype=np.float64)])
        lengths = np.diff(starts)
        totals = sums[starts[1:]] - sums[starts[:-1]] + alpha * lengths
        del sums
        denominators = _digamma(np.maximum(totals, alpha)).astype(np.float32)
        theta = _digamma(expected.counts + np.float32(alpha))
        theta -= np.repeat(denominators, lengths)
        np.exp(theta, out=theta)
        self._theta[:-1] = theta
        self._theta[-1] = _UNSEEN
        null = _digamma(expected.null_counts + alpha)
        null -= _digamma(np.array([expected.null_counts.sum() + alpha * self._met.sum()]))
        self._theta_null = np.where(self._met, np.exp(null), _UNSEEN).astype(np.float32)

    def _fit_tension(self, feature: float, shapes: list[Shape]) -> None:
        """Moves the tension until the prior expects the distances that the links have."""
        tokens = sum(U * weight for _, U, weight in shapes)
        for _ in range(_TENSION_STEPS):
            expected = 0.0
            for T, U, weight in shapes:
                distances = _distances(T, U)
                expected -= weight * float((_diagonal(distances, self.tension) * distances).sum())
            self.tension += 20.0 * (feature - expected) / tokens
            self.tension = min(max(self.tension, 0.1), 14.0)


@dataclass(frozen=True)
class _Expected:
    """What one pass over the pairs expects of the hidden links."""

    counts: Floats
    null_counts: npt.NDArray[np.float64]
    feature: float
    """Minus the expected distance of the links from the diagonal, summed."""


def _by_shape(src: Ragged, tgt: Ragged) -> Iterator[tuple[int, int, npt.NDArray[np.int64]]]:
    """T, U and the numbers of the pairs that have this shape; pairs with an empty side are left."""
    T, U = src.lengths, tgt.lengths
    order = np.lexsort((U, T))
    order = order[(T[order] > 0) & (U[order] > 0)]
    changes = (np.diff(T[order], prepend=-1) != 0) | (np.diff(U[order], prepend=-1) != 0)
    for index in np.split(order, np.flatnonzero(changes)[1:]):
        if len(index):
            yield int(T[index[0]]), int(U[index[0]]), index


def _batches(src: Ragged, tgt: Ragged) -> Iterator[_Batch]:
    for T, U, index in _by_shape(src, tgt):
        step = max(1, _CELLS // (T * U))
        for start in range(0, len(index), step):
            part = index[start : start + step]
            yield _Batch(
                part,
                src.ids[src.offsets[part][:, None] + np.arange(T)],
                tgt.ids[tgt.offsets[part][:, None] + np.arange(U)],
            )


def _shapes(src: Ragged, tgt: Ragged, weights: npt.NDArray[np.integer]) -> list[Shape]:
    return [(T, U, int(weights[index].sum())) for T, U, index in _by_shape(src, tgt)]


def _distances(T: int, U: int) -> npt.NDArray[np.float32]:
    """(U, T) distance of each cell from the diagonal."""
    i, j = np.arange(1, T + 1) / T, np.arange(1, U + 1) / U
    return np.abs(i[None, :] - j[:, None]).astype(np.float32)


def _diagonal(distances: Floats, tension: float) -> Floats:
    """(U, T): a(i | j), summing to one for each target position."""
    prior = np.exp(-np.float32(tension) * distances)
    normed: Floats = prior / prior.sum(axis=1, keepdims=True)
    return normed


def _digamma(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """ψ(x) for x > 0, by its recurrence up to x + 6 and the asymptotic series there."""
    result = np.zeros_like(x)
    for step in range(6):
        result -= 1.0 / (x + step)
    shifted = x + 6.0
    inverse = 1.0 / (shifted * shifted)
    result += np.log(shifted) - 0.5 / shifted
    result -= inverse * (1 / 12 - inverse * (1 / 120 - inverse / 252))
    return result
