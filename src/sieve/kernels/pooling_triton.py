"""The selection head's projection, its maximum over positions and the bias in one kernel."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917

import torch
import triton
import triton.language as tl
from torch import Tensor

LONGEST = 128
"""Positions of a sentence that fit one program."""


@triton.jit
def _pool(
    x, mask, weight, bias, out, B, T, V, D, TP: tl.constexpr, SENTENCES: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Logits of BN tokens for a few sentences of at most TP positions each."""
    first, block = tl.program_id(0) * SENTENCES, tl.program_id(1)
    row, channel = tl.arange(0, SENTENCES * TP), tl.arange(0, BK)
    b, t = first + row // TP, row % TP
    word = block * BN + tl.arange(0, BN)
    real = (b < B) & (t < T)
    at = (b * T + t).to(tl.int64)
    real = real & (tl.load(mask + at, mask=real, other=0) != 0)
    products = tl.zeros((SENTENCES * TP, BN), tl.float32)
    for k in range(0, D, BK):
        c = k + channel
        a = tl.load(
            x + at[:, None] * D + c[None, :], mask=real[:, None] & (c < D)[None, :], other=0.0
        )
        w = tl.load(
            weight + word.to(tl.int64)[None, :] * D + c[:, None],
            mask=(word < V)[None, :] & (c < D)[:, None],
            other=0.0,
        )
        products = tl.dot(a, w, products)
    products = tl.where(real[:, None], products, -float("inf"))
    best = tl.max(tl.reshape(products, (SENTENCES, TP, BN)), axis=1)  # (SENTENCES, BN)
    best += tl.load(bias + word, mask=word < V, other=0.0).to(tl.float32)[None, :]
    sentence = (first + tl.arange(0, SENTENCES)).to(tl.int64)
    inside = (sentence < B)[:, None] & (word < V)[None, :]
    tl.store(out + sentence[:, None] * V + word[None, :], best, mask=inside)


def pooled_logits(x: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """(B, V) float32: max over real positions of weight · x, plus bias; x (B, T, D) in 16 bits."""
    B, T, D = x.shape
    V = len(weight)
    out = torch.empty(B, V, dtype=torch.float32, device=x.device)
    TP = max(16, triton.next_power_of_2(T))
    sentences = min(max(1, 128 // TP), triton.next_power_of_2(B))
    full = sentences * TP == 128
    BN = 128 if full else 64
    _pool[(triton.cdiv(B, sentences), triton.cdiv(V, BN))](
        x.contiguous(), mask.view(torch.int8), weight, bias, out, B, T, V, D, TP=TP,
        SENTENCES=sentences, BN=BN, BK=64, num_warps=4, num_stages=3,
    )  # fmt: skip
    return out
