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
