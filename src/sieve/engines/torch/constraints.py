"""What a translation must begin with and must not contain, as a mask on logits.

Runs on the device without asking the host. Knows columns and ids, not text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from sieve.bundle.config import ModelConfig
from sieve.engines.options import Blocked, SearchOptions
from sieve.engines.torch.output_tokens import OutputTokens

_ANY = -1


class Constraints:
    """Forced prefixes, blocked sequences and ids that a model never generates.

    For B sentences with K hypotheses each.
    """

    def __init__(
        self,
        prefixes: Sequence[Sequence[int]],
        options: SearchOptions,
        words: OutputTokens,
        config: ModelConfig,
    ) -> None:
        device, B = words.sizes.device, len(prefixes)
        self.position: Tensor = torch.zeros(1, dtype=torch.int64, device=device)
        self.prefix: Tensor = _prefix_columns(prefixes, words)  # (B, P), -1 where free
        self.blocked: list[Blocked] = [
            sequence for sequence in options.blocked if len(sequence.tokens)
        ]
        L = max((len(sequence.tokens) for sequence in self.blocked), default=1)
        self.recent: Tensor = torch.full(
            (B, options.rows, L), config.specials.first, device=device
        )  # newest last
        self.opens: Tensor = torch.zeros(config.tgt_vocab_size, dtype=torch.bool, device=device)
        self.opens[list(options.open_ids)] = True
        self.required, self.before, self.at_start = _patterns(self.blocked, L, device)
        last = torch.tensor([sequence.tokens[-1] for sequence in self.blocked], device=device)
        never = torch.tensor(config.never, dtype=torch.int64, device=device)
        self.never: Tensor | None = (
            words.columns(never.expand(B, -1)) if config.never else None
        )  # (B, M)
        self.last: Tensor = words.columns(last.long().expand(B, -1)) if self.blocked else last

    def apply(self, logits: Tensor) -> Tensor:
        """Logits (N, S) with −inf for what may not come next."""
        B, K, _ = self.recent.shape
        S = logits.shape[1]
        logits = logits.view(B, K, S)
        place = self.position.clamp(max=self.prefix.shape[1] - 1)
        forced = self.prefix.index_select(1, place)  # (B, 1)
        if self.blocked:
            penalty = self._penalty(S, logits.dtype).masked_fill(forced[..., None] >= 0, 0.0)
            logits = logits + penalty
        if self.never is not None:
            out = torch.zeros(B, S + 1, dtype=torch.bool, device=logits.device)
            out.scatter_(1, self.never.masked_fill(self.never < 0, S), True)
            logits = logits.masked_fill((out[:, :S] & (forced < 0))[:, None], -math.inf)
        others = (forced >= 0) & (torch.arange(S, device=logits.device) != forced)  # (B, S)
        return logits.masked_fill(others[:, None], -math.inf).view(-1, S)

    def update(self, rows: Tensor, ids: Tensor) -> None:
        """Row n now continues row rows[n] (N,) with ids (B, K)."""
        B, K, L = self.recent.shape
        moved = self.recent.view(B * K, L)[rows]
        self.recent.copy_(torch.cat((moved[:, 1:], ids.view(-1, 1)), dim=1).view(B, K, L))
        self.position += 1

    def select(self, sentences: Sequence[int]) -> Constraints:
        """The constraints of these sentences, in their order."""
        other = object.__new__(Constraints)
        other.__dict__.update(self.__dict__)
        index = torch.tensor(sentences, device=self.prefix.device)
        other.position = self.position.clone()
        other.prefix, other.recent = self.prefix[index], self.recent[index]
        other.never = None if self.never is None else self.never[index]
        other.last = self.last[index] if self.blocked else self.last
        return other

    def _penalty(self, width: int, dtype: torch.dtype) -> Tensor:
        """(B, K, S): −inf at the last token of each sequence whose other tokens were just said."""
        B, K, _ = self.recent.shape
        said = (self.recent[:, :, None] == self.required) | (self.required == _ANY)
        match = said.all(dim=-1)  # (B, K, Q)
        inside = self.opens[self.recent.index_select(2, self.before)]  # (B, K, Q)
        match &= ~(inside & self.at_start)
        match &= self.last[:, None] >= 0
        zeros = torch.zeros(B, K, width, dtype=dtype, device=match.device)
        values = torch.zeros(match.shape, dtype=dtype, device=match.device)
        values = values.masked_fill(match, -math.inf)
        columns = self.last.clamp(min=0)[:, None].expand_as(match)
        return zeros.scatter_reduce(2, columns, values, "amin")


def _prefix_columns(prefixes: Sequence[Sequence[int]], words: OutputTokens) -> Tensor:
    width = max(map(len, prefixes), default=0) + 1  # the last one is free for all
    ids = [[*prefix, *[_ANY] * (width - len(prefix))] for prefix in prefixes]
    table = torch.tensor(ids, device=words.sizes.device)
    columns = words.columns(table.clamp(min=0))
    if bool(((columns < 0) & (table >= 0)).any()):
        raise ValueError("a prefix holds tokens that its shortlist lacks")
    return torch.where(table >= 0, columns, _ANY)


def _patterns(
    blocked: Sequence[Blocked], length: int, device: torch.device
) -> tuple[Tensor, Tensor, Tensor]:
    """The Q sequences without their last tokens, right-aligned: (Q, L).

    Also the place of the token before each (Q,), and whether that token matters (Q,).
    """
    rows = [
        [_ANY] * (length - len(sequence.tokens) + 1) + list(sequence.tokens[:-1])
        for sequence in blocked
    ]
    required = torch.tensor(rows, dtype=torch.int64, device=device).view(len(blocked), length)
    before = [length - len(sequence.tokens) for sequence in blocked]
    at_start = [sequence.at_word_start for sequence in blocked]
    return (
        required,
        torch.tensor(before, dtype=torch.int64, device=device),
        torch.tensor(at_start, dtype=torch.bool, device=device),
    )
