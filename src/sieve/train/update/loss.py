"""The losses of training, each a sum; the loop divides by the update's global counts.

Translation (label-smoothed cross-entropy, sum over real tokens), neural vocabulary selection
(sum over sentences of the paper's per-sentence loss), guided alignment and reach (no probability
for tokens that selection leaves out). Tensors in, scalars out; knows no model.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from sieve.errors import ConfigError
from sieve.tokenize.vocabulary import EOS, PAD


@dataclass(frozen=True)
class PositiveWeight:
    """λ_p of the NVS loss: fixed, or `auto:x`, that is x · n_n / n_p of each sentence."""

    value: float
    auto: bool = False

    @classmethod
    def parse(cls, text: float | str) -> "PositiveWeight":
        """Reads 100000, "100000" or "auto:1.5"."""
        name, colon, factor = str(text).partition(":")
        auto = bool(colon) and name == "auto"
        try:
            value = float(factor if auto else str(text))
        except ValueError:
            value = 0.0
        if not 0.0 < value < float("inf"):
            raise ConfigError(
                f"positive_weight: got {text!r}, expected a positive number or auto:x, "
                "for example 100000 or auto:1"
            )
        return cls(value, auto)

    def typical(self, vocab_size: int, mean_positives: float) -> float:
        """The weight of a sentence with `mean_positives` unique target tokens."""
        if not self.auto:
            return self.value
        return self.value * (vocab_size - mean_positives) / mean_positives

    def of_sentences(self, vocab_size: int, positives: Tensor) -> Tensor:
        """The weight of each sentence with so many unique target tokens (B,)."""
        return _weights(self.value, self.auto, vocab_size, positives)


def label_smoothed_cross_entropy(
    logits: Tensor, targets: Tensor, smoothing: float, fused: bool = False
) -> Tensor:
    """Sum over real tokens of −Σ_i q_i log p_i with q = (1−ε)·onehot + ε/V.

    Args:
        logits: (..., V) unnormalized scores, any floating type.
        targets: (...) ids; PAD positions do not count.
        smoothing: ε; 0 gives the plain negative log-likelihood.
        fused: Use compiled kernels.
    """
    flat = logits.reshape(-1, logits.shape[-1])
    total: Tensor = _CrossEntropy.apply(  # type: ignore[no-untyped-call]
        flat, targets.reshape(-1), smoothing, fused
    )
    return total


class Reach(NamedTuple):
    """Which tokens each row of the logits may use."""

    tokens: Tensor
    """(B, V) bool, by sentence."""
    sentences: Tensor
    """(N,) the sentence that each row belongs to."""


def reachable_tokens(bow_logits: Tensor, tgt_out: Tensor, threshold: float) -> Tensor:
    """(B, V) the tokens a sentence may use: selected, in its target, or EOS; PAD never.

    Args:
        bow_logits: (B, V) logits of the NVS head; no gradient flows back to them.
        tgt_out: (B, U) target ids.
        threshold: λ; a token is selected when σ(bow_logits) ≥ λ.
    """
    reachable = bow_logits.detach() >= math.log(threshold / (1.0 - threshold))
    reachable.scatter_(1, tgt_out, True)
    reachable[:, EOS] = True
    reachable[:, PAD] = False
    return reachable


def cross_entropy_and_reach(
    logits: Tensor, targets: Tensor, reach: Reach, smoothing: float, fused: bool = False
) -> tuple[Tensor, Tensor]:
    """`label_smoothed_cross_entropy` and, apart, the loss of probability out of reach.

    The second is the sum over real tokens of log Σ_v exp(l_v) − log Σ_{v in S} exp(l_v), that is
    −log of the probability of the sentence's tokens S: how far renormalising over S moves a score.
    One pass over the logits gives both, another their gradient.

    Args:
        logits: (N, V) unnormalized scores, any floating type.
        targets: (N,) ids; PAD positions do not count.
        reach: S of each sentence, and the sentence of each row.
        smoothing: ε of the cross-entropy.
        fused: Use compiled kernels.
    """
    totals: tuple[Tensor, Tensor] = _CrossEntropyAndReach.apply(  # type: ignore[no-untyped-call]
        logits, targets, reach, smoothing, fused
    )
    return totals


def nvs_loss(
    bow_logits: Tensor, tgt_out: Tensor, positive_weight: PositiveWeight, fused: bool = False
) -> Tensor:
    """Sum over sentences of the paper's loss of neural vocabulary selection.

    L = −1/Z Σ_i [y_i log(z_i) λ_p + (1 − y_i) log(1 − z_i)],  Z = V + (λ_p − 1)·n_p,
    with z = σ(bow_logits), y the unique target tokens (EOS is one, PAD never) and n_p = Σ_i y_i.
    All V tokens enter the sum; a token that is not in the target, PAD too, is a negative.

    Args:
        bow_logits: (B, V) logits, maximum over source positions.
        tgt_out: (B, U) target ids.
        positive_weight: λ_p, fixed or by sentence.
        fused: Use compiled kernels.
    """
    logits = bow_logits.to(torch.promote_types(bow_logits.dtype, torch.float32))
    positives = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, tgt_out, True)
    positives[:, PAD] = False
    kernel = _kernel(_weighted_bce, fused)
    total: Tensor = kernel(logits, positives, positive_weight.value, positive_weight.auto)
    return total


def guided_alignment_loss(alignment: Tensor, link_index: Tensor, link_weight: Tensor) -> Tensor:
    """Sum over aligned target tokens of the cross-entropy against their links, spread evenly.

    Args:
        alignment: (B, U, T) log-probabilities of one cross-attention head.
        link_index: (L,) flat positions of the links in `alignment`.
        link_weight: (L,) one over the number of links of the target token.
    """
    picked = alignment.flatten().index_select(0, link_index)  # (L,)
    return -(picked.to(link_weight.dtype) * link_weight).sum()


def _weighted_bce(logits: Tensor, positives: Tensor, value: float, auto: bool) -> Tensor:
    V = logits.shape[-1]
    n_p = positives.sum(-1, dtype=logits.dtype)  # (B,)
    weight = _weights(value, auto, V, n_p)
    # −log σ(z) = softplus(−z) and −log(1 − σ(z)) = softplus(z)
    terms = torch.where(positives, weight[:, None] * F.softplus(-logits), F.softplus(logits))
    return (terms.sum(-1) / (V + (weight - 1.0) * n_p)).sum()


def _weights(value: float, auto: bool, V: int, n_p: Tensor) -> Tensor:
    """λ_p of each sentence (B,)."""
    if not auto:
        return torch.full_like(n_p, value)
    return value * (V - n_p) / n_p.clamp(min=1.0)


class _CrossEntropy(torch.autograd.Function):
    """Keeps only the logits and one number a row for the backward pass, which is pointwise."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, smoothing: float, fused: bool) -> Tensor:
        losses, normalizer = _kernel(_row_losses, fused)(logits, targets, smoothing)
        ctx.save_for_backward(logits, targets, normalizer)
        ctx.smoothing, ctx.fused = smoothing, fused
        total: Tensor = losses.sum()
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        logits, targets, normalizer = ctx.saved_tensors
        function = _row_gradients_pointwise if ctx.fused else _row_gradients
        kernel = _kernel(function, ctx.fused)
        gradient = kernel(logits, targets, normalizer, gradients[0], ctx.smoothing)
        return gradient, None, None, None


