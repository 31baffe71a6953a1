"""The fast engine for CPUs: a whole batch in one call of the C++ core. Needs no torch.

Turns selectors and options into plain arrays and gives results their names; the arithmetic, the
search and the threads are in `native/`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from sieve import _native
from sieve.bundle.config import ModelConfig
from sieve.bundle.directory import Bundle
from sieve.bundle.weights import (
    model_config,
    stored_parameters,
)
from sieve.engines.engine import FloatArray, Hypothesis
from sieve.engines.native.native_plan import native_plan, ragged
from sieve.engines.native.native_search import search_arguments
from sieve.engines.native.native_tensors import aligned, float_weights
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, ModelError
from sieve.files import Tensors
from sieve.processes.cores import usable_cores
from sieve.selection.bonus import Bonus, among_candidates, with_bonuses
from sieve.selection.plan import Cuts, Plan, Selector
from sieve.selection.shortlist import Shortlist, ShortlistArray, shortlists_above
from sieve.tokenize.vocabulary import IntArray, Specials

FAR = 12 * 2**20
"""Bytes of an output layer from which on a lossless beam search drafts: reading it is then most of
a step, and a check reads it once for several steps. Measured in docs/results/drafted_beams.json."""


@dataclass(frozen=True)
class Timing:
    """Where a sentence's time went, in seconds."""

    encode: float
    select: float
    gather: float
    search: float
    """Decoder and output tokens, all steps; keys and values of the source included."""
    steps: int


@dataclass(frozen=True, eq=False)
class NativeEncoded:
    """A batch of encoded sentences; also what selectors look at."""

    engine: NativeEngine
    src_ids: Sequence[IntArray]
    states: Any
    """Of the C++ core."""

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
        logits = with_bonuses(self.engine.bow_logits(self), bonuses)
        logits = among_candidates(logits, candidates)
        return shortlists_above(logits, cuts, least, self.specials.eos)


