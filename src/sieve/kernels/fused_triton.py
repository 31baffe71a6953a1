"""Pieces of a layer as one kernel each for CUDA: one program for each row of D channels."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

from sieve.kernels.buffers import Cells


@triton.jit
def _norm_row(x, weight, bias, channel, inside, width, eps):
    mean = tl.sum(tl.where(inside, x, 0.0), axis=0) / width
    centred = tl.where(inside, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / width + eps)
    w = tl.load(weight + channel, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(bias + channel, mask=inside, other=0.0).to(tl.float32)
    return centred * scale * w + b


@triton.jit
def _add_norm(x, y, weight, bias, total, normed, width, eps, BLOCK: tl.constexpr):
    channel = tl.arange(0, BLOCK)
    inside = channel < width
    place = tl.program_id(0).to(tl.int64) * width + channel
    value = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(y + place, mask=inside, other=0.0).to(tl.float32)
    kind = total.dtype.element_ty
    tl.store(total + place, value.to(kind), mask=inside)
    value = value.to(kind).to(tl.float32)  # the norm sees what the next layer adds to
    result = _norm_row(value, weight, bias, channel, inside, width, eps)
    tl.store(normed + place, result.to(kind), mask=inside)


@triton.jit
def _ssru_add_norm(
    gates, x, cells, position, parents, weight, bias, total, normed, half, width, eps,
    BLOCK: tl.constexpr,
):  # fmt: skip
    channel = tl.arange(0, BLOCK)
    inside = channel < width
    row = tl.program_id(0).to(tl.int64)
    place = row * width + channel
    side = tl.load(position) % 2
    before = cells + side * half + tl.load(parents + row) * width
    gate = tl.load(gates + 2 * row * width + channel, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(gates + (2 * row + 1) * width + channel, mask=inside, other=0.0).to(tl.float32)
    gate = 1.0 / (1.0 + tl.exp(-gate))
    cell = tl.load(before + channel, mask=inside, other=0.0)
    cell = gate * cell + (1.0 - gate) * value
    tl.store(cells + (1 - side) * half + place, cell, mask=inside)
    kind = total.dtype.element_ty
    mixed = tl.maximum(cell, 0.0).to(kind).to(tl.float32)
    result = tl.load(x + place, mask=inside, other=0.0).to(tl.float32) + mixed
    tl.store(total + place, result.to(kind), mask=inside)
    result = result.to(kind).to(tl.float32)
    result = _norm_row(result, weight, bias, channel, inside, width, eps)
    tl.store(normed + place, result.to(kind), mask=inside)


@triton.jit
def _embed_norm(
    ids, table, positions, position, weight, bias, x, normed, scale, width, eps, BLOCK: tl.constexpr
):
    channel = tl.arange(0, BLOCK)
    inside = channel < width
    row = tl.program_id(0).to(tl.int64)
    word, step = tl.load(ids + row), tl.load(position)
    kind = x.dtype.element_ty
    value = tl.load(table + word * width + channel, mask=inside, other=0.0).to(tl.float32) * scale
    value = value.to(kind).to(tl.float32)  # rounded where torch rounds
    value += tl.load(positions + step * width + channel, mask=inside, other=0.0).to(tl.float32)
    tl.store(x + row * width + channel, value.to(kind), mask=inside)
    value = value.to(kind).to(tl.float32)
    result = _norm_row(value, weight, bias, channel, inside, width, eps)
    tl.store(normed + row * width + channel, result.to(kind), mask=inside)


@triton.jit
def _context(
    query, keys, values, mask, T, stride, DH: tl.constexpr, KP: tl.constexpr, BT: tl.constexpr
):
    """float32 softmax attention of scaled queries (KP, DH) to T keys and values `stride` apart."""
    channel, lane = tl.arange(0, DH), tl.arange(0, BT)
    top = tl.full((KP,), -1e30, tl.float32)
    total = tl.zeros((KP,), tl.float32)
    context = tl.zeros((KP, DH), tl.float32)
    for first in range(0, T, BT):
        t = first + lane
        inside = t < T
        at = t[:, None] * stride + channel[None, :]
        k = tl.load(keys + at, mask=inside[:, None], other=0.0)  # (BT, DH)
        v = tl.load(values + at, mask=inside[:, None], other=0.0)
        hidden = tl.load(mask + t, mask=inside, other=-float("inf")).to(tl.float32)
        scores = tl.dot(query, tl.trans(k), input_precision="ieee") + hidden[None, :]  # (KP, BT)
        higher = tl.maximum(top, tl.max(scores, axis=1))
        shrink = tl.exp(top - higher)
        share = tl.exp(scores - higher[:, None])
        total = total * shrink + tl.sum(share, axis=1)
        context = context * shrink[:, None]
        context = tl.dot(share.to(v.dtype), v, context, input_precision="ieee")
        top = higher
    return context / total[:, None]


@triton.jit
def _attend(
    q, keys, values, mask, out, scale, T, K, q_stride, out_stride, t_stride, head_stride, b_stride,
    KP: tl.constexpr, DH: tl.constexpr, BT: tl.constexpr,
):  # fmt: skip
    """One sentence, head and block of queries: q and out (B, K, H·DH), strides in elements."""
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(1)
    beam, channel = tl.program_id(2) * KP + tl.arange(0, KP), tl.arange(0, DH)
    real = (beam < K)[:, None]
    row = (b * K + beam)[:, None]
    query = tl.load(q + row * q_stride + h * DH + channel[None, :], mask=real, other=0.0)
    query = (query.to(tl.float32) * scale).to(q.dtype.element_ty)
    start = b * b_stride + h * head_stride
    context = _context(query, keys + start, values + start, mask + b * T, T, t_stride, DH, KP, BT)
    place = row * out_stride + h * DH + channel[None, :]
    tl.store(out + place, context.to(out.dtype.element_ty), mask=real)


def embed_norm(
    ids: Tensor, table: Tensor, positions: Tensor, position: Tensor, norm: nn.LayerNorm
) -> tuple[Tensor, Tensor]:
    """As `fused.embed_norm`."""
    N, D = len(ids), table.shape[1]
    x = torch.empty(N, D, dtype=table.dtype, device=table.device)
    normed = torch.empty_like(x)
    block = triton.next_power_of_2(D)
    _embed_norm[(N,)](
        ids, table, positions, position, norm.weight, norm.bias, x, normed, float(D) ** 0.5, D,
        norm.eps, BLOCK=block, num_warps=_warps(block),
    )  # fmt: skip
    return x, normed


def attend(q: Tensor, keys_values: Tensor, mask: Tensor) -> Tensor:
    """Attention of q (B, K, D) to keys and values (2, B, H, T, D/H), mask (B, 1, 1, T) added."""
    _, B, H, T, DH = keys_values.shape
    K = q.shape[1]
    q, keys_values = q.contiguous(), keys_values.contiguous()
    out = torch.empty_like(q)
    KP = queries(K)
    _attend[(B, H, triton.cdiv(K, KP))](
        q, keys_values[0], keys_values[1], mask.contiguous(), out, DH**-0.5, T, K, H * DH, H * DH,
        DH, T * DH, H * T * DH, KP=KP, DH=DH, BT=keys(T), num_warps=2,
    )  # fmt: skip
    return out


def self_attend(qkv: Tensor, mask: Tensor, heads: int) -> Tensor:
    """Attention (B, T, D) of a sequence to itself, from the three products (B, T, 3D)."""
    B, T, D = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    out = torch.empty(B, T, D, dtype=qkv.dtype, device=qkv.device)
    KP, DH = queries(T), D // heads
    _attend[(B, heads, triton.cdiv(T, KP))](
        qkv, qkv[..., D:], qkv[..., 2 * D :], mask, out, DH**-0.5, T, T, 3 * D, D,
        3 * D, DH, T * 3 * D, KP=KP, DH=DH, BT=keys(T), num_warps=4,
    )  # fmt: skip
    return out


def queries(number: int) -> int:
    """Queries a program takes: matrix units want 16 at least."""
    return max(16, min(32, triton.next_power_of_2(number)))


def keys(number: int) -> int:
    """Keys a program takes at a time."""
    return max(16, min(64, triton.next_power_of_2(number)))


def attends(width: int) -> bool:
    """Whether `attend` takes heads of this width."""
    return width in (16, 32, 64, 128)


def add_norm(
    x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """As `fused.add_norm`."""
    x, y = x.contiguous(), y.contiguous()
    D = x.shape[-1]
    total, normed = torch.empty_like(x), torch.empty_like(x)
    block = triton.next_power_of_2(D)
    _add_norm[(x.numel() // D,)](
        x, y, weight, bias, total, normed, D, eps, BLOCK=block, num_warps=_warps(block)
    )
    return total, normed


def ssru_add_norm(
    gates: Tensor, x: Tensor, cells: Cells, norm: nn.LayerNorm
) -> tuple[Tensor, Tensor]:
    """As `fused.ssru_add_norm`, from the gates' products (N, 2D): forget, then value."""
    N, D = x.shape
    total, normed = torch.empty_like(x), torch.empty_like(x)
    block = triton.next_power_of_2(D)
    _ssru_add_norm[(N,)](
        gates, x, cells.halves, cells.position, cells.parents, norm.weight, norm.bias, total,
        normed, cells.halves.stride(0), D, norm.eps, BLOCK=block, num_warps=_warps(block),
    )  # fmt: skip
    return total, normed


def _warps(block: int) -> int:
    return max(1, min(8, block // 256))
