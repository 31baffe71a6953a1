"""Special ids as a value."""

import numpy as np

from sieve.tokenize.vocabulary import OWN, Specials


def test_sentences_end_in_the_models_own_eos() -> None:
    assert OWN.ended([7, 9]).tolist() == [7, 9, 2]
    assert Specials(eos=0).ended(np.array([7])).tolist() == [7, 0]
    assert Specials(eos=5).ended([]).tolist() == [5]


def test_ids_that_stand_for_no_text() -> None:
    assert OWN.all == {0, 1, 2, 3}
    assert Specials(pad=58100, start=58100, eos=0, unk=1).all == {0, 1, 58100}
    assert Specials(pad=None, start=None, eos=0, unk=None).all == {0}
