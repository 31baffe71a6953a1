"""A dial that speaks of recall or of tokens instead of λ: thresholds measured on development text.

Stored with a model: for a row of thresholds, which share of the model's own output tokens the
shortlists held, and how many tokens they had. Between two measured points the safer one is taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sieve.errors import ConfigError, ModelError

DEFAULT_THRESHOLD = 0.9
"""λ of a model that was not calibrated, as in the paper."""
DEFAULT_FALL = 0.015
"""Log-odds by which λ falls for each source token beyond `LONG` of `sieve.selection.plan`, in a
model that is calibrated: one number for all models, chosen on paragraphs of newstest2017."""

_MOST_LOG_ODDS = 100.0  # beyond, λ is 0 or 1


@dataclass(frozen=True)
class DialPoint:
    """What one threshold did on the development text."""

    log_odds: float
    recall: float
    """Share (0 to 1) of the tokens of unrestricted translations that were in the shortlists."""
    mean_words: float
    most_words: float
    """99 of 100 shortlists had at most so many."""

    @property
    def threshold(self) -> float:
        """λ of the log-odds."""
        return 1.0 / (1.0 + math.exp(-self.log_odds))


@dataclass(frozen=True)
class Dial:
    """Thresholds by what they do."""

    sentences: int
    """Of the development text."""
    points: tuple[DialPoint, ...]
    """From short shortlists to long ones."""

    def for_recall(self, recall: float) -> float:
        """λ of the shortest shortlists that reached a recall.

        Args:
            recall: Share of the model's own output tokens, above 0 and below 1.
        """
        if not 0.0 < recall < 1.0:
            raise ConfigError(f"target recall: got {recall:g}, expected above 0 and below 1")
        for point in self.points:
            if point.recall >= recall:
                return point.threshold
        best = max(point.recall for point in self.points)
        raise ConfigError(
            f"target recall: got {recall:g}, this model was calibrated up to {best:.5f}; "
            "use --lossless for all tokens"
        )

    def for_size(self, size: int) -> float:
        """λ of the longest shortlists of which 99 in 100 had at most `size` tokens."""
        fitting = [point for point in self.points if point.most_words <= size]
        if not fitting:
            least = min(point.most_words for point in self.points)
            raise ConfigError(
                f"maximum shortlist size: got {size}, expected at least {math.ceil(least)} "
                "for this model"
            )
        return fitting[-1].threshold

    def as_json(self) -> dict[str, Any]:
        """As it is kept in config.json."""
        rows = [
            [round(p.log_odds, 4), round(p.recall, 6), round(p.mean_words, 1), p.most_words]
            for p in self.points
        ]
        return {"sentences": self.sentences, "points": rows}

    @classmethod
    def from_json(cls, content: object, where: str) -> Dial:
        """Reads what `as_json` gave.

        Args:
            content: Of config.json.
            where: What to name in an error.
        """
        try:
            if not isinstance(content, Mapping):
                raise TypeError
            points = tuple(DialPoint(*map(float, row)) for row in content["points"])
            sentences = int(content["sentences"])
            if not points or sentences < 0 or not _plausible(points):
                raise ValueError
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{where}: the calibration is damaged; run sieve calibrate again"
            ) from None
        return cls(sentences, points)


def _plausible(points: tuple[DialPoint, ...]) -> bool:
    """Whether these can have been measured: the lower the threshold, the more tokens."""
    ranges = all(
        abs(p.log_odds) <= _MOST_LOG_ODDS
        and 0 <= p.recall <= 1
        and 0 <= p.mean_words < math.inf
        and 0 <= p.most_words < math.inf
        for p in points
    )
    return ranges and all(
        before.log_odds > after.log_odds
        and before.recall <= after.recall
        and before.mean_words <= after.mean_words
        for before, after in pairwise(points)
    )
