"""Finished hypotheses followed back on the device: one program for each, one buffer for all."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917

import torch
import triton
import triton.language as tl
from torch import Tensor

from sieve.kernels.buffers import BeamBuffers

HEAD = 2
"""Numbers before a hypothesis's tokens: how many, and the size of its sentence's shortlist."""


@triton.jit
def _trace(
    final, final_at, history, log_probs, alive, sizes, out, B, U,
    K: tl.constexpr, KP: tl.constexpr, HEAD: tl.constexpr,
):  # fmt: skip
    """The finished hypothesis of one rank: its length, the size, its tokens and their scores."""
    b, wanted = tl.program_id(0).to(tl.int64), tl.program_id(1)
    R: tl.constexpr = 2 * K
    beam = tl.arange(0, KP)
    real = beam < K
    value = tl.load(final + b * K + beam, mask=real, other=-float("inf"))
    at = tl.load(final_at + b * K + beam, mask=real, other=-1)
    equal = value[None, :] == value[:, None]
    before = (value[None, :] > value[:, None]) | (equal & (at[None, :] < at[:, None]))
    rank = tl.sum(before.to(tl.int32), axis=1)
    end = tl.max(tl.where((rank == wanted) & (value > -float("inf")), at, -1), axis=0)
    length = ((end + R) // R).to(tl.int32)  # 0 where there is none
    slot = tl.maximum(end, 0) % R
    row = out + (b * tl.num_programs(1) + wanted) * (HEAD + 2 * U)
    tl.store(row, length)
    tl.store(row + 1, tl.load(sizes + b).to(tl.int32))
    for back in range(length):
        step = length - 1 - back
        record = (step.to(tl.int64) * B + b) * R + slot
        entry = tl.load(history + record)
        score = tl.load(log_probs + record)
        tl.store(row + HEAD + step, entry.to(tl.int32))
        tl.store(row + HEAD + U + step, score.to(tl.int32, bitcast=True))
        earlier = (tl.maximum(step - 1, 0).to(tl.int64) * B + b) * K
        slot = tl.load(alive + earlier + (entry >> 32))


def buffer(beams: BeamBuffers) -> Tensor:
    """What `trace` fills: (B, n_best, HEAD + 2U) int32."""
    U, B, _ = beams.history.shape
    shape = (B, beams.n_best, HEAD + 2 * U)
    return torch.zeros(shape, dtype=torch.int32, device=beams.history.device)


def trace(beams: BeamBuffers, sizes: Tensor, out: Tensor) -> None:
    """Writes the n best hypotheses of each sentence: length, size, U tokens, U scores' bits."""
    U, B, _ = beams.history.shape
    K = beams.score.shape[1]
    _trace[(B, beams.n_best)](
        beams.final, beams.final_at, beams.history, beams.log_probs, beams.alive, sizes, out, B, U,
        K=K, KP=max(2, triton.next_power_of_2(K)), HEAD=HEAD, num_warps=1,
    )  # fmt: skip
