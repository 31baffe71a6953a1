"""Our own model as an aligner: links from its cross-attention, teacher-forced.

The target is given, so one pass over a pair shows where the decoder looks while it predicts each
token. A token is linked to the source token with the highest weight; where that is the end of the
source, it is linked to none.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sieve.data.alignments import Alignments
from sieve.data.corpus import Ragged
from sieve.engines.torch.source_encoding import pad
from sieve.model.layers import CrossAttention, split_heads
from sieve.model.transformer import Outputs, TranslationModel

Heads = Literal["guided", "average"]


class AttentionAligner:
    """Aligns sentence pairs with a translation model."""

    def __init__(self, model: TranslationModel, heads: Heads, batch_tokens: int = 8192) -> None:
        """Prepares a model for aligning.

        Args:
            model: In evaluation mode, on the device it is to run on.
            heads: `guided` takes the head that was trained with guided alignment, `average` the
                mean over the heads of the last layer, for models trained without.
            batch_tokens: Padded tokens of the longer side in one pass.
        """
        self._model = model
        self._guided = heads == "guided"
        self._batch_tokens = batch_tokens

    def align(self, src: Ragged, tgt: Ragged) -> Alignments:
        """One link at most for each target token, in the order of the pairs."""
        positions = np.full(len(tgt.ids), -1, np.int64)
        specials = self._model.config.specials
        for index in self._batches(src, tgt):
            sources = pad([specials.source_ids(src[i]) for i in index], specials.fill)  # (B, T)
            targets = pad([[specials.first, *tgt[i]] for i in index], specials.eos)  # (B, U + 1)
            src_ids, tgt_in = torch.from_numpy(sources), torch.from_numpy(targets)
            best = self._attention(src_ids, tgt_in).argmax(dim=2).cpu().numpy()  # (B, U + 1)
            for row, pair in enumerate(index):
                # state j has read the start and j tokens, and predicts token j
                attended = best[row, : len(tgt[pair])] - len(specials.source_prefix)
                in_text = (attended >= 0) & (attended < len(src[pair]))
                linked = np.where(in_text, attended, -1)
                positions[tgt.offsets[pair] : tgt.offsets[pair + 1]] = linked
        return _links(tgt, positions)

    @torch.inference_mode()
    def _attention(self, src_ids: Tensor, tgt_in: Tensor) -> Tensor:
        """(B, U, T) weights, or their logarithms."""
        device = next(self._model.parameters()).device
        src_ids, tgt_in = src_ids.to(device), tgt_in.to(device)
        if self._guided:
            outputs: Outputs = self._model(src_ids, tgt_in, with_alignment=True)
            assert outputs.alignment is not None
            return outputs.alignment
        seen: list[Tensor] = []
        cross = self._model.decoder.layers[-1].cross
        assert isinstance(cross, CrossAttention)

        def watch(module: Any, inputs: tuple[Tensor, Tensor, Tensor]) -> None:
            x, keys_values, mask = inputs
            query = split_heads(cross.query(x), cross.heads)  # (B, H, U, D/H)
            scores = query @ keys_values[0].transpose(2, 3) * query.shape[-1] ** -0.5
            scores = scores.float().masked_fill(~mask, -torch.inf)
            seen.append(scores.softmax(dim=-1).mean(dim=1))

        handle = cross.register_forward_pre_hook(watch)
        try:
            self._model(src_ids, tgt_in)
        finally:
            handle.remove()
        return seen[0]

    def _batches(self, src: Ragged, tgt: Ragged) -> Iterator[npt.NDArray[np.int64]]:
        """Numbers of pairs of similar lengths; a pair with an empty side is in none."""
        lengths = np.maximum(src.lengths, tgt.lengths) + 1
        order = np.argsort(lengths, kind="stable")
        order = order[(src.lengths[order] > 0) & (tgt.lengths[order] > 0)]
        start = 0
        while start < len(order):
            stop = start + 1
            while (
                stop < len(order)
                and (stop + 1 - start) * lengths[order[stop]] <= self._batch_tokens
            ):
                stop += 1
            yield order[start:stop]
            start = stop


def _links(tgt: Ragged, positions: npt.NDArray[np.int64]) -> Alignments:
    linked = positions >= 0
    places = np.arange(len(tgt.ids)) - np.repeat(tgt.offsets[:-1], tgt.lengths)
    offsets = np.concatenate([[0], np.cumsum(linked)])[tgt.offsets].astype(np.int64)
    return Alignments(offsets, positions[linked].astype(np.int16), places[linked].astype(np.int16))
