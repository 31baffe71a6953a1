"""Translates millions of sentences on a GPU: large batches of like lengths, arrays in and out.

The engine's own search, without a captured graph: at thousands of rows a step takes far longer than
its launch. The past of a self-attention is written once and never moved: each hypothesis remembers
in which row of its sentence each of its tokens was written.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from pipeline.distil.choosing import NBest, Sentences
from sieve.engines.options import SearchOptions
from sieve.engines.torch.beams import Beams
from sieve.engines.torch.output_tokens import AllTokens
from sieve.engines.torch.search import CHECK_EVERY, Search, hypotheses
from sieve.engines.torch.stepping import DecoderSteps
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.kernels.dispatch import search_kernels
from sieve.model.layers import SelfAttention
from sieve.model.transformer import TranslationModel
from sieve.tokenize.vocabulary import EOS

Rows = npt.NDArray[np.int64]


class GatheredSteps(DecoderSteps):
    """Steps of a self-attention decoder that gather the past instead of moving it."""

    def __init__(
        self, model: TranslationModel, sentences: int, beams: int, src_length: int, max_length: int
    ) -> None:
        super().__init__(model, sentences, beams, src_length, max_length)
        rows = sentences * beams
        self.places = torch.zeros(rows, max_length, dtype=torch.int32, device=self.mask.device)
        """(N, U) which of its sentence's rows holds each token of a hypothesis."""

    def settle(self, rows: torch.Tensor, visible: int) -> None:
        """See DecoderSteps; `visible` must be the number of tokens consumed."""
        if rows is not self.parents:
            self.parents.copy_(rows)
        beam = torch.arange(len(rows), device=rows.device) % self.beams
        self.places[:, visible - 1] = beam.to(torch.int32)
        self.places[:, :visible] = self.places[:, :visible].index_select(0, rows)

    def select(self, sentences: Sequence[int]) -> "GatheredSteps":
        """See DecoderSteps."""
        device = self.mask.device
        index = torch.tensor(sentences, device=device)
        rows = (index[:, None] * self.beams + torch.arange(self.beams, device=device)).flatten()
        shape = len(sentences), self.beams, self.mask.shape[-1], self.max_length
        other = GatheredSteps(self.model, *shape)
        other.past = self.past.index_select(2, rows)
        other.places = self.places.index_select(0, rows)
        other.keys_values = [kv.index_select(1, index) for kv in self.keys_values]
        other.mask = self.mask[index]
        other.position = self.position.clone()
        return other

    def _attend_past(
        self, mixer: SelfAttention, x: torch.Tensor, past: torch.Tensor, visible: int
    ) -> torch.Tensor:
        found = attend(mixer.qkv(x), past, self.places, self.position, self.beams)
        out: torch.Tensor = mixer.out(found)
        return out


def attend(
    qkv: torch.Tensor,
    past: torch.Tensor,
    places: torch.Tensor,
    position: torch.Tensor,
    beams: int,
) -> torch.Tensor:
    """Writes the new keys and values and attends to each hypothesis's own past.

    Args:
        qkv: (N, 3HD) query, key and value of the new token.
        past: (2, N, H, U, D) keys and values where they were written.
        places: (N, U) rows within the sentence.
        position: (1,) where the new token goes.
        beams: Rows of a sentence.
    """
    if search_kernels(qkv) is not None:
        from pipeline.distil.gathered_triton import attend as kernel

        context: torch.Tensor = kernel(qkv, past, places, position, beams)
        return context
    _, N, H, _, D = past.shape
    now = int(position)
    query, key, value = (part.view(N, H, D) for part in qkv.chunk(3, dim=-1))
    past[:, :, :, now] = torch.stack((key, value))
    own = torch.arange(N, device=qkv.device)
    rows = (own // beams * beams)[:, None] + places[:, :now]  # (N, now)
    rows = torch.cat((rows, own[:, None]), dim=1)
    times = torch.arange(now + 1, device=qkv.device).expand(N, -1)
    keys, values = past[0][rows, :, times], past[1][rows, :, times]  # (N, now + 1, H, D)
    scores = torch.einsum("nhd,nthd->nht", query, keys) * D**-0.5
    context = torch.einsum("nht,nthd->nhd", scores.softmax(dim=-1), values)
    return context.reshape(N, H * D)


@dataclass(frozen=True)
class BulkOptions:
    """How much is searched at once."""

    search: SearchOptions
    batch_tokens: int = 65_536
    """Source tokens, padding included."""
    batch_sentences: int = 2048
    gather: bool = True
    """Gather the past of a self-attention instead of moving it."""


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
        self._words = AllTokens.of(engine.model.output, 1)

    def translate(self, sentences: Sentences) -> NBest:
        """The n best outputs of each sentence; empty sentences have none."""
        n = self.options.search.n_best
        number = len(sentences)
        rows = [np.zeros(0, np.uint16)] * (number * n)
        scores = np.full((number, n), -np.inf, np.float32)
        unpacked: list[Future[None]] = []
        # cuDNN, where torch would choose it, plans anew for every shape: 0.3 s each
        backends = sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])
        with ThreadPoolExecutor(1) as thread, self.engine.inference(), backends:
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
        recurrent = engine.model.config.decoder_mixer == "ssru"
        kind = GatheredSteps if self.options.gather and not recurrent else DecoderSteps
        steps = kind(engine.model, B, options.rows, T, max(limits))
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
    kernels = search_kernels(beams.score)
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
