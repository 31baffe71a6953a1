"""Token-budget batches: which pairs are trained together, and their padded id matrices.

`plan_epoch` orders an epoch's pairs into units (one forward pass) and updates (one optimizer step)
from lengths, seed and epoch alone: it knows neither processes nor devices, so the mathematics of
an update is the same however many processes share its units. numpy only; no torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sieve.data.corpus import Ragged
from sieve.data.pair_sources import Mixture, PairSource
from sieve.tokenize.vocabulary import BOS, EOS, PAD, IntArray

FloatArray = npt.NDArray[np.float32]


class LinkSource(Protocol):
    """Word alignments of a corpus: CSR over pairs, token positions counted from 0."""

    @property
    def offsets(self) -> IntArray:
        """Where each pair's links begin, one more entry than pairs."""
        ...

    @property
    def src_pos(self) -> IntArray:
        """Source position of every link."""
        ...

    @property
    def tgt_pos(self) -> IntArray:
        """Target position of every link."""
        ...


@dataclass(frozen=True)
class BatchLinks:
    """Alignment links of a batch, ready for a gather from a flat (B·U·T,) tensor."""

    index: IntArray
    """(L,) flat position (b·U + u)·T + t of every link."""
    weight: FloatArray
    """(L,) one over the number of links of the same target token."""


@dataclass(frozen=True)
class Batch:
    """One unit: padded id matrices of one forward pass, int64."""

    src_ids: IntArray  # (B, T), EOS at the end of each sentence
    tgt_in: IntArray  # (B, U), BOS + tokens
    tgt_out: IntArray  # (B, U), tokens + EOS
    pair_ids: IntArray  # (B,)
    num_tokens: int
    """Real target tokens, EOS included."""
    links: BatchLinks | None = None


@dataclass(frozen=True)
class BatchingOptions:
    """How an epoch is cut into units and updates."""

    batch_tokens: int = 50_000
    """Real target tokens (with EOS) of one update, over all processes."""
    device_tokens: int = 16_384
    """At most so many padded tokens, on either side, in one forward pass."""
    multiple: int = 4
    """Padded lengths are rounded up to a multiple of this."""
    seed: int = 1


@dataclass(frozen=True)
class EpochPlan:
    """An epoch: its pairs in order, cut into units, the units grouped into updates."""

    order: IntArray
    """(N,) pair ids, unit after unit."""
    unit_offsets: IntArray
    """(units + 1,) where each unit begins in `order`."""
    update_offsets: IntArray
    """(updates + 1,) where each update begins among the units."""
    update_tokens: IntArray
    """(updates,) real target tokens with EOS."""

    @property
    def num_updates(self) -> int:
        """Optimizer steps of the epoch."""
        return len(self.update_tokens)

    def units(self, update: int) -> list[IntArray]:
        """Pair ids of every unit of an update."""
        first, last = self.update_offsets[update], self.update_offsets[update + 1]
        edges = self.unit_offsets[first : last + 1]
        return [self.order[a:b] for a, b in pairwise(edges)]

    def num_sentences(self, update: int) -> int:
        """Sentence pairs of an update."""
        first, last = self.update_offsets[update], self.update_offsets[update + 1]
        return int(self.unit_offsets[last] - self.unit_offsets[first])


def plan_epoch(mixture: Mixture, options: BatchingOptions, epoch: int) -> EpochPlan:
    """Plans one epoch; the same (lengths, options, epoch) always give the same plan.

    Pairs whose padded lengths agree are interchangeable: they are shuffled, then laid out cell by
    cell of (padded source length, padded target length) in a boustrophedon, so that neighbors
    differ by one cell and a unit cut anywhere holds little padding. Units are then shuffled.
    """
    rng = np.random.default_rng([options.seed, epoch])
    ids = rng.permutation(mixture.epoch_ids())
    src = mixture.src_lengths[ids].astype(np.int64) + 1  # EOS
    tgt = mixture.tgt_lengths[ids].astype(np.int64) + 1
    by_length = np.argsort(_cell_key(src, tgt, options.multiple), kind="stable")
    ids, src, tgt = ids[by_length], src[by_length], tgt[by_length]
    padded = _round_up(np.maximum(src, tgt), options.multiple)
    offsets, per_update = _cut(padded, tgt, options)

    num_units = len(offsets) - 1
    shuffled = rng.permutation(num_units)
    sizes = np.diff(offsets)[shuffled]
    unit_offsets = np.concatenate([[0], np.cumsum(sizes)])
    # (N,) positions in length order of the pairs in their final order
    positions = np.repeat(offsets[:-1][shuffled] - unit_offsets[:-1], sizes) + np.arange(len(ids))
    num_updates = max(1, round(num_units / per_update))
    update_offsets = np.linspace(0, num_units, num_updates + 1).round().astype(np.int64)
    tokens = np.concatenate([[0], np.cumsum(tgt[positions])])
    update_tokens = np.diff(tokens[unit_offsets[update_offsets]])
    return EpochPlan(ids[positions], unit_offsets, update_offsets, update_tokens)


