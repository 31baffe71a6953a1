"""Random draws that depend on seed, sentence, sample, step and token alone.

Noise comes from hashing those five, not from a generator with a state: what else is in a batch, the
device or the order of work cannot change a sample.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from sieve.engines.options import Sampling
from sieve.engines.torch.beams import Candidates
from sieve.engines.torch.output_tokens import OutputTokens

_MASK = 0xFFFFFFFF


def _mix(x: Tensor) -> Tensor:
    """A good 32-bit hash (lowbias32) of x < 2**32."""
    x = x ^ (x >> 16)
    x = (x * 0x7FEB352D) & _MASK
    x = x ^ (x >> 15)
    x = (x * 0x846CA68B) & _MASK
    return x ^ (x >> 16)


def draw(
    logits: Tensor, log_sums: Tensor, score: Tensor, words: OutputTokens, noise: "Noise"
) -> Candidates:
    """One continuation for each of a sentence's K samples.

    Args:
        logits: (N, S); what is −inf is never drawn.
        log_sums: (N,) log of the sum of exp(logits) before anything was blocked.
        score: (B, K) of the samples.
        words: What columns stand for.
        noise: Where randomness comes from.
    """
    B, K = score.shape
    S = logits.shape[1]
    scaled = logits.view(B, K, S).float()
    log_probs = scaled - log_sums.view(B, K, 1)
    if 0 < noise.options.top_k < S:
        kth = scaled.topk(noise.options.top_k, dim=2).values[..., -1:]
        scaled = scaled.masked_fill(scaled < kth, -torch.inf)
    columns = torch.arange(S, device=logits.device).expand(B, S)
    perturbed = scaled / noise.options.temperature + noise.next(words.ids(columns))
    column = perturbed.argmax(dim=2)  # (B, K)
    log_prob = log_probs.gather(2, column[..., None])[..., 0]
    beam = torch.arange(K, device=logits.device).expand(B, K)
    return Candidates(score + log_prob, log_prob, beam, words.ids(column))


class Noise:
    """The noise of a batch, step after step."""

    def __init__(self, keys: Tensor, samples: int, options: Sampling) -> None:
        numbers = torch.arange(samples, device=keys.device)
        self.keys: Tensor = _mix(keys[:, None] ^ _mix(numbers * 0xC2B2AE35 & _MASK))  # (B, K)
        self.step: Tensor = torch.zeros(1, dtype=torch.int64, device=keys.device)
        self.options = options

    def next(self, ids: Tensor) -> Tensor:
        """Standard Gumbel noise (B, K, S) of this step for token ids (B, S)."""
        rows = _mix(self.keys ^ _mix(self.step * 0x9E3779B1 & _MASK))
        self.step += 1
        bits = _mix(rows[..., None] ^ _mix(ids * 0x85EBCA6B & _MASK)[:, None])
        uniform = (bits.to(torch.float64) + 0.5) / 2.0**32
        return -torch.log(-torch.log(uniform)).float()

    def select(self, sentences: Sequence[int]) -> "Noise":
        """The noise of these sentences, in their order."""
        other = Noise(self.keys[:, 0], self.keys.shape[1], self.options)
        other.keys = self.keys[torch.tensor(sentences, device=self.keys.device)]
        other.step = self.step.clone()
        return other
