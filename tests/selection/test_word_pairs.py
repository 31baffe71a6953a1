# private: both versions of numpy

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.selection.aligners import word_pairs
from sieve.selection.aligners.word_pairs import WordPairs

PAIRS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 129)), max_size=60)


def columns(pairs: list[tuple[int, int]]) -> npt.NDArray[np.int64]:
    return np.array(pairs, np.int64).reshape(-1, 2).T


@given(PAIRS, PAIRS)
def test_pairs_are_numbered_in_order(
    added: set[tuple[int, int]], asked: set[tuple[int, int]]
) -> None:
    pairs = WordPairs(7, 130)
    for half in (sorted(added)[::2], sorted(added)[1::2], sorted(added)):
        pairs.add(pairs.pair_keys(*columns(half)))
    pairs.freeze()
    assert len(pairs) == len(added)
    both = sorted(added | asked)
    keys = pairs.pair_keys(*columns(both))
    place = {pair: number for number, pair in enumerate(sorted(added))}
    expected = [place.get(pair, len(added)) for pair in both]
    assert pairs.places(keys, all_known=False).tolist() == expected
    assert pairs.row_starts().tolist() == [sum(s < w for s, _ in added) for w in range(8)]
    assert np.concatenate(list(pairs.rows(block=3))).tolist() == [t for _, t in sorted(added)]


def test_keys_of_a_batch() -> None:
    pairs = WordPairs(4, 100)
    src, tgt = np.array([[1, 2]], np.int32), np.array([[5, 6, 7]], np.int32)
    keys = pairs.keys(src, tgt)
    assert keys.shape == (1, 3, 2)
    assert keys[0, 2, 1] == pairs.pair_keys(np.array([2]), np.array([7]))[0]


def test_without_a_bit_count_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.0 numpy has none; the table of bytes gives the same."""
    words = np.array([[0, 1], [2**64 - 1, 0x8000_0000_0000_0001]], np.uint64)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert word_pairs._bit_count(words).tolist() == [[0, 1], [64, 2]]
