"""The bookkeeping of `beams` for CUDA in two kernels instead of fifty.

`_summarize` reads the logits once: for each block of columns its log-sum, for each chunk its
maximum. `_advance` has one program a sentence, which takes the best candidates one by one.
The torch version in `beams` is the definition; both give the same hypotheses.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,unused-ignore"
# ruff: noqa: PLR0913, PLR0917, PLR0915

import torch
import triton
import triton.language as tl
from torch import Tensor

from sieve.inference.beams import Beams, chunk_width
from sieve.text.vocabulary import EOS

_BLOCK = 4096
_MOST_MAXIMA = 8192
_MOST_BEAMS = 32
_FAR = tl.constexpr(1 << 30)


@triton.jit
def _summarize(logits, tops, sums, maxima, S, C, P, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
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
def _advance(
    logits, tops, sums, maxima, words, score, ids, done, final, final_at, limit, ceiling, weights,
    position, history, log_probs, alive, rows, S, C, P, B, vocab_size, n_best, enough,
    K: tl.constexpr, KP: tl.constexpr, CP: tl.constexpr, PP: tl.constexpr, WIDTH: tl.constexpr,
    HAS_WORDS: tl.constexpr, END: tl.constexpr,
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
    highest = tl.max(top, axis=1)
    highest = tl.where(real, highest, 0.0)
    log_sum = highest + tl.log(tl.sum(share * tl.exp(top - highest[:, None]), axis=1))
    log_sum = tl.where(real, log_sum, 0.0)
    total = tl.load(score + b * K + beam, mask=real, other=-float("inf"))

    chunk = tl.arange(0, CP)
    inside = real[:, None] & (chunk < C)[None, :]
    cell = (b * K + beam)[:, None] * C + chunk[None, :]
    best = tl.load(maxima + cell, mask=inside, other=-float("inf"))
    best = (best - log_sum[:, None]) + total[:, None]
    best = tl.where(inside, best, -float("inf"))
    number = tl.where(inside, beam[:, None] * C + chunk[None, :], _FAR)  # chunks in order

    step = tl.load(position)
    cut = tl.load(limit + b) <= step + 1
    flag = tl.load(done + b)
    closed = (flag != 0) | cut  # nothing may live on
    weight = tl.load(weights + step + 1)
    ended = tl.load(final + b * K + beam, mask=real, other=float("inf"))
    ended_at = tl.load(final_at + b * K + beam, mask=real, other=-2)
    lane = tl.arange(0, WIDTH)
    living = tl.full((), 0, tl.int32)
    highest_alive = tl.full((), -float("inf"), tl.float32)
    last_value = tl.full((), float("inf"), tl.float32)
    last_found = tl.full((), -1, tl.int32)
    record = (step * B + b) * R
    for rank in range(R):
        value = tl.max(tl.max(best, axis=1), axis=0)
        found = tl.min(tl.min(tl.where(best == value, number, _FAR), axis=1), axis=0)
        found = tl.where(found == _FAR, 0, found)
        parent = found // C
        mine = beam == parent
        its_sum = tl.sum(tl.where(mine, log_sum, 0.0), axis=0)
        its_total = tl.sum(tl.where(mine, total, 0.0), axis=0)
        first = (found - parent * C) * WIDTH
        x = tl.load(logits + (b * K + parent) * S + first + lane).to(tl.float32)
        worth = (x - its_sum) + its_total
        # of equals, those up to the last one found are taken already
        taken = tl.where(value < last_value, -1, last_found)
        later = (worth == value) & (found * WIDTH + lane > taken)
        column = tl.min(tl.where(later, lane, WIDTH - 1), axis=0)
        log_prob = tl.sum(tl.where(lane == column, x, 0.0), axis=0) - its_sum
        left = (worth < value) | ((worth == value) & (lane > column))
        left = tl.where(left, worth, -float("inf"))
        best = tl.where(number == found, tl.max(left, axis=0), best)
        last_value = value
        last_found = found * WIDTH + column
        column = first + column
        if HAS_WORDS:
            word = tl.load(words + b * S + column)
        else:
            word = tl.minimum(column, vocab_size - 1).to(tl.int64)
        tl.store(history + record + rank, (parent.to(tl.int64) << 32) | word)
        tl.store(log_probs + record + rank, log_prob)
        is_end = word == END
        # finished: takes the place of the worst one (of equals, of the newest) if better
        normal = value * weight
        worst = tl.min(ended, axis=0)
        newest = tl.max(tl.where(ended == worst, ended_at, -2), axis=0)
        slot = tl.max(tl.where((ended == worst) & (ended_at == newest), beam, -1), axis=0)
        takes = (is_end | cut) & (rank < K) & (flag == 0) & (normal > worst)
        replaced = (beam == slot) & takes
        ended = tl.where(replaced, normal, ended)
        ended_at = tl.where(replaced, step * R + rank, ended_at)
        # living on
        lives = (word != END) & (living < K)
        heir = b * K + tl.minimum(living, K - 1)
        kept = tl.where(closed, -float("inf"), value)
        tl.store(score + heir, kept, mask=lives)
        tl.store(ids + heir, word, mask=lives)
        tl.store(rows + heir, b * K + parent, mask=lives)
        tl.store(alive + (step * B + b) * K + tl.minimum(living, K - 1), rank, mask=lives)
        highest_alive = tl.where(lives & (living == 0), kept, highest_alive)
        living += lives.to(tl.int32)
    tl.store(final + b * K + beam, ended, mask=real)
    tl.store(final_at + b * K + beam, ended_at, mask=real)
    bound = highest_alive * tl.load(ceiling + b)
    unbeaten = tl.sum((real & (ended >= bound)).to(tl.int32), axis=0) >= n_best
    plenty = tl.sum((real & (ended > -float("inf"))).to(tl.int32), axis=0) >= enough
    tl.store(done + b, ((flag != 0) | unbeaten | plenty).to(tl.int8))


def fits(beams: Beams, width: int) -> bool:
    """Whether these kernels can take a search of this size."""
    K = beams.score.shape[1]
    chunks = triton.next_power_of_2(width // chunk_width(width))
    return (
        beams.history.shape[2] == 2 * K
        and K <= _MOST_BEAMS
        and triton.next_power_of_2(K) * chunks <= _MOST_MAXIMA
    )


def advance(beams: Beams, logits: Tensor, words: Tensor | None, vocab_size: int) -> Tensor:
    """One step of `Beams.advance` with the candidates of logits (N, S).

    The position stays: whoever owns it moves it.

    Args:
        beams: Changed in place.
        logits: Contiguous.
        words: (B, S) ids of the columns; None where columns are ids.
        vocab_size: Columns from here on are padding.

    Returns:
        The row (N,) that each row now continues.
    """
    B, K = beams.score.shape
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
    rows = torch.empty(N, dtype=torch.int64, device=logits.device)
    KP, CP = max(2, triton.next_power_of_2(K)), triton.next_power_of_2(C)
    _advance[(B,)](
        logits, tops, sums, maxima, logits if words is None else words,
        beams.score, beams.ids, beams.done.view(torch.int8), beams.final, beams.final_at,
        beams.limit, beams.ceiling, beams.weights, beams.position, beams.history,
        beams.log_probs, beams.alive, rows, S, C, P, B, vocab_size, beams.n_best, beams.enough,
        K=K, KP=KP, CP=CP, PP=max(2, triton.next_power_of_2(P)), WIDTH=width,
        HAS_WORDS=words is not None, END=EOS, num_warps=8 if KP * CP >= 2048 else 4,
    )  # fmt: skip
    return rows
