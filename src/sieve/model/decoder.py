"""Shallow decoder: mixer (SSRU or self-attention), cross-attention, feed-forward.

Runs whole sequences; search takes one token at a time in `sieve.engines.torch.stepping`. Knows
nothing of output tokens: what comes out goes to the output layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, cast

from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.model.encoder import final_norm
from sieve.model.layers import SSRU, CrossAttention, FeedForward, SelfAttention, residual


class DecoderLayer(nn.Module):
    """Three sublayers, each with its residual connection."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        D, epsilon = config.d_model, config.norm_epsilon
        self.post: Final = config.norm == "post"
        self.mixer_norm: Final = nn.LayerNorm(D, epsilon)
        self.mixer: SSRU | SelfAttention = (
            SSRU(D) if config.decoder_mixer == "ssru" else SelfAttention(D, config.heads)
        )
        self.cross_norm: Final = nn.LayerNorm(D, epsilon)
        self.cross: Final = CrossAttention(D, config.heads)
        self.feed_forward_norm: Final = nn.LayerNorm(D, epsilon)
        self.feed_forward: Final = FeedForward(D, config.d_ff, config.activation)
        self.dropout: Final = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """X (B, U, D), memory (B, T, D), mask (B, 1, 1, T)."""
        x = self._mix(x)
        return self._feed(self._look(x, self.cross.keys_values(memory), mask))

    def forward_aligned(
        self, x: Tensor, memory: Tensor, mask: Tensor, heads: Sequence[int]
    ) -> tuple[Tensor, Tensor]:
        """As forward, and log-probabilities (B, U, T) of the heads that align."""
        x = self._mix(x)
        keys_values = self.cross.keys_values(memory)
        query = x if self.post else self.cross_norm(x)
        alignment = self.cross.alignment(query, keys_values, mask, heads)
        return self._feed(self._look(x, keys_values, mask)), alignment

    def _mix(self, x: Tensor) -> Tensor:
        def mix(y: Tensor) -> Tensor:
            if isinstance(self.mixer, SSRU):
                return self.dropout(self.mixer(y))
            return self.dropout(self.mixer(y, None, causal=True))

        return residual(x, self.mixer_norm, mix, post=self.post)

    def _look(self, x: Tensor, keys_values: Tensor, mask: Tensor) -> Tensor:
        def look(y: Tensor) -> Tensor:
            return self.dropout(self.cross(y, keys_values, mask))

        return residual(x, self.cross_norm, look, post=self.post)

    def _feed(self, x: Tensor) -> Tensor:
        def feed(y: Tensor) -> Tensor:
            return self.dropout(self.feed_forward(y))

        return residual(x, self.feed_forward_norm, feed, post=self.post)


class Decoder(nn.Module):
    """All layers, and the final norm where there is one."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.layers: Final = nn.ModuleList(
            DecoderLayer(config) for _ in range(config.decoder_layers)
        )
        self.norm: Final = final_norm(config)

    def forward(self, x: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """X (B, U, D) embedded target; returns states (B, U, D)."""
        mask = src_mask[:, None, None, :]
        for layer in self._layers():
            x = layer(x, memory, mask)
        return self.norm(x)

    def forward_aligned(self, x: Tensor, memory: Tensor, src_mask: Tensor) -> tuple[Tensor, Tensor]:
        """As forward, and the alignment (B, U, T) as log-probabilities."""
        mask = src_mask[:, None, None, :]
        layers = list(self._layers())
        aligning = layers[self.config.alignment_layer]
        alignment = memory.new_zeros(0)
        for layer in layers:
            if layer is aligning:
                heads = self.config.alignment_heads
                x, alignment = layer.forward_aligned(x, memory, mask, heads)
            else:
                x = layer(x, memory, mask)
        return self.norm(x), alignment

    def _layers(self) -> Iterable[DecoderLayer]:
        return cast(Iterable[DecoderLayer], self.layers)
