"""Ratings to numbers (paper, table 5): the baseline at 100 %, intervals of a paired t-test.

A segment's rating of a system is the mean over annotators; segments are what is independent. With
differences d to the baseline b, a system has 100 · (1 + mean(d) / mean(b)) % and the interval of
the paired t-test of d, on the same scale. Sheets that are not complete are refused.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sieve.errors import InputError
from sieve.evaluate.human.human_sheets import Ratings
from sieve.evaluate.measure.statistics import Mean, mean, t_p_value

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SystemScore:
    """One system over all segments and annotators."""

    system: str
    rating: float
    """Mean on the scale of 1 to 6."""
    normalized: Mean
    """Percent of the baseline."""
    p_value: float | None
    """Of the paired t-test against the baseline; None for itself."""
    by_annotator: tuple[float, ...]
    """Percent of the baseline, of each annotator alone."""


@dataclass(frozen=True)
class Agreement:
    """How far annotators say the same; None where that cannot be said (one, or no variation)."""

    alpha: float | None
    """Krippendorff's, interval scale, over all outputs."""
    pearson: float | None
    """Of ratings of the same outputs, mean over pairs of annotators."""
    order: float | None
    """Share of pairs of systems on a segment that two annotators order alike, ties a kind too."""


@dataclass(frozen=True)
class HumanScore:
    """The outcome of an evaluation."""

    test: str
    baseline: str
    segments: int
    annotators: tuple[str, ...]
    missing: int
    """Annotators whose sheets were not given."""
    systems: tuple[SystemScore, ...]
    agreement: Agreement


def score(ratings: Ratings, baseline: str) -> HumanScore:
    """All numbers, the baseline first."""
    if baseline not in ratings.systems:
        raise InputError(
            f"baseline '{baseline}': was not rated; expected one of {', '.join(ratings.systems)}"
        )
    values = ratings.values  # (annotators, segments, systems)
    place = ratings.systems.index(baseline)
    order = [place, *(other for other in range(len(ratings.systems)) if other != place)]
    return HumanScore(
        ratings.test,
        baseline,
        values.shape[1],
        ratings.annotators,
        ratings.missing,
        tuple(_system(ratings, values, system, place) for system in order),
        agreement(values),
    )


def _system(ratings: Ratings, values: FloatArray, system: int, baseline: int) -> SystemScore:
    both = values[:, :, system], values[:, :, baseline]  # (annotators, segments) each
    own, base = (rated.mean(axis=0) for rated in both)
    level = float(base.mean())
    difference = mean((own - base).tolist())
    half = None if difference.interval is None else 100 * difference.interval / level
    return SystemScore(
        ratings.systems[system],
        float(own.mean()),
        Mean(100 + 100 * difference.value / level, half, difference.number),
        None if system == baseline else _p_value((own - base).tolist()),
        tuple(100 * float(a.mean() / b.mean()) for a, b in zip(*both, strict=True)),
    )


def _p_value(differences: Sequence[float]) -> float | None:
    number = len(differences)
    if number < 2:
        return None
    error = float(np.std(differences, ddof=1)) / math.sqrt(number)
    middle = float(np.mean(differences))
    if error == 0:
        return 1.0 if middle == 0 else 0.0
    return t_p_value(middle / error, number - 1)


def agreement(values: FloatArray) -> Agreement:
    """Of ratings (annotators, segments, systems)."""
    if len(values) < 2:
        return Agreement(None, None, None)
    flat = values.reshape(len(values), -1)  # (annotators, outputs)
    pairs = list(combinations(range(len(values)), 2))
    correlations = [_pearson(flat[a], flat[b]) for a, b in pairs]
    known = [value for value in correlations if value is not None]
    systems = list(combinations(range(values.shape[2]), 2))
    signs = np.stack([np.sign(values[:, :, a] - values[:, :, b]) for a, b in systems])
    alike = [float(np.mean(signs[:, a] == signs[:, b])) for a, b in pairs]
    return Agreement(
        _alpha(flat),
        float(np.mean(known)) if len(known) == len(pairs) else None,
        float(np.mean(alike)),
    )


def _alpha(flat: FloatArray) -> float | None:
    """1 − observed / expected disagreement, squared differences, nothing missing.

    The mean squared difference of two of m values is twice their variance with m − 1.
    """
    observed = float(flat.var(axis=0, ddof=1).mean())
    expected = float(flat.var(ddof=1))
    return None if expected == 0 else 1 - observed / expected


def _pearson(first: FloatArray, second: FloatArray) -> float | None:
    if first.std() == 0 or second.std() == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])
