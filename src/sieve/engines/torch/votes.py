"""What the selection head of a batch votes for: logits of candidates, and shortlists of logits."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from sieve.model.transformer import TranslationModel
from sieve.selection.bonus import Bonus, entries
from sieve.selection.shortlist import Shortlist, ShortlistArray, shortlists_of_rows


def candidate_logits(
    model: TranslationModel, memory: Tensor, mask: Tensor, candidates: Sequence[ShortlistArray]
) -> Tensor:
    """Max-pooled logits (B, V) of each sentence's candidates, −∞ for all other tokens.

    Only rows that some sentence of the batch wants are computed.
    """
    ids = np.unique(np.concatenate(candidates))
    tokens = torch.from_numpy(ids).long().to(memory.device)
    columns = model.bow_logits(memory, mask, tokens).float()
    other = np.stack([np.isin(ids, row, invert=True) for row in candidates])
    columns = columns.masked_fill(torch.from_numpy(other).to(memory.device), -torch.inf)
    logits = columns.new_full((len(memory), model.config.tgt_vocab_size), -torch.inf)
    logits[:, tokens] = columns
    return logits


def shortlists_by_votes(
    logits: Tensor, log_odds: float, least: int, bonuses: Sequence[Bonus], eos: int
) -> list[Shortlist]:
    """See `sieve.selection.plan.Source.tokens_above`; logits (B, V) are changed in place."""
    if bonuses:
        rows, ids, values = (torch.from_numpy(part) for part in entries(bonuses))
        at = torch.stack((rows, ids)).to(logits.device)
        logits[at[0], at[1]] += values.to(logits.device)
    selected = logits > log_odds
    if least:
        lowest = logits.topk(min(least, logits.shape[1]), dim=1).values[:, -1:]
        selected |= (logits >= lowest) & (logits > -torch.inf)
    selected[:, eos] = True
    sizes = selected.sum(dim=1).cpu().numpy()
    tokens = selected.nonzero()[:, 1].to(torch.int32).cpu().numpy()
    return shortlists_of_rows(tokens, sizes, logits.shape[1], eos)