def _row_losses(logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """(N,) losses, 0 where the target is PAD, and (N,) log-normalizers."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    normalizer = wide.logsumexp(-1)
    picked = wide.gather(-1, targets[:, None])[:, 0]
    losses = normalizer - (1.0 - smoothing) * picked
    if smoothing:
        losses = losses - smoothing * wide.mean(-1)
    return losses.masked_fill(targets == PAD, 0.0), normalizer


def _row_gradients(
    logits: Tensor, targets: Tensor, normalizer: Tensor, upstream: Tensor, smoothing: float
) -> Tensor:
    """(N, V) gradient softmax − q, scaled by `upstream`, 0 where the target is PAD."""
    scale = torch.where(targets == PAD, 0.0, upstream)[:, None]  # (N, 1)
    softmax = (logits.to(normalizer.dtype) - normalizer[:, None]).exp_()
    gradient = softmax.sub_(smoothing / logits.shape[-1]) if smoothing else softmax
    hit = torch.full_like(normalizer, smoothing - 1.0)[:, None]
    gradient.scatter_add_(1, targets[:, None], hit)
    return gradient.mul_(scale).to(logits.dtype)


def _row_gradients_pointwise(
    logits: Tensor, targets: Tensor, normalizer: Tensor, upstream: Tensor, smoothing: float
) -> Tensor:
    """The same without a scatter: one kernel when compiled, wasteful when not."""
    scale = torch.where(targets == PAD, 0.0, upstream)[:, None]  # (N, 1)
    columns = torch.arange(logits.shape[-1], device=logits.device)
    hit = (columns == targets[:, None]) * (1.0 - smoothing)
    softmax = torch.exp(logits.to(normalizer.dtype) - normalizer[:, None])
    return ((softmax - smoothing / logits.shape[-1] - hit) * scale).to(logits.dtype)


class _CrossEntropyAndReach(torch.autograd.Function):
    """As _CrossEntropy, with a second number a row: the log-normalizer of the tokens in reach."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, targets: Tensor, reach: Reach, smoothing: float, fused: bool
    ) -> tuple[Tensor, Tensor]:
        kernel = _kernel(_row_losses_and_reach, fused)
        losses, distances, *normalizers = kernel(logits, targets, reach, smoothing)
        ctx.save_for_backward(logits, targets, *reach, *normalizers)
        ctx.smoothing, ctx.fused = smoothing, fused
        return losses.sum(), distances.sum()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        logits, targets, tokens, sentences, *normalizers = ctx.saved_tensors
        kernel = _kernel(_both_gradients, ctx.fused)
        reach = Reach(tokens, sentences)
        gradient = kernel(logits, targets, reach, tuple(normalizers), gradients, ctx.smoothing)
        return gradient, None, None, None, None


