"""The int8 form of a model's tensors, and the way back: docs/model-format.md has the layout.

A matrix becomes bytes in the order in which the native kernels read them, with one scale per output
channel; everything else stays float32. numpy only; knows neither files nor what tensors are for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.fixed_inputs import MOST, check_multiplier, fixed_input_shapes, is_fixed_input
from sieve.errors import ModelError
from sieve.files import Tensors, check_shapes
from sieve.log import progress

LAYOUT = 1
"""Version of the order of bytes."""
BLOCK = 64
"""Rows and columns are padded to multiples of this."""
ZERO = 128
"""The byte that stands for 0."""
LIMIT = 127
"""The largest integer; the smallest is its negative."""

Shapes = Mapping[str, tuple[int, ...]]
FloatArray = npt.NDArray[np.float32]
ByteArray = npt.NDArray[np.uint8]

_ROWS = 16 * BLOCK
"""Rows packed at a time: bounds the scratch memory."""


@dataclass(frozen=True, eq=False)
class Integers:
    """A matrix that is quantised already: each row is its integers times its scale."""

    values: npt.NDArray[np.int8]
    """(N, K), from -127 to 127."""
    scale: FloatArray
    """(N,)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, K)."""
        return self.values.shape

    def floats(self) -> FloatArray:
        """What the integers stand for."""
        floats: FloatArray = self.values * self.scale[:, None]
        return floats


def quantize(
    tensors: Mapping[str, npt.NDArray[Any] | Integers], where: str, multiply: bool = False
) -> dict[str, npt.NDArray[Any]]:
    """The int8 form of float32 or float16 tensors under their parameter names.

    Args:
        tensors: All tensors of a model; `Integers` stay as they are.
        where: Their origin, for error messages.
        multiply: As in `pack`.
    """
    sizes = _sizes({name: array.shape for name, array in tensors.items()})
    result: dict[str, npt.NDArray[Any]] = {}
    for name, array in progress(tensors.items(), unit=" tensors", label="quantize"):
        if isinstance(array, Integers):
            result[name] = pack_integers(array)
            scale = result[f"{name}_scale"] = np.zeros(sizes[name], np.float32)
            scale[: len(array.scale)] = array.scale
            continue
        if array.dtype not in (np.float32, np.float16):
            raise ModelError(
                f"{where}: tensor {name} is {array.dtype}, expected float32 or float16"
            )
        if array.ndim == 2:
            result[name], scale = pack(array, multiply)
            result[f"{name}_scale"] = scale
            fits = (scale <= MOST).all()
        else:
            size = array.size if array.size == 1 and is_fixed_input(name) else sizes[name]
            result[name] = np.zeros(size, np.float32)
            result[name][: array.size] = array
            fits = np.isfinite(array).all()
        if not fits:
            raise ModelError(f"{where}: tensor {name} has weights that are not finite or too large")
    return result


def dequantize(tensors: Tensors, shapes: Shapes, where: str) -> dict[str, FloatArray]:
    """The float32 tensors that the integers and scales stand for, padding removed.

    Args:
        tensors: The int8 form; checked.
        shapes: Names and shapes of the model's parameters.
        where: Origin of the tensors, for error messages.
    """
    check_quantized(tensors, shapes, where)
    return {
        name: unpack(tensors[name], tensors[f"{name}_scale"], (shape[0], shape[1]))
        if len(shape) == 2
        else tensors[name][: shape[0]].copy()
        for name, shape in shapes.items()
    }


def check_quantized(tensors: Tensors, shapes: Shapes, where: str) -> None:
    """Refuses tensors that are not the int8 form of these parameters; does not read the bytes."""
    expected = quantized_shapes(shapes)
    scales = {name: expected[f"{name}_scale"] for name in shapes if len(shapes[name]) == 2}
    check_shapes(tensors, {**expected, **fixed_input_shapes(tensors, scales)}, where)
    for name, array in tensors.items():
        dtype = np.dtype(np.uint8 if array.ndim == 4 else np.float32)
        if array.dtype != dtype:
            raise ModelError(f"{where}: tensor {name} is {array.dtype}, expected {dtype}")
        if array.ndim == 1 and not np.isfinite(array).all():
            raise ModelError(f"{where}: tensor {name} has values that are not finite")
        check_multiplier(name, array, where)
        if name.endswith("weight_scale") and not ((array >= 0) & (array <= MOST)).all():
            raise ModelError(f"{where}: tensor {name} has scales below 0 or above {MOST}")


def quantized_shapes(shapes: Shapes) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the int8 form of parameters."""
    result: dict[str, tuple[int, ...]] = {}
    for name, size in _sizes(shapes).items():
        if len(shapes[name]) == 2:
            columns = padded(shapes[name][1])
            result[name] = (size // BLOCK, columns // 4, BLOCK, 4)
            result[f"{name}_scale"] = (size,)
        else:
            result[name] = (size,)
    return result


def padded(size: int) -> int:
    """The next multiple of BLOCK."""
    return -(-size // BLOCK) * BLOCK


def pack(weight: npt.NDArray[Any], multiply: bool = False) -> tuple[ByteArray, FloatArray]:
    """Bytes (Np/64, Kp/4, 64, 4) and scales (Np,) of a matrix (N, K).

    A row that is not finite has a scale that is not finite, and no meaning.

    Args:
        weight: The matrix.
        multiply: Whether values are multiplied with 127 / the largest of their row, as in
            CTranslate2, not divided by their scale: some in the middle of two integers differ.
    """
    N, K = weight.shape
    Np, Kp = padded(N), padded(K)
    scale = np.zeros(Np, np.float32)
    packed = np.empty((Np // BLOCK, Kp // 4, BLOCK, 4), np.uint8)
    for start in range(0, N, _ROWS):
        rows = np.asarray(weight[start : start + _ROWS], np.float32)
        with np.errstate(invalid="ignore"):
            values, step = _steps(rows, multiply)
            scale[start : start + len(rows)] = step
            values = np.rint(values)
            block = np.full((padded(len(rows)), Kp), ZERO, np.uint8)
            block[: len(rows), :K] = (np.clip(values, -LIMIT, LIMIT) + ZERO).astype(np.uint8)
        groups = block.reshape(-1, BLOCK, Kp // 4, 4)
        packed[start // BLOCK :][: len(groups)] = groups.transpose(0, 2, 1, 3)
    return packed, scale


def _steps(rows: FloatArray, multiply: bool) -> tuple[FloatArray, FloatArray]:
    """Rows in units of their steps, and these."""
    limit, unit = np.float32(LIMIT), np.float32(1)
    top = np.abs(rows).max(axis=1)
    if multiply:
        factor = np.asarray(limit / np.where(top > 1 / MOST, top, limit), np.float32)
        return rows * factor[:, None], np.where(top > 0, unit / factor, np.float32(0))
    step = np.asarray(top / limit, np.float32)
    return np.asarray(rows / np.where(step > 0, step, unit)[:, None], np.float32), step


def pack_integers(matrix: Integers) -> ByteArray:
    """Bytes (Np/64, Kp/4, 64, 4) of a matrix of integers."""
    N, K = matrix.shape
    block = np.full((padded(N), padded(K)), ZERO, np.uint8)
    block[:N, :K] = matrix.values.view(np.uint8) + np.uint8(ZERO)  # wraps: -127 becomes 1
    groups = block.reshape(-1, BLOCK, block.shape[1] // 4, 4)
    return np.ascontiguousarray(groups.transpose(0, 2, 1, 3))


def unpack(packed: ByteArray, scale: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """The matrix (N, K) that bytes and scales stand for."""
    N, K = shape
    rows = packed.transpose(0, 2, 1, 3).reshape(len(scale), -1)  # (Np, Kp)
    values: FloatArray = np.subtract(rows[:N, :K], ZERO, dtype=np.float32)
    values *= scale[:N, None]
    return values


def _sizes(shapes: Shapes) -> dict[str, int]:
    """Length of each parameter's first dimension in the int8 form.

    Matrices and biases are padded; norms are not: their weight is a vector.
    """
    result = {}
    for name, shape in shapes.items():
        if len(shape) not in (1, 2) or 0 in shape:
            raise ModelError(f"tensor {name} has shape {shape}, expected a vector or a matrix")
        stem, _, kind = name.rpartition(".")
        is_norm = len(shapes.get(f"{stem}.weight", ())) == 1
        result[name] = shape[0] if kind in ("weight", "bias") and is_norm else padded(shape[0])
    return result
