"""Products of at most 64 rows with what comes before and after them, for CUDA.

So few rows are bound by reading weights and by the number of kernels. A norm before a product needs
no kernel of its own: with the norm's weight folded into the matrix W, and s its rows' sums,
W·norm(x) = (W·x − mean(x)·s) / deviation(x) + bias, and mean and deviation come out of the same
reading of x. `few_rows` puts layers together from these.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from sieve.model.fused import Cells
from sieve.model.fused_triton import _context, keys

MOST = 64


@dataclass(frozen=True)
class Folded:
    """A linear map after a layer norm, or one alone."""

    weight: Tensor
    """(F, D), times the norm's weight."""
    bias: Tensor
    """(F,) fp32 where a norm is folded in: the map's, and what the norm's becomes."""
    sums: Tensor | None = None
    """(F,) sums of the weight's rows in fp32; None without a norm."""
    eps: float = 0.0


@triton.jit
def _deviation(total, square, width, eps):
    """Mean and 1 / deviation of rows from sums (M, BK) of their values and squares."""
    mean = tl.sum(total, axis=1) / width
    return mean, 1.0 / tl.sqrt(tl.sum(square, axis=1) / width - mean * mean + eps)


@triton.jit
def _product(
    x, weight, bias, sums, residual, out, N, D, F, eps, NORM: tl.constexpr, RELU: tl.constexpr,
    ADD: tl.constexpr, M: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """BN of the F outputs of all N rows of x (N, D)."""
    row, column = tl.arange(0, M), tl.program_id(0) * BN + tl.arange(0, BN)
    channel, inside = tl.arange(0, BK), column < F
    found = tl.zeros((M, BN), tl.float32)
    total = tl.zeros((M, BK), tl.float32)
    square = tl.zeros((M, BK), tl.float32)
    for k in range(0, D, BK):
        at = k + channel
        w = tl.load(
            weight + column[None, :] * D + at[:, None],
            mask=inside[None, :] & (at < D)[:, None],
            other=0.0,
        )
        a = tl.load(
            x + row[:, None] * D + at[None, :],
            mask=(row < N)[:, None] & (at < D)[None, :],
            other=0.0,
        )
        found = tl.dot(a, w, found, input_precision="ieee")
        if NORM:
            a = a.to(tl.float32)
            total += a
            square += a * a
    if NORM:
        mean, scale = _deviation(total, square, D, eps)
        lost = tl.load(sums + column, mask=inside, other=0.0)
        found = (found - mean[:, None] * lost[None, :]) * scale[:, None]
    found += tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)[None, :]
    if RELU:
        found = tl.maximum(found, 0.0)
    place = row[:, None] * F + column[None, :]
    mask = (row < N)[:, None] & inside[None, :]
    if ADD:
        found = found.to(out.dtype.element_ty).to(tl.float32)
        found += tl.load(residual + place, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + place, found.to(out.dtype.element_ty), mask=mask)


@triton.jit
def _ssru(
    x, weight, bias, sums, cells, position, parents, out, half, N, D, eps,
    M: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """BN channels of x + SSRU(norm(x)) for all N rows; gates (2D, D): forget, then value."""
    row, channel = tl.arange(0, M), tl.arange(0, BK)
    column = tl.program_id(0) * BN + tl.arange(0, BN)
    inside, real = column < D, row < N
    gate = tl.zeros((M, BN), tl.float32)
    value = tl.zeros((M, BN), tl.float32)
    total = tl.zeros((M, BK), tl.float32)
    square = tl.zeros((M, BK), tl.float32)
    for k in range(0, D, BK):
        at = k + channel
        place = weight + column[None, :] * D + at[:, None]
        mask = inside[None, :] & (at < D)[:, None]
        w = tl.load(place, mask=mask, other=0.0)
        v = tl.load(place + D * D, mask=mask, other=0.0)
        a = tl.load(
            x + row[:, None] * D + at[None, :], mask=real[:, None] & (at < D)[None, :], other=0.0
        )
        gate = tl.dot(a, w, gate, input_precision="ieee")
        value = tl.dot(a, v, value, input_precision="ieee")
        a = a.to(tl.float32)
        total += a
        square += a * a
    mean, scale = _deviation(total, square, D, eps)
    lost = tl.load(sums + column, mask=inside, other=0.0)[None, :]
    gate = (gate - mean[:, None] * lost) * scale[:, None]
    gate += tl.load(bias + column, mask=inside, other=0.0)[None, :]
    lost = tl.load(sums + D + column, mask=inside, other=0.0)[None, :]
    value = (value - mean[:, None] * lost) * scale[:, None]
    value += tl.load(bias + D + column, mask=inside, other=0.0)[None, :]
    gate = 1.0 / (1.0 + tl.exp(-gate))
    mask = real[:, None] & inside[None, :]
    side = tl.load(position) % 2
    parent = tl.load(parents + row, mask=real, other=0)
    before = cells + side * half + parent[:, None] * D + column[None, :]
    cell = gate * tl.load(before, mask=mask, other=0.0) + (1.0 - gate) * value
    place = row[:, None] * D + column[None, :]
    tl.store(cells + (1 - side) * half + place, cell, mask=mask)
    kind = out.dtype.element_ty
    mixed = tl.maximum(cell, 0.0).to(kind).to(tl.float32)
    mixed += tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + place, mixed.to(kind), mask=mask)


