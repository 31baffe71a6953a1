"""Restricted output layer and selection for CUDA: tokens straight from the whole output matrix.

Nothing is gathered: each program reads the rows of a few tokens of one sentence by their ids, which
for matrices of usual size stay in the L2 cache. Columns after a sentence's last token are free.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917

import torch
import triton
import triton.language as tl
from torch import Tensor

from sieve.kernels.beams_triton import Summary

_FEW = 2048
"""Columns of all sentences together up to which programs take the fewest tokens."""


@triton.jit
def _token_logits(
    states, weight, bias, words, sizes, logits, tops, sums, words_stride, S, C, K, D,
    KP: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Logits of BN tokens of a sentence for its K states, their maximum and sum of exponentials."""
    block, b = tl.program_id(0), tl.program_id(1).to(tl.int64)
    size = tl.load(sizes + b)
    column, row, channel = block * BN + tl.arange(0, BN), tl.arange(0, KP), tl.arange(0, BK)
    real, inside = row < K, column < size
    first = b * K + row
    place = first[None, :] * S + column[:, None]
    kind = logits.dtype.element_ty
    if block * BN < size:
        word = tl.load(words + b * words_stride + column, mask=inside, other=0)
        values = tl.zeros((BN, KP), tl.float32)
        for k in range(0, D, BK):
            at = k + channel
            w = tl.load(weight + word[:, None] * D + at[None, :], mask=(at < D)[None, :], other=0.0)
            x = tl.load(
                states + first[None, :] * D + at[:, None],
                mask=real[None, :] & (at < D)[:, None],
                other=0.0,
            )
            values = tl.dot(w, x, values, input_precision="ieee")
        values += tl.load(bias + word).to(tl.float32)[:, None]
        values = tl.where(inside[:, None], values.to(kind).to(tl.float32), -float("inf"))
        top = tl.max(values, axis=0)  # (KP,)
        tl.store(logits + place, values.to(kind), mask=real[None, :])
        tl.store(tops + first * C + block, top, mask=real)
        tl.store(sums + first * C + block, tl.sum(tl.exp(values - top[None, :]), axis=0), mask=real)
    else:
        nothing = tl.full((BN, KP), -float("inf"), tl.float32)
        tl.store(logits + place, nothing.to(kind), mask=real[None, :])
        tl.store(tops + first * C + block, -float("inf"), mask=real)
        tl.store(sums + first * C + block, 0.0, mask=real)


@triton.jit
def _select(logits, cuts, words, sizes, V, width, BLOCK: tl.constexpr, END: tl.constexpr):
    """The tokens of one sentence above its cut, ascending, as far as there is room."""
    b = tl.program_id(0).to(tl.int64)
    least = tl.load(cuts + b)
    number = tl.full((), 0, tl.int32)
    for first in range(0, V, BLOCK):
        word = first + tl.arange(0, BLOCK)
        value = tl.load(logits + b * V + word, mask=word < V, other=-float("inf"))
        chosen = ((value > least) | (word == END)) & (word < V)
        place = number + tl.cumsum(chosen.to(tl.int32), axis=0) - 1
        tl.store(words + b * width + place, word.to(tl.int64), mask=chosen & (place < width))
        number += tl.sum(chosen.to(tl.int32), axis=0)
    tl.store(sizes + b, number.to(tl.int64))


def chunk(sentences: int, width: int) -> int:
    """Tokens a program takes, which are a chunk of the search as well."""
    return 16 if sentences * width <= _FEW else 64


def token_logits(
    states: Tensor, weight: Tensor, bias: Tensor, words: Tensor, sizes: Tensor
) -> Summary:
    """Logits (N, S) of states (N, D) for tokens (B, S) of the output layer (V, D), (V,).

    Args:
        states: N = B·K rows.
        weight: Contiguous.
        bias: Of the tokens.
        words: A sentence's are contiguous.
        sizes: (B,) how many of them are real.
    """
    (B, S), (N, D) = words.shape, states.shape
    width = chunk(B, S)
    C = S // width
    logits = torch.empty(N, S, dtype=states.dtype, device=states.device)
    tops = torch.empty(N, C, dtype=torch.float32, device=states.device)
    sums = torch.empty_like(tops)
    _token_logits[(C, B)](
        states.contiguous(), weight, bias, words, sizes, logits, tops, sums, words.stride(0),
        S, C, N // B, D, KP=max(16, triton.next_power_of_2(N // B)), BN=width,
        BK=max(16, min(128 if width == 16 else 64, triton.next_power_of_2(D))),
        num_warps=4, num_stages=4,
    )  # fmt: skip
    return Summary(logits, tops, sums, tops)


def select(logits: Tensor, cuts: Tensor, words: Tensor, sizes: Tensor, eos: int) -> None:
    """Puts the places of logits (B, V) above cuts (B,), and eos, into tokens (B, W) and sizes (B,).

    Behind a sentence's last token things stay as they were; `sizes` counts beyond W as well.
    """
    B, V = logits.shape
    block = min(8192, triton.next_power_of_2(V))
    _select[(B,)](
        logits, cuts, words, sizes, V, words.shape[1], BLOCK=block, END=eos,
        num_warps=16 if block >= 4096 else 4,
    )  # fmt: skip
