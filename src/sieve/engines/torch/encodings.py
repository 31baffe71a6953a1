"""Encoded batches on a GPU in buffers of fixed shape, and the words selected for them."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sieve.tokenize.vocabulary import EOS, PAD

Run = Callable[[], None]


@dataclass(eq=False)
class Encoding:
    """Fixed buffers of one bucket of sources, and the work that fills them."""

    src_ids: Tensor
    """(B, T)"""
    log_odds: Tensor
    """(1,) a word is selected when its logit lies above."""
    memory: Tensor
    src_mask: Tensor
    logits: Tensor
    """(B, V) of the selection head in fp32; without rows where nothing is selected."""
    words: Tensor
    """(B, W) the selected words, as many as can be gathered."""
    sizes: Tensor
    """(B,) how many are selected."""
    encode: Run
    """Source ids to memory, and to the selected words where asked for."""


def bucket(sizes: Sequence[int], size: int) -> int:
    """The least of `sizes` that holds `size`."""
    place = bisect.bisect_left(sizes, size)
    return sizes[place] if place < len(sizes) else size


def chosen(encoding: Encoding) -> Tensor:
    """(B, V) whether a word is selected; EOS always is."""
    selected = encoding.logits > encoding.log_odds
    selected[:, EOS] = True
    return selected


def compact(selected: Tensor, width: int) -> Tensor:
    """(B, width) places of the True in each row of selected (B, V), ascending; PAD behind them.

    Without a question to the host: each True goes to the column of its running number.
    """
    B, V = selected.shape
    column = selected.cumsum(dim=1, dtype=torch.int32) - 1
    column = column.masked_fill(~selected, width).clamp(max=width)  # the last one is thrown away
    places = torch.arange(V, device=selected.device).expand(B, V)
    words = torch.full((B, width + 1), PAD, dtype=torch.int64, device=selected.device)
    return words.scatter_(1, column.to(torch.int64), places)[:, :width]
