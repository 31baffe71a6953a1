"""Beam search on the device: which hypotheses live on, which have ended, and their history.

All buffers are fixed, no step asks the host anything. At each step the 2K best continuations of a
sentence's K hypotheses are found; those of the best K that end (by EOS or at the limit) are
finished, the best K that do not end live on. Equal values: the lower beam, then the lower id wins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sieve.engines.options import SearchOptions
from sieve.engines.torch.output_tokens import OutputTokens
from sieve.kernels.buffers import BeamBuffers, chunk_width
from sieve.tokenize.vocabulary import OWN, Specials


@dataclass(frozen=True, eq=False)
class Candidates:
    """Continuations of a sentence's hypotheses, best first: R of them."""

    value: Tensor
    """(B, R) score of the hypothesis with its new token."""
    log_prob: Tensor
    """(B, R) of the new token."""
    beam: Tensor
    """(B, R) the hypothesis that is continued."""
    ids: Tensor
    """(B, R) the new token."""


class Beams(BeamBuffers):
    """The bookkeeping on the buffers, in torch: the definition of what the kernels do."""

    @classmethod
    def create(
        cls,
        limits: Sequence[int],
        options: SearchOptions,
        device: torch.device,
        max_length: int,
        specials: Specials = OWN,
    ) -> Beams:
        """Buffers before the first step, for `limits` (B,) up to `max_length` (U) tokens."""
        B, K, U = len(limits), options.rows, max_length
        R = K if options.sampling else 2 * K

        def full(shape: tuple[int, ...], value: float, dtype: torch.dtype) -> Tensor:
            return torch.full(shape, value, dtype=dtype, device=device)

        lengths = torch.arange(U + 1, dtype=torch.float64).clamp(min=1)
        greedy = options.sampling is None and K == 1
        beams = cls(
            score=full((B, K), 0.0, torch.float32),
            ids=full((B, K), specials.first, torch.int64),
            done=full((B,), 0, torch.bool),
            final=full((B, K), -math.inf, torch.float32),
            final_at=full((B, K), -1, torch.int64),
            limit=full((B,), 0, torch.int64),
            ceiling=full((B,), 0.0, torch.float32),
            weights=(lengths**-options.length_penalty).to(device, torch.float32),
            position=full((1,), 0, torch.int64),
            history=full((U, B, R), 0, torch.int64),
            log_probs=full((U, B, R), 0.0, torch.float32),
            alive=full((U, B, K), 0, torch.int64),
            offsets=torch.arange(B, device=device)[:, None] * K,
            parents=torch.arange(B * K, device=device),
            ticket=full((1,), 0, torch.int32),
            aligned=full((U, B, K), 0, torch.int64) if options.alignment else None,
            enough=K if options.stop == "first" or greedy or options.sampling else K + 1,
            n_best=options.n_best,
            first=specials.first,
            eos=specials.eos,
        )
        beams.limit.copy_(torch.tensor(limits))
        beams.reset(fixed=options.sampling is not None)
        return beams

    def reset(self, fixed: bool = False) -> None:
        """Back to before the first step, for other sentences with the limits now in `limit`."""
        self.ceiling.copy_(self.weights.index_select(0, self.limit))
        self.score.zero_()
        if not fixed:
            self.score[:, 1:] = -math.inf  # all hypotheses are still the same one
        self.ids.fill_(self.first)
        self.done.zero_()
        self.final.fill_(-math.inf)
        self.final_at.fill_(-1)

    def advance(self, candidates: Candidates, fixed: bool = False) -> None:
        """Lets the best candidates live on.

        Args:
            candidates: The candidates of this step.
            fixed: Hypothesis k goes on from candidate k, or dies where that ends (sampling).
        """
        B, K = self.score.shape
        R = candidates.ids.shape[1]
        self.history.index_copy_(0, self.position, ((candidates.beam << 32) | candidates.ids)[None])
        self.log_probs.index_copy_(0, self.position, candidates.log_prob[None])
        is_eos = candidates.ids == self.eos
        cut = self.limit <= self.position + 1  # (B,)
        self._finish(candidates, is_eos | cut[:, None])
        ranks = torch.arange(R, device=is_eos.device)
        if fixed:
            chosen = ranks.expand(B, R)
            value = candidates.value.masked_fill(is_eos, -math.inf)
        else:
            chosen = (ranks + R * is_eos).topk(K, largest=False).indices
            value = candidates.value.gather(1, chosen)
        self.alive.index_copy_(0, self.position, chosen[None])
        self.score.copy_(value.masked_fill((self.done | cut)[:, None], -math.inf))
        self.ids.copy_(candidates.ids.gather(1, chosen))
        self._end()
        self.parents.copy_((candidates.beam.gather(1, chosen) + self.offsets).flatten())

    def _finish(self, candidates: Candidates, ends: Tensor) -> None:
        """Merges ending candidates (B, R) among the best K into the finished hypotheses."""
        K, R = self.score.shape[1], ends.shape[1]
        ranks = torch.arange(K, device=ends.device)
        ends = ends[:, :K] & ~self.done[:, None]
        weight = self.weights.index_select(0, self.position + 1)
        values = (candidates.value[:, :K] * weight).masked_fill(~ends, -math.inf)
        places = (self.position * R + ranks).expand_as(values)
        merged, order = best(torch.cat((self.final, values), dim=1), K)
        self.final.copy_(merged)
        self.final_at.copy_(torch.cat((self.final_at, places), dim=1).gather(1, order))

    def _end(self) -> None:
        """A sentence is done when its n-th best finished hypothesis cannot be beaten any more."""
        hopeless = self.final[:, self.n_best - 1] >= self.score.amax(dim=1) * self.ceiling
        if self.enough <= self.score.shape[1]:
            hopeless |= self.final[:, self.enough - 1] > -math.inf
        self.done |= hopeless

    def select(self, sentences: Sequence[int]) -> Beams:
        """A copy with these sentences alone, in their order."""
        index = torch.tensor(sentences, device=self.done.device)
        first = ("score", "ids", "done", "final", "final_at", "limit", "ceiling")
        second = ("history", "log_probs", "alive", "aligned")
        changes: dict[str, Tensor | None] = {name: getattr(self, name)[index] for name in first}
        for name in second:
            buffer = getattr(self, name)
            changes[name] = None if buffer is None else buffer[:, index]
        changes["offsets"] = self.offsets[: len(sentences)]
        changes["parents"] = torch.arange(self.score.shape[1] * len(index), device=index.device)
        changes["ticket"] = torch.zeros_like(self.ticket)
        changes["position"] = self.position.clone()
        return replace(self, **changes)  # type: ignore[arg-type]


