import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.selection.shortlist import Shortlist, shortlists_above
from sieve.tokenize.vocabulary import EOS

ids_lists = st.lists(st.integers(0, 50), max_size=30)


@settings(deadline=None)
@given(ids_lists)
def test_sorted_unique_and_with_eos(ids: list[int]) -> None:
    shortlist = Shortlist.of(ids)
    assert shortlist.ids.tolist() == sorted({*ids, EOS})
    assert len(shortlist) == len({*ids, EOS})
    assert all((word in shortlist) == (word in {*ids, EOS}) for word in range(-1, 53))
    assert shortlist == Shortlist.of(ids[::-1])
    assert hash(shortlist) == hash(Shortlist.of(ids[::-1]))


def test_eos_is_the_models_own() -> None:
    shortlist = Shortlist.of([7, 9], eos=0)
    assert shortlist.ids.tolist() == [0, 7, 9]
    assert shortlist.without([0, 7]).ids.tolist() == [0, 9]
    assert shortlist.with_tokens([2]).without([0]).ids.tolist() == [0, 2, 7, 9]
    scores = np.array([[-9.0, 0.0, 0.0, 5.0]], np.float32)
    assert shortlists_above(scores, 1.0, eos=0)[0].ids.tolist() == [0, 3]


def test_immutable() -> None:
    shortlist = Shortlist.of([5, 7])
    with pytest.raises(ValueError, match="read-only"):
        shortlist.ids[0] = 3


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([2, 2], "sorted, unique"),
        ([5, 2], "sorted, unique"),
        ([-1, 2], "not negative"),
        ([4, 5], "must hold EOS"),
        ([], "expected int32 \\(S,\\), S > 0"),
    ],
)
def test_refuses(ids: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Shortlist(np.array(ids, np.int32))


def test_words_above_a_cut() -> None:
    scores = np.array([[0.1, 2.0, -9.0, 2.1], [3.0, 3.0, 3.0, 3.0], [0, 0, 0, 0]], np.float32)
    found = shortlists_above(scores, 2.0)
    # EOS is in every set; what equals the cut is not above it
    assert [one.ids.tolist() for one in found] == [[EOS, 3], [0, 1, 2, 3], [EOS]]
    assert [one.full for one in found] == [False, True, False]
    assert shortlists_above(scores[:0], 2.0) == []


@pytest.mark.parametrize(
    ("cut", "least", "expected"),
    [
        (99.0, 0, [EOS]),
        (99.0, 1, [EOS, 9]),
        (99.0, 3, [EOS, 7, 8, 9]),  # exactly the three highest, and EOS
        (7.5, 3, [EOS, 7, 8, 9]),  # two are above the cut: one more
        (6.5, 3, [EOS, 7, 8, 9]),  # three are above it: no more
        (5.5, 3, [EOS, 6, 7, 8, 9]),
        (99.0, 10, list(range(10))),
        (99.0, 11, list(range(10))),
    ],
)
def test_the_least_are_the_highest_and_no_more(cut: float, least: int, expected: list[int]) -> None:
    scores = np.arange(10, dtype=np.float32)[None]
    [shortlist] = shortlists_above(scores, cut, least)
    assert shortlist.ids.tolist() == expected
