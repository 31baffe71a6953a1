"""A selection head asked for some tokens alone: only their rows are computed. Knows no lexicon."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sieve.model.transformer import TranslationModel


def candidate_logits(
    model: TranslationModel,
    memory: Tensor,
    mask: Tensor,
    candidates: Sequence[npt.NDArray[np.int32]],
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
