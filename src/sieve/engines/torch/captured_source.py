"""Encoded batches on a GPU in buffers of fixed shape, and the shortlists selected for them.

The head's logits decide; what is in a shortlist for another reason gets the logit +inf, so that one
comparison with the threshold is all there is to do, by a kernel or by torch.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sieve.bundle.config import ModelConfig
from sieve.engines.torch.output_tokens import AllTokens
from sieve.kernels.dispatch import SearchKernels
from sieve.selection.plan import Cuts, Plan
from sieve.tokenize.vocabulary import IntArray

Run = Callable[[], None]
FIXED = (64, 256, 1024, 4096)
"""Numbers of tokens that a sentence may have in its shortlist whatever the head says."""
_MOST = torch.finfo(torch.float32).max


@dataclass(frozen=True)
class Choice:
    """What is selected for a batch."""

    cuts: Cuts
    """(B,) a sentence's token is selected when its logit lies above."""
    least: int = 0
    """So many tokens are selected at least, the highest logits first."""
    fixed: tuple[IntArray, ...] = ()
    """Tokens that each sentence has anyway; none: no sentence has any."""

    @property
    def room(self) -> int:
        """The bucket of the longest list of fixed tokens; 0 without any."""
        longest = max(map(len, self.fixed), default=0)
        return bucket(FIXED, longest) if longest else 0


def supports(plan: Plan) -> bool:
    """Whether a plan is of the kind that is captured: all tokens, or what the head votes for."""
    if plan.exclude or plan.asked:
        return False
    votes = plan.votes
    return plan.everything or (votes is not None and votes.bonuses is None and votes.among is None)


def choice_of(plan: Plan, src_ids: Sequence[IntArray], eos: int) -> Choice | None:
    """What a plan that is supported selects for these sentences; None for all tokens."""
    if plan.everything or plan.votes is None:
        return None
    include = np.array(plan.include, np.int32)
    listed = plan.listed(src_ids, eos) or [include[:0]] * len(src_ids)
    fixed = tuple(np.concatenate((ids, include)) for ids in listed)
    # +inf, which marks fixed tokens, must lie above every threshold
    return Choice(np.minimum(plan.votes.cuts(src_ids), np.float32(_MOST)), plan.votes.least, fixed)


@dataclass(eq=False)
class Encoding:
    """Fixed buffers of one bucket of sources, and the work that fills them."""

    eos: int
    selects: tuple[int, int] | None
    """The least number of tokens and the room for fixed tokens; None for all tokens."""
    src_ids: Tensor
    """(B, T)"""
    cuts: Tensor
    """(B,) a sentence's token is selected when its logit lies above."""
    fixed: Tensor
    """(B, F) tokens that each sentence has anyway, EOS behind them."""
    memory: Tensor
    src_mask: Tensor
    logits: Tensor
    """(B, V) float32 of the selection head, +inf for what is in anyway; no rows for all tokens."""
    words: Tensor
    """(B, W) the selected tokens, as many as can be gathered."""
    sizes: Tensor
    """(B,) how many are selected."""
    encode: Run
    """Source ids to memory, and to the selected tokens where asked for."""


def bucket(sizes: Sequence[int], size: int) -> int:
    """The least of `sizes` that holds `size`."""
    place = bisect.bisect_left(sizes, size)
    return sizes[place] if place < len(sizes) else size


def new_buffers(
    everything: AllTokens,
    config: ModelConfig,
    shape: tuple[int, int],
    selects: tuple[int, int] | None,
    width: int,
) -> Encoding:
    """Buffers without work yet.

    Args:
        everything: All output tokens of the model.
        config: The model's.
        shape: Sentences and tokens (B, T).
        selects: The least number of tokens and the room for fixed tokens; None for all tokens.
        width: Most selected tokens of a sentence that are looked up one by one.
    """
    like, device, V = everything.weight, everything.bias.device, everything.vocab_size
    (B, T), N = shape, 0 if selects is None else shape[0]
    room = 0 if selects is None else selects[1]
    return Encoding(
        eos=config.eos,
        selects=selects,
        src_ids=torch.full((B, T), config.eos, device=device),
        cuts=torch.zeros(B, device=device),
        memory=like.new_zeros(B, T, config.d_model),
        src_mask=torch.ones(B, T, dtype=torch.bool, device=device),
        fixed=torch.full((N, room), config.eos, device=device),
        logits=torch.zeros(N, V, device=device),
        words=torch.zeros(N, width, dtype=torch.int64, device=device),
        sizes=torch.full((B,), V, device=device),
        encode=lambda: None,
    )


def load_choice(encoding: Encoding, choice: Choice) -> None:
    """Puts a choice into the buffers; rows behind the batch's sentences have no fixed tokens."""
    encoding.cuts[: len(choice.cuts)].copy_(torch.from_numpy(choice.cuts))
    if not encoding.fixed.shape[1]:
        return
    rows = np.full(tuple(encoding.fixed.shape), encoding.eos)
    for row, ids in zip(rows, choice.fixed, strict=False):
        row[: len(ids)] = ids
    encoding.fixed.copy_(torch.from_numpy(rows))


def mark_chosen(logits: Tensor, least: int, fixed: Tensor) -> Tensor:
    """Logits (B, V) with +inf for the `least` highest (ties too) and for tokens fixed (B, F)."""
    if least:
        lowest = logits.topk(min(least, logits.shape[1]), dim=1).values[:, -1:]
        logits = logits.masked_fill(logits >= lowest, torch.inf)
    if fixed.shape[1]:
        logits = logits.scatter(1, fixed, torch.inf)
    return logits


def chosen(encoding: Encoding) -> Tensor:
    """(B, V) whether a token is selected; EOS always is."""
    selected = encoding.logits > encoding.cuts[:, None]
    selected[:, encoding.eos] = True
    return selected


def compact(selected: Tensor, width: int) -> Tensor:
    """(B, width) places of the True in each row of selected (B, V), ascending; 0 behind them.

    Without a question to the host: each True goes to the column of its running number.
    """
    B, V = selected.shape
    column = selected.cumsum(dim=1, dtype=torch.int32) - 1
    column = column.masked_fill(~selected, width).clamp(max=width)  # the last one is thrown away
    places = torch.arange(V, device=selected.device).expand(B, V)
    words = torch.zeros(B, width + 1, dtype=torch.int64, device=selected.device)
    return words.scatter_(1, column.to(torch.int64), places)[:, :width]


def select_tokens(encoding: Encoding, kernels: SearchKernels | None) -> None:
    """Tokens and sizes from marked logits and the cuts."""
    if kernels is not None:
        buffers = encoding.words, encoding.sizes
        kernels.words.select(encoding.logits, encoding.cuts, *buffers, encoding.eos)
        return
    selected = chosen(encoding)
    torch.sum(selected, dim=1, out=encoding.sizes)
    encoding.words.copy_(compact(selected, encoding.words.shape[1]))
