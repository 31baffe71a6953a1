"""Which sentences are decoded together, and in which form their output tokens lie in memory.

Small shortlists are gathered, large ones masked, the whole vocabulary is taken as it is. Knows
shortlists and the output layer, neither search nor sources.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from sieve.engines.torch.output_tokens import (
    WIDTH,
    AllTokens,
    MaskedTokens,
    OutputTokens,
    SelectedTokens,
)
from sieve.engines.torch.source_encoding import pad
from sieve.model.transformer import OutputLayer
from sieve.selection.shortlist import Shortlist

_GATHERED_ELEMENTS = 2**28
"""Most output weights gathered at once: 1 GiB in float32. More sentences take turns."""


@dataclass(frozen=True)
class TokensOfBatches:
    """Output tokens for sentences with their shortlists."""

    everything: AllTokens
    output: OutputLayer
    gathered_elements: int = _GATHERED_ELEMENTS

    def turns(
        self, shortlists: Sequence[Shortlist], rows: int, elements: int = 2**31
    ) -> Iterator[list[int]]:
        """Sentences decoded together: of one form of output tokens, and fitting memory.

        Args:
            shortlists: Of all sentences.
            rows: Rows of logits a sentence has.
            elements: Most logits at a time.
        """
        turn: list[int] = []
        form, width_of_states = "all", self.output.weight.shape[1]
        for row in sorted(range(len(shortlists)), key=lambda row: len(shortlists[row])):
            width, before, number = padded_width(len(shortlists[row])), form, len(turn) + 1
            form = self._form(shortlists[row])
            gathered = number * width * width_of_states if form == "selected" else 0
            too_large = gathered > self.gathered_elements or number * width * rows > elements
            if turn and (too_large or form != before):
                yield turn
                turn = []
            turn.append(row)
        if turn:
            yield turn

    def of(self, shortlists: Sequence[Shortlist]) -> OutputTokens:
        """The tokens of sentences whose shortlists are of one form."""
        form, device = self._form(shortlists[0]), self.everything.bias.device
        sizes = torch.tensor([len(shortlist) for shortlist in shortlists], device=device)
        everything = self.everything.for_sentences(sizes)
        if form == "all":
            return everything
        if form == "masked":
            mask = np.full((len(shortlists), len(everything.bias)), -np.inf, np.float32)
            for row, shortlist in zip(mask, shortlists, strict=True):
                row[shortlist.ids] = 0.0
            on_device = torch.from_numpy(mask).to(device, everything.bias.dtype)
            return MaskedTokens(sizes, everything, on_device)
        width = padded_width(max(map(len, shortlists)))
        words = torch.from_numpy(pad([shortlist.ids for shortlist in shortlists], 0, width))
        return SelectedTokens.gather(self.output, words.to(device), sizes)

    def _form(self, shortlist: Shortlist) -> Literal["all", "masked", "selected"]:
        if shortlist.full:
            return "all"
        return "masked" if 2 * len(shortlist) > self.everything.vocab_size else "selected"


def padded_width(size: int) -> int:
    """Columns for a shortlist of `size` tokens."""
    return -(-size // WIDTH) * WIDTH
