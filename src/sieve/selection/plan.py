"""What an engine needs to know of a selection to run it inside its own loop: a value.

A plan adds up: what the selection head votes for, tokens that follow from the source ids alone, and
tokens that only the selector itself can name. Knows neither engines nor tokenizers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sieve.selection.bonus import Bonus, Bonuses
from sieve.selection.shortlist import Ids, Shortlist, ShortlistArray
from sieve.tokenize.vocabulary import IntArray, Specials

LONG = 25
"""Source tokens beyond which a threshold may fall."""
Cuts = npt.NDArray[np.float32]
"""(B,) log-odds of each sentence: a token is selected when its logit lies above."""


class Source(Protocol):
    """What a selection may look at: a batch of encoded sentences."""

    @property
    def src_ids(self) -> Sequence[IntArray]:
        """Source ids of each sentence, EOS at the end, no padding."""

    @property
    def vocab_size(self) -> int:
        """Number of output tokens."""

    @property
    def specials(self) -> Specials:
        """The model's special ids."""

    def tokens_above(
        self,
        cuts: Cuts,
        least: int = 0,
        bonuses: Sequence[Bonus] = (),
        candidates: Sequence[ShortlistArray] = (),
    ) -> list[Shortlist]:
        """For each sentence EOS and the tokens whose max-pooled NVS logit exceeds its cut.

        And the tokens with the `least` highest ones, whatever they are. Bonuses, one for each
        sentence or none at all, are added to the logits before. Candidates, ascending ids for each
        sentence or none at all, are the only tokens that count.
        """


WordList = Callable[[Sequence[IntArray]], Sequence[Ids]]
"""Tokens of each sentence by its source ids: fixed ones, a lexicon's, what it can copy."""


@dataclass(frozen=True)
class Votes:
    """What the selection head decides."""

    log_odds: float
    """A token is selected when its logit lies above."""
    least: int = 0
    """So many tokens are selected whatever their logits, the highest first."""
    bonuses: Bonuses | None = None
    """What is added to the logits before."""
    among: WordList | None = None
    """The only tokens that count; None for all."""
    fall: float = 0.0
    """By so much lower is the threshold for each source token beyond LONG."""

    def cuts(self, src_ids: Sequence[IntArray]) -> Cuts:
        """The threshold of each sentence."""
        cuts: Cuts = np.float32(self.log_odds) - self.falls(src_ids)
        return cuts

    def falls(self, src_ids: Sequence[IntArray]) -> Cuts:
        """By how much the threshold of each sentence is lower, since it is long."""
        lengths = np.array([len(ids) for ids in src_ids], np.float32)
        falls: Cuts = np.float32(self.fall) * (np.maximum(lengths, LONG) - np.float32(LONG))
        return falls

    def bonuses_of(self, src_ids: Sequence[IntArray]) -> Sequence[Bonus]:
        """One for each sentence, or none at all."""
        return () if self.bonuses is None else self.bonuses(src_ids)

    def candidates_of(self, src_ids: Sequence[IntArray], eos: int) -> Sequence[ShortlistArray]:
        """EOS and the only tokens that count, ascending, for each sentence; or none at all."""
        if self.among is None:
            return ()
        return _united([self.among(src_ids), [(eos,)] * len(src_ids)], len(src_ids))

    def decides_like(self, other: Votes) -> bool:
        """Whether only the threshold and the minimum may differ."""
        own = replace(self, log_odds=other.log_odds, least=other.least)
        return own == other

    def select(self, source: Source) -> list[Ids]:
        """The tokens of each sentence that are voted for."""
        bonuses = self.bonuses_of(source.src_ids)
        candidates = self.candidates_of(source.src_ids, source.specials.eos)
        shortlists = source.tokens_above(self.cuts(source.src_ids), self.least, bonuses, candidates)
        return [shortlist.ids for shortlist in shortlists]


Asked = Callable[[Source], Sequence[Ids]]
"""Tokens of each sentence that take an engine to know."""


@dataclass(frozen=True)
class Plan:
    """The union of all that is named here, with `include` and less `exclude`. EOS always stays."""

    everything: bool = False
    votes: Votes | None = None
    lists: tuple[WordList, ...] = ()
    asked: tuple[Asked, ...] = ()
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()

    @classmethod
    def given(cls, shortlists: Sequence[Shortlist]) -> Plan:
        """Shortlists that are known already."""
        if shortlists and all(shortlist.full for shortlist in shortlists):
            return cls(everything=True)
        return cls(lists=(lambda src_ids: [shortlist.ids for shortlist in shortlists],))

    def joined(self, other: Plan) -> Plan:
        """The tokens of both."""
        own, other = self._sealed(), other._sealed()
        votes, asked = own.votes or other.votes, own.asked + other.asked
        if own.votes and other.votes:
            if own.votes.decides_like(other.votes):
                odds = min(own.votes.log_odds, other.votes.log_odds)
                least = max(own.votes.least, other.votes.least)
                votes = replace(own.votes, log_odds=odds, least=least)
            else:  # an engine knows one kind of decision in its own loop
                asked += (other.votes.select,)
        everything = own.everything or other.everything
        return Plan(everything, votes, own.lists + other.lists, asked)

    def adjusted(self, include: Sequence[int], exclude: Sequence[int]) -> Plan:
        """These tokens with some more, less some; out is out even where it is also added."""
        return replace(
            self,
            include=tuple(sorted({*self.include} - {*self.exclude} | {*include})),
            exclude=tuple(sorted({*self.exclude} - {*include} | {*exclude})),
        )

    def unrestricted(self) -> Plan:
        """All tokens but those that are excluded."""
        return Plan(everything=True, exclude=self.exclude)

    def listed(self, src_ids: Sequence[IntArray], eos: int) -> list[ShortlistArray] | None:
        """EOS and what each sentence's source ids alone call for, sorted; None without lists."""
        if not self.lists:
            return None
        parts = [words(src_ids) for words in self.lists]
        return _united([*parts, [(eos,)] * len(src_ids)], len(src_ids))

    def select(self, source: Source) -> list[Shortlist]:
        """The shortlist of each sentence."""
        number, eos = len(source.src_ids), source.specials.eos
        if self.everything:
            shortlists = [Shortlist.everything(source.vocab_size, eos)] * number
        else:
            parts: list[Sequence[Ids]] = [words(source.src_ids) for words in self.lists]
            parts += [words(source) for words in self.asked]
            if self.votes is not None:
                parts.append(self.votes.select(source))
            united = _united([*parts, [(eos,)] * number], number)
            vocab_size = source.vocab_size
            shortlists = [Shortlist(ids, eos, full=len(ids) == vocab_size) for ids in united]
        return [
            shortlist.with_tokens(self.include).without(self.exclude) for shortlist in shortlists
        ]

    def _sealed(self) -> Plan:
        """The same tokens as a part of a union: another part may add what is excluded here."""
        if not (self.include or self.exclude):
            return self
        return Plan(asked=(lambda source: [shortlist.ids for shortlist in self.select(source)],))


class Selector(Protocol):
    """Names the output tokens each sentence of a batch may use, each on its own."""

    def plan(self) -> Plan:
        """What an engine needs to know."""


def _united(parts: Sequence[Sequence[Ids]], number: int) -> list[ShortlistArray]:
    for part in parts:
        if len(part) != number:
            raise ValueError(f"a selector named the tokens of {len(part)} of {number} sentences")
    rows = zip(*parts, strict=True)
    return [np.unique(np.concatenate([np.asarray(ids, np.int32) for ids in row])) for row in rows]
