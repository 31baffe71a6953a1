"""Products of at most 64 rows with what comes before and after them, for CUDA.

So few rows are bound by reading weights and by the number of kernels. A norm before a product needs
no kernel of its own: with the norm's weight folded into the matrix W, and s its rows' sums,
W·norm(x) = (W·x − mean(x)·s) / deviation(x) + bias. Whoever writes x leaves sums of its values and
of their squares beside it. The torch engine puts layers together from these.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

from sieve.kernels.buffers import Cells, Folded, Rows
from sieve.kernels.fused_triton import _context, _norm_row, keys

MOST = 64


@triton.jit
def _parts(sums, row, real, N, C, CP: tl.constexpr):
    """The parts' sums of rows (M,): values and squares, (M, CP) each."""
    part = tl.arange(0, CP)
    place = row[:, None] * C + part[None, :]
    inside = real[:, None] & (part < C)[None, :]
    total = tl.load(sums + place, mask=inside, other=0.0)
    square = tl.load(sums + N * C + place, mask=inside, other=0.0)
    return total, square


@triton.jit
def _normed(product, total, square, lost, width, eps):
    """Products of normalised rows from products (M, BN) of rows as they are."""
    mean = tl.sum(total, axis=1) / width
    scale = 1.0 / tl.sqrt(tl.sum(square, axis=1) / width - mean * mean + eps)
    return (product - mean[:, None] * lost[None, :]) * scale[:, None]


@triton.jit
def _store(out, sums, value, place, mask, row, real, N):
    """Stores values (M, BN), and their sums as this program's part."""
    value = value.to(out.dtype.element_ty)
    tl.store(out + place, value, mask=mask)
    value = tl.where(mask, value.to(tl.float32), 0.0)
    C = tl.num_programs(0)
    at = row * C + tl.program_id(0)
    tl.store(sums + at, tl.sum(value, axis=1), mask=real)
    tl.store(sums + N * C + at, tl.sum(value * value, axis=1), mask=real)


@triton.jit
def _embed(
    ids, table, positions, position, out, sums, scale, N, D, T, BLOCK: tl.constexpr,
    STEP: tl.constexpr,
):  # fmt: skip
    """One embedded id: at the step's position, or at its own among T."""
    channel = tl.arange(0, BLOCK)
    inside = channel < D
    row = tl.program_id(0).to(tl.int64)
    at = tl.load(position) if STEP else row % T
    value = tl.load(table + tl.load(ids + row) * D + channel, mask=inside, other=0.0)
    kind = out.dtype.element_ty
    value = (value.to(tl.float32) * scale).to(kind).to(tl.float32)  # rounded where torch rounds
    value += tl.load(positions + at * D + channel, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * D + channel, value.to(kind), mask=inside)
    value = tl.where(inside, value.to(kind).to(tl.float32), 0.0)
    tl.store(sums + row, tl.sum(value, axis=0))
    tl.store(sums + N + row, tl.sum(value * value, axis=0))