def best(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of values (B, M) <= 0 and their places, the first of equals first.

    torch.topk promises no order among equals: a value's bits with its place below them do.
    """
    places = torch.arange(values.shape[1], device=values.device)
    keys = (values.abs().view(torch.int32).to(torch.int64) << 32) | places
    keys = keys.topk(k, dim=1, largest=False).values
    return -(keys >> 32).to(torch.int32).view(torch.float32), keys & 0xFFFFFFFF


def candidates(
    logits: Tensor, log_sums: Tensor, score: Tensor, words: OutputTokens, number: int
) -> Candidates:
    """The best continuations of a sentence's hypotheses, exact and with ties in order.

    The best R tokens lie in the R chunks with the largest maxima, so that one pass over the logits
    and two searches among few are enough.

    Args:
        logits: (N, S), S a multiple of 64.
        log_sums: (N,) log of the sum of exp(logits) before anything was blocked.
        score: (B, K) of the hypotheses.
        words: What columns stand for.
        number: R.
    """
    B, K = score.shape
    S = logits.shape[1]
    width = chunk_width(S)
    C = S // width
    chunks = logits.view(B * K, C, width)
    totals = score.view(-1, 1), log_sums.view(-1, 1)
    maxima = (chunks.amax(dim=2).float() - totals[1]) + totals[0]  # (N, C)
    _, chosen = best(maxima.view(B, K * C), number)  # (B, R) chunks, C a beam
    beam = chosen // C
    picked = chunks.view(B, K * C, width).gather(1, chosen[..., None].expand(-1, -1, width))
    log_probs = picked.float() - log_sums.view(B, K).gather(1, beam)[..., None]  # (B, R, width)
    values = (log_probs + score.gather(1, beam)[..., None]).flatten(1)
    flat = (chosen[..., None] * width + torch.arange(width, device=logits.device)).flatten(1)
    keys = (values.abs().view(torch.int32).to(torch.int64) << 32) | flat
    keys, places = keys.topk(number, dim=1, largest=False)
    flat = keys & 0xFFFFFFFF
    return Candidates(
        values.gather(1, places),
        log_probs.flatten(1).gather(1, places),
        flat // S,
        words.ids(flat % S),
    )
