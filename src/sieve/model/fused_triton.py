"""Kernels of `sieve.model.fused` for CUDA: one program for each row of D channels."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917

import torch
import triton
import triton.language as tl
from torch import Tensor, nn


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
    gates, x, before, after, weight, bias, total, normed, width, eps, BLOCK: tl.constexpr
):
    channel = tl.arange(0, BLOCK)
    inside = channel < width
    row = tl.program_id(0).to(tl.int64)
    place = row * width + channel
    gate = tl.load(gates + 2 * row * width + channel, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(gates + (2 * row + 1) * width + channel, mask=inside, other=0.0).to(tl.float32)
    gate = 1.0 / (1.0 + tl.exp(-gate))
    cell = tl.load(before + place, mask=inside, other=0.0)
    cell = gate * cell + (1.0 - gate) * value
    tl.store(after + place, cell, mask=inside)
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
def _attend(
    q,
    keys,
    values,
    mask,
    out,
    scale,
    T,
    heads,
    K: tl.constexpr,
    KP: tl.constexpr,
    DH: tl.constexpr,
    BT: tl.constexpr,
):
    """One sentence and head: q and out (B, K, H, DH), keys and values (B, H, T, DH)."""
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(1)
    beam, channel, lane = tl.arange(0, KP), tl.arange(0, DH), tl.arange(0, BT)
    real = (beam < K)[:, None]
    place = ((b * K + beam)[:, None] * heads + h) * DH + channel[None, :]
    query = tl.load(q + place, mask=real, other=0.0).to(tl.float32) * scale  # (KP, DH)
    top = tl.full((KP,), -1e30, tl.float32)
    total = tl.zeros((KP,), tl.float32)
    context = tl.zeros((KP, DH), tl.float32)
    start = (b * heads + h) * T
    for first in range(0, T, BT):
        t = first + lane
        inside = t < T
        at = (start + t)[:, None] * DH + channel[None, :]
        k = tl.load(keys + at, mask=inside[:, None], other=0.0).to(tl.float32)  # (BT, DH)
        v = tl.load(values + at, mask=inside[:, None], other=0.0).to(tl.float32)
        hidden = tl.load(mask + b * T + t, mask=inside, other=-float("inf")).to(tl.float32)
        scores = tl.sum(query[:, None, :] * k[None, :, :], axis=2) + hidden[None, :]  # (KP, BT)
        higher = tl.maximum(top, tl.max(scores, axis=1))
        shrink = tl.exp(top - higher)
        share = tl.exp(scores - higher[:, None])
        total = total * shrink + tl.sum(share, axis=1)
        context = context * shrink[:, None] + tl.sum(share[:, :, None] * v[None, :, :], axis=1)
        top = higher
    context = context / total[:, None]
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
    q, keys_values, mask = q.contiguous(), keys_values.contiguous(), mask.contiguous()
    out = torch.empty_like(q)
    KP = max(2, triton.next_power_of_2(K))
    _attend[(B, H)](
        q, keys_values[0], keys_values[1], mask, out, DH**-0.5, T, H,
        K=K, KP=KP, DH=DH, BT=16, num_warps=4,
    )  # fmt: skip
    return out


def attends(beams: int, width: int) -> bool:
    """Whether `attend` takes this many queries of heads of this width."""
    return beams <= 8 and width in (16, 32, 64, 128)


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
    gates: Tensor, x: Tensor, cells: tuple[Tensor, Tensor], norm: nn.LayerNorm
) -> tuple[Tensor, Tensor]:
    """As `fused.ssru_add_norm`, from the gates' products (N, 2D): forget, then value."""
    N, D = x.shape
    total, normed = torch.empty_like(x), torch.empty_like(x)
    block = triton.next_power_of_2(D)
    before, after = cells
    _ssru_add_norm[(N,)](
        gates, x, before, after, norm.weight, norm.bias, total, normed, D, norm.eps,
        BLOCK=block, num_warps=_warps(block),
    )  # fmt: skip
    return total, normed


def _warps(block: int) -> int:
    return max(1, min(8, block // 256))