@triton.jit
def _norm(x, weight, bias, out, width, eps, BLOCK: tl.constexpr):
    channel = tl.arange(0, BLOCK)
    inside = channel < width
    place = tl.program_id(0).to(tl.int64) * width + channel
    value = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    result = _norm_row(value, weight, bias, channel, inside, width, eps)
    tl.store(out + place, result.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _product(
    x, x_sums, weight, bias, weight_sums, residual, out, sums, N, D, F, C, eps,
    NORM: tl.constexpr, RELU: tl.constexpr, ADD: tl.constexpr, M: tl.constexpr, CP: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """BN of the F outputs of all N rows of x (N, D)."""
    row, column = tl.arange(0, M), tl.program_id(0) * BN + tl.arange(0, BN)
    channel, inside, real = tl.arange(0, BK), column < F, row < N
    if NORM:
        total, square = _parts(x_sums, row, real, N, C, CP)
    product = tl.zeros((M, BN), tl.float32)
    for k in range(0, D, BK):
        at = k + channel
        w = tl.load(
            weight + column[None, :] * D + at[:, None],
            mask=inside[None, :] & (at < D)[:, None],
            other=0.0,
        )
        a = tl.load(
            x + row[:, None] * D + at[None, :], mask=real[:, None] & (at < D)[None, :], other=0.0
        )
        product = tl.dot(a, w, product, input_precision="ieee")
    if NORM:
        lost = tl.load(weight_sums + column, mask=inside, other=0.0)
        product = _normed(product, total, square, lost, D, eps)
    product += tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)[None, :]
    place = row[:, None] * F + column[None, :]
    mask = real[:, None] & inside[None, :]
    kind = out.dtype.element_ty
    if ADD:
        product = product.to(kind).to(tl.float32)
        product += tl.load(residual + place, mask=mask, other=0.0).to(tl.float32)
        _store(out, sums, product, place, mask, row, real, N)
    else:
        if RELU:
            product = tl.maximum(product, 0.0)
        tl.store(out + place, product.to(kind), mask=mask)


@triton.jit
def _ssru(
    x, x_sums, weight, bias, weight_sums, cells, position, parents, out, sums, half, N, D, C, eps,
    M: tl.constexpr, CP: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """BN channels of x + SSRU(norm(x)) for all N rows; gates (2D, D): forget, then value."""
    row, channel = tl.arange(0, M), tl.arange(0, BK)
    column = tl.program_id(0) * BN + tl.arange(0, BN)
    inside, real = column < D, row < N
    total, square = _parts(x_sums, row, real, N, C, CP)
    gate = tl.zeros((M, BN), tl.float32)
    value = tl.zeros((M, BN), tl.float32)
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
    lost = tl.load(weight_sums + column, mask=inside, other=0.0)
    gate = _normed(gate, total, square, lost, D, eps)
    gate += tl.load(bias + column, mask=inside, other=0.0)[None, :]
    lost = tl.load(weight_sums + D + column, mask=inside, other=0.0)
    value = _normed(value, total, square, lost, D, eps)
    value += tl.load(bias + D + column, mask=inside, other=0.0)[None, :]
    gate = 1.0 / (1.0 + tl.exp(-gate))
    mask = real[:, None] & inside[None, :]
    side = tl.load(position) % 2
    parent = tl.load(parents + row, mask=real, other=0)
    before = cells + side * half + parent[:, None] * D + column[None, :]
    cell = gate * tl.load(before, mask=mask, other=0.0) + (1.0 - gate) * value
    place = row[:, None] * D + column[None, :]
    tl.store(cells + (1 - side) * half + place, cell, mask=mask)
    mixed = tl.maximum(cell, 0.0).to(out.dtype.element_ty).to(tl.float32)
    mixed += tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
    _store(out, sums, mixed, place, mask, row, real, N)


@triton.jit
def _query_attend(
    x, x_sums, weight, bias, weight_sums, keys, values, mask, out, T, N, K, D, C, scale, eps,
    M: tl.constexpr, CP: tl.constexpr, DH: tl.constexpr, BK: tl.constexpr, BT: tl.constexpr,
):  # fmt: skip
    """One sentence and head: the queries of its K rows norm(x), and their context."""
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(1)
    beam, channel = tl.arange(0, M), tl.arange(0, BK)
    column = h * DH + tl.arange(0, DH)
    row, real = b * K + beam, beam < K
    total, square = _parts(x_sums, row, real, N, C, CP)
    query = tl.zeros((M, DH), tl.float32)
    for k in range(0, D, BK):
        at = k + channel
        w = tl.load(weight + column[None, :] * D + at[:, None], mask=(at < D)[:, None], other=0.0)
        a = tl.load(
            x + row[:, None] * D + at[None, :], mask=real[:, None] & (at < D)[None, :], other=0.0
        )
        query = tl.dot(a, w, query, input_precision="ieee")
    query = _normed(query, total, square, tl.load(weight_sums + column), D, eps)
    query = ((query + tl.load(bias + column)[None, :]) * scale).to(x.dtype.element_ty)
    start = (b * tl.num_programs(1) + h) * T * DH
    context = _context(query, keys + start, values + start, mask + b * T, T, DH, DH, M, BT)
    place = row[:, None] * D + column[None, :]
    tl.store(out + place, context.to(out.dtype.element_ty), mask=real[:, None])


def embed(ids: Tensor, table: Tensor, positions: Tensor, position: Tensor | None = None) -> Rows:
    """Embedded ids (N,) at a position (1,) of positions (U, D), or (T, D) for each in turn."""
    (N,), D = ids.shape, table.shape[1]
    out = Rows(table.new_empty(N, D), _room(N, 1, table))
    _embed[(N,)](
        ids, table, positions, position, out.x, out.sums, float(D) ** 0.5, N, D, len(positions),
        BLOCK=triton.next_power_of_2(D), STEP=position is not None,
    )  # fmt: skip
    return out


def norm(rows: Rows, by: nn.LayerNorm) -> Tensor:
    """The norm of rows."""
    N, D = rows.x.shape
    out = torch.empty_like(rows.x)
    _norm[(N,)](
        rows.x, by.weight, by.bias, out, D, by.eps, BLOCK=triton.next_power_of_2(D),
    )  # fmt: skip
    return out


def product(rows: Rows, by: Folded, relu: bool = False) -> Tensor:
    """W·norm(x) + b (N, F) for rows x (N, D), with ReLU or without."""
    out = rows.x.new_empty(len(rows.x), len(by.weight))
    _launch(rows, by, None, Rows(out, rows.sums), relu)
    return out


def product_add(x: Tensor, by: Folded, residual: Rows) -> Rows:
    """W·x + b for x (N, D), added to a residual (N, F)."""
    N, F = residual.x.shape
    tiles = _tiles(x, F)
    out = Rows(torch.empty_like(residual.x), _room(N, triton.cdiv(F, tiles["BN"]), x))
    _launch(Rows(x, residual.sums), by, residual.x, out, False)
    return out


def ssru(rows: Rows, by: Folded, cells: Cells) -> Rows:
    """The sum x + SSRU(norm(x)) from the gates (2D, D); see `fused_triton.ssru_add_norm`."""
    N, D = rows.x.shape
    tiles = _two_products(rows.x)
    programs = triton.cdiv(D, tiles["BN"])
    out = Rows(torch.empty_like(rows.x), _room(N, programs, rows.x))
    _ssru[(programs,)](
        rows.x, rows.sums, by.weight, by.bias, by.sums, cells.halves, cells.position,
        cells.parents, out.x, out.sums, cells.halves.stride(0), N, D, rows.sums.shape[2], by.eps,
        CP=_columns(rows), **tiles,
    )  # fmt: skip
    return out


def query_attend(rows: Rows, by: Folded, keys_values: Tensor, mask: Tensor) -> Tensor:
    """Context (N, D) of queries W·norm(x) + b to keys and values (2, B, H, T, D/H)."""
    _, B, H, T, DH = keys_values.shape
    N, D = rows.x.shape
    out = torch.empty_like(rows.x)
    tiles = _two_products(rows.x[: N // B])
    tiles.pop("BN")
    _query_attend[(B, H)](
        rows.x, rows.sums, by.weight, by.bias, by.sums, keys_values[0], keys_values[1], mask, out,
        T, N, N // B, D, rows.sums.shape[2], DH**-0.5, by.eps, CP=_columns(rows), DH=DH,
        BT=keys(T), **tiles,
    )  # fmt: skip
    return out


def _launch(rows: Rows, by: Folded, residual: Tensor | None, out: Rows, relu: bool) -> None:
    (N, D), F = rows.x.shape, len(by.weight)
    tiles = _tiles(rows.x, F)
    _product[(triton.cdiv(F, tiles["BN"]),)](
        rows.x, rows.sums, by.weight, by.bias, by.sums, residual, out.x, out.sums, N, D, F,
        rows.sums.shape[2], by.eps, NORM=by.sums is not None, RELU=relu, ADD=residual is not None,
        CP=_columns(rows), **tiles,
    )  # fmt: skip


def _room(rows: int, parts: int, like: Tensor) -> Tensor:
    return torch.empty(2, rows, parts, dtype=torch.float32, device=like.device)


def _columns(rows: Rows) -> int:
    return max(2, triton.next_power_of_2(rows.sums.shape[2]))


def _tiles(x: Tensor, outputs: int) -> dict[str, int]:
    """Rows, outputs and inputs a program takes at a time, warps, and how deep it reads ahead.

    Measured on an H200 at 1024 and 4096 channels.
    """
    N, D = x.shape
    M = max(16, triton.next_power_of_2(N))
    wide = outputs >= 2048
    if x.element_size() > 2 or M > 32:
        BN, BK, warps, stages = 16, 64, 4, 3
    elif M == 16:
        BN, BK, warps, stages = (16, 256, 2, 6) if wide else (16, 512, 4, 5)
    else:
        BN, BK, warps, stages = (32, 256, 4, 4) if wide else (16, 256, 2, 6)
    BK = max(16, min(BK, triton.next_power_of_2(D)))
    return {"M": M, "BN": BN, "BK": BK, "num_warps": warps, "num_stages": stages}


def _two_products(x: Tensor) -> dict[str, int]:
    """As `_tiles`, for two matrices at a time."""
    tiles = _tiles(x, 0)
    if x.element_size() == 2 and tiles["M"] == 16:
        tiles |= {"BN": 32, "BK": min(256, tiles["BK"]), "num_stages": 4}
    return tiles
