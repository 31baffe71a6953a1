"""How likely a translation is the one that all tokens would give: a number from 0 to 1.

A logistic model of what a search over a shortlist leaves behind: how probable its tokens were,
the least probable of them, and by how much the least wanted exceeds the head's threshold.
Its weights are fitted by `sieve calibrate` and stored with the model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sieve.engines.engine import Hypothesis
from sieve.errors import ModelError

_MARGIN = 8.0  # more does not make it surer
_DIGITS = 6  # those that every C library's exp and log agree on
_MOST_ODDS = 500.0  # more is 0 or 1 in every digit
_LARGEST = 1e6  # weight
_STEPS, _DECAY = 50, 1e-3


def features(hypothesis: Hypothesis) -> list[float]:
    """What the model sees of a translation, a constant last."""
    scores = hypothesis.token_scores or (0.0,)
    margin = min(max(hypothesis.margin or 0.0, -_MARGIN), _MARGIN)
    mean = sum(scores) / len(scores)
    return [mean, max(min(scores), -_MARGIN), margin, math.log(len(scores)), 1.0]


@dataclass(frozen=True)
class Confidence:
    """Weights of the features."""

    weights: tuple[float, ...]

    def of(self, hypothesis: Hypothesis) -> float:
        """Probability that a search over all tokens gives the same translation."""
        pairs = zip(self.weights, features(hypothesis), strict=True)
        odds = sum(weight * value for weight, value in pairs)
        odds = min(max(odds, -_MOST_ODDS), _MOST_ODDS)
        return round(1.0 / (1.0 + math.exp(-odds)), _DIGITS)

    @classmethod
    def fit(cls, hypotheses: Sequence[Hypothesis], same: Sequence[bool]) -> Confidence:
        """Logistic regression by Newton's method, with a little decay.

        Args:
            hypotheses: Of a search over shortlists.
            same: Whether a search over all tokens gave the same.
        """
        x = np.array([features(hypothesis) for hypothesis in hypotheses])
        y = np.array(same, np.float64)
        weights = np.zeros(x.shape[1])
        for _ in range(_STEPS):
            p = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -30, 30)))
            gradient = x.T @ (p - y) + _DECAY * weights
            curvature = (x * (p * (1 - p))[:, None]).T @ x + _DECAY * np.eye(x.shape[1])
            step = np.linalg.solve(curvature, gradient)
            weights -= step
            if float(np.abs(step).max()) < 1e-9:
                break
        return cls(tuple(float(weight) for weight in weights))

    @classmethod
    def from_json(cls, content: object, where: str) -> Confidence:
        """Reads a list of weights.

        Args:
            content: Of config.json.
            where: What to name in an error.
        """
        try:
            values: npt.NDArray[np.float64] = np.array(content, np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.zeros(0)
        if (
            values.shape != (len(features(Hypothesis((), (), 0))),)
            or not (np.abs(values) <= _LARGEST).all()
        ):
            raise ModelError(
                f"{where}: the weights of confidence are damaged; run sieve calibrate again"
            )
        return cls(tuple(values.tolist()))
