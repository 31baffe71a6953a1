"""The reference engine: torch, CPU or GPU. Every faster engine is checked against it.

Holds the restricted output layer and the batch; the searches live in `search`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from sieve.inference.engine import FloatArray, Hypothesis, SearchOptions
from sieve.inference.search import AllWords, OutputWords, SelectedWords, greedy
from sieve.model.translation import TranslationModel
from sieve.selection.selectors import Selector
from sieve.selection.shortlist import Shortlist
from sieve.text.vocabulary import EOS, PAD, IntArray

Precision = Literal["float32", "bfloat16", "float16"]
_DTYPES = {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}
_GATHERED_ELEMENTS = 2**28
"""Most output weights gathered at once: 1 GiB in fp32. More sentences take turns."""


@dataclass(frozen=True, eq=False)
class TorchEncoded:
    """A batch of encoded sentences; also what selectors look at."""

    engine: "TorchEngine"
    src_ids: Sequence[IntArray]
    memory: Tensor
    """(B, T, D)"""
    src_mask: Tensor
    """(B, T)"""

    @property
    def vocab_size(self) -> int:
        """Number of output words."""
        return self.engine.vocab_size

    def words_above(self, log_odds: float) -> list[Shortlist]:
        """See `sieve.selection.selectors.Source`."""
        with self.engine.inference():
            selected = self.engine.device_bow_logits(self) > log_odds  # (B, V)
            selected[:, EOS] = True
            sizes = selected.sum(dim=1).cpu().numpy()
            words = selected.nonzero()[:, 1].to(torch.int32).cpu().numpy()
        bounds = np.cumsum(sizes)[:-1]
        return [
            Shortlist(np.ascontiguousarray(ids), full=len(ids) == self.vocab_size)
            for ids in np.split(words, bounds)
        ]


class TorchEngine:
    """Runs a TranslationModel, which must be in evaluation mode."""

    def __init__(self, model: TranslationModel, precision: Precision = "float32") -> None:
        self.model = model
        self.precision = precision
        self.device = next(model.parameters()).device

    @property
    def vocab_size(self) -> int:
        """Number of output words."""
        return self.model.config.tgt_vocab_size

    @contextmanager
    def inference(self) -> Iterator[None]:
        """No gradients, the engine's precision, and no dropout by mistake."""
        if self.model.training:
            raise ValueError("the model is in training mode: call model.eval() first")
        dtype = _DTYPES[self.precision]
        with (
            torch.inference_mode(),
            torch.autocast(self.device.type, dtype=dtype, enabled=dtype is not None),
        ):
            yield

    def encode(self, src_ids: Sequence[IntArray]) -> TorchEncoded:
        """See `Engine.encode`."""
        padded = np.full((len(src_ids), max(map(len, src_ids), default=1)), PAD, np.int64)
        for row, ids in zip(padded, src_ids, strict=True):
            row[: len(ids)] = ids
        with self.inference():
            memory, src_mask = self.model.encode(torch.from_numpy(padded).to(self.device))
        return TorchEncoded(self, src_ids, memory, src_mask)

    def device_bow_logits(self, encoded: TorchEncoded) -> Tensor:
        """Max-pooled logits (B, V) as a tensor on the engine's device."""
        with self.inference():
            return self.model.bow_logits(encoded.memory, encoded.src_mask).float()

    def bow_logits(self, encoded: TorchEncoded) -> FloatArray:
        """See `Engine.bow_logits`."""
        logits: FloatArray = self.device_bow_logits(encoded).cpu().numpy()
        return logits

    def decode(
        self, encoded: TorchEncoded, shortlists: Sequence[Shortlist], options: SearchOptions
    ) -> list[list[Hypothesis]]:
        """See `Engine.decode`."""
        if len(shortlists) != len(encoded.src_ids):
            raise ValueError(f"{len(shortlists)} shortlists, {len(encoded.src_ids)} sentences")
        results: dict[int, list[Hypothesis]] = {}
        with self.inference():
            for rows in self._turns(shortlists):
                words = self._output_words([shortlists[row] for row in rows])
                found = self._search(encoded, rows, words, options)
                results.update(zip(rows, found, strict=True))
        return [results[row] for row in range(len(shortlists))]

    def translate(
        self, src_ids: Sequence[IntArray], selection: Selector, options: SearchOptions
    ) -> list[list[Hypothesis]]:
        """See `Engine.translate`."""
        if not src_ids:
            return []
        encoded = self.encode(src_ids)
        return self.decode(encoded, selection.select(encoded), options)

    def _turns(self, shortlists: Sequence[Shortlist]) -> Iterator[list[int]]:
        """Rows decoded together: all unrestricted ones, and restricted ones that fit memory."""
        full = [row for row, shortlist in enumerate(shortlists) if shortlist.full]
        if full:
            yield full
        turn: list[int] = []
        width = 0
        restricted = (row for row, shortlist in enumerate(shortlists) if not shortlist.full)
        for row in sorted(restricted, key=lambda row: len(shortlists[row])):
            width = len(shortlists[row])
            if turn and (len(turn) + 1) * width * self.model.config.d_model > _GATHERED_ELEMENTS:
                yield turn
                turn = []
            turn.append(row)
        if turn:
            yield turn

    def _output_words(self, shortlists: Sequence[Shortlist]) -> OutputWords:
        output = self.model.output
        if shortlists[0].full:
            return AllWords(output, len(shortlists))
        width = max(map(len, shortlists))
        ids = np.full((len(shortlists), width), PAD, np.int64)
        for row, shortlist in zip(ids, shortlists, strict=True):
            row[: len(shortlist)] = shortlist.ids
        sizes = torch.tensor([len(shortlist) for shortlist in shortlists], device=self.device)
        return SelectedWords.gather(output, torch.from_numpy(ids).to(self.device), sizes)

    def _search(
        self, encoded: TorchEncoded, rows: list[int], words: OutputWords, options: SearchOptions
    ) -> list[list[Hypothesis]]:
        index = torch.tensor(rows, device=self.device)
        state = self.model.decoder.start(encoded.memory[index], encoded.src_mask[index])
        limits = [options.max_length(len(encoded.src_ids[row])) for row in rows]
        return greedy(self.model.step, state, words, limits)
