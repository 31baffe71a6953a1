import numpy as np
import pytest

from sieve import _native


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([], [], 0),
        ([1, 2, 3], [4, 5, 6], 32),
        ([-128] * 4, [-128] * 4, 65536),
        ([127], [-128], -16256),
    ],
)
def test_dot_int8_values(a: list[int], b: list[int], expected: int) -> None:
    assert _native.dot_int8(np.array(a, np.int8), np.array(b, np.int8)) == expected


def test_dot_int8_equals_numpy_on_random_vectors() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 15, 16, 17, 1000):
        a, b = rng.integers(-128, 128, (2, n), dtype=np.int8)
        assert _native.dot_int8(a, b) == int(a.astype(np.int64) @ b.astype(np.int64))


def test_dot_int8_refuses_unequal_lengths() -> None:
    with pytest.raises(ValueError, match="lengths differ: 2 and 3"):
        _native.dot_int8(np.zeros(2, np.int8), np.zeros(3, np.int8))


def test_dot_int8_refuses_lengths_that_could_overflow() -> None:
    with pytest.raises(ValueError, match="131073"):
        _native.dot_int8(np.zeros(131073, np.int8), np.zeros(131073, np.int8))
