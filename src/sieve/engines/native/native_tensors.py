"""A model directory's tensors as the C++ core takes them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.directory import Bundle
from sieve.bundle.packing import are_packed, float32, packed_shapes
from sieve.bundle.weights import expected_shapes, float_tensors
from sieve.files import Tensors, check_shapes


def float_weights(bundle: Bundle) -> dict[str, npt.NDArray[np.float32]]:
    """The weights of a float model, of the shapes that its settings ask for."""
    tensors = float_tensors(bundle)
    shapes = expected_shapes(bundle, tensors)
    expected = packed_shapes(shapes) if are_packed(tensors) else shapes
    check_shapes(tensors, expected, str(bundle.directory))
    # what is too large is found by the C++ core
    return {name: float32(array) for name, array in tensors.items()}


def aligned(tensors: Tensors) -> dict[str, npt.NDArray[Any]]:
    """The same tensors; those that another program put at odd places are copied."""
    return {
        name: array if array.ctypes.data % 4 == 0 else array.copy()
        for name, array in tensors.items()
    }
