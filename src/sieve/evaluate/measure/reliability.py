"""Whether confidence says what it should: its deciles against what became of the translations.

A confidence of 0.9 promises that nine outputs in ten are those of a search over all tokens; it
should also be higher where a translation is better.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sieve.evaluate.measure.comparison import NONE
from sieve.evaluate.measure.quality import sentence_chrf
from sieve.translate.translation import Translation

PARTS = 10
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """Means over a tenth of the sentences, those with neighbouring confidences."""

    sentences: int
    confidence: float
    same: float
    """Share of outputs that are those of a search over all tokens."""
    chrf: float


@dataclass(frozen=True)
class Reliability:
    """Confidence of one selection on one set, the least sure tenth first."""

    model: str
    test: str
    selection: str
    deciles: tuple[Part, ...]
    correlation: float
    """Of the ranks of confidence and sentence chrF; 0 where one of them is always the same."""

    @property
    def gap(self) -> float:
        """Mean distance of a decile's confidence from its share of unchanged outputs."""
        return float(np.mean([abs(part.confidence - part.same) for part in self.deciles]))


def measure_reliability(
    model: str,
    test: str,
    translations: Mapping[str, Sequence[Translation]],
    references: Sequence[str],
) -> list[Reliability]:
    """Of each selection that gives confidences; lines without one were not translated.

    Args:
        model: To name in the result.
        test: To name in the result.
        translations: Translations of the set by selection, the unrestricted ones among them.
        references: One for each sentence.
    """
    measured = []
    for selection, lines in translations.items():
        rows = [row for row, line in enumerate(lines) if line.confidence is not None]
        if selection == NONE or not rows:
            continue
        texts = [lines[row].text for row in rows]
        sure = np.array([lines[row].confidence for row in rows], np.float64)
        same = np.array(
            [lines[row].text == translations[NONE][row].text for row in rows], np.float64
        )
        chrf = np.array(sentence_chrf(texts, [references[row] for row in rows]))
        deciles = _deciles(sure, same, chrf)
        measured.append(Reliability(model, test, selection, deciles, rank_correlation(sure, chrf)))
    return measured


def _deciles(sure: Floats, same: Floats, chrf: Floats) -> tuple[Part, ...]:
    order = np.argsort(sure, kind="stable")
    return tuple(
        Part(len(rows), *(float(values[rows].mean()) for values in (sure, same, chrf)))
        for rows in np.array_split(order, PARTS)
        if len(rows)
    )


def rank_correlation(first: Floats, second: Floats) -> float:
    """Spearman's ρ; equal values share the mean of their ranks."""
    ranks = np.stack([_ranks(first), _ranks(second)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    norms = np.sqrt((ranks**2).sum(axis=1))
    return float(ranks[0] @ ranks[1] / norms.prod()) if norms.all() else 0.0


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last: Floats = np.cumsum(counts).astype(np.float64)
    return (last - (counts - 1) / 2)[place]
