"""The seam between text and arithmetic: what every engine offers, in ids.

An engine encodes, selects and searches a batch in one call; the loop over steps lives inside.
Words cross this border as ids of the whole vocabulary only. Knows neither text nor torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from sieve.errors import ConfigError
from sieve.selection.selectors import Selector, Source
from sieve.selection.shortlist import Shortlist
from sieve.text.vocabulary import IntArray

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Sampling:
    """Draw each token instead of searching for the best ones.

    A sample is a function of seed and source sentence alone, whatever else is in the batch.
    """

    seed: int = 0
    """Another seed, other samples."""
    temperature: float = 1.0
    """Logits are divided by it: below 1 nearer to greedy search, above 1 more varied."""
    top_k: int = 0
    """Draw from the k most probable words only; 0 stands for all."""

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ConfigError(f"temperature: got {self.temperature}, expected a number above 0")
        if self.top_k < 0:
            raise ConfigError(f"top_k: got {self.top_k}, expected 0 (all words) or more")


@dataclass(frozen=True)
class Blocked:
    """A sequence of ids that no translation may contain."""

    tokens: tuple[int, ...]
    at_word_start: bool = False
    """Only where the token before it is not in `SearchOptions.open_ids`."""


@dataclass(frozen=True)
class SearchOptions:
    """How to search for a translation."""

    beam_size: int = 5
    """Hypotheses kept alive (K); 1 is greedy search."""
    n_best: int = 1
    """Translations to return, best first; at most `beam_size` unless sampled."""
    length_penalty: float = 1.0
    """α: hypotheses are compared by score / length**α, EOS counted. 0 compares bare scores."""
    max_length_factor: float = 3.0
    """A translation is cut at this many times the source tokens, plus ten."""
    stop: Literal["exact", "first"] = "exact"
    """End when nothing better can follow, or once `beam_size` hypotheses have ended."""
    sampling: Sampling | None = None
    """Draw `n_best` samples instead of a beam search."""
    alignment: bool = False
    """Whether to say which source position each token came from."""
    blocked: tuple[Blocked, ...] = ()
    """Sequences that may not occur."""
    open_ids: tuple[int, ...] = ()
    """Ids after which a word goes on, for `Blocked.at_word_start`."""

    def __post_init__(self) -> None:
        for name in ("beam_size", "n_best"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}: got {getattr(self, name)}, expected at least 1")
        if self.n_best > self.beam_size and self.sampling is None:
            raise ConfigError(
                f"n_best: got {self.n_best}, expected at most beam_size ({self.beam_size})"
            )
        if not self.length_penalty >= 0:
            raise ConfigError(f"length_penalty: got {self.length_penalty}, expected 0 or more")
        if not self.max_length_factor > 0:
            raise ConfigError(
                f"max_length_factor: got {self.max_length_factor}, expected a number above 0"
            )
        if self.stop not in ("exact", "first"):
            raise ConfigError(f"stop: got '{self.stop}', expected exact or first")

    @property
    def rows(self) -> int:
        """Hypotheses a sentence has at a time."""
        return self.beam_size if self.sampling is None else self.n_best

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
    positions: tuple[int, ...] = ()
    """Source position of each token, on request."""

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
        """Number of output words."""

    def encode(self, src_ids: Sequence[IntArray]) -> EncodedT:
        """Encodes sentences (ids with EOS at the end); states stay inside the engine."""

    def bow_logits(self, encoded: EncodedT) -> FloatArray:
        """Max-pooled logits of the NVS head (B, V), for analysis and evaluation."""

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
            shortlists: The words of each sentence; the words of its prefix are added.
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
        """Forced log-probabilities of given translations (no EOS), −inf for words not selected."""
