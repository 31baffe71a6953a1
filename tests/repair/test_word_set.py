"""Sets of words in a few bits each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.repair.word_set import WordSet


@given(st.sets(st.text(max_size=12), max_size=60), st.integers(4, 20))
def test_finds_what_was_put_in(words: set[str], bits: int) -> None:
    found = WordSet.of(words, bits)
    assert all(word in found for word in words)


@pytest.mark.parametrize(("bits", "expected"), [(10, 0.0082), (20, 0.0002)])
def test_rarely_finds_others(bits: int, expected: float) -> None:
    # (1 − e^(−7 / bits))^7 of those that were never put in
    found = WordSet.of([f"in{i}" for i in range(5000)], bits)
    errors = np.mean([f"out{i}" in found for i in range(40_000)])
    assert errors == pytest.approx(expected, rel=0.35, abs=0.0002)


def test_its_size() -> None:
    assert WordSet.of([]).bits.nbytes == 64
    assert "" not in WordSet.of([])
    assert WordSet.of([str(i) for i in range(1000)]).bits.nbytes == 64 * 20  # 10,000 bits
