"""Transformer encoder: embedded source in, contextual states out."""

from typing import Final

from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.model.layers import FeedForward, SelfAttention, residual


class EncoderLayer(nn.Module):
    """Attention, then feed-forward, each with its residual connection."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        D, epsilon = config.d_model, config.norm_epsilon
        self.post: Final = config.norm == "post"
        self.attention_norm: Final = nn.LayerNorm(D, epsilon)
        self.attention: Final = SelfAttention(D, config.heads)
        self.feed_forward_norm: Final = nn.LayerNorm(D, epsilon)
        self.feed_forward: Final = FeedForward(D, config.d_ff, config.activation)
        self.dropout: Final = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """X is (B, T, D), mask (B, 1, 1, T)."""

        def attend(y: Tensor) -> Tensor:
            return self.dropout(self.attention(y, mask))

        def feed(y: Tensor) -> Tensor:
            return self.dropout(self.feed_forward(y))

        x = residual(x, self.attention_norm, attend, post=self.post)
        return residual(x, self.feed_forward_norm, feed, post=self.post)


def final_norm(config: ModelConfig) -> nn.Module:
    """The norm behind the last layer; layers that end in one of their own need none."""
    if config.norm == "post":
        return nn.Identity()
    return nn.LayerNorm(config.d_model, config.norm_epsilon)


class Encoder(nn.Module):
    """All layers and the final norm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers: Final = nn.ModuleList(
            EncoderLayer(config) for _ in range(config.encoder_layers)
        )
        self.norm: Final = final_norm(config)

    def forward(self, x: Tensor, src_mask: Tensor) -> Tensor:
        """X (B, T, D) embedded source, src_mask (B, T); returns the memory (B, T, D)."""
        mask = src_mask[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)
