"""Kernels that begin while the one before them ends (programmatic dependent launch, Hopper).

A kernel launched `early` may run ahead up to `begin`, which waits until all that came before it on
the stream is complete. Until then it may only touch what no kernel writes: weights.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"

import os

import torch
import triton
import triton.language as tl

EARLY = (
    os.environ.get("TRITON_INTERPRET") != "1"
    and os.environ.get("SIEVE_EARLY") != "0"
    and torch.cuda.is_available()
    and torch.cuda.get_device_capability() >= (9, 0)
    and hasattr(tl.extra.cuda, "gdc_wait")
)
"""Whether this GPU and this Triton can."""


@triton.jit
def begin(EARLY: tl.constexpr):
    """Lets the next kernel come, waits for those before."""
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()


@triton.jit
def prefetch_rows(weight, row, width, LINES: tl.constexpr, EARLY: tl.constexpr):
    """Asks for rows of a matrix of `width` columns: LINES lines of 128 bytes each."""
    if EARLY:
        size: tl.constexpr = weight.dtype.element_ty.primitive_bitwidth // 8
        line = tl.minimum(tl.arange(0, LINES) * (128 // size), width - 1)
        place = (weight + row[:, None] * width + line[None, :]).to(tl.int64)
        tl.inline_asm_elementwise(
            "prefetch.global.L2 [$1]; mov.u32 $0, 0;", "=r,l", [place], dtype=tl.int32,
            is_pure=False, pack=1,
        )  # fmt: skip


def early() -> dict[str, bool]:
    """The launch option."""
    return {"launch_pdl": True} if EARLY else {}
