"""The seam between text and arithmetic: what every engine offers, in ids.

An engine encodes, selects and searches a batch in one call; the loop over steps lives inside.
Tokens cross this border as ids of the whole vocabulary only. Knows neither text nor torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from sieve.engines.options import SearchOptions
from sieve.selection.plan import Selector, Source
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray, Specials

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one sentence, in ids."""

    tokens: tuple[int, ...]
    """Ids of the whole vocabulary, without EOS."""
    token_scores: tuple[float, ...]
    """Log-probability of each token, and of EOS unless the translation was cut."""
    shortlist_size: int
    """Number of tokens the search could choose from, EOS included."""
    positions: tuple[int, ...] = ()
    """Source position of each token, on request."""
    returns: int = 0
    """How often a lossless search had to go back for a token that was not selected."""
    margin: float | None = field(default=None, compare=False)
    """By how much the NVS head's logit of the least certain token is above the threshold; below it
    for tokens that are there for another reason. None where an engine does not say."""

    @property
    def score(self) -> float:
        """Log-probability of the translation over its shortlist."""
        return float(sum(self.token_scores))

    @property
    def finished(self) -> bool:
        """Whether the translation ended by itself and was not cut at the maximum length."""
        return len(self.token_scores) > len(self.tokens)

    def normalized_score(self, length_penalty: float) -> float:
        """The score divided by length**α, EOS counted: what hypotheses are compared by."""
        return self.score / float(max(1, len(self.token_scores)) ** length_penalty)


EncodedT = TypeVar("EncodedT", bound=Source)


class Engine(Protocol, Generic[EncodedT]):
    """Translates ids. A sentence's result never depends on the other sentences of its batch."""

    @property
    def vocab_size(self) -> int:
        """Number of output tokens."""

    @property
    def specials(self) -> Specials:
        """The model's special ids."""

    def encode(self, src_ids: Sequence[IntArray]) -> EncodedT:
        """Encodes sentences (ids with EOS at the end); states stay inside the engine."""

    def bow_logits(self, encoded: EncodedT) -> FloatArray:
        """Max-pooled logits of the NVS head (B, V), for analysis and evaluation."""

    def position_logits(self, encoded: EncodedT) -> list[FloatArray]:
        """What each source position alone votes for, (T, V) a sentence; `bow_logits` before max."""

    def decode(
        self,
        encoded: EncodedT,
        shortlists: Sequence[Shortlist],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """The best translations of each sentence over its own shortlist, best first.

        Args:
            encoded: What `encode` gave.
            shortlists: The tokens of each sentence; the tokens of its prefix are added.
            options: How to search.
            prefixes: Ids each translation must begin with, their scores counted.
        """

    def translate(
        self,
        src_ids: Sequence[IntArray],
        selection: Selector,
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Encodes, selects and decodes in one call."""

    def score(
        self, src_ids: Sequence[IntArray], tgt_ids: Sequence[Sequence[int]], selection: Selector
    ) -> list[Hypothesis]:
        """Forced log-probabilities of given translations (no EOS), −inf for tokens not selected."""
