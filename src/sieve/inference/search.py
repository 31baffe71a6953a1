"""The loop of a search: decoder step, candidates, bookkeeping, until all sentences have ended.

Sees states and the words it may choose from; how those were chosen it does not know. No host
round trip per token: whether all have ended is asked every few steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from sieve.errors import ModelError
from sieve.inference.beams import Beams, Candidates, candidates
from sieve.inference.constraints import Constraints
from sieve.inference.engine import Hypothesis
from sieve.inference.output_words import OutputWords
from sieve.inference.sampling import Noise, draw
from sieve.text.vocabulary import EOS

CHECK_EVERY = 8
"""Steps between two questions to the device whether sentences have ended."""


class Steps(Protocol):
    """A decoder that runs one token at a time (`sieve.model.stepping.DecoderSteps`)."""

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
    words: OutputWords
    beams: Beams
    constraints: Constraints | None = None
    noise: Noise | None = None

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
        rows = beams.advance(self._candidates(states), fixed=self.noise is not None)
        if self.constraints is not None:
            self.constraints.update(rows, beams.ids)
        self.steps.settle(rows, visible)

    def select(self, sentences: Sequence[int]) -> Search:
        """The search of these sentences alone, from where it stands."""
        return Search(
            self.steps.select(sentences),
            self.words.select(sentences),
            self.beams.select(sentences),
            self.constraints and self.constraints.select(sentences),
            self.noise and self.noise.select(sentences),
        )

    def _candidates(self, states: Tensor) -> Candidates:
        logits = self.words.logits(states)  # (N, S)
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
            found = hypotheses(search.beams.select(ended), search.words.select(ended).sizes)
            results.update(zip((sentences[place] for place in ended), found, strict=True))
            left = [place for place, end in enumerate(done) if not end]
            sentences = [sentences[place] for place in left]
            search = search.select(left)
    found = hypotheses(search.beams, search.words.sizes)
    results.update(zip(sentences, found, strict=True))
    return [results[sentence] for sentence in range(len(limits))]


def run_checked(step: Callable[[], None], done: Tensor, most: int) -> None:
    """Repeats a step that needs no argument, up to `most` times or until all (B,) are done."""
    for number in range(1, most + 1):
        step()
        if number % CHECK_EVERY == 0 and number < most and bool(done.all()):
            break


def hypotheses(beams: Beams, sizes: Tensor) -> list[list[Hypothesis]]:
    """The n best finished hypotheses of each sentence, followed back through the history."""
    trace = _Trace(
        beams.history.cpu().numpy(),
        beams.log_probs.cpu().numpy(),
        beams.alive.cpu().numpy(),
        None if beams.aligned is None else beams.aligned.cpu().numpy(),
    )
    final, places = beams.final.cpu().numpy(), beams.final_at.cpu().numpy()
    results = []
    for row, size in enumerate(sizes.tolist()):
        order = np.lexsort((places[row], -final[row]))[: beams.n_best]
        ended = [int(places[row, rank]) for rank in order if final[row, rank] > -np.inf]
        if not ended:
            raise ModelError(
                "a translation has no finite score: the weights are damaged, "
                "or too large for 16 bits; try precision float32"
            )
        results.append([trace.follow(row, place, size) for place in ended])
    return results


@dataclass(frozen=True, eq=False)
class _Trace:
    """The history of a search, on the host."""

    history: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    log_probs: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
    alive: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    aligned: np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None

    def follow(self, row: int, place: int, size: int) -> Hypothesis:
        """The hypothesis that ended at `place` (see `Beams.final_at`)."""
        step, rank = divmod(place, self.history.shape[2])
        tokens: list[int] = []
        scores: list[float] = []
        positions: list[int] = []
        while True:
            beam, token = divmod(int(self.history[step, row, rank]), 1 << 32)
            tokens.append(token)
            scores.append(float(self.log_probs[step, row, rank]))
            if self.aligned is not None:
                positions.append(int(self.aligned[step, row, beam]))
            if step == 0:
                break
            step -= 1
            rank = int(self.alive[step, row, beam])
        tokens.reverse()
        end = len(tokens) - (tokens[-1] == EOS)
        return Hypothesis(
            tuple(tokens[:end]), tuple(scores[::-1]), size, tuple(positions[::-1][:end])
        )
