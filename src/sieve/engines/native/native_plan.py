"""A selection and ragged rows in the terms of the C++ core: plain arrays. Needs no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.selection.safety import SafeWords
from sieve.selection.selectors import (
    Adjusted,
    FrequentWords,
    FullVocabulary,
    LexiconTopK,
    NeuralSelection,
    Selector,
    Union,
    log_odds,
)
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray

Ragged = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Plan:
    """A selection in the terms of the C++ core."""

    everything: bool = False
    log_odds: float | None = None
    least: int = 0
    """Words that the head chooses, whatever its log-odds."""
    words: tuple[Shortlist, ...] | None = None
    """Of each sentence, beside what the NVS head votes for."""
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()

    def merged(self, other: Plan) -> Plan:
        """The words of both; neither includes or excludes anything."""
        odds = [one.log_odds for one in (self, other) if one.log_odds is not None]
        words = self.words or other.words
        if self.words and other.words:
            pairs = zip(self.words, other.words, strict=True)
            words = tuple(Shortlist.union(pair) for pair in pairs)
        everything = self.everything or other.everything
        return Plan(everything, min(odds, default=None), max(self.least, other.least), words)

    def arguments(self) -> dict[str, Any]:
        """As the C++ core takes it; all words need neither head nor list."""
        words = None
        if self.words is not None and not self.everything:
            words = ragged([shortlist.ids for shortlist in self.words])
        return {
            "everything": self.everything,
            "log_odds": None if self.everything else self.log_odds,
            "least": self.least,
            "words": words,
            "include": ragged([self.include])[0],
            "exclude": ragged([self.exclude])[0],
        }


def planned(selection: Selector, src_ids: Sequence[IntArray], vocab_size: int) -> Plan | None:
    """The plan of a selector of ours for these sentences, or None."""
    return _planned(selection, _SourceIds(src_ids, vocab_size))


def _planned(selection: Selector, source: _SourceIds) -> Plan | None:
    if isinstance(selection, FullVocabulary):
        return Plan(everything=True)
    if isinstance(selection, NeuralSelection):
        return Plan(log_odds=log_odds(selection.threshold), least=selection.least)
    if isinstance(selection, FrequentWords | LexiconTopK | SafeWords):
        return Plan(words=tuple(selection.select(source)))
    if isinstance(selection, Union):
        parts = [_planned(part, source) for part in selection.parts]
        whole = Plan()
        for part in parts:
            if part is None or part.include or part.exclude:
                return None
            whole = whole.merged(part)
        return whole
    if isinstance(selection, Adjusted):
        inner = _planned(selection.inner, source)
        if inner is None or inner.include or inner.exclude:
            return None
        return replace(inner, include=selection.include, exclude=selection.exclude)
    return None


@dataclass(frozen=True)
class _SourceIds:
    """What selectors that ask no engine look at."""

    src_ids: Sequence[IntArray]
    vocab_size: int

    def words_above(self, log_odds: float, least: int = 0) -> list[Shortlist]:
        raise AssertionError("only selectors that ask no engine are planned from source ids")


def ragged(rows: Sequence[Sequence[int] | IntArray]) -> Ragged:
    """Rows one behind the other, and where each begins."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    ids = np.concatenate([np.asarray(row) for row in rows]) if len(rows) else np.zeros(0)
    narrow = np.ascontiguousarray(ids, np.int32)
    if not np.array_equal(narrow, ids):
        raise ValueError(
            f"got ids from {ids.min()} to {ids.max()}, expected whole numbers below 2**31"
        )
    return narrow, offsets
