"""Special ids as a value."""

import numpy as np

from sieve.tokenize.vocabulary import OWN, Specials


def test_sentences_end_in_the_models_own_eos() -> None:
    assert OWN.source_ids([7, 9]).tolist() == [7, 9, 2]
    assert Specials(eos=0).source_ids(np.array([7])).tolist() == [7, 0]
    assert Specials(eos=5).source_ids([]).tolist() == [5]
    assert Specials(source_prefix=(8, 4)).source_ids([7]).tolist() == [8, 4, 7, 2]
    assert Specials(source_eos=False).source_ids([7]).tolist() == [7]


def test_places_that_hold_no_id_of_the_model() -> None:
    assert (OWN.first, OWN.fill) == (1, 0)
    assert (Specials(start=None, eos=9).first, Specials(pad=None).fill) == (9, -1)


def test_ids_that_stand_for_no_text() -> None:
    assert OWN.all == {0, 1, 2, 3}
    assert Specials(pad=58100, start=58100, eos=0, unk=1).all == {0, 1, 58100}
    assert Specials(pad=None, start=None, eos=0, unk=None).all == {0}
