"""Search over a decoder step: which token comes next, when a translation ends.

Sees states and the words it may choose from; how those were chosen it does not know. No host
round trip per token: whether all have ended is asked every few steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from sieve.inference.engine import Hypothesis
from sieve.model.decoder import DecoderState
from sieve.model.translation import OutputLayer
from sieve.text.vocabulary import BOS, EOS, PAD

CHECK_EVERY = 8
"""Steps between two questions to the device whether rows have ended."""

Step = Callable[[Tensor, DecoderState], tuple[Tensor, DecoderState]]


class OutputWords(Protocol):
    """The words each row may choose from: their logits, and their ids."""

    @property
    def sizes(self) -> Tensor:
        """(N,) number of words of each row."""

    def logits(self, states: Tensor) -> Tensor:
        """(N, S) from decoder states (N, D); −inf where a row has fewer than S words."""

    def ids(self, choice: Tensor) -> Tensor:
        """(N,) ids of the whole vocabulary from column numbers (N,)."""

    def reorder(self, index: Tensor) -> "OutputWords":
        """The words of rows `index`, in that order."""


@dataclass(frozen=True, eq=False)
class AllWords:
    """The whole vocabulary for every row."""

    output: OutputLayer
    rows: int

    @property
    def sizes(self) -> Tensor:
        """See OutputWords."""
        return torch.full((self.rows,), len(self.output.bias), device=self.output.bias.device)

    def logits(self, states: Tensor) -> Tensor:
        """See OutputWords."""
        logits: Tensor = self.output(states)
        return logits

    def ids(self, choice: Tensor) -> Tensor:
        """See OutputWords."""
        return choice

    def reorder(self, index: Tensor) -> "AllWords":
        """See OutputWords."""
        return AllWords(self.output, len(index))


@dataclass(frozen=True, eq=False)
class SelectedWords:
    """A shortlist for each row, gathered once: equation 2 with its own W̄ and b̄ a sentence."""

    sizes: Tensor
    """(N,)"""
    words: Tensor
    """(N, S) ids, ascending; PAD behind a row's last word."""
    weight: Tensor
    """(N, S, D)"""
    bias: Tensor
    """(N, S); −inf behind a row's last word, which takes padding out of softmax and search."""

    @classmethod
    def gather(cls, output: OutputLayer, words: Tensor, sizes: Tensor) -> "SelectedWords":
        """The rows of the output layer for words (N, S), of which `sizes` (N,) are real."""
        real = torch.arange(words.shape[1], device=words.device) < sizes[:, None]
        bias = output.bias[words].masked_fill(~real, -torch.inf)
        return cls(sizes, words, output.weight[words], bias)

    def logits(self, states: Tensor) -> Tensor:
        """See OutputWords."""
        product = torch.bmm(self.weight, states[..., None].to(self.weight.dtype))  # (N, S, 1)
        return product[..., 0] + self.bias

    def ids(self, choice: Tensor) -> Tensor:
        """See OutputWords."""
        return self.words.gather(1, choice[:, None])[:, 0]

    def reorder(self, index: Tensor) -> "SelectedWords":
        """See OutputWords."""
        return SelectedWords(
            self.sizes[index], self.words[index], self.weight[index], self.bias[index]
        )


def greedy(
    step: Step, state: DecoderState, words: OutputWords, limits: Sequence[int]
) -> list[list[Hypothesis]]:
    """The most probable next token, until EOS or the row's limit; the lower id where two are equal.

    Args:
        step: One decoder step: ids (N,) and state to states (N, D) and the state after.
        state: Of N rows, before the first token.
        words: What each row may choose from.
        limits: Most tokens of each row, EOS included.
    """
    sizes = words.sizes
    device = sizes.device
    limit = torch.tensor(limits, device=device)
    tokens = torch.full((len(limits), max(limits)), PAD, device=device)
    scores = torch.zeros(tokens.shape, device=device)
    lengths = torch.zeros_like(limit)
    rows = torch.arange(len(limits), device=device)  # where the rows still searched belong
    ids = torch.full((len(limits),), BOS, device=device)
    done = torch.zeros(len(limits), dtype=torch.bool, device=device)
    for position in range(max(limits)):
        states, state = step(ids, state)
        log_probs = torch.log_softmax(words.logits(states).float(), dim=-1)  # (N, S)
        best, choice = log_probs.max(dim=-1)  # the first of equals, and words ascend
        ids = words.ids(choice).masked_fill(done, PAD)
        tokens[rows, position] = ids
        scores[rows, position] = best
        lengths[rows] += ~done
        done = done | (ids == EOS) | (limit[rows] <= position + 1)
        if (position + 1) % CHECK_EVERY == 0:
            alive = (~done).nonzero()[:, 0]
            if not len(alive):
                break
            if 2 * len(alive) <= len(done):  # rows are independent: drop those that have ended
                state, words = state.reorder(alive), words.reorder(alive)
                rows, ids, done = rows[alive], ids[alive], done[alive]
    return _hypotheses(tokens, scores, lengths, sizes)


def _hypotheses(
    tokens: Tensor, scores: Tensor, lengths: Tensor, sizes: Tensor
) -> list[list[Hypothesis]]:
    """One hypothesis a row from the first `lengths` (N,) tokens and scores of (N, U)."""
    result = []
    table = zip(tokens.tolist(), scores.tolist(), lengths.tolist(), sizes.tolist(), strict=True)
    for row, row_scores, length, size in table:
        end = length - (row[length - 1] == EOS)
        result.append([Hypothesis(tuple(row[:end]), tuple(row_scores[:length]), size)])
    return result
