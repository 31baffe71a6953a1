"""Matrices of floats in the order in which the native kernels read them: 64 rows together.

Such tensors are used in place, so that processes can share them; directories on disk have plain
ones. numpy only.
"""

import numpy as np
import numpy.typing as npt

from sieve.bundle.directory import Bundle
from sieve.bundle.quantization import BLOCK, padded
from sieve.bundle.weights import Shapes, expected_shapes, float_tensors
from sieve.files import Tensors, check_shapes

FloatArray = npt.NDArray[np.float32]


def packed_parameters(bundle: Bundle) -> dict[str, FloatArray]:
    """Every parameter of a model, packed; names and shapes fit the configuration."""
    tensors = float_tensors(bundle)
    check_shapes(tensors, expected_shapes(bundle, tensors), str(bundle.directory))
    return pack_floats(tensors)


def pack_floats(tensors: Tensors) -> dict[str, FloatArray]:
    """The same tensors in float32; a matrix (N, K) as (Np/64, K, 64), zeros behind its last row."""
    return {
        name: _packed(array) if array.ndim == 2 else float32(array)
        for name, array in tensors.items()
    }


def are_packed(tensors: Tensors) -> bool:
    """Whether matrices have this order: they have a dimension more."""
    return any(array.ndim == 3 for array in tensors.values())


def packed_shapes(shapes: Shapes) -> Shapes:
    """Names and shapes of packed tensors."""
    return {
        name: (padded(shape[0]) // BLOCK, shape[1], BLOCK) if len(shape) == 2 else shape
        for name, shape in shapes.items()
    }


def float32(array: npt.NDArray[np.floating]) -> FloatArray:
    """An array in one piece; what is too large is infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, np.float32)


def _packed(matrix: npt.NDArray[np.floating]) -> FloatArray:
    N, K = matrix.shape
    rows = np.zeros((padded(N), K), np.float32)
    rows[:N] = float32(matrix)
    return np.ascontiguousarray(rows.reshape(-1, BLOCK, K).transpose(0, 2, 1))