def make_batch(
    mixture: Mixture, pair_ids: IntArray, multiple: int = 4, links: Sequence[LinkSource] = ()
) -> Batch:
    """Assembles one unit; rows come sorted by pair id, which keeps reads sequential."""
    pair_ids = np.sort(pair_ids)
    src, tgt = mixture.pairs(pair_ids)
    src_len, tgt_len = np.diff(src.offsets), np.diff(tgt.offsets)
    T = _padded_width(src_len, multiple)
    U = _padded_width(tgt_len, multiple)
    src_ids = pad_rows(src, T)
    tgt_out = pad_rows(tgt, U)
    rows = np.arange(len(pair_ids))
    tgt_in = np.full_like(tgt_out, PAD)
    tgt_in[:, 0] = BOS
    tgt_in[:, 1:] = tgt_out[:, :-1]
    src_ids[rows, src_len] = EOS
    tgt_out[rows, tgt_len] = EOS
    batch_links = _links(mixture, pair_ids, links, (T, U)) if links else None
    num_tokens = int(tgt_len.sum()) + len(pair_ids)
    return Batch(src_ids, tgt_in, tgt_out, pair_ids, num_tokens, batch_links)


def pad_rows(sentences: Ragged, width: int) -> IntArray:
    """(B, width) int64 matrix of the sentences, PAD behind them; none may be longer."""
    lengths = sentences.lengths
    matrix = np.full((len(lengths), width), PAD, dtype=np.int64)
    matrix[np.arange(width) < lengths[:, None]] = sentences.ids
    return matrix


def sorted_batches(source: PairSource, max_tokens: int, multiple: int = 4) -> list[IntArray]:
    """Pair ids of length-sorted batches of at most `max_tokens` padded tokens, for evaluation."""
    src = np.asarray(source.src_lengths, dtype=np.int64) + 1
    tgt = np.asarray(source.tgt_lengths, dtype=np.int64) + 1
    order = np.argsort(_cell_key(src, tgt, multiple), kind="stable")
    padded = _round_up(np.maximum(src, tgt), multiple)[order]
    offsets = _cut_units(padded, tgt[order], max_tokens, max_tokens)
    return [order[a:b] for a, b in pairwise(offsets)]


def _cell_key(src: IntArray, tgt: IntArray, multiple: int) -> IntArray:
    """Sort key of the boustrophedon: padded source length, then target up and down in turn."""
    rows, columns = -(-src // multiple), -(-tgt // multiple)
    width = int(columns.max(initial=0)) + 1
    columns = np.where(rows % 2 == 0, columns, width - 1 - columns)
    key = rows * width + columns
    # numpy sorts 16-bit integers by radix, ten times faster
    return key.astype(np.uint16) if key.max(initial=0) < 2**16 else key


def _cut(padded: IntArray, tgt: IntArray, options: BatchingOptions) -> tuple[IntArray, int]:
    """Cuts units of equal token counts; returns their offsets and how many make an update.

    The number of units per update is the smallest for which the device limit leaves updates of
    (nearly) `batch_tokens`.
    """
    wanted = max(1.0, int(tgt.sum()) / options.batch_tokens)
    fewest = -(-options.batch_tokens // options.device_tokens)
    for per_update in range(fewest, 2 * fewest + 1):
        aim = options.batch_tokens / per_update
        offsets = _cut_units(padded, tgt, options.device_tokens, aim)
        if len(offsets) - 1 <= 1.02 * wanted * per_update + 1:
            break
    return offsets, per_update


def _cut_units(padded: IntArray, tgt: IntArray, device_tokens: int, aim: float) -> IntArray:
    """Greedy cut: count · longest ≤ `device_tokens`, real target tokens as near `aim` as can be."""
    n = len(padded)
    cumulative = np.concatenate([[0], np.cumsum(tgt)])
    middle = (cumulative[:-1] + cumulative[1:]) / 2  # a pair belongs to the unit that has its half
    offsets = [0]
    while offsets[-1] < n:
        start = offsets[-1]
        end = int(np.searchsorted(middle, cumulative[start] + aim))
        end = min(end, n, start + device_tokens // int(padded[start]))
        longest = np.maximum.accumulate(padded[start : max(end, start + 1)])
        fits = longest * np.arange(1, len(longest) + 1) <= device_tokens
        offsets.append(start + max(1, int(np.count_nonzero(fits))))
    return np.asarray(offsets, dtype=np.int64)


def _links(
    mixture: Mixture, pair_ids: IntArray, sources: Sequence[LinkSource], shape: tuple[int, int]
) -> BatchLinks:
    """Flat gather positions of the alignment links, all of which lie inside their sentences."""
    T, U = shape
    indices, weights = [], []
    edges = np.searchsorted(pair_ids, mixture.starts)
    for source, start, a, b in zip(
        sources, mixture.starts[:-1], edges[:-1], edges[1:], strict=True
    ):
        local = pair_ids[a:b] - start
        first, last = source.offsets[local], source.offsets[local + 1]
        counts = last - first
        row = np.repeat(np.arange(a, b), counts)
        flat = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(len(row))
        token = row * U + source.tgt_pos[flat]  # (L,) position in (B·U,)
        indices.append(token * T + source.src_pos[flat])
        links_of_token = np.bincount(token, minlength=1)
        weights.append((1.0 / links_of_token[token]).astype(np.float32))
    return BatchLinks(np.concatenate(indices).astype(np.int64), np.concatenate(weights))


def _padded_width(lengths: IntArray, multiple: int) -> int:
    return int(_round_up(lengths.max(initial=0) + 1, multiple))


def _round_up(lengths: Any, multiple: int) -> Any:
    return -(-lengths // multiple) * multiple
