"""The tokens hypotheses may choose from: equation 1 over all, equation 2 over a sentence's own.

Columns are an engine's secret: they are padded to a multiple of WIDTH with logits of −inf, which
takes padding out of softmax and search. Only ids leave this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from sieve.model.transformer import OutputLayer
from sieve.selection.bonus import Bonus, entries
from sieve.selection.plan import Cuts
from sieve.selection.shortlist import Shortlist, shortlists_of_rows

WIDTH = 64
"""Columns come in multiples of it; the search takes them in chunks of half of it or less."""


class OutputTokens(Protocol):
    """Logits of each row's tokens, and their ids."""

    @property
    def sizes(self) -> Tensor:
        """(B,) number of tokens of each sentence."""

    @property
    def table(self) -> Tensor | None:
        """(B, S) ids of the columns; None where columns are ids."""

    @property
    def vocab_size(self) -> int:
        """Number of tokens there are."""

    @property
    def width(self) -> int:
        """Columns (S)."""

    def logits(self, states: Tensor) -> Tensor:
        """(N, S) from decoder states (N, D), N = B·K; −inf where a sentence has no token."""

    def ids(self, columns: Tensor) -> Tensor:
        """(B, *) ids of the whole vocabulary from columns (B, *)."""

    def columns(self, ids: Tensor) -> Tensor:
        """(B, *) columns of ids (B, *), −1 for tokens a sentence does not have."""

    def select(self, sentences: Sequence[int]) -> OutputTokens:
        """The tokens of these sentences, in their order."""


@dataclass(frozen=True, eq=False)
class AllTokens:
    """The whole vocabulary for every sentence."""

    vocab_size: int
    sizes: Tensor
    weight: Tensor
    """(S, D), rows behind the last token are zero."""
    bias: Tensor
    """(S,), −inf behind the last token."""
    table: None = None

    @classmethod
    def of(cls, output: OutputLayer, sentences: int) -> AllTokens:
        """All tokens of an output layer, padded."""
        V = len(output.bias)
        weight, bias = output.weight.detach(), output.bias.detach()
        padding = -V % WIDTH
        if padding:
            weight = F.pad(weight, (0, 0, 0, padding))
            bias = F.pad(bias, (0, padding), value=-math.inf)
        sizes = torch.full((sentences,), V, device=bias.device)
        return cls(V, sizes, weight, bias)

    @property
    def width(self) -> int:
        """See OutputTokens."""
        return len(self.bias)

    def logits(self, states: Tensor) -> Tensor:
        """See OutputTokens."""
        return F.linear(states, self.weight, self.bias)

    def ids(self, columns: Tensor) -> Tensor:
        """See OutputTokens."""
        if self.vocab_size == len(self.bias):
            return columns
        return columns.clamp(max=self.vocab_size - 1)  # where nothing is left to say

    def columns(self, ids: Tensor) -> Tensor:
        """See OutputTokens."""
        return ids

    def for_sentences(self, sizes: Tensor) -> AllTokens:
        """The same tokens for other sentences: sizes (B,)."""
        return AllTokens(self.vocab_size, sizes, self.weight, self.bias)

    def select(self, sentences: Sequence[int]) -> AllTokens:
        """See OutputTokens."""
        return self.for_sentences(self.sizes[: len(sentences)])


@dataclass(frozen=True, eq=False)
class MaskedTokens:
    """Long shortlists: all logits are computed, those of other tokens set to −inf."""

    sizes: Tensor
    everything: AllTokens
    mask: Tensor
    """(B, S), 0 for a sentence's tokens, −inf for others."""
    table: None = None

    @property
    def vocab_size(self) -> int:
        """See OutputTokens."""
        return self.everything.vocab_size

    @property
    def width(self) -> int:
        """See OutputTokens."""
        return self.mask.shape[1]

    def logits(self, states: Tensor) -> Tensor:
        """See OutputTokens."""
        B, S = self.mask.shape
        logits = self.everything.logits(states).view(B, -1, S) + self.mask[:, None]
        return logits.view(-1, S)

    def ids(self, columns: Tensor) -> Tensor:
        """See OutputTokens."""
        return self.everything.ids(columns)

    def columns(self, ids: Tensor) -> Tensor:
        """See OutputTokens."""
        return ids.masked_fill(self.mask.gather(1, ids) != 0, -1)

    def select(self, sentences: Sequence[int]) -> MaskedTokens:
        """See OutputTokens."""
        index = torch.tensor(sentences, device=self.mask.device)
        return MaskedTokens(self.sizes[index], self.everything.select(sentences), self.mask[index])


