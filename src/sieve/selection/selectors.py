"""The ways to choose the output tokens of a sentence: small frozen dataclasses that make plans.

A selector knows neither engine nor search. `sieve.selection.parsing` reads the strings of the
command line.
"""

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sieve.errors import ConfigError
from sieve.selection.candidates import LexiconCandidates
from sieve.selection.fusion import LexiconBonus
from sieve.selection.lexicon import Lexicon
from sieve.selection.plan import Plan, Selector, Votes
from sieve.tokenize.vocabulary import IntArray

STEEPEST = 1.0
"""Largest fall of a threshold, log-odds for each source token."""


def log_odds(threshold: float) -> float:
    """log(λ / (1 − λ)): a token is selected when its logit lies above."""
    if not 0.0 <= threshold <= 1.0:
        raise ConfigError(f"got the threshold {threshold}, expected a number from 0 to 1")
    if threshold in (0.0, 1.0):
        return math.inf if threshold else -math.inf
    return math.log(threshold) - math.log1p(-threshold)


@dataclass(frozen=True)
class FullVocabulary:
    """No selection: all tokens."""

    def plan(self) -> Plan:
        """All tokens."""
        return Plan(everything=True)

    def __str__(self) -> str:
        return "none"


@dataclass(frozen=True)
class FrequentTokens:
    """The n most frequent tokens of the training data, for every sentence the same."""

    words: tuple[int, ...]

    @classmethod
    def from_counts(cls, counts: IntArray, n: int) -> "FrequentTokens":
        """The n tokens with the highest counts (V,); the lower id first where they are equal."""
        order = np.argsort(-counts.astype(np.int64), kind="stable")
        return cls(tuple(order[:n].tolist()))

    def plan(self) -> Plan:
        """The same tokens for every sentence."""
        ids = np.array(self.words, np.int32)
        return Plan(lists=(lambda src_ids: [ids] * len(src_ids),))

    def __str__(self) -> str:
        return f"frequent:{len(self.words)}"


@dataclass(frozen=True)
class LexiconTopK:
    """The k tokens most frequently aligned to each source token, as alignment-based selection."""

    lexicon: Lexicon
    k: int

    def plan(self) -> Plan:
        """The union over the tokens of the sentence."""
        return Plan(lists=(lambda src_ids: [self.lexicon.top_k(ids, self.k) for ids in src_ids],))

    def __str__(self) -> str:
        return f"lexicon:{self.k}"


@dataclass(frozen=True)
class NeuralSelection:
    """Neural vocabulary selection: tokens with max-pooled σ(z) > λ (paper, section 3)."""

    threshold: float
    """λ. No sigmoid is needed: σ(z) > λ where z > log(λ / (1 − λ))."""
    least: int = 0
    """Tokens that are selected whatever λ is, the most probable ones: short sentences get few
    tokens, and some more cost them little."""
    evidence: LexiconBonus | None = None
    """What a lexicon adds to the head's log-odds: evidence of two kinds, summed."""
    among: LexiconCandidates | None = None
    """The tokens that the head decides among; None for all."""
    fall: float = 0.0
    """By so many log-odds lower is the threshold for each source token beyond `LONG` of
    `sieve.selection.plan`: long sentences need more tokens."""

    def __post_init__(self) -> None:
        log_odds(self.threshold)
        if self.least < 0:
            raise ConfigError(f"got at least {self.least} tokens, expected 0 or more")
        if not 0.0 <= self.fall <= STEEPEST:
            raise ConfigError(f"got a fall of {self.fall}, expected 0 to {STEEPEST:g} log-odds")
        if self.threshold == 1.0 and not self.least:
            raise ConfigError(
                "got the threshold 1, expected a number from 0 to below 1: at 1 every translation "
                "is empty"
            )

    def plan(self) -> Plan:
        """What the head votes for."""
        odds = log_odds(self.threshold)
        return Plan(votes=Votes(odds, self.least, self.evidence, self.among, self.fall))

    def __str__(self) -> str:
        kind = "nvs" if self.evidence is None else "fused"
        if self.among is not None:
            kind = str(self.among)
        numbers = [f"{self.threshold:g}", f"{self.least}", f"{self.fall:g}"]
        while len(numbers) > 1 and numbers[-1] == "0":
            numbers.pop()
        return ":".join([kind, *numbers])


@dataclass(frozen=True)
class Adjusted:
    """Another selector's tokens, with some that a request adds and less some that it forbids."""

    inner: Selector
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()

    def plan(self) -> Plan:
        """What is forbidden is out even where it is also added; EOS always stays."""
        return self.inner.plan().adjusted(self.include, self.exclude)

    def __str__(self) -> str:
        return f"{self.inner} ({len(self.include)} added, {len(self.exclude)} excluded)"


@dataclass(frozen=True)
class Union:
    """The tokens that any of several selectors names."""

    parts: tuple[Selector, ...]

    def plan(self) -> Plan:
        """The union for each sentence."""
        return reduce(Plan.joined, (part.plan() for part in self.parts))

    def __str__(self) -> str:
        return "+".join(str(part) for part in self.parts)
