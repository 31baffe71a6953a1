"""The decoder one token at a time, on buffers whose shapes never change.

B sentences with K hypotheses each are N = B·K rows. Keys and values of the source exist once a
sentence and are shared by its hypotheses; only the mixers' past follows the hypotheses. No step
asks the host anything, so that one can be captured in a CUDA graph. Knows nothing of search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sieve.engines.torch import few_rows, fused
from sieve.kernels.buffers import Cells
from sieve.model.decoder import DecoderLayer
from sieve.model.layers import SSRU, SelfAttention, merge_heads, residual, split_heads
from sieve.model.transformer import TranslationModel


class DecoderSteps:
    """State of N hypotheses: `load`, then `step` and `settle` in turn."""

    position: Tensor
    """(1,) tokens consumed so far. Whoever steps moves it, after `settle`."""
    past: Tensor
    """SSRU cells (2, L, N, D) in float32, or cached keys and values (L, 2, N, H, U, D/H).

    Steps read one half of the cells and write the other in turn, each row from its parent's.
    """
    parents: Tensor
    """(N,) the row that each row continues."""
    keys_values: list[Tensor]
    """Per layer, of the memory: (2, B, H, T, D/H)."""
    mask: Tensor
    """(B, 1, 1, T), 0 for real source positions, −inf for padding: added to scores."""

    def __init__(
        self, model: TranslationModel, sentences: int, beams: int, src_length: int, max_length: int
    ) -> None:
        config, like = model.config, model.tgt_embedding.weight
        N, H, D = sentences * beams, config.heads, config.d_model
        self.model = model
        self.layers: list[DecoderLayer] = [
            cast(DecoderLayer, layer) for layer in model.decoder.layers
        ]
        self.beams = beams
        self.aligning: DecoderLayer = self.layers[config.alignment_layer]
        self.recurrent: bool = config.decoder_mixer == "ssru"
        L = len(self.layers)
        with torch.no_grad():
            if self.recurrent:
                self.past = like.new_zeros(2, L, N, D, dtype=torch.float32)
            else:
                self.past = like.new_zeros(L, 2, N, H, max_length, D // H)
            self.keys_values = [
                like.new_zeros(2, sentences, H, src_length, D // H) for _ in self.layers
            ]
            self.mask = like.new_zeros(sentences, 1, 1, src_length)
            self.position = torch.zeros(1, dtype=torch.int64, device=like.device)
            self.parents = torch.arange(N, device=like.device)
            self.table: Tensor = model.positions(max_length)  # (U, D)
        self._query: Tensor | None = None

    @property
    def max_length(self) -> int:
        """Most tokens the buffers can take (U)."""
        return len(self.table)

    def load(self, memory: Tensor, src_mask: Tensor) -> None:
        """Starts anew with the memory (B, T, D) and mask (B, T) of B sentences."""
        for layer, buffer in zip(self.layers, self.keys_values, strict=True):
            buffer.copy_(layer.cross.keys_values(memory))
        self.mask.zero_().masked_fill_(~src_mask[:, None, None, :], -math.inf)
        self.past.zero_()
        self.position.zero_()

    def step(self, ids: Tensor, visible: int, with_query: bool = False) -> Tensor:
        """Consumes one token id a row (N,) and returns states (N, D).

        Args:
            ids: The rows' newest tokens.
            visible: At least the number of tokens consumed, this one included: how much of a
                self-attention's past can matter. Where the host cannot know, `max_length`.
            with_query: Remember what `alignment` needs.
        """
        if not fused.takes(self.model.config):
            return self._plain(ids, visible, with_query)
        if self.recurrent and not with_query:
            kernels = few_rows.few_row_kernels(ids, self.model)
            if kernels is not None:
                return self._few_rows(kernels, ids)
        final = cast(nn.LayerNorm, self.model.decoder.norm)
        embedding, norm = self.model.tgt_embedding.weight, self.layers[0].mixer_norm
        x, normed = fused.embed_norm(ids, embedding, self.table, self.position, norm)
        for index, layer in enumerate(self.layers):
            last = index + 1 == len(self.layers)
            after = final if last else self.layers[index + 1].mixer_norm
            x, normed = self._mix(index, x, normed, visible)
            if with_query and layer is self.aligning:
                self._query = normed
            mixed = self._cross(layer, normed, self.keys_values[index])
            x, normed = fused.add_norm(x, mixed, layer.feed_forward_norm)
            x, normed = fused.add_norm(x, fused.feed_forward(normed, layer.feed_forward), after)
        return normed

    def settle(self, rows: Tensor, visible: int) -> None:
        """Row n goes on from what row rows[n] (N,) has just become."""
        if rows is not self.parents:
            self.parents.copy_(rows)
        if not self.recurrent:
            self.past[..., :visible, :] = self.past[..., :visible, :].index_select(2, rows)

    def alignment(self) -> Tensor:
        """(B, K) source position that the alignment heads looked at in the last step."""
        if self._query is None:
            raise ValueError("step was called without with_query")
        query = self._query.view(self.mask.shape[0], self.beams, -1)
        config = self.model.config
        keys_values, real = self.keys_values[config.alignment_layer], self.mask == 0
        scores = self.aligning.cross.alignment(
            query, keys_values, real, config.alignment_heads
        )  # (B, K, T)
        return scores.argmax(dim=-1)

    def select(self, sentences: Sequence[int]) -> DecoderSteps:
        """A copy with these sentences alone, in their order."""
        device = self.mask.device
        index = torch.tensor(sentences, device=device)
        rows = (index[:, None] * self.beams + torch.arange(self.beams, device=device)).flatten()
        T = self.mask.shape[-1]
        other = DecoderSteps(self.model, len(sentences), self.beams, T, self.max_length)
        other.past = self.past.index_select(2, self.parents[rows] if self.recurrent else rows)
        other.keys_values = [kv.index_select(1, index) for kv in self.keys_values]
        other.mask = self.mask[index]
        other.position = self.position.clone()
        return other

    def _plain(self, ids: Tensor, visible: int, with_query: bool) -> Tensor:
        """A step of a model of any kind, in plain layers."""
        model = self.model
        x = F.embedding(ids, model.tgt_embedding.weight) * model.embedding_scale
        if model.config.start is None:
            x = x * (self.position > 0)
        x = x + self.table.index_select(0, self.position)
        for index, layer in enumerate(self.layers):
            mix = partial(self._mixed, index, visible=visible)
            x = residual(x, layer.mixer_norm, mix, post=layer.post)
            if with_query and layer is self.aligning:
                self._query = x if layer.post else layer.cross_norm(x)
            look = partial(self._cross, layer, keys_values=self.keys_values[index])
            x = residual(x, layer.cross_norm, look, post=layer.post)
            x = residual(x, layer.feed_forward_norm, layer.feed_forward, post=layer.post)
        states: Tensor = model.decoder.norm(x)
        return states

    def _mixed(self, index: int, x: Tensor, visible: int) -> Tensor:
        """The mixer alone, on x (N, D)."""
        mixer = self.layers[index].mixer
        if isinstance(mixer, SSRU):
            return fused.ssru_step(mixer, x, self._cells(index))
        return self._attend_past(mixer, x, self.past[index], visible)

    def _few_rows(self, kernels: ModuleType, ids: Tensor) -> Tensor:
        """A step of few rows."""
        rows = kernels.embed(ids, self.model.tgt_embedding.weight, self.table, self.position)
        for index, layer in enumerate(self.layers):
            source = self.keys_values[index], self.mask
            rows = few_rows.decoder_layer(kernels, layer, rows, self._cells(index), source)
        states: Tensor = kernels.norm(rows, self.model.decoder.norm)
        return states

    def _cells(self, index: int) -> Cells:
        return Cells(self.past[:, index], self.position, self.parents)

    def _mix(self, index: int, x: Tensor, normed: Tensor, visible: int) -> tuple[Tensor, Tensor]:
        """The mixer with its residual connection: the new x and its norm for what follows."""
        layer = self.layers[index]
        if isinstance(layer.mixer, SSRU):
            cells = self._cells(index)
            return fused.ssru_add_norm(layer.mixer, x, normed, cells, layer.cross_norm)
        mixed = self._attend_past(layer.mixer, normed, self.past[index], visible)
        return fused.add_norm(x, mixed, layer.cross_norm)

    def _attend_past(self, mixer: SelfAttention, x: Tensor, past: Tensor, visible: int) -> Tensor:
        """One position x (N, D); writes its key and value into past (2, N, H, U, D/H)."""
        q, k, v = (split_heads(part[:, None], mixer.heads) for part in mixer.qkv(x).chunk(3, -1))
        past.index_copy_(3, self.position, torch.stack((k, v)))
        places = torch.arange(visible, device=x.device)
        mask = torch.zeros(visible, dtype=x.dtype, device=x.device)
        mask = mask.masked_fill(places > self.position, -math.inf)[None, None, None]
        keys, values = past[0, :, :, :visible], past[1, :, :, :visible]
        context = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        out: Tensor = mixer.out(merge_heads(context)[:, 0])
        return out

    def _cross(self, layer: DecoderLayer, x: Tensor, keys_values: Tensor) -> Tensor:
        """Attends from x (N, D): a sentence's K rows are K queries to its keys."""
        B = keys_values.shape[1]
        x = x.view(B, self.beams, -1)
        return fused.cross_attention(layer.cross, x, keys_values, self.mask).view(
            B * self.beams, -1
        )
