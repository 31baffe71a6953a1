"""The linear recurrence for CUDA: one program for each sentence and block of channels."""

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 64


@triton.jit(do_not_specialize=["length"])  # type: ignore[untyped-decorator,unused-ignore]
def _kernel(gates, values, states, length, width, REVERSE: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def] # noqa: PLR0913, PLR0917
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = channel < width
    start = tl.program_id(0).to(tl.int64) * length * width
    state = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(length):
        t = length - 1 - i if REVERSE else i
        offset = start + t * width + channel
        f = tl.load(gates + offset, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(values + offset, mask=inside, other=0.0).to(tl.float32)
        state = f * state + v
        tl.store(states + offset, state, mask=inside)


def run(gates: Tensor, values: Tensor, reverse: bool) -> Tensor:
    """Same contract as `recurrence.linear_recurrence`, contiguous CUDA tensors (B, U, D)."""
    B, U, D = gates.shape
    states = torch.empty_like(values)
    _kernel[(B, triton.cdiv(D, BLOCK))](
        gates, values, states, U, D, REVERSE=reverse, BLOCK=BLOCK, num_warps=2
    )
    return states