@triton.jit
def _query_attend(
    x, weight, bias, sums, keys, values, mask, out, T, K, D, scale, eps,
    M: tl.constexpr, DH: tl.constexpr, BK: tl.constexpr, BT: tl.constexpr,
):  # fmt: skip
    """One sentence and head: the queries of its K rows norm(x), and their context."""
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(1)
    beam, channel = tl.arange(0, M), tl.arange(0, BK)
    column = h * DH + tl.arange(0, DH)
    row, real = b * K + beam, beam < K
    query = tl.zeros((M, DH), tl.float32)
    total = tl.zeros((M, BK), tl.float32)
    square = tl.zeros((M, BK), tl.float32)
    for k in range(0, D, BK):
        at = k + channel
        w = tl.load(weight + column[None, :] * D + at[:, None], mask=(at < D)[:, None], other=0.0)
        a = tl.load(
            x + row[:, None] * D + at[None, :], mask=real[:, None] & (at < D)[None, :], other=0.0
        )
        query = tl.dot(a, w, query, input_precision="ieee")
        a = a.to(tl.float32)
        total += a
        square += a * a
    mean, deviation = _deviation(total, square, D, eps)
    query = (query - mean[:, None] * tl.load(sums + column)[None, :]) * deviation[:, None]
    query = ((query + tl.load(bias + column)[None, :]) * scale).to(x.dtype.element_ty)
    start = (b * tl.num_programs(1) + h) * T * DH
    context = _context(query, keys + start, values + start, mask + b * T, T, DH, DH, M, BT)
    place = row[:, None] * D + column[None, :]
    tl.store(out + place, context.to(out.dtype.element_ty), mask=real[:, None])


def product(x: Tensor, by: Folded, residual: Tensor | None = None, relu: bool = False) -> Tensor:
    """W·norm(x) + b (N, F) for rows x (N, D): with ReLU, or added to a residual (N, F)."""
    (N, D), F = x.shape, len(by.weight)
    out = torch.empty(N, F, dtype=x.dtype, device=x.device)
    tiles = _tiles(x, F)
    _product[(triton.cdiv(F, tiles["BN"]),)](
        x, by.weight, by.bias, by.sums, residual, out, N, D, F, by.eps, NORM=by.sums is not None,
        RELU=relu, ADD=residual is not None, **tiles,
    )  # fmt: skip
    return out


def ssru(x: Tensor, by: Folded, cells: Cells) -> Tensor:
    """The sum x + SSRU(norm(x)) (N, D) from the gates (2D, D); see `fused.ssru_add_norm`."""
    N, D = x.shape
    out = torch.empty_like(x)
    tiles = _tiles(x, D)
    _ssru[(triton.cdiv(D, tiles["BN"]),)](
        x, by.weight, by.bias, by.sums, cells.halves, cells.position, cells.parents, out,
        cells.halves.stride(0), N, D, by.eps, **tiles,
    )  # fmt: skip
    return out


def query_attend(x: Tensor, by: Folded, keys_values: Tensor, mask: Tensor) -> Tensor:
    """Context (N, D) of queries W·norm(x) + b to keys and values (2, B, H, T, D/H)."""
    _, B, H, T, DH = keys_values.shape
    N, D = x.shape
    out = torch.empty_like(x)
    tiles = _tiles(x[: N // B], 0)
    tiles.pop("BN")
    _query_attend[(B, H)](
        x, by.weight, by.bias, by.sums, keys_values[0], keys_values[1], mask, out, T, N // B, D,
        DH**-0.5, by.eps, DH=DH, BT=keys(T), **tiles,
    )  # fmt: skip
    return out


def _tiles(x: Tensor, outputs: int) -> dict[str, int]:
    """Rows, outputs and inputs a program takes at a time, and how deep it reads ahead."""
    N, D = x.shape
    M = max(16, triton.next_power_of_2(N))
    most = 64 if x.element_size() > 2 else 256 if M == 16 and outputs else 128
    BK = max(16, min(most, triton.next_power_of_2(D)))
    return {"M": M, "BN": 16 if outputs < 2048 else 32, "BK": BK, "num_warps": 4, "num_stages": 4}
