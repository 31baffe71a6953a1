"""How to search: settings that cross the seam to an engine. Imports nothing heavy."""

from dataclasses import dataclass
from typing import Literal

from sieve.errors import ConfigError


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
    """Draw from the k most probable tokens only; 0 stands for all."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"seed: got {self.seed}, expected 0 or more and less than 2**63")
        if not self.temperature > 0:
            raise ConfigError(f"temperature: got {self.temperature}, expected a number above 0")
        if self.top_k < 0:
            raise ConfigError(f"top_k: got {self.top_k}, expected 0 (all tokens) or more")


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
    stop: Literal["exact", "first"] = "first"
    """End when nothing better can follow, or already once `beam_size` hypotheses have ended."""
    sampling: Sampling | None = None
    """Draw `n_best` samples instead of a beam search."""
    lossless: bool = False
    """Give what a search over all tokens gives, with its scores. Greedy search checks a draft made
    with the shortlist, a beam of the native engine does so where the model is large; samples,
    `blocked` and all else search all tokens."""
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
        if not 0 < self.max_length_factor < float("inf"):
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
        return int(min(self.max_length_factor * src_length, 1e9)) + 10
