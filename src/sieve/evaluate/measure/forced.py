"""A neural metric that downloads nothing: how probable a translation is, in both directions.

As Prism does, a translation is scored by forced decoding: its log-probability given the source, by
a model of this direction, and the source's given it, by a model of the other one; each per token,
end included, over all tokens. The metric is the mean of both. It uses no reference. A model likes
its own outputs: judge by models that wrote none of the systems, or by the backward part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sieve.errors import InputError
from sieve.evaluate.measure.quality import RESAMPLES, Score
from sieve.translate.translator import Translator

NAME = "forced"
PARTS = ("forward", "backward")
_SEED = 12345
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ForcedDecoding:
    """Two models, one for each direction."""

    forward: Translator
    backward: Translator

    def __post_init__(self) -> None:
        if self.backward.languages != self.forward.languages[::-1]:
            raise InputError(
                f"forced decoding: got models of {'-'.join(self.forward.languages)} and "
                f"{'-'.join(self.backward.languages)}, expected both directions of one pair"
            )

    @property
    def signature(self) -> str:
        """What judged."""
        return f"forced:{'+'.join('-'.join(model.languages) for model in self._both)}|per:token"

    @property
    def _both(self) -> tuple[Translator, Translator]:
        return self.forward, self.backward

    def sentences(self, sources: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Log-probability per token of each sentence, forward and backward (N, 2)."""
        pairs = (sources, hypotheses), (hypotheses, sources)
        columns = [
            [line.score / len(line.token_scores) for line in model.score(*pair, "none")]
            for model, pair in zip(self._both, pairs, strict=True)
        ]
        scores: Floats = np.array(columns, np.float64).T
        return scores

    def compared(
        self,
        sources: Sequence[str],
        systems: Mapping[str, Sequence[str]],
        resamples: int = RESAMPLES,
    ) -> dict[str, Score]:
        """The metric of each system with a 95 % interval, and against the first one."""
        values_of: dict[str, Floats] = {}
        for name, hypotheses in systems.items():
            values_of[name] = self.sentences(sources, hypotheses).mean(1)
        baseline = next(iter(values_of.values()))
        scores = {}
        for place, (name, values) in enumerate(values_of.items()):
            p_value = difference(values - baseline, resamples) if place else None
            half = _interval(values, resamples)
            scores[name] = Score(NAME, float(values.mean()), self.signature, half, p_value)
        return scores


def difference(differences: Floats, resamples: int = RESAMPLES) -> float:
    """The p-value of a mean difference, by paired bootstrap as sacreBLEU's."""
    middle = differences.mean()
    further = np.abs(_means(differences, resamples) - middle) >= abs(middle)
    return float((further.sum() + 1) / (resamples + 1))


def _interval(values: Floats, resamples: int) -> float:
    """Half of the 95 % interval."""
    low, high = np.percentile(_means(values, resamples), (2.5, 97.5))
    return float(high - low) / 2


def _means(values: Floats, resamples: int) -> Floats:
    generator = np.random.default_rng(_SEED)
    rows = generator.integers(0, len(values), (resamples, len(values)))
    means: Floats = values[rows].mean(1)
    return means
