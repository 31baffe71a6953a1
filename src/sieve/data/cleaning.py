"""Which pairs are kept: the paper's rules, each a small class with its own switch.

Rules on text see both sides normalised; rules on tokens see subword counts. A pair counts for the
first rule that refuses it, in the order of RULES. Knows no files and no processes.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sieve.data.language_check import LanguageIdentifier
from sieve.errors import ConfigError
from sieve.tokenize.vocabulary import IntArray

RULES = ("empty", "test set", "overlap", "language", "duplicate", "too long", "length ratio")
_CHARACTERS_PER_TOKEN = 100  # no sentence has more on average: such a line need not be tokenised

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CleaningOptions:
    """The rules and their limits; None or False switches a rule off."""

    empty: bool = True
    """Removes pairs of which a side has no text."""
    test_sets: tuple[Path, ...] = ()
    """Removes pairs of which a side is a line of one of these files, after normalisation."""
    max_overlap: float | None = 0.7
    """Removes pairs whose sides share more of their unique words, counted on the larger side."""
    language_odds: float | None = 10.0
    """Removes sentences that are so many times likelier in another language; only if known."""
    duplicates: bool = True
    """Removes all but the first of equal pairs."""
    max_tokens: int | None = 100
    """Removes pairs of which a side has more subword tokens."""
    max_length_ratio: float | None = 1.5
    """Removes pairs of which a side has more than so many times the subword tokens of the other."""
    length_slack: int = 0
    """Difference in tokens that the ratio always allows; 2 or 3 keeps short everyday sentences."""

    def __post_init__(self) -> None:
        if self.max_overlap is not None and not 0 <= self.max_overlap <= 1:
            raise ConfigError(f"max_overlap: got {self.max_overlap}, expected 0 to 1")
        if self.language_odds is not None and not self.language_odds >= 1:
            raise ConfigError(f"language_odds: got {self.language_odds}, expected 1 or more")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"max_tokens: got {self.max_tokens}, expected 1 or more")
        if self.length_slack < 0:
            raise ConfigError(f"length_slack: got {self.length_slack}, expected 0 or more")
        if self.max_length_ratio is not None and not self.max_length_ratio >= 1:
            raise ConfigError(f"max_length_ratio: got {self.max_length_ratio}, expected 1 or more")


class TextRule(Protocol):
    """Refuses pairs by their text."""

    @property
    def name(self) -> str:
        """Under which it counts, one of RULES."""
        ...

    def refuses(self, source: Sequence[str], target: Sequence[str]) -> Mask:
        """(N,) True for the pairs to remove."""
        ...


@dataclass(frozen=True)
class EmptySide:
    """A side without text."""

    name: str = "empty"

    def refuses(self, source: Sequence[str], target: Sequence[str]) -> Mask:
        """True where a side is empty."""
        return np.array([not s or not t for s, t in zip(source, target, strict=True)], bool)


@dataclass(frozen=True)
class TestSetOverlap:
    """A side that is a sentence of a test set."""

    __test__ = False  # not a test, whatever its name

    hashes: frozenset[int]
    name: str = "test set"

    def refuses(self, source: Sequence[str], target: Sequence[str]) -> Mask:
        """True where the hash of either side is known."""
        known = self.hashes
        return np.array(
            [
                sentence_hash(s) in known or sentence_hash(t) in known
                for s, t in zip(source, target, strict=True)
            ],
            bool,
        )


@dataclass(frozen=True)
class TokenOverlap:
    """Sides that are mostly the same words: copied, not translated."""

    limit: float
    name: str = "overlap"

    def refuses(self, source: Sequence[str], target: Sequence[str]) -> Mask:
        """True where |S ∩ T| > limit · max(|S|, |T|), over unique words between spaces."""
        result = np.zeros(len(source), bool)
        for index, (s, t) in enumerate(zip(source, target, strict=True)):
            words, others = set(s.split()), set(t.split())
            shared = len(words & others)
            result[index] = shared > self.limit * max(len(words), len(others))
        return result


@dataclass(frozen=True)
class WrongLanguage:
    """A side in another language than it should be."""

    identifier: LanguageIdentifier
    languages: tuple[str, str]
    odds: float
    name: str = "language"

    def refuses(self, source: Sequence[str], target: Sequence[str]) -> Mask:
        """True where another language is more than `odds` times as likely."""
        refused = np.zeros(len(source), bool)
        for texts, language in zip((source, target), self.languages, strict=True):
            refused |= self.identifier.odds(texts, language) * self.odds < 1.0
        return refused


@dataclass(frozen=True)
class FarTooLong:
    """Lines that cannot possibly have few enough tokens: book pages, data, markup."""

    max_tokens: int
    name: str = "too long"

    def refuses(self, source: Sequence[str], target: Sequence[str]) -> Mask:
        """True where a side has more characters than `max_tokens` tokens ever have."""
        limit = self.max_tokens * _CHARACTERS_PER_TOKEN
        pairs = zip(source, target, strict=True)
        return np.array([max(len(s), len(t)) > limit for s, t in pairs], bool)


def text_rules(
    options: CleaningOptions, languages: tuple[str, str] | None, test_hashes: frozenset[int]
) -> list[TextRule]:
    """The rules on text that are switched on."""
    rules: list[TextRule] = []
    if options.empty:
        rules.append(EmptySide())
    if options.max_tokens is not None:
        rules.append(FarTooLong(options.max_tokens))
    if test_hashes:
        rules.append(TestSetOverlap(test_hashes))
    if options.max_overlap is not None:
        rules.append(TokenOverlap(options.max_overlap))
    if options.language_odds is not None and languages is not None:
        identifier = LanguageIdentifier()
        names = (identifier.check(languages[0]), identifier.check(languages[1]))
        rules.append(WrongLanguage(identifier, names, options.language_odds))
    return rules


def apply_text_rules(
    rules: Sequence[TextRule], source: list[str], target: list[str]
) -> tuple[tuple[list[str], list[str]], Counter[str]]:
    """The pairs that every rule lets pass, and how many each refused."""
    counts: Counter[str] = Counter()
    for rule in rules:
        refused = rule.refuses(source, target)
        if refused.any():
            counts[rule.name] += int(refused.sum())
            kept = np.flatnonzero(~refused).tolist()
            source = [source[i] for i in kept]
            target = [target[i] for i in kept]
    return (source, target), counts


def apply_token_rules(
    options: CleaningOptions, src_lengths: IntArray, tgt_lengths: IntArray
) -> tuple[Mask, Counter[str]]:
    """(N,) True for pairs that may stay, and how many each rule on subword counts refused."""
    counts: Counter[str] = Counter()
    keep = np.ones(len(src_lengths), bool)
    longer = np.maximum(src_lengths, tgt_lengths)
    shorter = np.minimum(src_lengths, tgt_lengths)
    checks: list[tuple[str, Any]] = []
    if options.max_tokens is not None:
        checks.append(("too long", longer > options.max_tokens))
    if options.max_length_ratio is not None:
        uneven = longer > options.max_length_ratio * shorter
        uneven &= longer - shorter > options.length_slack
        checks.append(("length ratio", uneven))
    for name, refused in checks:
        counts[name] += int((keep & refused).sum())
        keep &= ~refused
    return keep, counts


def sentence_hash(text: str) -> int:
    """64 bits that stand for a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
