"""The seam between text and arithmetic: what every engine offers, in ids.

An engine encodes, selects and searches a batch in one call; the loop over steps lives inside.
Words cross this border as ids of the whole vocabulary only. Knows neither text nor torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from sieve.errors import ConfigError
from sieve.selection.selectors import Selector, Source
from sieve.selection.shortlist import Shortlist
from sieve.text.vocabulary import IntArray

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SearchOptions:
    """How to search for a translation."""

    max_length_factor: float = 3.0
    """A translation is cut at this many times the source tokens, plus ten."""

    def __post_init__(self) -> None:
        if not self.max_length_factor > 0:
            raise ConfigError(
                f"max_length_factor: got {self.max_length_factor}, expected a number above 0"
            )

    def max_length(self, src_length: int) -> int:
        """Most tokens, EOS included, for a source of `src_length` tokens."""
        return int(self.max_length_factor * src_length) + 10


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one sentence, in ids."""

    tokens: tuple[int, ...]
    """Ids of the whole vocabulary, without EOS."""
    token_scores: tuple[float, ...]
    """Log-probability of each token, and of EOS unless the translation was cut."""
    shortlist_size: int
    """Number of words the search could choose from, EOS included."""

    @property
    def score(self) -> float:
        """Log-probability of the translation over its shortlist."""
        return float(sum(self.token_scores))

    @property
    def finished(self) -> bool:
        """Whether the translation ended by itself and was not cut at the maximum length."""
        return len(self.token_scores) > len(self.tokens)


EncodedT = TypeVar("EncodedT", bound=Source)


class Engine(Protocol, Generic[EncodedT]):
    """Translates ids. A sentence's result never depends on the other sentences of its batch."""

    @property
    def vocab_size(self) -> int:
        """Number of output words."""

    def encode(self, src_ids: Sequence[IntArray]) -> EncodedT:
        """Encodes sentences (ids with EOS at the end); states stay inside the engine."""

    def bow_logits(self, encoded: EncodedT) -> FloatArray:
        """Max-pooled logits of the NVS head (B, V), for analysis and evaluation."""

    def decode(
        self, encoded: EncodedT, shortlists: Sequence[Shortlist], options: SearchOptions
    ) -> list[list[Hypothesis]]:
        """The best translations of each sentence over its own shortlist, best first."""

    def translate(
        self, src_ids: Sequence[IntArray], selection: Selector, options: SearchOptions
    ) -> list[list[Hypothesis]]:
        """Encodes, selects and decodes in one call."""
