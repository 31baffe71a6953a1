"""Recall against mean shortlist size (paper, figures 3, 4, 6 and 7): encoded once, never decoded.

Every token gets a number, the head's logit or minus its best rank in the lexicon over the source
tokens; λ and k are then cuts through the same numbers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.engines.engine import Engine, FloatArray
from sieve.evaluate.measure.probes import Probe, batches
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import log_odds
from sieve.tokenize.vocabulary import IntArray

THRESHOLDS = (
    *(0.99, 0.97, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02, 1e-2),
    *(3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6),
)
"""The paper's, and some between them, so that little is left to interpolation."""
TOP = (*range(100, 1001, 100), *range(2000, 10_001, 1000))


@dataclass(frozen=True)
class Point:
    """One setting of a way to select."""

    setting: float
    """λ or k."""
    recall: float
    """Share (0 to 1) of the unique tokens needed, averaged over sentences as the probe weighs."""
    mean_size: float
    """Tokens in a shortlist, EOS included."""


@dataclass(frozen=True)
class Curve:
    """Recall in one scope of one set."""

    test: str
    scope: str
    method: str
    """`nvs` or `lexicon`."""
    sentences: int
    counted: int
    """Sentences that need any token in this scope."""
    tokens: int
    vocab_size: int
    points: tuple[Point, ...]
    model: str = ""

    def recall_at(self, size: float) -> float:
        """Recall at a mean size, between points interpolated in log(size); NaN outside."""
        points = sorted((point.mean_size, point.recall) for point in self.points)
        sizes, recalls = np.array(points).T
        recall = np.interp(np.log(size), np.log(sizes), recalls, left=np.nan, right=np.nan)
        return float(recall)


class _Meter:
    """Sizes and recalls at several cuts, summed over batches."""

    def __init__(self, cuts: Sequence[float], scopes: Sequence[str], eos: int) -> None:
        self._cuts = np.array(cuts, np.float32)
        self._sizes = np.zeros(len(cuts), np.int64)
        self._eos = eos
        self._seen = 0
        self._shares: dict[str, list[npt.NDArray[np.float64]]] = {scope: [] for scope in scopes}
        self._weights: dict[str, list[float]] = {scope: [] for scope in scopes}

    def add(self, values: FloatArray, probe: Probe, rows: Sequence[int]) -> None:
        """Takes values of all tokens (B, V), which it may change, of some rows of a probe."""
        values[:, self._eos] = math.inf  # in every shortlist
        self._seen += len(values)
        self._sizes += [np.count_nonzero(values > cut) for cut in self._cuts]
        for scope, needed in probe.needed.items():
            weights = probe.weights_of(scope, rows)
            for value, row, weight in zip(values, rows, weights, strict=True):
                if len(tokens := needed[row]):
                    self._shares[scope].append((value[tokens, None] > self._cuts).mean(axis=0))
                    self._weights[scope].append(weight)

    def points(self, scope: str, settings: Sequence[float]) -> tuple[Point, ...]:
        """A point for each cut."""
        shares = self._shares[scope]
        weights = self._weights[scope]
        recalls = np.average(shares, 0, weights) if shares else np.zeros(len(settings))
        sizes = self._sizes / max(1, self._seen)
        rows = zip(settings, recalls.tolist(), sizes.tolist(), strict=True)
        return tuple(Point(float(setting), recall, size) for setting, recall, size in rows)


def measure_curves(
    engine: Engine[Any],
    probe: Probe,
    lexicon: Lexicon | None,
    *,
    head: bool = True,
    done: Callable[[int], object] = lambda number: None,
) -> list[Curve]:
    """The head's curve and the lexicon's, in each scope of a probe.

    Args:
        engine: Of the model.
        probe: Sources and what they need.
        lexicon: None for no curve of it.
        head: Whether the model has a head to draw the curve of.
        done: Called with the number of sentences after each batch.
    """
    scopes = list(probe.needed)
    meters: dict[str, tuple[_Meter, Sequence[float]]] = {}
    if head:
        cuts = [log_odds(threshold) for threshold in THRESHOLDS]
        meters["nvs"] = _Meter(cuts, scopes, engine.specials.eos), THRESHOLDS
    if lexicon is not None:
        meters["lexicon"] = _Meter([-k for k in TOP], scopes, engine.specials.eos), TOP
    for rows, votes in batches(engine, probe.src_ids):
        if head:
            meters["nvs"][0].add(votes.logits, probe, rows)
        if lexicon is not None:
            ranks = [_ranks(lexicon, ids, max(TOP)) for ids in votes.src_ids]
            meters["lexicon"][0].add(-np.stack(ranks), probe, rows)
        done(len(rows))
    return [
        Curve(
            probe.name,
            scope,
            method,
            len(probe.src_ids),
            probe.counted(scope),
            probe.tokens(scope),
            engine.vocab_size,
            meter.points(scope, settings),
        )
        for scope in scopes
        for method, (meter, settings) in meters.items()
    ]


def _ranks(lexicon: Lexicon, src_ids: IntArray, most: int) -> FloatArray:
    """The best rank of each target token over the tokens of a sentence, from 0; else infinite."""
    best: FloatArray = np.full(lexicon.tgt_vocab_size, np.inf, np.float32)
    for token in np.unique(src_ids):
        start = int(lexicon.offsets[token])
        targets = lexicon.targets[start : min(start + most, int(lexicon.offsets[token + 1]))]
        # a row names no target twice
        best[targets] = np.minimum(best[targets], np.arange(len(targets), dtype=np.float32))
    return best
