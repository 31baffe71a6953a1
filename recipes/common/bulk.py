"""Translates millions of sentences on a GPU: large batches of like lengths, arrays in and out.

The engine's own steps and search, without a captured graph: at thousands of rows a step takes far
longer than its launch, and only the steps made so far of a self-attention's past are looked at.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from distil_text import NBest, Sentences

from sieve.inference.beams import Beams
from sieve.inference.kernels import kernels_for
from sieve.inference.options import SearchOptions
from sieve.inference.output_words import AllWords
from sieve.inference.search import CHECK_EVERY, Search, hypotheses
from sieve.inference.torch_engine import TorchEngine
from sieve.model.stepping import DecoderSteps
from sieve.text.vocabulary import EOS

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BulkOptions:
    """How much is searched at once."""

    search: SearchOptions
    batch_tokens: int = 65_536
    """Source tokens, padding included."""
    batch_sentences: int = 2048


@dataclass(frozen=True)
class _Found:
    """Outputs (B, n, U) of some sentences."""

    rows: Rows
    tokens: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    """(B, n) tokens with EOS; 0 for none."""
    log_probs: npt.NDArray[np.float32]


class Bulk:
    """A model that is ready for many sentences."""

    def __init__(self, engine: TorchEngine, options: BulkOptions) -> None:
        self.engine = engine
        self.options = options
        self._words = AllWords.of(engine.model.output, 1)

    def translate(self, sentences: Sentences) -> NBest:
        """The n best outputs of each sentence; empty sentences have none."""
        n = self.options.search.n_best
        number = len(sentences)
        rows = [np.zeros(0, np.uint16)] * (number * n)
        scores = np.full((number, n), -np.inf, np.float32)
        unpacked: list[Future[None]] = []
        with ThreadPoolExecutor(1) as thread, self.engine.inference():
            for batch in self._batches(sentences.lengths):
                for found in self._search(sentences, batch):
                    unpacked.append(thread.submit(_unpack, found, rows, scores))
        for one in unpacked:
            one.result()
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        ids = np.concatenate(rows) if rows else np.zeros(0, np.uint16)
        return NBest(Sentences(ids, lengths), scores)

    def _batches(self, lengths: Rows) -> Iterator[Rows]:
        """Sentences of like lengths, the longest first."""
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        start = 0
        while start < len(order):
            fit = self.options.batch_tokens // int(lengths[order[start]])
            stop = start + max(1, min(fit, self.options.batch_sentences))
            yield order[start:stop]
            start = stop

    def _search(self, sentences: Sentences, rows: Rows) -> Iterator[_Found]:
        """Searches a batch; sentences that have ended leave it early."""
        engine, options = self.engine, self.options.search
        encoded = engine.encode([sentences[int(row)].astype(np.int64) for row in rows])
        limits = [options.max_length(int(sentences.lengths[row])) for row in rows]
        B, T, _ = encoded.memory.shape
        steps = DecoderSteps(engine.model, B, options.rows, T, max(limits))
        steps.load(encoded.memory, encoded.src_mask)
        sizes = torch.full((B,), engine.vocab_size, device=engine.device)
        beams = Beams.create(limits, options, engine.device, max(limits))
        search = Search(steps, self._words.for_sentences(sizes), beams)
        for step in range(1, max(limits) + 1):
            search.advance(visible=step)
            if step % CHECK_EVERY or step == max(limits):
                continue
            done = search.beams.done.cpu().numpy()
            if done.all():
                break
            if 4 * np.count_nonzero(done) >= len(done):
                ended, left = (np.flatnonzero(which).tolist() for which in (done, ~done))
                yield _found(
                    search.beams.select(ended), search.words.select(ended).sizes, rows[done]
                )
                search, rows = search.select(left), rows[~done]
        yield _found(search.beams, search.words.sizes, rows)


def _found(beams: Beams, sizes: torch.Tensor, rows: Rows) -> _Found:
    """The finished hypotheses of a search, by the kernel that follows them back where it runs."""
    kernels = kernels_for(beams.score)
    U, n = beams.history.shape[0], beams.n_best
    if kernels is not None:
        buffer = kernels.trace.buffer(beams)
        kernels.trace.trace(beams, sizes, buffer)
        packed = buffer.cpu().numpy()  # (B, n, 2 + 2U)
        tokens, bits = packed[:, :, 2 : 2 + U], packed[:, :, 2 + U :]
        return _Found(rows, tokens, packed[:, :, 0], np.ascontiguousarray(bits).view(np.float32))
    tokens = np.zeros((len(rows), n, U), np.int32)
    lengths = np.zeros((len(rows), n), np.int32)
    log_probs = np.zeros((len(rows), n, U), np.float32)
    for row, found in enumerate(hypotheses(beams, sizes)):
        for rank, one in enumerate(found):
            length = len(one.token_scores)
            lengths[row, rank] = length
            tokens[row, rank, :length] = [*one.tokens, EOS][:length]
            log_probs[row, rank, :length] = one.token_scores
    return _Found(rows, tokens, lengths, log_probs)


def _unpack(
    found: _Found, rows: list[npt.NDArray[np.uint16]], scores: npt.NDArray[np.float32]
) -> None:
    """Puts outputs where they belong, without EOS; what has none was cut off and does not count."""
    U, n = found.tokens.shape[2], found.lengths.shape[1]
    last = np.maximum(found.lengths - 1, 0)[..., None]
    ended = np.take_along_axis(found.tokens, last, 2)[..., 0] == EOS
    ended &= found.lengths > 0
    inside = np.arange(U) < found.lengths[..., None]
    sums = np.where(inside, found.log_probs, 0.0).sum(axis=2)
    scores[found.rows] = np.where(ended, sums / np.maximum(found.lengths, 1), -np.inf)
    words = np.where(ended, found.lengths - 1, 0)
    narrow = found.tokens.astype(np.uint16)
    for place, row in enumerate(found.rows.tolist()):
        for rank in range(n):
            rows[row * n + rank] = narrow[place, rank, : words[place, rank]]
