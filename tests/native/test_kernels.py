"""The kernels of every kind of CPU at hand: exact integers, and the same ones everywhere."""

# private: the C++ core is what is tested

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sieve import _native
from sieve.bundle.quantization import pack
from sieve.engines.native.native_engine import available_kernels

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

KERNELS = available_kernels()
ROWS = [*range(1, 14), 16, 17, 31, 32, 33, 47, 70]
"""Odd ones around the sizes of tiles: of 4, 6, 16 and 32 rows."""
with_kernels = pytest.mark.parametrize("kernels", KERNELS)


def integers(rows: int, columns: int, rng: np.random.Generator) -> Integers:
    """Of -127 to 127, with a 127 in every row so that nothing is rounded."""
    found = rng.integers(-127, 128, (rows, columns))
    found[np.arange(rows), rng.integers(0, columns, rows)] = 127 * rng.choice([-1, 1], rows)
    return found


def product(
    x: npt.NDArray[Any], weights: npt.NDArray[Any], kernels: str, multiplier: float = 0.0
) -> Floats:
    """The kernels' integers of x (rows, depth) times weights (channels, depth)."""
    packed, _ = pack(weights.astype(np.float32))
    found: Floats = _native.int8_product(x.astype(np.float32), packed, kernels, multiplier)
    assert found.shape == (len(x), -(-len(weights) // 64) * 64)
    assert not found[:, len(weights) :].any()
    return found[:, : len(weights)]


def quantized(x: Floats, kernels: str, multiplier: float = 0.0) -> Integers:
    """The integers that the kernels make of rows: their product with ones on the diagonal."""
    # 127 is the largest of each row, so that packing keeps the whole numbers
    found = product(x, 127 * np.eye(x.shape[1], dtype=np.int64), kernels, multiplier)
    assert not (found % 127).any()
    return (found // 127).astype(np.int64)


def test_the_build_that_is_meant_is_tested() -> None:
    """`make sanitize` names another one than the installed."""
    assert _native.__file__ == os.environ.get("SIEVE_NATIVE_MODULE", _native.__file__)


def test_portable_is_always_there_and_last() -> None:
    assert KERNELS[-1] == "portable"
    assert len(set(KERNELS)) == len(KERNELS)


@with_kernels
@pytest.mark.parametrize("rows", ROWS)
def test_integers_are_exact(kernels: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    for depth, channels in ((64, 64), (64, 1), (128, 70), (192, 320), (320, 129)):
        x, weights = integers(rows, depth, rng), integers(channels, depth, rng)
        np.testing.assert_array_equal(product(x, weights, kernels), x @ weights.T)


@with_kernels
@pytest.mark.parametrize("rows", [1, 4, 7, 33])
def test_largest_values(kernels: str, rows: int) -> None:
    """Sums of thousands of products of ±127: none saturates on the way."""
    depth = 1024
    signs = np.where(np.arange(depth) % 2, 1, -1)
    weights = 127 * np.stack([np.ones(depth, np.int64), -np.ones(depth, np.int64), signs, -signs])
    x = np.resize(weights, (rows, depth))
    found = product(x, weights, kernels)
    np.testing.assert_array_equal(found, x @ weights.T)  # 2²⁴ is not reached: floats are exact
    assert np.abs(found).max() == 127 * 127 * depth < 2**24


@settings(max_examples=60)
@given(
    rows=st.integers(1, 40),
    depth=st.integers(1, 4).map(lambda n: 64 * n),
    channels=st.integers(1, 200),
    seed=st.integers(0, 2**32 - 1),
    extreme=st.booleans(),
)
def test_all_kernels_give_the_same(
    rows: int, depth: int, channels: int, seed: int, extreme: bool
) -> None:
    rng = np.random.default_rng(seed)
    x, weights = integers(rows, depth, rng), integers(channels, depth, rng)
    if extreme:
        x, weights = 127 * np.sign(x + 0.5).astype(np.int64), 127 * np.sign(weights)
        weights[:, 0] = 127
    expected = x @ weights.T
    for kernels in KERNELS:
        np.testing.assert_array_equal(product(x, weights, kernels), expected)


# ---- quantisation of rows


def expected_integers(x: Floats) -> Integers:
    """127 for the largest value of a row; numpy rounds half to even as well."""
    top = np.abs(x).max(axis=1, keepdims=True)
    inverse = np.float32(127) / np.where(top > 0, top, np.float32(1))
    return np.rint(x * inverse).astype(np.int64)


def padded(*values: float) -> Floats:
    return np.array([[*values, *[0.0] * (64 - len(values))]], np.float32)


@with_kernels
def test_quantisation_by_hand(kernels: str) -> None:
    halves = padded(127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5, 125.5, 0.49, -0.51)
    expected = [127, 0, 2, 2, 0, -2, -2, 126, 126, 0, -1]
    assert quantized(halves, kernels)[0, :11].tolist() == expected
    huge = padded(-3e38, 1e30, 1.0, 1.2e36, -1.1e36)  # one value leaves the others nothing
    assert quantized(huge, kernels)[0, :5].tolist() == [-127, 0, 0, 1, 0]
    tiny = padded(1e-30, -5e-31, 2e-33)
    assert quantized(tiny, kernels)[0, :3].tolist() == [127, -64, 0]  # 63.5 to even, not fused
    assert not quantized(np.zeros((3, 64), np.float32), kernels).any()


@with_kernels
def test_quantisation_with_a_fixed_multiplier_by_hand(kernels: str) -> None:
    """Halves to even, at most 127, whatever else is in the row."""
    x = padded(0.25, 0.75, 1.25, -0.25, -0.75, 63.5, 63.7, 64.0, 1e30, -64.0, -1e30, 0.2)
    expected = [0, 2, 2, 0, -2, 127, 127, 127, 127, -127, -127, 0]
    for rows in (1, 9):
        found = quantized(np.repeat(x, rows, axis=0), kernels, 2.0)
        assert found[:, :12].tolist() == [expected] * rows
        assert not found[:, 12:].any()


@with_kernels
def test_each_row_has_a_scale_of_its_own(kernels: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(13, 128)).astype(np.float32)
    x *= np.float32(10.0) ** rng.integers(-20, 20, (13, 1))
    x[[0, 5, 12]] = 0.0
    x[7] = 0.0
    x[7, 100] = -1e20
    found = quantized(x, kernels)
    np.testing.assert_array_equal(found, expected_integers(x))
    for row in range(13):
        np.testing.assert_array_equal(quantized(x[row : row + 1], kernels)[0], found[row])


@settings(max_examples=60)
@given(
    st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=64),
    st.sampled_from([1, 3, 8]),
)
@example([0.0], 1)
@example([-0.0, 1e-45], 1)
@example([1e-38, 1e-39, -1e-40], 3)
def test_quantisation_of_any_row(values: list[float], rows: int) -> None:
    x = np.repeat(padded(*values), rows, axis=0)
    first = quantized(x, KERNELS[0])
    assert np.abs(first).max() <= 127
    for kernels in KERNELS:
        np.testing.assert_array_equal(quantized(x, kernels), first)
    if np.abs(x).max() > 1e-36:  # 127 / top is a float32
        np.testing.assert_array_equal(first, expected_integers(x))


@with_kernels
def test_rows_without_meaning_are_no_crash(kernels: str) -> None:
    for value in (np.nan, np.inf, -np.inf):
        for where in (0, 17, 63):
            x = np.ones((6, 64), np.float32)
            x[2, where] = value
            x[4] = value
            found = product(x, integers(70, 64, np.random.default_rng(0)), kernels)
            np.testing.assert_array_equal(found[[1, 3, 5]], found[[0, 0, 0]])


def test_wrong_shapes_are_refused() -> None:
    packed, _ = pack(np.ones((64, 64), np.float32))
    with pytest.raises(ValueError, match="shapes do not fit"):
        _native.int8_product(np.ones((1, 65), np.float32), packed, "portable")
    with pytest.raises(ValueError, match="shapes do not fit"):
        _native.int8_product(np.ones((1, 128), np.float32), packed, "portable")
    with pytest.raises(ValueError, match=r"kernels: got 'abacus', this CPU has .*portable"):
        _native.int8_product(np.ones((1, 64), np.float32), packed, "abacus")
