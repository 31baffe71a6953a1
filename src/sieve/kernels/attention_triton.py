"""Attention for short sequences on CUDA: one program holds a head's whole score matrix.

Sentences are short (tens of tokens), so the tiles of general flash kernels are mostly padding and
their plans depend on the shape. Here any length up to MAX_LENGTH runs, no shape is special, and
heads are read and written where the linear layers want them, without transposing copies.
"""
# ruff: noqa: PLR0913, PLR0917
# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-untyped-call"

import torch
import triton
import triton.language as tl
from torch import Tensor

# Lengths are not specialised on: every unit has others, and each special case would be compiled.
MAX_LENGTH = 128
"""Longest source or target one program can hold."""
HEAD_WIDTHS = (32, 64, 128)


@triton.jit
def _load(x, b, h, stride_b, stride_h, stride_t, length, BLOCK: tl.constexpr, D: tl.constexpr):
    """(BLOCK, D) rows of one head, zeros behind its length."""
    t = tl.arange(0, BLOCK)[:, None]
    start = b.to(tl.int64) * stride_b + h * stride_h
    return tl.load(x + start + t * stride_t + tl.arange(0, D)[None, :], mask=t < length, other=0.0)


@triton.jit
def _store(x, tile, b, h, H, length, BLOCK: tl.constexpr, D: tl.constexpr):
    """Writes (BLOCK, D) rows of one head into a contiguous (B, length, H, D)."""
    t = tl.arange(0, BLOCK)[:, None]
    offset = (b.to(tl.int64) * length + t) * H * D + h * D + tl.arange(0, D)[None, :]
    tl.store(x + offset, tile.to(x.dtype.element_ty), mask=t < length)


@triton.jit
def _probabilities(
    q, k, mask, b, T, scale, HAS_MASK: tl.constexpr, CAUSAL: tl.constexpr,
    BU: tl.constexpr, BT: tl.constexpr,
):  # fmt: skip
    """softmax(Q K' scale) over the real positions, (BU, BT) in float32."""
    cols = tl.arange(0, BT)[None, :]
    real = (cols < T) & (tl.arange(0, BU)[:, None] >= 0)
    if HAS_MASK:
        real = real & (tl.load(mask + b * T + cols, mask=cols < T, other=0) != 0)
    if CAUSAL:
        real = real & (cols <= tl.arange(0, BU)[:, None])
    scores = tl.where(real, tl.dot(q, tl.trans(k)) * scale, -1.0e30)
    weights = tl.where(real, tl.exp(scores - tl.max(scores, 1)[:, None]), 0.0)
    return weights / tl.sum(weights, 1)[:, None]


@triton.jit(do_not_specialize=["U", "T"])
def _forward_kernel(
    q, k, v, mask, out, sqb, sqh, sqt, skb, skh, skt, svb, svh, svt, H, U, T, scale,
    HAS_MASK: tl.constexpr, CAUSAL: tl.constexpr,
    BU: tl.constexpr, BT: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(0) // H, tl.program_id(0) % H
    Q = _load(q, b, h, sqb, sqh, sqt, U, BU, D)
    K = _load(k, b, h, skb, skh, skt, T, BT, D)
    V = _load(v, b, h, svb, svh, svt, T, BT, D)
    P = _probabilities(Q, K, mask, b, T, scale, HAS_MASK, CAUSAL, BU, BT)
    _store(out, tl.dot(P.to(V.dtype), V), b, h, H, U, BU, D)


@triton.jit(do_not_specialize=["U", "T"])
def _backward_kernel(
    q, k, v, mask, grad, dq, dk, dv,
    sqb, sqh, sqt, skb, skh, skt, svb, svh, svt, sgb, sgh, sgt, H, U, T, scale,
    HAS_MASK: tl.constexpr, CAUSAL: tl.constexpr,
    BU: tl.constexpr, BT: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(0) // H, tl.program_id(0) % H
    Q = _load(q, b, h, sqb, sqh, sqt, U, BU, D)
    K = _load(k, b, h, skb, skh, skt, T, BT, D)
    V = _load(v, b, h, svb, svh, svt, T, BT, D)
    G = _load(grad, b, h, sgb, sgh, sgt, U, BU, D)
    P = _probabilities(Q, K, mask, b, T, scale, HAS_MASK, CAUSAL, BU, BT)
    _store(dv, tl.dot(tl.trans(P.to(G.dtype)), G), b, h, H, T, BT, D)
    dP = tl.dot(G, tl.trans(V))
    dS = (P * (dP - tl.sum(P * dP, 1)[:, None]) * scale).to(Q.dtype)
    _store(dq, tl.dot(dS, K), b, h, H, U, BU, D)
    _store(dk, tl.dot(tl.trans(dS), Q), b, h, H, T, BT, D)


def forward(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> Tensor:
    """Queries q (B, H, U, D), k and v (B, H, T, D), mask (B, T); returns (B, U, H, D)."""
    B, H, U, D = q.shape
    T = k.shape[2]
    out = q.new_empty(B, U, H, D)
    _forward_kernel[(B * H,)](
        q, k, v, q if mask is None else mask, out,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], H, U, T, scale,
        HAS_MASK=mask is not None, CAUSAL=causal, **_blocks(U, T, D),
    )  # fmt: skip
    return out


def backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients (B, *, H, D) of q, k, v from grad (B, H, U, D)."""
    B, H, U, D = q.shape
    T = k.shape[2]
    dq, dk, dv = (q.new_empty(B, length, H, D) for length in (U, T, T))
    _backward_kernel[(B * H,)](
        q, k, v, q if mask is None else mask, grad, dq, dk, dv,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *grad.stride()[:3], H, U, T, scale,
        HAS_MASK=mask is not None, CAUSAL=causal, **_blocks(U, T, D),
    )  # fmt: skip
    return dq, dk, dv


def _blocks(U: int, T: int, D: int) -> dict[str, int]:
    BU, BT = max(16, triton.next_power_of_2(U)), max(16, triton.next_power_of_2(T))
    return {"BU": BU, "BT": BT, "D": D, "num_warps": 8 if BU * BT > 64 * 64 else 4}


def supports(q: Tensor, k: Tensor) -> bool:
    """Whether the kernels can run these shapes: q (B, H, U, D), k (B, H, T, D)."""
    return (
        q.dtype in (torch.bfloat16, torch.float16)
        and max(q.shape[2], k.shape[2]) <= MAX_LENGTH
        and q.shape[3] in HEAD_WIDTHS
    )
