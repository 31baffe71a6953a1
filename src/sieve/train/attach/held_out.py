"""Sentences that a head never learns from, and how much of them it reaches."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from sieve.evaluate.measure.recall import RecallMeter
from sieve.tokenize.vocabulary import Specials
from sieve.train.attach.labels import Labels, padded_states
from sieve.train.attach.quick_products import in_precision_of

_BATCH = 64


@dataclass(frozen=True)
class HeldOut:
    """What a head is judged by while it learns."""

    labels: Labels
    size: int
    """Mean size of the shortlists."""
    specials: Specials

    @torch.no_grad()
    def measure(self, head: nn.Module, embedding: Tensor) -> tuple[float, float]:
        """Recall of own tokens, and the share of sentences wholly in reach."""
        order = np.argsort(np.diff(self.labels.src_offsets), kind="stable")
        meter = RecallMeter(len(order), len(embedding), (), (self.size,), self.specials)
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH].tolist()
            states, mask = padded_states(self.labels, rows, embedding.device)
            with in_precision_of(embedding):
                logits = head(states, mask, embedding)
            meter.add(logits.cpu().numpy(), [self.labels.targets(row) for row in rows])
        (point,), (reach,) = meter.at_sizes(), meter.in_reach()
        return point.recall, reach
