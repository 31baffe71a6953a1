"""Pre-norm Transformer encoder: embedded source in, contextual states out."""

from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.model.layers import FeedForward, SelfAttention


class EncoderLayer(nn.Module):
    """x + attention(norm(x)), then x + feed_forward(norm(x))."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        D = config.d_model
        self.attention_norm = nn.LayerNorm(D)
        self.attention = SelfAttention(D, config.heads)
        self.feed_forward_norm = nn.LayerNorm(D)
        self.feed_forward = FeedForward(D, config.d_ff)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """X is (B, T, D), mask (B, 1, 1, T)."""
        x = x + self.dropout(self.attention(self.attention_norm(x), mask))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class Encoder(nn.Module):
    """All layers and the final norm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.norm = nn.LayerNorm(config.d_model)

    def forward(self, x: Tensor, src_mask: Tensor) -> Tensor:
        """X (B, T, D) embedded source, src_mask (B, T); returns the memory (B, T, D)."""
        mask = src_mask[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)
