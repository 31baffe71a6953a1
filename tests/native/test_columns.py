"""Which token has which column of a sentence's logits."""

# private: the C++ core is what is tested

from sieve import _native


def test_chosen_tokens_in_their_order() -> None:
    assert _native.columns_of([2, 5, 9], [], [2, 5, 9, 0, 4, 10]) == [0, 1, 2, -1, -1, -1]


def test_added_tokens_are_behind_the_chosen_ones_whatever_their_ids() -> None:
    """Column 3 and later ones are in no order: a lossless search adds what it lacked."""
    assert _native.columns_of([2, 5, 9], [7, 3], [7, 3, 2, 9, 4]) == [3, 4, 0, 2, -1]
    assert _native.columns_of([], [8, 1], [1, 8, 2]) == [1, 0, -1]
