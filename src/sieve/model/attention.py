"""Scaled dot-product attention: torch's own, or a kernel for short sequences in CUDA training.

One operator, opaque to torch.compile, so that no shape is compiled or planned twice.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from sieve.kernels.dispatch import load

KERNELS = load("attention") if torch.cuda.is_available() else None
"""Found once: `attend` is compiled, and must ask nothing that changes."""


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool = False) -> Tensor:
    """softmax(Q K' / √d) V for each head.

    Args:
        q: Queries (B, H, U, d).
        k: Keys (B, H, T, d).
        v: Values (B, H, T, d).
        mask: (B, 1, 1, T), True for real positions; each row needs one.
        causal: Position u sees positions up to u alone.

    Returns:
        Contexts (B, H, U, d).
    """
    if KERNELS is not None and q.is_cuda and torch.is_grad_enabled() and KERNELS.supports(q, k):
        rows = None if mask is None else mask[:, 0, 0]
        return short_attention(q, k, v, rows, causal).transpose(1, 2)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)


@torch.library.custom_op("sieve::short_attention", mutates_args=())
def short_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """As `attend` for short sequences on CUDA; mask (B, T), result (B, U, H, d)."""
    assert KERNELS is not None
    mask = None if mask is None else mask.contiguous()
    result: Tensor = KERNELS.forward(q, k, v, mask, causal, 1.0 / math.sqrt(q.shape[3]))
    return result


@torch.library.custom_op("sieve::short_attention_backward", mutates_args=())
def _short_attention_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool
) -> tuple[Tensor, Tensor, Tensor]:
    assert KERNELS is not None
    mask = None if mask is None else mask.contiguous()
    scale = 1.0 / math.sqrt(q.shape[3])
    dq, dk, dv = KERNELS.backward(grad, q, k, v, mask, causal, scale)
    return dq, dk, dv


@short_attention.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    B, H, U, d = q.shape
    return q.new_empty(B, U, H, d)


@_short_attention_backward.register_fake
def _(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool
) -> tuple[Tensor, Tensor, Tensor]:
    B, H, U, d = q.shape
    T = k.shape[2]
    return q.new_empty(B, U, H, d), q.new_empty(B, T, H, d), q.new_empty(B, T, H, d)


def _setup_context(
    ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, Tensor | None, bool], output: Tensor
) -> None:
    q, k, v, mask, causal = inputs
    ctx.save_for_backward(q, k, v, mask)
    ctx.causal = causal


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
    q, k, v, mask = ctx.saved_tensors
    grads = _short_attention_backward(grad.transpose(1, 2), q, k, v, mask, ctx.causal)
    dq, dk, dv = (g.transpose(1, 2) for g in grads)
    return dq, dk, dv, None, None


short_attention.register_autograd(_backward, setup_context=_setup_context)