def _row_losses_and_reach(
    logits: Tensor, targets: Tensor, reach: Reach, smoothing: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(N,) both losses, 0 where the target is PAD, and (N,) log-normalizers of all tokens and S."""
    losses, normalizer = _row_losses(logits, targets, smoothing)
    outside = ~reach.tokens[reach.sentences]  # (N, V), in registers when compiled
    within = logits.to(normalizer.dtype).masked_fill(outside, -math.inf).logsumexp(-1)
    return losses, (normalizer - within).masked_fill(targets == PAD, 0.0), normalizer, within


def _both_gradients(
    logits: Tensor,
    targets: Tensor,
    reach: Reach,
    normalizers: tuple[Tensor, Tensor],
    upstream: tuple[Tensor, Tensor],
    smoothing: float,
) -> Tensor:
    """(N, V) gradient of both losses, that of the second softmax − softmax over S; pointwise."""
    normalizer, within = normalizers
    scale = torch.where(targets == PAD, 0.0, upstream[1])[:, None]  # (N, 1)
    wide = logits.to(normalizer.dtype)
    softmax = torch.exp(wide - normalizer[:, None])
    outside = ~reach.tokens[reach.sentences]
    renormalized = torch.exp(wide - within[:, None]).masked_fill(outside, 0.0)
    first = _row_gradients_pointwise(logits, targets, normalizer, upstream[0], smoothing)
    return (first + (softmax - renormalized) * scale).to(logits.dtype)


@functools.cache
def _kernel(function: Callable[..., Any], fused: bool) -> Callable[..., Any]:
    """The function, or its compiled form: one kernel instead of one for each operation."""
    return torch.compile(function, dynamic=True) if fused else function
