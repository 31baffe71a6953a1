"""Marian's binary model files (`*.intgemm.alphas.bin`, or floats): items with names and shapes.

Knows the container only: which item is which parameter is `marian_parameters`' business. Every
length is checked against the file before anything is read.
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sieve.bundle.fixed_inputs import is_multiplier
from sieve.bundle.quantization import Integers
from sieve.errors import ModelError
from sieve.importers.marian.marian_rounding import Multipliers

VERSION = 1
SETTINGS = "special:model.yml"
_INPUTS = "_QuantMultA"
_OUTPUTS = ("Wemb", "decoder_Wemb", "decoder_ff_logit_out_W")
_FLOAT32, _FLOAT16, _INT8, _INTGEMM8 = 0x0404, 0x0402, 0x0101, 0x4101
_HEADER = struct.Struct("<4Q")  # length of the name, type, number of dimensions, bytes of data
_START = struct.Struct("<2Q")
_LONGEST_NAME, _MOST_DIMENSIONS, _MOST_ITEMS = 4096, 8, 2**20

Parameter = npt.NDArray[np.float32] | Integers


@dataclass(frozen=True)
class Marian:
    """A Marian model as stored: its settings as text, its parameters by Marian's names."""

    settings: str
    parameters: dict[str, Parameter]
    """Matrices of integers are (outputs, inputs), embeddings (tokens, width); floats as stored."""
    multipliers: dict[str, Multipliers] = field(default_factory=dict)
    """Of the matrices whose activations have a fixed one."""


@dataclass(frozen=True)
class _Item:
    name: str
    kind: int
    shape: tuple[int, ...]
    data: memoryview


def is_marian_binary(start: bytes) -> bool:
    """Whether a file that starts with these 16 bytes can be one."""
    if len(start) < _START.size:
        return False
    version, count = map(int, _START.unpack_from(start))
    return version == VERSION and 0 < count <= _MOST_ITEMS


def read_marian_binary(content: bytes, where: str) -> Marian:
    """The settings and parameters of a file; damage is a ModelError."""
    settings, parameters, inputs, weights = "", {}, {}, {}
    for item in _items(memoryview(content), where):
        if item.name == SETTINGS:
            settings = bytes(item.data).rstrip(b"\0").decode("utf-8", "replace")
        elif item.name.endswith(_INPUTS):
            inputs[item.name.removesuffix(_INPUTS)] = _input_multiplier(item, where)
        else:
            if item.name in parameters:
                raise ModelError(f"{where}: damaged: has the tensor {item.name} twice")
            parameters[item.name] = _parameter(item, where)
            if item.kind == _INTGEMM8:
                weights[item.name] = _weight_multiplier(item)
    if not settings:
        raise ModelError(f"{where}: has no {SETTINGS}: not a model of Marian 1.9 or later")
    if "none" in inputs:  # the output layer's, if it is not called after its matrix
        inputs = {**dict.fromkeys(_OUTPUTS, inputs["none"]), **inputs}
    multipliers = {
        name: Multipliers(inputs[name], weights[name]) for name in weights if name in inputs
    }
    return Marian(settings, parameters, multipliers)


def _items(content: memoryview, where: str) -> Iterator[_Item]:
    """The items of a file in its order."""
    reader = _Reader(content, where)
    version, count = _START.unpack(reader.take(_START.size, "header"))
    if version != VERSION or count > _MOST_ITEMS:
        raise ModelError(
            f"{where}: not a Marian binary file: got version {version} and {count} items, "
            f"expected version {VERSION}"
        )
    headers = [_HEADER.unpack(reader.take(_HEADER.size, "header")) for _ in range(count)]
    names, shapes = [], []
    for length, *_ in headers:
        if length > _LONGEST_NAME:
            raise ModelError(f"{where}: damaged: got a name of {length} bytes")
        text = bytes(reader.take(length, "name")).rstrip(b"\0")
        names.append(text.decode("utf-8", "replace"))
    for name, (_, _, dimensions, _) in zip(names, headers, strict=True):
        if dimensions > _MOST_DIMENSIONS:
            raise ModelError(f"{where}: damaged: tensor {name} has {dimensions} dimensions")
        shape = struct.unpack(f"<{dimensions}i", reader.take(4 * dimensions, "shape"))
        if any(size < 1 for size in shape):
            raise ModelError(f"{where}: damaged: tensor {name} has shape {shape}")
        shapes.append(shape)
    reader.take(struct.unpack("<Q", reader.take(8, "gap"))[0], "gap")
    for name, shape, (_, kind, _, size) in zip(names, shapes, headers, strict=True):
        yield _Item(name, kind, shape, reader.take(size, f"tensor {name}"))


