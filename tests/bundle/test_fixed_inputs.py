"""Fixed multipliers of inputs: written beside a matrix, all three tensors or none."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sieve.bundle.fixed_inputs import FixedInput, is_fixed_input, is_multiplier
from sieve.bundle.quantization import check_quantized, dequantize, quantize
from sieve.errors import ModelError

SHAPES = {"a.weight": (3, 4), "a.bias": (3,)}
FIXED = FixedInput(8.5, np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32))


def form() -> dict[str, npt.NDArray[Any]]:
    """The int8 form of a layer whose input is fixed."""
    tensors = {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()}
    return quantize({**tensors, **FIXED.tensors("a")}, "here")


def test_stored_beside_the_matrix_and_left_out_of_floats() -> None:
    tensors = form()
    check_quantized(tensors, SHAPES, "here")
    assert tensors["a.input_multiplier"].tolist() == [8.5]
    assert tensors["a.product_scale"].shape == tensors["a.product_bias"].shape == (64,)
    assert tensors["a.product_scale"][:4].tolist() == [1, 2, 3, 0]
    assert [name for name in tensors if is_fixed_input(name)] == list(FIXED.tensors("a"))
    assert dequantize(tensors, SHAPES, "here").keys() == SHAPES.keys()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a.product_bias": None}, "lacks tensor a.product_bias"),
        ({"a.input_multiplier": None}, "has the unknown tensor a.product_"),
        ({"a.input_multiplier": np.zeros(1, np.float32)}, "is 0.0, expected a number from 1e-36"),
        ({"a.input_multiplier": np.full(1, -2, np.float32)}, "is -2.0, expected a number from"),
        ({"a.input_multiplier": np.ones(2, np.float32)}, r"shape \(2,\), expected \(1,\)"),
        ({"a.product_scale": np.ones(3, np.float32)}, r"shape \(3,\), expected \(64,\)"),
        ({"a.product_scale": np.full(64, np.nan, np.float32)}, "values that are not finite"),
    ],
)
def test_what_contradicts_itself_is_refused(changes: dict[str, Any], message: str) -> None:
    damaged = {n: array for n, array in {**form(), **changes}.items() if array is not None}
    with pytest.raises(ModelError, match=message):
        check_quantized(damaged, SHAPES, "here")


def test_multipliers() -> None:
    assert is_multiplier(1e-36) and is_multiplier(1e36) and is_multiplier(9.0)
    assert not any(map(is_multiplier, (0.0, -1.0, 1e37, float("nan"), float("inf"))))
