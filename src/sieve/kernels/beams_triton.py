"""A search's bookkeeping for CUDA in two kernels instead of fifty.

`_summarize` reads the logits once: for each block of columns its log-sum, for each chunk its
maximum. `_advance` has one program a sentence: the best chunks, the best tokens in them, then all
of them at once. `Beams` of the torch engine is the definition; both give the same hypotheses.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0915, PLR0917

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from sieve.kernels.buffers import BeamBuffers, chunk_width

_BLOCK = 4096
_MOST_MAXIMA = 8192
_MOST_BEAMS = 32
_LAST = tl.constexpr((1 << 63) - 1)
_LOW = tl.constexpr((1 << 32) - 1)


@dataclass(frozen=True, eq=False)
class Summary:
    """Logits, and what the search wants to know of them before it looks at any."""

    logits: Tensor
    """(N, S)"""
    tops: Tensor
    """(N, P) maximum of each block of columns."""
    sums: Tensor
    """(N, P) sum of exp(logit − top) of each block."""
    maxima: Tensor
    """(N, C) maximum of each chunk of S / C columns; may be `tops` itself."""


@triton.jit
def _summarize(
    logits, tops, sums, maxima, S, C, P, BLOCK: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    block = tl.program_id(1)
    column = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits + row * S + column, mask=column < S, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    shift = tl.where(top == -float("inf"), 0.0, top)
    tl.store(tops + row * P + block, top)
    tl.store(sums + row * P + block, tl.sum(tl.exp(x - shift), axis=0))
    chunk = block * (BLOCK // WIDTH) + tl.arange(0, BLOCK // WIDTH)
    best = tl.max(tl.reshape(x, (BLOCK // WIDTH, WIDTH)), axis=1)
    tl.store(maxima + row * C + chunk, best, mask=chunk < C)


@triton.jit
def _key(value, number):
    """Smaller for larger values (none is above 0), then for smaller numbers: as its `best`."""
    bits = tl.abs(value).to(tl.int32, bitcast=True).to(tl.int64)
    return (bits << 32) | number.to(tl.int64)


@triton.jit
def _smallest(keys, R: tl.constexpr, RP: tl.constexpr):
    """(RP,) the R smallest of keys (M,), in order; numbers only, without what they are of."""
    rank = tl.arange(0, RP)
    smallest = tl.full((RP,), 0, tl.int64)
    for r in range(R):
        least = tl.min(keys, axis=0)
        keys = tl.where(keys == least, _LAST, keys)
        smallest = tl.where(rank == r, least, smallest)
    return (smallest & _LOW).to(tl.int32)


@triton.jit
def _of_parent(values, parent, beam):
    """(RP,) the values (KP,) of parents (RP,)."""
    return tl.sum(tl.where(parent[:, None] == beam[None, :], values[None, :], 0.0), axis=1)


@triton.jit
def _finish(ended, ended_at, ends, normal, first_at, rank, beam, K: tl.constexpr):
    """Each that ends takes the place of the worst one (of equals, of the newest) if better."""
    for r in range(K):
        mine = rank == r
        value = tl.sum(tl.where(mine, normal, 0.0), axis=0)
        worst = tl.min(ended, axis=0)
        newest = tl.max(tl.where(ended == worst, ended_at, -2), axis=0)
        slot = tl.max(tl.where((ended == worst) & (ended_at == newest), beam, -1), axis=0)
        takes = (tl.max((mine & ends).to(tl.int32), axis=0) != 0) & (value > worst)
        replaced = (beam == slot) & takes
        ended = tl.where(replaced, value, ended)
        ended_at = tl.where(replaced, first_at + r, ended_at)
    return ended, ended_at


@triton.jit
def _advance(
    logits, tops, sums, maxima, words, score, ids, done, final, final_at, limit, ceiling, weights,
    position, history, log_probs, alive, parents, ticket, S, C, P, B, words_stride, vocab_size,
    n_best, enough, K: tl.constexpr, KP: tl.constexpr, RP: tl.constexpr, CP: tl.constexpr,
    PP: tl.constexpr, WIDTH: tl.constexpr, HAS_WORDS: tl.constexpr, END: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(0).to(tl.int64)
    R: tl.constexpr = 2 * K
    beam = tl.arange(0, KP)
    real = beam < K
    part = tl.arange(0, PP)
    inside = real[:, None] & (part < P)[None, :]
    place = (b * K + beam)[:, None] * P + part[None, :]
    top = tl.load(tops + place, mask=inside, other=-float("inf"))
    share = tl.load(sums + place, mask=inside, other=0.0)
    chunk = tl.arange(0, CP)
    inside = real[:, None] & (chunk < C)[None, :]
    cell = (b * K + beam)[:, None] * C + chunk[None, :]
    best = tl.load(maxima + cell, mask=inside, other=-float("inf"))
    total = tl.load(score + b * K + beam, mask=real, other=-float("inf"))
    step = tl.load(position)
    cut = tl.load(limit + b) <= step + 1
    flag = tl.load(done + b)
    weight = tl.load(weights + step + 1)
    ended = tl.load(final + b * K + beam, mask=real, other=float("inf"))
    ended_at = tl.load(final_at + b * K + beam, mask=real, other=-2)

    highest = tl.where(real, tl.max(top, axis=1), 0.0)
    log_sum = highest + tl.log(tl.sum(share * tl.exp(top - highest[:, None]), axis=1))
    log_sum = tl.where(real, log_sum, 0.0)

    # the R best tokens lie in the R best chunks
    keys = _key((best - log_sum[:, None]) + total[:, None], beam[:, None] * C + chunk[None, :])
    keys = tl.where(inside, keys, _LAST)
    number = _smallest(tl.reshape(keys, (KP * CP,)), R, RP)
    rank, lane = tl.arange(0, RP), tl.arange(0, WIDTH)
    ranked = rank < R
    parent = number // C
    start = (b * K + parent) * S + (number - parent * C) * WIDTH
    x = tl.load(logits + start[:, None] + lane[None, :], mask=ranked[:, None], other=0.0)
    x = x.to(tl.float32) - _of_parent(log_sum, parent, beam)[:, None]
    x += _of_parent(total, parent, beam)[:, None]
    keys = tl.where(ranked[:, None], _key(x, number[:, None] * WIDTH + lane[None, :]), _LAST)
    number = _smallest(tl.reshape(keys, (RP * WIDTH,)), R, RP)

    parent = number // S
    column = number - parent * S
    if HAS_WORDS:
        word = tl.load(words + b * words_stride + column, mask=ranked, other=0)
    else:
        word = tl.minimum(column, vocab_size - 1).to(tl.int64)
    x = tl.load(logits + (b * K + parent) * S + column, mask=ranked, other=0.0).to(tl.float32)
    log_prob = x - _of_parent(log_sum, parent, beam)
    value = log_prob + _of_parent(total, parent, beam)
    record = (step * B + b) * R + rank
    tl.store(history + record, (parent.to(tl.int64) << 32) | word, mask=ranked)
    tl.store(log_probs + record, log_prob, mask=ranked)

    is_end = word == END
    ends = (is_end | cut) & (rank < K) & (flag == 0)
    if tl.max(ends.to(tl.int32), axis=0) != 0:
        ended, ended_at = _finish(
            ended, ended_at, ends, value * weight, step * R, rank, beam, K
        )  # fmt: skip
        tl.store(final + b * K + beam, ended, mask=real)
        tl.store(final_at + b * K + beam, ended_at, mask=real)

    lives = ranked & (word != END)
    heir = tl.cumsum(lives.to(tl.int32), axis=0) - 1
    lives = lives & (heir < K)
    kept = tl.where((flag != 0) | cut, -float("inf"), value)
    tl.store(score + b * K + heir, kept, mask=lives)
    tl.store(ids + b * K + heir, word, mask=lives)
    tl.store(parents + b * K + heir, b * K + parent, mask=lives)
    tl.store(alive + (step * B + b) * K + heir, rank.to(tl.int64), mask=lives)
    bound = tl.max(tl.where(lives, kept, -float("inf")), axis=0) * tl.load(ceiling + b)
    unbeaten = tl.sum((real & (ended >= bound)).to(tl.int32), axis=0) >= n_best
    plenty = tl.sum((real & (ended > -float("inf"))).to(tl.int32), axis=0) >= enough
    tl.store(done + b, ((flag != 0) | unbeaten | plenty).to(tl.int8))
    if tl.atomic_add(ticket, 1) == B - 1:  # all have read the position: the last one moves it
        tl.store(ticket, 0)
        tl.store(position, step + 1)


def fits(beams: BeamBuffers, width: int, chunk: int | None = None) -> bool:
    """Whether these kernels can take a search over `width` columns in chunks of `chunk`."""
    K = beams.score.shape[1]
    chunks = triton.next_power_of_2(width // (chunk or chunk_width(width)))
    return (
        beams.history.shape[2] == 2 * K
        and K <= _MOST_BEAMS
        and triton.next_power_of_2(K) * chunks <= _MOST_MAXIMA
    )


def summarize(logits: Tensor) -> Summary:
    """Sums and maxima of contiguous logits (N, S)."""
    N, S = logits.shape
    width = chunk_width(S)
    C, P = S // width, triton.cdiv(S, _BLOCK)
    block = min(_BLOCK, triton.next_power_of_2(S))
    maxima = torch.empty(N, C, dtype=torch.float32, device=logits.device)
    tops = torch.empty(N, P, dtype=torch.float32, device=logits.device)
    sums = torch.empty_like(tops)
    _summarize[(N, P)](
        logits, tops, sums, maxima, S, C, P, BLOCK=block, WIDTH=width,
        num_warps=8 if block >= 2048 else 4,
    )  # fmt: skip
    return Summary(logits, tops, sums, maxima)


def advance(beams: BeamBuffers, summary: Summary, words: Tensor | None, vocab_size: int) -> None:
    """One step of a search with the candidates of some logits; moves the position as well.

    Args:
        beams: Changed in place.
        summary: Of this step.
        words: (B, S) ids of the columns; None where columns are ids.
        vocab_size: Columns from here on are padding.
    """
    B, K = beams.score.shape
    S, C, P = summary.logits.shape[1], summary.maxima.shape[1], summary.tops.shape[1]
    KP, CP = max(2, triton.next_power_of_2(K)), triton.next_power_of_2(C)
    _advance[(B,)](
        summary.logits, summary.tops, summary.sums, summary.maxima,
        summary.logits if words is None else words,
        beams.score, beams.ids, beams.done.view(torch.int8), beams.final, beams.final_at,
        beams.limit, beams.ceiling, beams.weights, beams.position, beams.history,
        beams.log_probs, beams.alive, beams.parents, beams.ticket, S, C, P, B,
        0 if words is None else words.stride(0), vocab_size, beams.n_best, beams.enough,
        K=K, KP=KP, RP=max(2, triton.next_power_of_2(2 * K)), CP=CP,
        PP=max(2, triton.next_power_of_2(P)), WIDTH=S // C,
        HAS_WORDS=words is not None, END=beams.eos,
        num_warps=1 if KP * CP <= 512 else 4 if KP * CP <= 2048 else 8,
    )  # fmt: skip
