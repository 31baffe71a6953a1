"""Shallow pre-norm decoder: mixer (SSRU or self-attention), cross-attention, feed-forward.

`forward` runs a whole sequence for training, `step` one token for search; both give the same
states. Knows nothing of output words: what comes out goes to the output layer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch
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

    def step(
        self, x: Tensor, past: Tensor, keys_values: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """One position x (N, D); returns its state and the mixer's new past."""
        mixed, past = self.mixer.step(self.mixer_norm(x), past)
        x = x + mixed
        x = x + self.cross(self.cross_norm(x)[:, None], keys_values, mask)[:, 0]
        return x + self.feed_forward(self.feed_forward_norm(x)), past

    def _mix(self, x: Tensor) -> Tensor:
        normed = self.mixer_norm(x)
        if isinstance(self.mixer, SSRU):
            return x + self.dropout(self.mixer(normed))
        return x + self.dropout(self.mixer(normed, None, causal=True))

    def _feed(self, x: Tensor) -> Tensor:
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


@dataclass(frozen=True)
class DecoderState:
    """What decoding carries from step to step, for N hypotheses."""

    position: int
    """Number of tokens consumed so far."""
    past: tuple[Tensor, ...]
    """Per layer: SSRU cell (N, D), or cached keys and values (2, N, H, t, D/H)."""
    keys_values: tuple[Tensor, ...]
    """Per layer: keys and values of the memory, (2, N, H, T, D/H)."""
    mask: Tensor
    """Real source positions, (N, 1, 1, T)."""

    def reorder(self, index: Tensor) -> DecoderState:
        """The state of hypotheses `index`, in that order (repeats allowed)."""
        return DecoderState(
            self.position,
            tuple(p[index] if p.dim() == 2 else p[:, index] for p in self.past),
            tuple(kv[:, index] for kv in self.keys_values),
            self.mask[index],
        )


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

    def start(self, memory: Tensor, src_mask: Tensor) -> DecoderState:
        """The state before the first token, one hypothesis per row of memory (N, T, D)."""
        N, _, D = memory.shape
        H = self.config.heads
        if self.config.decoder_mixer == "ssru":
            # The cell is kept in fp32 whatever the states' precision: it is a long sum.
            empty = memory.new_zeros(N, D, dtype=torch.float32)
        else:
            empty = memory.new_zeros(2, N, H, 0, D // H)
        keys_values = tuple(layer.cross.keys_values(memory) for layer in self._layers())
        return DecoderState(0, (empty,) * len(self.layers), keys_values, src_mask[:, None, None, :])

    def step(self, x: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """One embedded token x (N, D) for each hypothesis; returns states (N, D)."""
        past = []
        for layer, before, keys_values in zip(
            self._layers(), state.past, state.keys_values, strict=True
        ):
            x, after = layer.step(x, before, keys_values, state.mask)
            past.append(after)
        moved = DecoderState(state.position + 1, tuple(past), state.keys_values, state.mask)
        return self.norm(x), moved

    def _layers(self) -> Iterable[DecoderLayer]:
        return cast(Iterable[DecoderLayer], self.layers)
