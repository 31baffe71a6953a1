"""The reference engine: torch, CPU or GPU. Every faster engine is checked against it.

Puts sentences into batches that fit memory and hands them to the search; arithmetic lives in the
model, the search in `search`, the captured path of a GPU in `captured`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from sieve.engines.engine import FloatArray, Hypothesis
from sieve.engines.keys import sentence_keys
from sieve.engines.options import SearchOptions
from sieve.engines.torch.beams import Beams
from sieve.engines.torch.captured import Captured, captures
from sieve.engines.torch.constraints import Constraints
from sieve.engines.torch.output_tokens import AllTokens, OutputTokens, shortlists_by_votes
from sieve.engines.torch.sampling import Noise
from sieve.engines.torch.search import Search, run
from sieve.engines.torch.source_encoding import encode_source, pad
from sieve.engines.torch.stepping import DecoderSteps
from sieve.engines.torch.tokens_of_batches import TokensOfBatches
from sieve.engines.torch.torch_lossless import translate_lossless
from sieve.model.candidate_logits import candidate_logits
from sieve.model.transformer import TranslationModel
from sieve.selection.bonus import Bonus
from sieve.selection.plan import Cuts, Selector
from sieve.selection.shortlist import Shortlist, ShortlistArray
from sieve.tokenize.vocabulary import IntArray, Specials

Precision = Literal["float32", "bfloat16", "float16"]
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_SCORED_ELEMENTS = 2**26
"""Most logits held at once in forced scoring."""


@dataclass(frozen=True, eq=False)
class TorchEncoded:
    """A batch of encoded sentences; also what selectors look at."""

    engine: TorchEngine
    src_ids: Sequence[IntArray]
    memory: Tensor
    """(B, T, D)"""
    src_mask: Tensor
    """(B, T)"""

    @property
    def vocab_size(self) -> int:
        """Number of output tokens."""
        return self.engine.vocab_size

    @property
    def specials(self) -> Specials:
        """The model's special ids."""
        return self.engine.specials

    def tokens_above(
        self,
        cuts: Cuts,
        least: int = 0,
        bonuses: Sequence[Bonus] = (),
        candidates: Sequence[ShortlistArray] = (),
    ) -> list[Shortlist]:
        """See `sieve.selection.plan.Source`."""
        with self.engine.inference():
            logits = self.engine.device_bow_logits(self, candidates)
            return shortlists_by_votes(logits, cuts, least, bonuses, self.specials.eos)

    def rows(self, rows: Sequence[int]) -> TorchEncoded:
        """Some of the sentences."""
        index = torch.tensor(rows, device=self.memory.device)
        chosen = [self.src_ids[row] for row in rows]
        return TorchEncoded(self.engine, chosen, self.memory[index], self.src_mask[index])