class _Reader:
    """Bytes from the front, never more than there are."""

    def __init__(self, content: memoryview, where: str) -> None:
        self._content, self._where, self._place = content, where, 0

    def take(self, size: int, what: str) -> memoryview:
        """The next bytes."""
        left = len(self._content) - self._place
        if size > left:
            raise ModelError(
                f"{self._where}: damaged: ends within its {what}: {size} bytes expected at "
                f"{self._place}, {left} are left"
            )
        self._place += size
        return self._content[self._place - size : self._place]


def _parameter(item: _Item, where: str) -> Parameter:
    """The numbers of an item."""
    count = math.prod(item.shape)
    sizes = {_FLOAT32: 4 * count, _FLOAT16: 2 * count, _INTGEMM8: count + 4}
    if item.kind not in sizes:
        raise ModelError(
            f"{where}: tensor {item.name} is of Marian's type {item.kind:#06x}, expected float32 "
            "or intgemm8; convert the model with marian-conv to one of them"
        )
    if sizes[item.kind] > len(item.data):
        raise ModelError(
            f"{where}: damaged: tensor {item.name} of shape {item.shape} has {len(item.data)} "
            f"bytes, expected at least {sizes[item.kind]}"
        )
    if item.kind == _INTGEMM8:
        return _integers(item, count, where)
    dtype = np.dtype("<f4" if item.kind == _FLOAT32 else "<f2")
    values = np.frombuffer(item.data, dtype, count).astype(np.float32)
    return values.reshape(item.shape)


def _integers(item: _Item, count: int, where: str) -> Integers:
    """Weights in bytes: value = integer / multiplier, one multiplier for the whole matrix."""
    if len(item.shape) != 2:
        raise ModelError(f"{where}: tensor {item.name} has shape {item.shape}, expected a matrix")
    rows, columns = item.shape
    if not item.name.endswith("Wemb"):  # (inputs, outputs) by shape, stored by outputs
        rows, columns = columns, rows
    values = np.frombuffer(item.data, np.int8, count).reshape(rows, columns)
    multiplier = _weight_multiplier(item)
    scale = np.float32(1 / multiplier) if multiplier > 0 else np.float32(np.nan)
    if not (np.isfinite(scale) and scale > 0) or (values == -128).any():
        raise ModelError(
            f"{where}: damaged: tensor {item.name} has the multiplier {multiplier} and integers "
            f"from {values.min()} to {values.max()}, expected a number above 0 and -127 to 127"
        )
    return Integers(values, np.full(rows, scale, np.float32))


def _weight_multiplier(item: _Item) -> float:
    """What a matrix was multiplied with before it was rounded."""
    return float(struct.unpack_from("<f", item.data, math.prod(item.shape))[0])


def _input_multiplier(item: _Item, where: str) -> float:
    """What activations are multiplied with before they are rounded; perhaps an integer itself."""
    value = _parameter(item, where)
    number = float((value.floats() if isinstance(value, Integers) else value).flat[0])
    if value.shape != (1, 1) or not is_multiplier(number):
        raise ModelError(
            f"{where}: damaged: tensor {item.name} has shape {value.shape} and the value {number}, "
            "expected one number above 0"
        )
    return number
