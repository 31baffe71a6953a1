"""Shallow pre-norm decoder: mixer (SSRU or self-attention), cross-attention, feed-forward.

Runs whole sequences; search takes one token at a time in `sieve.engines.torch.stepping`. Knows
nothing of output words: what comes out goes to the output layer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.model.layers import SSRU, CrossAttention, FeedForward, SelfAttention


class DecoderLayer(nn.Module):
    """Three residual sublayers, each on normed input."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        D = config.d_model
        self.mixer_norm = nn.LayerNorm(D)
        self.mixer: SSRU | SelfAttention = (
            SSRU(D) if config.decoder_mixer == "ssru" else SelfAttention(D, config.heads)
        )
        self.cross_norm = nn.LayerNorm(D)
        self.cross = CrossAttention(D, config.heads)
        self.feed_forward_norm = nn.LayerNorm(D)
        self.feed_forward = FeedForward(D, config.d_ff)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """X (B, U, D), memory (B, T, D), mask (B, 1, 1, T)."""
        x = self._mix(x)
        keys_values = self.cross.keys_values(memory)
        x = x + self.dropout(self.cross(self.cross_norm(x), keys_values, mask))
        return self._feed(x)

    def forward_aligned(self, x: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """As forward, and the alignment head's log-probabilities (B, U, T)."""
        x = self._mix(x)
        keys_values = self.cross.keys_values(memory)
        query = self.cross_norm(x)
        alignment = self.cross.alignment(query, keys_values, mask)
        x = x + self.dropout(self.cross(query, keys_values, mask))
        return self._feed(x), alignment

    def _mix(self, x: Tensor) -> Tensor:
        normed = self.mixer_norm(x)
        if isinstance(self.mixer, SSRU):
            return x + self.dropout(self.mixer(normed))
        return x + self.dropout(self.mixer(normed, None, causal=True))

    def _feed(self, x: Tensor) -> Tensor:
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class Decoder(nn.Module):
    """All layers and the final norm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = nn.LayerNorm(config.d_model)

    def forward(self, x: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """X (B, U, D) embedded target; returns states (B, U, D)."""
        mask = src_mask[:, None, None, :]
        for layer in self._layers():
            x = layer(x, memory, mask)
        return self.norm(x)

    def forward_aligned(self, x: Tensor, memory: Tensor, src_mask: Tensor) -> tuple[Tensor, Tensor]:
        """As forward, and the last layer's alignment (B, U, T) as log-probabilities."""
        mask = src_mask[:, None, None, :]
        *lower, last = self._layers()
        for layer in lower:
            x = layer(x, memory, mask)
        x, alignment = last.forward_aligned(x, memory, mask)
        return self.norm(x), alignment

    def _layers(self) -> Iterable[DecoderLayer]:
        return cast(Iterable[DecoderLayer], self.layers)
