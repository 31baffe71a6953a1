"""Optional tensors of an int8 matrix whose input has a fixed multiplier; docs/model-format.md.

Knows names, shapes and limits; what computes them is the importer whose toolkit works so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files import Tensors

MOST = 1e36
"""Neither a multiplier nor what it is divided by overflows."""

FloatArray = npt.NDArray[np.float32]
_MULTIPLIER, _SCALE, _BIAS = ".input_multiplier", ".product_scale", ".product_bias"


@dataclass(frozen=True, eq=False)
class FixedInput:
    """How a matrix is multiplied with rows that are rounded with a fixed multiplier."""

    multiplier: float
    scale: FloatArray
    """(N,) of the sums of integers."""
    bias: FloatArray
    """(N,) after the scale; instead of the layer's own."""

    def tensors(self, name: str) -> dict[str, FloatArray]:
        """Under the names of a model directory, for the matrix `name`.weight."""
        multiplier = np.array([self.multiplier], np.float32)
        return {name + _MULTIPLIER: multiplier, name + _SCALE: self.scale, name + _BIAS: self.bias}


def is_fixed_input(name: str) -> bool:
    """Whether a tensor is one of these."""
    return name.endswith((_MULTIPLIER, _SCALE, _BIAS))


def is_multiplier(value: float) -> bool:
    """Whether an input can be multiplied with this number and divided by it."""
    return 1 / MOST <= value <= MOST


def fixed_input_shapes(
    tensors: Tensors, scales: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """Names and shapes of those that tensors have: for a matrix all three, or none.

    Args:
        tensors: Of a model.
        scales: The shape of each matrix's own scales, by the matrix's name.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for weight, shape in scales.items():
        name = weight.removesuffix(".weight")
        if name + _MULTIPLIER in tensors:
            shapes |= {name + _MULTIPLIER: (1,), name + _SCALE: shape, name + _BIAS: shape}
    return shapes


def check_multiplier(name: str, array: npt.NDArray[Any], where: str) -> None:
    """Refuses a multiplier that is none; other tensors pass."""
    if name.endswith(_MULTIPLIER) and not is_multiplier(float(array[0])):
        raise ModelError(
            f"{where}: tensor {name} is {array[0]}, expected a number from {1 / MOST} to {MOST}"
        )
