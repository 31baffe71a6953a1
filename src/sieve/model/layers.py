"""The parts that layers are made of: positions, attention, feed-forward, recurrent unit.

Masks are True for real tokens. Parts know neither dropout nor residual connections: those belong
to the layers in encoder.py and decoder.py.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sieve.model.attention import attend
from sieve.model.recurrence import linear_recurrence


def sinusoids(
    start: int, length: int, width: int, device: torch.device, steps: int | None = None
) -> Tensor:
    """Positions start … start+length-1 as in Vaswani et al. 2017, sines then cosines: (T, D).

    The frequency falls by 10000 in `steps` steps, half the width where nothing is said.
    """
    half = width // 2
    frequency = torch.exp(
        torch.arange(half, device=device, dtype=torch.float32)
        * (-math.log(10000.0) / (steps or half))
    )
    position = torch.arange(start, start + length, device=device, dtype=torch.float32)
    angle = position[:, None] * frequency[None]
    return torch.cat((angle.sin(), angle.cos()), dim=1)


def residual(
    x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor], *, post: bool
) -> Tensor:
    """A sublayer with its residual connection, x + f(norm(x)), or norm(x + f(x)) where `post`."""
    if post:
        return norm(x + sublayer(x))
    return x + sublayer(norm(x))


def activate(x: Tensor, kind: Literal["relu", "swish", "gelu"]) -> Tensor:
    """The non-linearity of feed-forward sublayers; gelu as Marian has it."""
    if kind == "relu":
        return F.relu(x)
    return F.silu(x) if kind == "swish" else x * torch.sigmoid(1.702 * x)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, D) to (B, H, T, D/H)."""
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """(B, H, T, D/H) to (B, T, D)."""
    B, H, T, d = x.shape
    return x.transpose(1, 2).reshape(B, T, H * d)


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to itself."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv: Final = nn.Linear(width, 3 * width)
        self.out: Final = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor | None, causal: bool = False) -> Tensor:
        """Attends over x (B, T, D); mask (B, 1, 1, T), or causal without one."""
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(x).chunk(3, dim=-1))
        return self.out(merge_heads(attend(q, k, v, mask, causal)))


class CrossAttention(nn.Module):
    """Multi-head attention of the decoder to the encoder's states."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query: Final = nn.Linear(width, width)
        self.key_value: Final = nn.Linear(width, 2 * width)
        self.out: Final = nn.Linear(width, width)

    def keys_values(self, memory: Tensor) -> Tensor:
        """What the encoder's states (B, T, D) offer: (2, B, H, T, D/H), once a sentence."""
        B, T, D = memory.shape
        both = self.key_value(memory).view(B, T, 2, self.heads, D // self.heads)
        return both.permute(2, 0, 3, 1, 4)

    def forward(self, x: Tensor, keys_values: Tensor, mask: Tensor) -> Tensor:
        """Attends from x (B, U, D); mask (B, 1, 1, T)."""
        q = split_heads(self.query(x), self.heads)
        context = attend(q, keys_values[0], keys_values[1], mask)
        return self.out(merge_heads(context))

    def alignment(
        self, x: Tensor, keys_values: Tensor, mask: Tensor, heads: Sequence[int] = (0,)
    ) -> Tensor:
        """Log-probabilities (B, U, T): the mean of some heads; head 0 is trained to align."""
        queries = split_heads(self.query(x), self.heads)
        each = []
        for head in heads:
            q, k = queries[:, head], keys_values[0, :, head]
            scores = (q @ k.transpose(1, 2)).float() / math.sqrt(q.shape[-1])
            each.append(scores.masked_fill(~mask[:, 0], -math.inf).log_softmax(dim=-1))
        if len(each) == 1:
            return each[0]
        return torch.stack(each).logsumexp(dim=0) - math.log(len(each))


class FeedForward(nn.Module):
    """Two linear maps with a non-linearity between, at each position."""

    def __init__(
        self, width: int, hidden: int, activation: Literal["relu", "swish", "gelu"] = "relu"
    ) -> None:
        super().__init__()
        self.activation = activation
        self.hidden: Final = nn.Linear(width, hidden)
        self.out: Final = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (…, D) to (…, D)."""
        return self.out(activate(self.hidden(x), self.activation))


class SSRU(nn.Module):
    """Simpler simple recurrent unit (Kim et al. 2019).

    f_t = σ(W_f x_t + b_f)                  (1)
    c_t = f_t ⊙ c_{t-1} + (1 − f_t) ⊙ W x_t  (2)
    h_t = ReLU(c_t)                          (3)

    The only state between steps is c: one vector a layer, no cache.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.forget: Final = nn.Linear(width, width)
        self.value: Final = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """The whole sequence x (B, U, D) at once."""
        f, v = self._gated(x)
        return F.relu(linear_recurrence(f, v, False)).to(x.dtype)

    def step(self, x: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """One step: x and c are (N, D); returns h and the new c."""
        f, v = self._gated(x)
        c = f * c + v
        return F.relu(c).to(x.dtype), c

    def _gated(self, x: Tensor) -> tuple[Tensor, Tensor]:
        f = torch.sigmoid(self.forget(x).float())  # a long product of gates needs float32
        return f, (1.0 - f) * self.value(x).float()
