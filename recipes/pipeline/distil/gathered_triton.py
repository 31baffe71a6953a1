"""Self-attention of one new token over a past that is never moved: one program a row and head."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 16  # tokens of the past looked at together


@triton.jit
def _attend(
    qkv, past, places, position, out, U, value_offset, scale,
    K: tl.constexpr, H: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Row n, head h: writes the new key and value, then looks at all of its hypothesis."""
    n, h = tl.program_id(0).to(tl.int64), tl.program_id(1)
    now = tl.load(position).to(tl.int32)
    d = tl.arange(0, D)
    mine = qkv + n * 3 * H * D + h * D + d
    query = tl.load(mine).to(tl.float32) * scale
    key, value = tl.load(mine + H * D), tl.load(mine + 2 * H * D)
    new = past + ((n * H + h) * U + now) * D + d
    tl.store(new, key)
    tl.store(new + value_offset, value)
    best = tl.sum(query * key.to(tl.float32), axis=0)
    total = tl.full((), 1.0, tl.float32)
    context = value.to(tl.float32)
    first = n // K * K
    for start in range(0, now, BLOCK):
        t = start + tl.arange(0, BLOCK)
        real = t < now
        row = first + tl.load(places + n * U + t, mask=real, other=0).to(tl.int64)
        at = past + (((row * H + h) * U + t) * D)[:, None] + d[None, :]
        keys = tl.load(at, mask=real[:, None], other=0.0).to(tl.float32)
        scores = tl.where(real, tl.sum(keys * query[None, :], axis=1), -float("inf"))
        highest = tl.maximum(best, tl.max(scores, axis=0))
        weights = tl.exp(scores - highest)
        shrink = tl.exp(best - highest)
        values = tl.load(at + value_offset, mask=real[:, None], other=0.0).to(tl.float32)
        context = context * shrink + tl.sum(weights[:, None] * values, axis=0)
        total = total * shrink + tl.sum(weights, axis=0)
        best = highest
    tl.store(out + n * H * D + h * D + d, (context / total).to(out.dtype.element_ty))


def attend(qkv: Tensor, past: Tensor, places: Tensor, position: Tensor, beams: int) -> Tensor:
    """See `bulk.attend`, which defines it."""
    _, N, H, U, D = past.shape
    out = torch.empty(N, H * D, dtype=qkv.dtype, device=qkv.device)
    _attend[(N, H)](
        qkv, past, places, position, out, U, past.stride(0), D**-0.5,
        K=beams, H=H, D=D, BLOCK=BLOCK, num_warps=1,
    )  # fmt: skip
    return out
