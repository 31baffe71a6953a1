"""The loop of a search: decoder step, candidates, bookkeeping, until all sentences have ended.

Sees states and the tokens it may choose from; how those were chosen it does not know. No host
round trip per token: whether all have ended is asked every few steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sieve.engines.engine import Hypothesis
from sieve.engines.torch.beams import Beams, Candidates, candidates
from sieve.engines.torch.constraints import Constraints
from sieve.engines.torch.output_tokens import IndexedTokens, OutputTokens
from sieve.engines.torch.sampling import Noise, draw
from sieve.errors import ModelError
from sieve.kernels.dispatch import search_kernels

CHECK_EVERY = 8
"""Steps between two questions to the device whether sentences have ended."""


class Steps(Protocol):
    """A decoder that runs one token at a time (`sieve.engines.torch.stepping.DecoderSteps`)."""

    position: Tensor
    """(1,) tokens consumed; moved by the search."""
    parents: Tensor
    """(N,) the row that each row continues."""

    def step(self, ids: Tensor, visible: int, with_query: bool = False) -> Tensor:
        """States (N, D) after the newest ids (N,)."""

    def settle(self, rows: Tensor, visible: int) -> None:
        """Row n goes on from row rows[n]."""

    def alignment(self) -> Tensor:
        """(B, K) source positions of the last step."""

    def select(self, sentences: Sequence[int]) -> Steps:
        """These sentences alone."""


@dataclass(eq=False)
class Search:
    """One search under way over B sentences."""

    steps: Steps
    words: OutputTokens
    beams: Beams
    constraints: Constraints | None = None
    noise: Noise | None = None

    def __post_init__(self) -> None:
        self.beams.position = self.steps.position  # one counter for both
        self.steps.parents = self.beams.parents

    def advance(self, visible: int) -> None:
        """One step for all sentences; asks the host nothing.

        Args:
            visible: At least the number of tokens consumed after this step.
        """
        beams = self.beams
        with_query = beams.aligned is not None
        states = self.steps.step(beams.ids.view(-1), visible, with_query)
        if beams.aligned is not None:
            beams.aligned.index_copy_(0, beams.position, self.steps.alignment()[None])
        if not self._advanced(states):
            logits = self.words.logits(states)  # (N, S)
            beams.advance(self._candidates(logits), fixed=self.noise is not None)
            if self.constraints is not None:
                self.constraints.update(beams.parents, beams.ids)
            beams.position += 1
        self.steps.settle(beams.parents, visible)

    def select(self, sentences: Sequence[int]) -> Search:
        """The search of these sentences alone, from where it stands."""
        return Search(
            self.steps.select(sentences),
            self.words.select(sentences),
            self.beams.select(sentences),
            self.constraints and self.constraints.select(sentences),
            self.noise and self.noise.select(sentences),
        )

    def _advanced(self, states: Tensor) -> bool:
        """The step by kernels, where they can: on a GPU, in a plain search of usual size."""
        plain = self.constraints is None and self.noise is None
        kernels = search_kernels(states) if plain else None
        if kernels is None:
            return False
        words, beams = self.words, self.beams
        if isinstance(words, IndexedTokens):
            summary = kernels.words.token_logits(
                states, words.output.weight, words.output.bias, words.table, words.sizes
            )
        elif kernels.beams.fits(beams, words.width):
            summary = kernels.beams.summarize(words.logits(states))
        else:
            return False
        kernels.beams.advance(beams, summary, words.table, words.vocab_size)
        return True

    def _candidates(self, logits: Tensor) -> Candidates:
        log_sums = torch.logsumexp(logits.float(), dim=1)
        if self.constraints is not None:
            logits = self.constraints.apply(logits)
        score = self.beams.score
        if self.noise is not None:
            return draw(logits, log_sums, score, self.words, self.noise)
        number = self.beams.history.shape[2]
        return candidates(logits, log_sums, score, self.words, number)


def run(search: Search, limits: Sequence[int]) -> list[list[Hypothesis]]:
    """Searches to the end; sentences that have ended early leave the batch.

    Args:
        search: Before its first step.
        limits: Most tokens of each sentence, EOS included.
    """
    results: dict[int, list[Hypothesis]] = {}
    sentences = list(range(len(limits)))  # those still searched
    for step in range(1, max(limits) + 1):
        search.advance(visible=step)
        if step % CHECK_EVERY or step == max(limits):
            continue
        done = search.beams.done.tolist()
        if all(done):
            break
        if 2 * sum(done) >= len(done):  # sentences are independent: drop those that have ended
            ended = [place for place, end in enumerate(done) if end]
            finished = hypotheses(search.beams.select(ended), search.words.select(ended).sizes)
            results.update(zip((sentences[place] for place in ended), finished, strict=True))
            left = [place for place, end in enumerate(done) if not end]
            sentences = [sentences[place] for place in left]
            search = search.select(left)
    finished = hypotheses(search.beams, search.words.sizes)
    results.update(zip(sentences, finished, strict=True))
    return [results[sentence] for sentence in range(len(limits))]


def run_checked(
    step: Callable[[], None], steps: Callable[[], None], most: int, asked: Question
) -> None:
    """Makes up to `most` steps, or until all sentences are done.

    The device goes on while the host waits for an answer: the next step is under way by then.

    Args:
        step: One step.
        steps: CHECK_EVERY - 1 steps.
        most: Steps at most.
        asked: About the search's `done`.
    """
    taken = 0
    while taken < most:
        step()
        if taken and asked.answer():
            break
        if most - taken >= CHECK_EVERY:
            steps()
            asked.ask()
        else:
            for _ in range(most - taken - 1):
                step()
        taken += CHECK_EVERY


class Question:
    """Whether all are done, asked now and answered later."""

    def __init__(self, done: Tensor) -> None:
        self.done = done
        self.host: Tensor = torch.zeros(done.shape, dtype=done.dtype, pin_memory=done.is_cuda)
        self.event: torch.cuda.Event | None = torch.cuda.Event() if done.is_cuda else None  # type: ignore[no-untyped-call]

    def ask(self) -> None:
        """Lets the device tell how things stand now."""
        self.host.copy_(self.done, non_blocking=True)
        if self.event is not None:
            self.event.record()

    def answer(self) -> bool:
        """Waits for what was asked last."""
        if self.event is not None:
            self.event.synchronize()
        return bool(self.host.all())


def hypotheses(beams: Beams, sizes: Tensor) -> list[list[Hypothesis]]:
    """The n best finished hypotheses of each sentence, followed back through the history."""
    steps = max(1, int(beams.position))
    final, places = beams.final.cpu().numpy(), beams.final_at.cpu().numpy()
    order = np.lexsort((places, -final), axis=1)[:, : beams.n_best]
    rows, ranks = np.nonzero(np.take_along_axis(final, order, 1) > -np.inf)
    if len(np.unique(rows)) < len(final):
        raise _no_score()
    ends = np.take_along_axis(places, order, 1)[rows, ranks]
    paths = _follow(beams, steps, rows, ends)
    results: list[list[Hypothesis]] = [[] for _ in final]
    counts = sizes.tolist()
    lengths = ends // beams.history.shape[2] + 1
    for index, (row, length) in enumerate(zip(rows.tolist(), lengths.tolist(), strict=True)):
        tokens = paths.tokens[index, :length].tolist()
        words = length - (tokens[-1] == beams.eos)
        positions = paths.positions[index, :words].tolist()
        scores = tuple(paths.log_probs[index, :length].tolist())
        hypothesis = Hypothesis(tuple(tokens[:words]), scores, counts[row], tuple(positions))
        results[row].append(hypothesis)
    return results


def unpacked(packed: npt.NDArray[np.int32], head: int, eos: int) -> list[list[Hypothesis]]:
    """Hypotheses (B, n_best, head + 2U) as `trace_triton` packs them: see there."""
    B, number, width = packed.shape
    if not packed[:, 0, 0].all():
        raise _no_score()
    rows = packed.reshape(B * number, width)
    lengths, sizes = rows[:, 0].tolist(), rows[:, 1].tolist()
    U, longest = (width - head) // 2, max(lengths)
    tokens = rows[:, head : head + longest].tolist()
    scores = rows[:, head + U : head + U + longest].copy().view(np.float32).tolist()
    results: list[list[Hypothesis]] = [[] for _ in range(B)]
    for row, (length, size) in enumerate(zip(lengths, sizes, strict=True)):
        if length:
            words = length - (tokens[row][length - 1] == eos)
            ids, values = tuple(tokens[row][:words]), tuple(scores[row][:length])
            results[row // number].append(Hypothesis(ids, values, size))
    return results


def _no_score() -> ModelError:
    return ModelError(
        "a translation has no finite score: the weights are damaged, "
        "or too large for 16 bits; try precision float32"
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """Hypotheses in rows, as far as each goes: (M, U)."""

    tokens: npt.NDArray[np.int64]
    log_probs: npt.NDArray[np.float64]
    positions: npt.NDArray[np.int64]
    """(M, 0) where nobody asked."""


def _follow(
    beams: Beams, steps: int, rows: npt.NDArray[np.intp], ends: npt.NDArray[np.int64]
) -> _Found:
    """The M hypotheses of sentences `rows` that ended at `ends` (see `Beams.final_at`)."""
    history = beams.history[:steps].cpu().numpy()
    log_probs = beams.log_probs[:steps].cpu().numpy()
    alive = beams.alive[:steps].cpu().numpy()
    aligned = None if beams.aligned is None else beams.aligned[:steps].cpu().numpy()
    last, rank = np.divmod(ends, history.shape[2])
    tokens = np.zeros((len(rows), steps), np.int64)
    scores = np.zeros((len(rows), steps))
    positions = np.zeros((len(rows), 0 if aligned is None else steps), np.int64)
    for step in range(steps - 1, -1, -1):
        beam, token = np.divmod(history[step, rows, rank], 1 << 32)
        tokens[:, step] = token
        scores[:, step] = log_probs[step, rows, rank]
        if aligned is not None:
            positions[:, step] = aligned[step, rows, beam]
        if step:  # hypotheses that end earlier wait at their last step
            rank = np.where(step <= last, alive[step - 1, rows, beam], rank)
    return _Found(tokens, scores, positions)