class TorchEngine:
    """Runs a TranslationModel, which must be in evaluation mode."""

    def __init__(
        self,
        model: TranslationModel,
        precision: Precision = "float32",
        graphs: bool | None = None,
    ) -> None:
        """Takes a model to its device and precision.

        Args:
            model: In evaluation mode, on its device.
            precision: Of weights and arithmetic.
            graphs: Whether to work in buckets and, on a GPU, to replay CUDA graphs; by default on
                a GPU. Good for many calls, not for one.
        """
        self.model: TranslationModel = in_precision(model, _DTYPES[precision])
        self.precision = precision
        self.device: torch.device = next(model.parameters()).device
        self.graphs: bool = self.device.type == "cuda" if graphs is None else graphs

    @property
    def vocab_size(self) -> int:
        """Number of output tokens."""
        return self.model.config.tgt_vocab_size

    @property
    def specials(self) -> Specials:
        """See `Engine.specials`."""
        return self.model.config.specials

    def __str__(self) -> str:
        return f"torch on {self.device} in {self.precision}"

    @contextmanager
    def inference(self) -> Iterator[None]:
        """No gradients, the weights' own precision, and no dropout by mistake."""
        if self.model.training:
            raise ValueError("the model is in training mode: call model.eval() first")
        with torch.inference_mode(), torch.autocast(self.device.type, enabled=False):
            yield

    def encode(self, src_ids: Sequence[IntArray]) -> TorchEncoded:
        """See `Engine.encode`."""
        padded = torch.from_numpy(pad(src_ids, self.specials.fill)).to(self.device)
        with self.inference():
            memory, src_mask = encode_source(self.model, padded)
        return TorchEncoded(self, src_ids, memory, src_mask)

    def device_bow_logits(
        self, encoded: TorchEncoded, candidates: Sequence[ShortlistArray] = ()
    ) -> Tensor:
        """Max-pooled logits (B, V) as a tensor on the engine's device; −∞ for no candidates."""
        with self.inference():
            memory, mask = encoded.memory, encoded.src_mask
            if candidates:
                return candidate_logits(self.model, memory, mask, candidates)
            return self.model.bow_logits(memory, mask).float()

    def bow_logits(self, encoded: TorchEncoded) -> FloatArray:
        """See `Engine.bow_logits`."""
        logits: FloatArray = self.device_bow_logits(encoded).cpu().numpy()
        return logits

    def position_logits(self, encoded: TorchEncoded) -> list[FloatArray]:
        """See `Engine.position_logits`."""
        logits = []
        for memory, mask in zip(encoded.memory, encoded.src_mask, strict=True):
            alone = memory[mask][:, None]  # (T, 1, D)
            every = torch.ones(alone.shape[:2], dtype=torch.bool, device=self.device)
            with self.inference():
                last = self.model.bow_logits(alone, every, last_look=True).float()
            logits.append(last.cpu().numpy())
        # the first look bounds what a sentence's positions say together
        pooled = self.bow_logits(encoded)
        return [np.minimum(*both) for both in zip(logits, pooled, strict=True)]

    def decode(
        self,
        encoded: TorchEncoded,
        shortlists: Sequence[Shortlist],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """See `Engine.decode`."""
        number = len(encoded.src_ids)
        config = self.model.config
        prefixes = [()] * number if prefixes is None else prefixes
        if len(shortlists) != number or len(prefixes) != number:
            raise ValueError(
                f"{len(shortlists)} shortlists, {len(prefixes)} prefixes, {number} sentences"
            )
        prefixes = [(*config.forced_start, *prefix) for prefix in prefixes]
        shortlists = [s.with_tokens(p) for s, p in zip(shortlists, prefixes, strict=True)]
        results: dict[int, list[Hypothesis]] = {}
        with self.inference():
            for rows in self.words.turns(shortlists, options.rows):
                words = self.words.of([shortlists[row] for row in rows])
                search, limits = self._search(encoded, rows, words, options)
                if options.blocked or config.never or any(prefixes[row] for row in rows):
                    chosen = [prefixes[row] for row in rows]
                    search.constraints = Constraints(chosen, options, words, config)
                results.update(zip(rows, run(search, limits), strict=True))
        return [results[row] for row in range(number)]

    def translate(
        self,
        src_ids: Sequence[IntArray],
        selection: Selector,
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """See `Engine.translate`."""
        if not src_ids:
            return []
        if options.lossless:
            return translate_lossless(self, src_ids, selection, options, prefixes)
        captured = self.captured
        plan = selection.plan()
        if captured is not None and prefixes is None and captured.takes(src_ids, plan, options):
            with self.inference():
                ranked = captured.translate(src_ids, plan, options)
            if ranked is not None:
                return ranked
        encoded = self.encode(src_ids)
        return self.decode(encoded, plan.select(encoded), options, prefixes)

    def score(
        self, src_ids: Sequence[IntArray], tgt_ids: Sequence[Sequence[int]], selection: Selector
    ) -> list[Hypothesis]:
        """See `Engine.score`."""
        if not src_ids:
            return []
        encoded = self.encode(src_ids)
        shortlists = selection.plan().select(encoded)
        results: dict[int, Hypothesis] = {}
        with self.inference():
            for rows in self.words.turns(shortlists, max(map(len, tgt_ids)) + 1, _SCORED_ELEMENTS):
                words = self.words.of([shortlists[row] for row in rows])
                scores = self._forced(encoded, rows, [tgt_ids[row] for row in rows], words)
                for row, values in zip(rows, scores, strict=True):
                    tokens = tuple(int(token) for token in tgt_ids[row])
                    token_scores = tuple(values[: len(tokens) + 1])
                    results[row] = Hypothesis(tokens, token_scores, len(shortlists[row]))
        return [results[row] for row in range(len(src_ids))]

    def _forced(
        self,
        encoded: TorchEncoded,
        rows: list[int],
        tgt_ids: Sequence[Sequence[int]],
        words: OutputTokens,
    ) -> list[list[float]]:
        """Log-probabilities of each token and EOS, in one teacher-forced pass."""
        tgt_in, tgt_out = self.teacher_forced(tgt_ids)
        index = torch.tensor(rows, device=self.device)
        memory, mask = encoded.memory[index], encoded.src_mask[index]
        states = self.model.decode(tgt_in, memory, mask)  # (B, U, D)
        logits = words.logits(states.flatten(0, 1)).view(*tgt_out.shape, -1)
        log_probs = torch.log_softmax(logits, dim=-1, dtype=torch.float32)
        columns = words.columns(tgt_out)
        forced = log_probs.gather(2, columns.clamp(min=0)[..., None])[..., 0]
        scores: list[list[float]] = forced.masked_fill(columns < 0, -math.inf).tolist()
        return scores

    def teacher_forced(self, tgt_ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """What the decoder reads, and what it is to say: (B, U) ids, EOS behind their end."""
        first, eos = self.specials.first, self.specials.eos
        read, say = (
            pad([[first, *ids] for ids in tgt_ids], eos),
            pad([[*ids, eos] for ids in tgt_ids], eos),
        )
        return torch.from_numpy(read).to(self.device), torch.from_numpy(say).to(self.device)

    @cached_property
    def captured(self) -> Captured | None:
        """Searches in buckets, as graphs on a GPU; None where that is not wanted."""
        if not self.graphs or not captures(self.model.config):
            return None
        with self.inference():
            return Captured(self.model, self.words.everything, capture=self.device.type == "cuda")

    @cached_property
    def words(self) -> TokensOfBatches:
        """The output tokens that sentences choose from."""
        return TokensOfBatches(AllTokens.of(self.model.output, 1), self.model.output)

    def _search(
        self, encoded: TorchEncoded, rows: list[int], words: OutputTokens, options: SearchOptions
    ) -> tuple[Search, list[int]]:
        index = torch.tensor(rows, device=self.device)
        memory, src_mask = encoded.memory[index], encoded.src_mask[index]
        limits = [options.max_length(len(encoded.src_ids[row])) for row in rows]
        T, U = memory.shape[1], max(limits)
        steps = DecoderSteps(self.model, len(rows), options.rows, T, U)
        steps.load(memory, src_mask)
        noise = None
        if options.sampling is not None:
            keys = sentence_keys([encoded.src_ids[row] for row in rows], options.sampling.seed)
            on_device = torch.from_numpy(keys).to(self.device)
            noise = Noise(on_device, options.rows, options.sampling)
        beams = Beams.create(limits, options, self.device, U, self.specials)
        return Search(steps, words, beams, noise=noise), limits


def in_precision(model: TranslationModel, dtype: torch.dtype) -> TranslationModel:
    """The model with weights stored in another precision; itself where nothing changes."""
    if model.tgt_embedding.weight.dtype == dtype:
        return model
    lowered = copy.deepcopy(model).to(dtype)
    if lowered.nvs is not None and model.nvs is not None:
        # log-odds are compared with a threshold: 8 bits would change shortlists
        lowered.nvs.bias = torch.nn.Parameter(model.nvs.bias.detach().clone(), requires_grad=False)
    return lowered
