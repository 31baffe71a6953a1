"""The loss of a selection head over a sample of the tokens.

The paper's loss: weighted cross-entropy of max-pooled logits, normalised by
Z = V + (λ_p − 1) · n_p. All tokens that some sentence of the batch needs are in the sample; others
are drawn, half of them evenly and half by how common they are, since common tokens are those that a
head is tempted to choose. Each drawn token counts for those it stands for.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from sieve.model.nvs import FullHead, TiedHead
from sieve.tokenize.vocabulary import IntArray
from sieve.train.attach.labels import Labels, padded_states
from sieve.train.attach.quick_products import in_precision_of
from sieve.train.update.loss import PositiveWeight

_SCALE = 100.0  # of the loss: a size that gradient clipping knows
_FLATTENED = 0.5  # power of the frequencies that tokens are drawn by


@dataclass(frozen=True, eq=False)
class Sampler:
    """Draws tokens that a batch does not need."""

    chances: npt.NDArray[np.float64]
    """(V,) of each token to be drawn next."""
    number: int
    """Tokens drawn, those drawn twice counted twice."""
    _steps: npt.NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_steps", np.cumsum(self.chances))

    @classmethod
    def by_frequency(cls, frequencies: Tensor, number: int) -> "Sampler":
        """Half evenly, half by the root of how many sentences need a token (V,)."""
        flat = (frequencies.double().numpy() + 1.0) ** _FLATTENED
        return cls(0.5 * flat / flat.sum() + 0.5 / len(flat), number)

    def draw(
        self, without: IntArray, generator: torch.Generator
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Tokens, and for how many tokens each counts; expected to add up to all others' sum."""
        at = torch.rand(self.number, generator=generator, dtype=torch.float64).numpy()
        places = np.searchsorted(self._steps, at * self._steps[-1], side="right")
        tokens, times = np.unique(places, return_counts=True)
        others = ~np.isin(tokens, without)
        tokens, times = tokens[others], times[others]
        return tokens, (times / (self.number * self.chances[tokens])).astype(np.float32)


@dataclass(frozen=True, eq=False)
class SampledLoss:
    """Of a head whose logits come from `embedding` or from weights of its own."""

    embedding: Tensor
    """The output embedding (V, D), in the precision of the products and on their device."""
    sampler: Sampler
    positive_weight: PositiveWeight
    """λ_p."""

    def __call__(
        self,
        head: TiedHead | FullHead,
        labels: Labels,
        rows: npt.NDArray[np.integer],
        generator: torch.Generator,
    ) -> Tensor:
        """The mean over sentences of a piece."""
        targets = [labels.targets(row) for row in rows.tolist()]
        positive, places = np.unique(np.concatenate(targets), return_inverse=True)
        drawn, counts = self.sampler.draw(positive, generator)
        needed = np.zeros((len(targets), len(positive) + len(drawn)), np.bool_)
        needed[np.repeat(np.arange(len(targets)), [len(ids) for ids in targets]), places] = True
        device = self.embedding.device
        wanted = torch.from_numpy(needed).to(device)
        tokens = torch.from_numpy(np.concatenate([positive, drawn]).astype(np.int64)).to(device)
        stands_for = np.concatenate([np.ones(len(positive), np.float32), counts])
        z = self._logits(head, *padded_states(labels, rows.tolist(), device), tokens)
        number = wanted.sum(1).float()
        weight = self.positive_weight.of_sentences(len(head.bias), number)
        total = len(head.bias) + (weight - 1) * number
        missed = weight[:, None] * F.softplus(-z)
        cost = torch.where(wanted, missed, F.softplus(z) * torch.from_numpy(stands_for).to(device))
        return (cost.sum(1) / total).mean() * _SCALE

    def _logits(
        self, head: TiedHead | FullHead, states: Tensor, mask: Tensor, tokens: Tensor
    ) -> Tensor:
        """Max-pooled logits (B, N) of some tokens, float32."""
        with in_precision_of(self.embedding):
            logits: Tensor = head(states, mask, self.embedding, tokens)
        return logits
