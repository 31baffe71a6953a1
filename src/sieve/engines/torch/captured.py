"""Translation on a GPU without launching kernels one by one: buckets of shapes, CUDA graphs.

For each bucket (sentences, source length, tokens) the encoder with the selection, the start of a
search, and a step are captured once and replayed. The same code runs eagerly on a CPU, which is how
it is tested. Between host and device there is one exchange for the sizes of shortlists, one every
few steps for the end, answered while the next one runs, and one for the results.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sieve.bundle.config import ModelConfig
from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.engines.torch import fused
from sieve.engines.torch.beams import Beams
from sieve.engines.torch.captured_source import (
    FIXED,
    Choice,
    Encoding,
    Run,
    bucket,
    choice_of,
    chosen,
    load_choice,
    mark_chosen,
    new_buffers,
    select_tokens,
    supports,
)
from sieve.engines.torch.output_tokens import AllTokens, IndexedTokens, MaskedTokens, OutputTokens
from sieve.engines.torch.search import (
    CHECK_EVERY,
    Question,
    Search,
    hypotheses,
    run_checked,
    unpacked,
)
from sieve.engines.torch.source_encoding import encode_source
from sieve.engines.torch.stepping import DecoderSteps
from sieve.kernels.dispatch import SearchKernels, search_kernels
from sieve.model.transformer import TranslationModel
from sieve.selection.plan import Plan
from sieve.tokenize.vocabulary import IntArray, Specials

_SENTENCES = (1, 2, 4, 8, *range(16, 128, 16), *range(128, 513, 32), *range(576, 2049, 64))
_SOURCE = (8, 16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 384, 512)
_TARGET = (64, 256, 1024, 2048)
_WORDS = (256, 512, 1024, 1536, 2048, 4096, 8192)
_KEPT = 24
"""Searches kept captured; the one not used for longest goes first."""


@dataclass(eq=False)
class Searching:
    """Fixed buffers of one bucket of searches, and the work on them."""

    search: Search
    start: Run
    """Loads memory and tokens, resets the hypotheses."""
    step: Run
    steps: Run
    """CHECK_EVERY - 1 steps."""
    asked: Question
    finish: Run
    """Follows hypotheses back into `packed`."""
    packed: Tensor | None
    """Packed results on the device; None where there is no kernel for them."""


@dataclass(frozen=True)
class Shape:
    """What a captured search is made for."""

    sentences: int
    src_length: int
    selects: tuple[int, int] | None
    """Of the encoding, whose buffers the search reads."""
    max_length: int
    width: int
    """Columns of the gathered output layer; 0: all tokens; −1: all tokens, masked."""
    beam_size: int
    n_best: int
    length_penalty: float
    stop: str


def captures(config: ModelConfig) -> bool:
    """Whether searches of such a model are captured; others take step after step."""
    return fused.takes(config) and not config.never and not config.forced_start


class Captured:
    """Captured encoders and searches of one model."""

    def __init__(self, model: TranslationModel, everything: AllTokens, capture: bool) -> None:
        self.model = model
        self.everything = everything
        self.specials: Specials = model.config.specials
        self.device: torch.device = everything.bias.device
        self.capture = capture
        self.kernels: SearchKernels | None = search_kernels(everything.bias)
        self._encodings: dict[tuple[int, int, tuple[int, int] | None], Encoding] = {}
        self._searches: OrderedDict[Shape, Searching] = OrderedDict()
        self._pool = torch.cuda.graph_pool_handle() if capture else None

    def takes(self, src_ids: Sequence[IntArray], plan: Plan, options: SearchOptions) -> bool:
        """Whether a batch, a selection and a search are of a kind that is captured."""
        plain = supports(plan) and not (options.sampling or options.alignment or options.blocked)
        longest = max(map(len, src_ids))
        return (
            plain
            and len(src_ids) <= _SENTENCES[-1]
            and longest <= _SOURCE[-1]
            and options.max_length(longest) <= _TARGET[-1]
        )

    def translate(
        self, src_ids: Sequence[IntArray], plan: Plan, options: SearchOptions
    ) -> list[list[Hypothesis]] | None:
        """The best translations; None where a sentence has more fixed tokens than buffers hold."""
        choice = choice_of(plan, src_ids, self.specials.eos)
        if choice is not None and choice.room > FIXED[-1]:
            return None
        limits = [options.max_length(len(ids)) for ids in src_ids]
        encoding = self.encode(src_ids, choice)
        searching = self.start(encoding, limits, options)
        run_checked(searching.step, searching.steps, max(limits), searching.asked)
        return self.results(searching)[: len(src_ids)]

    def encode(self, src_ids: Sequence[IntArray], choice: Choice | None) -> Encoding:
        """Encodes a batch, and selects tokens where there is a choice."""
        B, T = bucket(_SENTENCES, len(src_ids)), bucket(_SOURCE, max(map(len, src_ids)))
        key = (B, T, None if choice is None else (choice.least, choice.room))
        if key not in self._encodings:
            self._encodings[key] = self._new_encoding(*key)
        encoding = self._encodings[key]
        rows = np.full((B, T), self.specials.fill)
        rows[:, 0] = self.specials.eos  # sentences that fill the bucket
        lengths = np.fromiter(map(len, src_ids), np.int64)
        rows[: len(src_ids)][np.arange(T) < lengths[:, None]] = np.concatenate(src_ids)
        encoding.src_ids.copy_(torch.from_numpy(rows))
        if choice is not None:
            load_choice(encoding, choice)
        encoding.encode()
        return encoding

    def start(self, encoding: Encoding, limits: Sequence[int], options: SearchOptions) -> Searching:
        """A search of the encoded batch, before its first step; limits: each sentence's tokens."""
        B, T = encoding.src_ids.shape
        padded = torch.tensor([*limits, *[1] * (B - len(limits))])
        length, width = bucket(_TARGET, max(limits)), 0
        if (
            encoding.selects is not None
        ):  # the host waits for the device here, and has nothing else left to do
            width = self._width(int(encoding.sizes.cpu()[: len(limits)].max()))
        shape = Shape(
            B, T, encoding.selects, length, width, options.beam_size, options.n_best,
            options.length_penalty, options.stop,
        )  # fmt: skip
        if shape not in self._searches:
            self._searches[shape] = self._new_search(shape, encoding, options)
            if len(self._searches) > _KEPT:
                self._searches.popitem(last=False)
        self._searches.move_to_end(shape)
        searching = self._searches[shape]
        searching.search.beams.limit.copy_(padded)
        searching.start()
        return searching

    def results(self, searching: Searching) -> list[list[Hypothesis]]:
        """The hypotheses of a search that has ended."""
        search = searching.search
        if searching.packed is None or self.kernels is None:
            return hypotheses(search.beams, search.words.sizes)
        searching.finish()
        return unpacked(searching.packed.cpu().numpy(), self.kernels.trace.HEAD, self.specials.eos)

    @property
    def _most(self) -> int:
        """Most tokens that are looked up one by one."""
        return min(_WORDS[-1], self.everything.vocab_size // 2)

    @property
    def _room(self) -> int:
        """Tokens of a sentence that an encoding has room for."""
        return bucket(_WORDS, self._most)

    def _width(self, size: int) -> int:
        """The kind of output layer for shortlists of at most `size` tokens."""
        if size > self._most:
            return -1
        return bucket(_WORDS, size)

    def _new_encoding(self, B: int, T: int, selects: tuple[int, int] | None) -> Encoding:
        """Buffers; selects: the minimum of tokens and the room for fixed tokens, or nothing."""
        encoding = new_buffers(self.everything, self.model.config, (B, T), selects, self._room)
        least = 0 if selects is None else selects[0]

        def encode() -> None:
            memory, src_mask = encode_source(self.model, encoding.src_ids)
            encoding.memory.copy_(memory)
            encoding.src_mask.copy_(src_mask)
            if selects is not None:
                logits = self.model.bow_logits(memory, src_mask)
                encoding.logits.copy_(mark_chosen(logits, least, encoding.fixed))
                select_tokens(encoding, self.kernels)

        encoding.encode = self._captured(encode)
        return encoding

    def _new_search(self, shape: Shape, encoding: Encoding, options: SearchOptions) -> Searching:
        B, T, U = shape.sentences, shape.src_length, shape.max_length
        steps = DecoderSteps(self.model, B, shape.beam_size, T, U)
        beams = Beams.create([1] * B, options, self.device, U, self.specials)
        words, load = self._new_tokens(shape, encoding, beams)
        search = Search(steps, words, beams)
        packed = None if self.kernels is None else self.kernels.trace.buffer(beams)

        def start() -> None:
            steps.load(encoding.memory, encoding.src_mask)
            load()
            beams.reset()

        def step() -> None:
            search.advance(visible=U)

        def several() -> None:
            for _ in range(CHECK_EVERY - 1):
                step()

        def finish() -> None:
            if self.kernels is not None:
                self.kernels.trace.trace(beams, words.sizes, packed)

        start()
        return Searching(
            search,
            self._captured(start),
            self._captured(step, before=start),
            self._captured(several, before=start),
            Question(beams.done),
            self._captured(finish),
            packed,
        )

    def _new_tokens(
        self, shape: Shape, encoding: Encoding, beams: Beams
    ) -> tuple[OutputTokens, Run]:
        """Output tokens of a search, and what loads them from the encoding's selection."""
        everything, output = self.everything.for_sentences(encoding.sizes), self.model.output
        S = shape.width
        if S == 0:
            return everything, lambda: None
        if S < 0:
            mask = everything.bias.new_zeros(shape.sentences, len(everything.bias))
            V = everything.vocab_size

            def load_mask() -> None:
                mask[:, :V].zero_().masked_fill_(~chosen(encoding), -torch.inf)

            return MaskedTokens(encoding.sizes, everything, mask), load_mask
        indexed = IndexedTokens(encoding.sizes, encoding.words[:, :S], output)
        if self.kernels is not None:
            chunk = self.kernels.words.chunk(shape.sentences, S)
            if self.kernels.beams.fits(beams, S, chunk):
                return indexed, lambda: None
        words = indexed.gathered()

        def load_tokens() -> None:
            now = indexed.gathered()
            words.words.copy_(now.words)
            words.weight.copy_(now.weight)
            words.bias.copy_(now.bias)

        return words, load_tokens

    def _captured(self, work: Run, before: Run | None = None) -> Run:
        """Work without arguments as one graph; `before` undoes what trying it out has done."""
        if not self.capture:
            return work
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):  # compiles kernels and fills workspaces
                work()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            work()
        if before is not None:
            before()
        return graph.replay