@dataclass(frozen=True, eq=False)
class SelectedTokens:
    """Short shortlists: each sentence's rows of the output layer, gathered once (W̄ and b̄)."""

    sizes: Tensor
    words: Tensor
    """(B, S) ids, ascending; any id behind a sentence's last token."""
    weight: Tensor
    """(B, S, D)"""
    bias: Tensor
    """(B, 1, S), −inf behind a sentence's last token."""
    vocab_size: int

    @property
    def table(self) -> Tensor:
        """See OutputTokens."""
        return self.words

    @classmethod
    def gather(cls, output: OutputLayer, words: Tensor, sizes: Tensor) -> SelectedTokens:
        """The rows of the output layer for tokens (B, S), of which `sizes` (B,) are real."""
        real = torch.arange(words.shape[1], device=words.device) < sizes[:, None]
        bias = output.bias[words].masked_fill(~real, -math.inf)[:, None]
        return cls(sizes, words, F.embedding(words, output.weight), bias, len(output.bias))

    @property
    def width(self) -> int:
        """See OutputTokens."""
        return self.words.shape[1]

    def logits(self, states: Tensor) -> Tensor:
        """See OutputTokens."""
        B, S, D = self.weight.shape
        rows = torch.baddbmm(self.bias, states.view(B, -1, D), self.weight.transpose(1, 2))
        return rows.view(-1, S)

    def ids(self, columns: Tensor) -> Tensor:
        """See OutputTokens."""
        return self.words.gather(1, columns)

    def columns(self, ids: Tensor) -> Tensor:
        """See OutputTokens."""
        real = torch.arange(self.width, device=ids.device) < self.sizes[:, None]  # (B, S)
        same = (self.words[:, None] == ids[..., None]) & real[:, None]  # (B, *, S)
        return torch.where(same.any(-1), same.int().argmax(-1), -1)

    def select(self, sentences: Sequence[int]) -> SelectedTokens:
        """See OutputTokens."""
        index = torch.tensor(sentences, device=self.words.device)
        return SelectedTokens(
            self.sizes[index],
            self.words[index],
            self.weight[index],
            self.bias[index],
            self.vocab_size,
        )


@dataclass(frozen=True, eq=False)
class IndexedTokens:
    """Short shortlists on a GPU: their tokens are read from the whole output layer at each step."""

    sizes: Tensor
    table: Tensor
    """(B, S) ids, ascending; what lies behind a sentence's last token does not matter."""
    output: OutputLayer

    @property
    def vocab_size(self) -> int:
        """See OutputTokens."""
        return len(self.output.bias)

    def gathered(self) -> SelectedTokens:
        """The same tokens, gathered."""
        real = torch.arange(self.table.shape[1], device=self.table.device) < self.sizes[:, None]
        return SelectedTokens.gather(self.output, self.table.masked_fill(~real, 0), self.sizes)

    @property
    def width(self) -> int:
        """See OutputTokens."""
        return self.table.shape[1]

    def logits(self, states: Tensor) -> Tensor:
        """See OutputTokens; the definition of what the kernel computes."""
        return self.gathered().logits(states)

    def ids(self, columns: Tensor) -> Tensor:
        """See OutputTokens."""
        return self.table.gather(1, columns)

    def columns(self, ids: Tensor) -> Tensor:
        """See OutputTokens."""
        return self.gathered().columns(ids)

    def select(self, sentences: Sequence[int]) -> IndexedTokens:
        """See OutputTokens."""
        index = torch.tensor(sentences, device=self.table.device)
        return IndexedTokens(self.sizes[index], self.table[index], self.output)


def shortlists_by_votes(
    logits: Tensor, cuts: Cuts, least: int, bonuses: Sequence[Bonus], eos: int
) -> list[Shortlist]:
    """See `sieve.selection.plan.Source.tokens_above`; logits (B, V) are changed in place."""
    if bonuses:
        rows, ids, values = (torch.from_numpy(part) for part in entries(bonuses))
        at = torch.stack((rows, ids)).to(logits.device)
        logits[at[0], at[1]] += values.to(logits.device)
    selected = logits > torch.from_numpy(cuts).to(logits.device)[:, None]
    if least:
        lowest = logits.topk(min(least, logits.shape[1]), dim=1).values[:, -1:]
        selected |= (logits >= lowest) & (logits > -torch.inf)
    selected[:, eos] = True
    sizes = selected.sum(dim=1).cpu().numpy()
    tokens = selected.nonzero()[:, 1].to(torch.int32).cpu().numpy()
    return shortlists_of_rows(tokens, sizes, logits.shape[1], eos)
