"""Words that a request adds or forbids."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sieve.selection.bonus import Bonus
from sieve.selection.plan import Cuts
from sieve.selection.selectors import Adjusted, FullVocabulary
from sieve.selection.shortlist import Shortlist, ShortlistArray
from sieve.tokenize.vocabulary import EOS, OWN, IntArray, Specials

IDS = st.lists(st.integers(0, 30), max_size=12)


@dataclass(frozen=True)
class Two:
    """Two sentences that ask for no words."""

    vocab_size: int = 31
    specials: Specials = OWN
    src_ids: Sequence[IntArray] = (np.array([5, EOS]), np.array([6, EOS]))

    def tokens_above(
        self,
        cuts: Cuts,
        least: int = 0,
        bonuses: Sequence[Bonus] = (),
        candidates: Sequence[ShortlistArray] = (),
    ) -> list[Shortlist]:
        raise NotImplementedError


@given(IDS, IDS, IDS)
def test_sets(first: list[int], more: list[int], less: list[int]) -> None:
    shortlist = Shortlist.of(first)
    assert set(shortlist.with_tokens(more).ids) == {*first, *more, EOS}
    assert set(shortlist.without(less).ids) == ({*first} - {*less}) | {EOS}


def test_nothing_to_change() -> None:
    shortlist, full = Shortlist.of([4, 7]), Shortlist.everything(9)
    assert shortlist.with_tokens([7]) is shortlist
    assert shortlist.without([5]) is shortlist
    assert full.with_tokens([3]) is full
    assert full.without([EOS]) is full
    assert not full.without([3]).full


def test_forbidden_words_are_out_even_when_added() -> None:
    found = Adjusted(FullVocabulary(), include=(4,), exclude=(4, 9)).plan().select(Two())
    assert len(found) == 2
    assert all(set(one.ids) == set(range(31)) - {4, 9} for one in found)