class NativeEngine:
    """Runs a model in the C++ core. Threads share it; one call may use several of them."""

    def __init__(
        self,
        config: ModelConfig,
        tensors: Tensors,
        *,
        int8: bool,
        threads: int | None = None,
        kernels: str = "",
    ) -> None:
        """Takes a model's tensors.

        Args:
            config: The model's shape.
            tensors: In float32; or in the int8 form (`sieve.bundle.quantization`), used in place.
            int8: Which of the two.
            threads: Sentences translated side by side in one call; by default one for each core
                that this process may use.
            kernels: Of `available_kernels`; by default the best that this CPU can run, or what
                the environment variable SIEVE_KERNELS names.
        """
        if threads is not None and threads < 1:
            raise ConfigError(f"threads: got {threads}, expected 1 or more")
        self.config = config
        self.threads: int = threads or usable_cores()
        self.int8 = int8
        size = config.tgt_vocab_size * config.d_model * (1 if int8 else 4)
        self.drafts_beams: bool = size >= FAR
        """Whether a lossless beam search drafts with selected tokens. See `FAR`."""
        self._native = _native.Model(asdict(config), dict(tensors), int8, _checked(kernels))

    @classmethod
    def open(
        cls,
        bundle: Bundle,
        precision: str | None = None,
        threads: int | None = None,
        kernels: str = "",
    ) -> NativeEngine:
        """The engine of a model directory; by default in the precision of its weights."""
        int8 = bundle.is_int8 and precision is None
        try:
            tensors = aligned(stored_parameters(bundle)) if int8 else float_weights(bundle)
            config = model_config(bundle)
            return cls(config, tensors, int8=int8, threads=threads, kernels=kernels)
        except _native.ModelError as error:
            raise ModelError(f"{bundle.directory}: {error}") from None

    @property
    def vocab_size(self) -> int:
        """Number of output tokens."""
        return self.config.tgt_vocab_size

    @property
    def specials(self) -> Specials:
        """See `Engine.specials`."""
        return self.config.specials

    @property
    def kernels(self) -> str:
        """The kernels in use."""
        return str(self._native.kernels)

    def __str__(self) -> str:
        precision = "int8" if self.int8 else "float32"
        return f"native ({self.kernels}, {precision}, {self.threads} threads)"

    def encode(self, src_ids: Sequence[IntArray]) -> NativeEncoded:
        """See `Engine.encode`."""
        states = self._native.encode(ragged(src_ids), self.threads)
        return NativeEncoded(self, src_ids, states)

    def bow_logits(self, encoded: NativeEncoded) -> FloatArray:
        """See `Engine.bow_logits`."""
        with _our_errors():
            logits: FloatArray = self._native.pooled_logits(encoded.states, self.threads)
        return logits

    def source_states(self, encoded: NativeEncoded) -> FloatArray:
        """The encoder's states of all positions (ΣT, D), sentence behind sentence."""
        states: FloatArray = self._native.states(encoded.states)
        return states

    def position_logits(self, encoded: NativeEncoded) -> list[FloatArray]:
        """See `Engine.position_logits`."""
        alone = replace(encoded, states=self._native.positions(encoded.states))
        # a source without tokens reads as its end alone
        bounds = np.cumsum([max(1, len(ids)) for ids in encoded.src_ids])[:-1]
        if not encoded.src_ids:
            return []
        with _our_errors():
            logits = self._native.pooled_logits(alone.states, self.threads, last_look=True)
        # the first look bounds what a sentence's positions say together
        pooled = self.bow_logits(encoded)
        return [np.minimum(*both) for both in zip(np.split(logits, bounds), pooled, strict=True)]

    def decode(
        self,
        encoded: NativeEncoded,
        shortlists: Sequence[Shortlist],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """See `Engine.decode`."""
        number = len(encoded.src_ids)
        if len(shortlists) != number or (prefixes is not None and len(prefixes) != number):
            given = number if prefixes is None else len(prefixes)
            raise ValueError(f"{len(shortlists)} shortlists, {given} prefixes, {number} sentences")
        search = self._search(encoded.src_ids, options, prefixes)
        chosen = native_plan(Plan.given(shortlists), encoded.src_ids, self.specials.eos)
        with _our_errors():
            return _hypotheses(self._native.translate(encoded.states, chosen, search, self.threads))

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
        arguments = self._arguments(src_ids, selection, options, prefixes)
        with _our_errors():
            return _hypotheses(self._native.translate(*arguments))

    def translate_timed(
        self,
        src_ids: Sequence[IntArray],
        selection: Selector,
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> tuple[list[list[Hypothesis]], list[Timing]]:
        """As `translate`, and where each sentence's time went."""
        if not src_ids:
            return [], []
        arguments = self._arguments(src_ids, selection, options, prefixes)
        with _our_errors():
            results = self._native.translate(*arguments)
            return _hypotheses(results), [Timing(*timing) for _, _, timing, _ in results]

    def _arguments(
        self,
        src_ids: Sequence[IntArray],
        selection: Selector,
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None,
    ) -> tuple[Any, dict[str, Any], dict[str, Any], int]:
        """What the C++ core takes to translate."""
        plan, source = selection.plan(), ragged(src_ids)
        if plan.asked:
            encoded = self.encode(src_ids)
            plan = replace(Plan.given(plan.select(encoded)), exclude=plan.exclude)
            source = encoded.states
        search = self._search(src_ids, options, prefixes)
        return source, native_plan(plan, src_ids, self.specials.eos), search, self.threads

    def _search(
        self,
        src_ids: Sequence[IntArray],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None,
    ) -> dict[str, Any]:
        arguments = search_arguments(src_ids, options, prefixes, self.config.forced_start)
        return {**arguments, "draft_beams": self.drafts_beams}

    def score(
        self, src_ids: Sequence[IntArray], tgt_ids: Sequence[Sequence[int]], selection: Selector
    ) -> list[Hypothesis]:
        """See `Engine.score`."""
        if not src_ids:
            return []
        plan = selection.plan()
        if plan.asked:
            plan = Plan.given(plan.select(self.encode(src_ids)))
        chosen = native_plan(plan, src_ids, self.specials.eos)
        with _our_errors():
            results = self._native.score(ragged(src_ids), chosen, ragged(tgt_ids), self.threads)
        return [Hypothesis(tokens, scores, size) for size, _, _, [(tokens, scores, *_)] in results]


@contextmanager
def _our_errors() -> Iterator[None]:
    """What the C++ core refuses is a damaged model."""
    try:
        yield
    except _native.ModelError as error:
        raise ModelError(str(error)) from None


def _hypotheses(results: Sequence[Any]) -> list[list[Hypothesis]]:
    """What the C++ core found, with names."""
    if not all(ranked for *_, ranked in results):
        raise ModelError("a translation has no finite score: the weights are damaged")
    return [
        [
            Hypothesis(tokens, scores, size, places, returns, None if isnan(margin) else margin)
            for tokens, scores, places, margin in ranked
        ]
        for size, returns, _, ranked in results
    ]


def available_kernels() -> list[str]:
    """Kernels that this CPU can run, best first."""
    return list(_native.available_kernels())


def _checked(kernels: str) -> str:
    """The name of kernels to use, "" for the best."""
    variable = os.environ.get("SIEVE_KERNELS", "")
    place, name = ("kernels", kernels) if kernels else ("SIEVE_KERNELS", variable)
    known = available_kernels()
    if name and name not in known:
        raise ConfigError(f"{place}: got '{name}', this CPU has {', '.join(known)}")
    return name
