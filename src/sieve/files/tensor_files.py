"""Tensors on disk: safetensors files, checked before a byte of them is used.

Knows neither models nor what tensors are for.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files.atomic import whole_file, writable
from sieve.files.regular import ALIGNMENT, read_memory, regular_file

Tensors = Mapping[str, npt.NDArray[Any]]
_METADATA = "__metadata__"
_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_MOST_HEADER = 100_000_000  # as the format has it


@dataclass(frozen=True, eq=False)
class TensorFile:
    """What a safetensors file holds."""

    tensors: dict[str, npt.NDArray[Any]]
    metadata: dict[str, str]
    """Notes beside the tensors."""


def read_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Reads a safetensors file; a damaged file is a ModelError that names it."""
    return parse_tensors(read_memory(path), path).tensors


def map_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Maps a safetensors file of our own making, read-only: opens at once, whatever its size.

    Whoever truncates the file ends this process: not for files that others may change.
    """
    with regular_file(path, 2**63) as (file, size):
        # as a plain array: indexing it costs less than indexing a np.memmap
        data = np.memmap(file, np.uint8, "r").view(np.ndarray) if size else np.empty(0, np.uint8)
    return parse_tensors(data, path).tensors


def parse_tensors(data: npt.NDArray[np.uint8], path: Path) -> TensorFile:
    """The tensors that a safetensors file holds, as views of its bytes.

    Args:
        data: The whole file.
        path: Its name, for error messages.
    """
    try:
        size = int.from_bytes(data[:8].tobytes(), "little")
        if len(data) < 8 or not 2 <= size <= min(len(data) - 8, _MOST_HEADER):
            raise ValueError(f"its header does not fit {len(data)} bytes")
        header = json.loads(
            data[8 : 8 + size].tobytes().decode(), object_pairs_hook=_without_repetition
        )
        metadata = header.pop(_METADATA, {})
        body = data[8 + size :]
        tensors = {name: _tensor(name, header[name], body) for name in _in_order(header, len(body))}
        return TensorFile(tensors, {str(key): str(text) for key, text in metadata.items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__} {error}" if isinstance(error, KeyError) else error
        raise ModelError(f"{path}: not a readable safetensors file: {reason}") from None


def write_tensors(path: Path, tensors: Tensors, metadata: Mapping[str, str] | None = None) -> None:
    """Writes a safetensors file, aligned for memory maps."""
    with whole_file(path) as partial, writable(path), partial.open("wb") as file:
        put_tensors(file, tensors, metadata)


def put_tensors(
    file: BinaryIO, tensors: Tensors, metadata: Mapping[str, str] | None = None
) -> None:
    """Writes what a safetensors file holds, from where an open file stands."""
    codes = {dtype: code for code, dtype in _DTYPES.items()}
    # multiples of the alignment first: each leaves the next one aligned
    ranked = sorted(
        tensors, key=lambda n: (tensors[n].nbytes % ALIGNMENT > 0, -tensors[n].itemsize, n)
    )
    header: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    end = 0
    for name in ranked:
        array = tensors[name]
        start, end = end, end + array.nbytes
        code = codes[array.dtype.newbyteorder("<")]
        header[name] = {"dtype": code, "shape": array.shape, "data_offsets": (start, end)}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in ranked:
        array = np.asarray(tensors[name], tensors[name].dtype.newbyteorder("<"), order="C")
        file.write(array.reshape(-1).view(np.uint8).data)


def check_shapes(tensors: Tensors, shapes: Mapping[str, tuple[int, ...]], where: str) -> None:
    """Refuses tensors whose names and shapes are not exactly these."""
    missing, extra = shapes.keys() - tensors.keys(), tensors.keys() - shapes.keys()
    if missing or extra:
        kind, names = ("lacks", missing) if missing else ("has the unknown", extra)
        raise ModelError(f"{where}: {kind} tensor {sorted(names)[0]} ({len(names)} such in all)")
    for name, shape in shapes.items():
        if tensors[name].shape != shape:
            raise ModelError(
                f"{where}: tensor {name} has shape {tensors[name].shape}, expected {shape}"
            )


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the header; a name that stands there twice could mean either."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("its header has a name twice")
    return values


def _in_order(header: Mapping[str, Any], size: int) -> list[str]:
    """Names by their places, which must cover `size` bytes without gap or overlap."""
    places = {name: _numbers(entry["data_offsets"]) for name, entry in header.items()}
    ranked = sorted(header, key=places.__getitem__)
    end = 0
    for name in ranked:
        start, stop = places[name]
        if start != end or stop < start:
            raise ValueError(f"tensor {name} lies at {start} to {stop}, expected from {end} on")
        end = stop
    if end != size:
        raise ValueError(f"its tensors take {end} bytes of {size}")
    return ranked


def _tensor(name: str, entry: Mapping[str, Any], body: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    start, stop = entry["data_offsets"]
    shape = _numbers(entry["shape"])
    short = entry["dtype"] == "BF16"  # the upper half of a float32
    dtype = _DTYPES.get("U16" if short else entry["dtype"])
    if dtype is None:
        raise ValueError(f"tensor {name} has the dtype {entry['dtype']}, which is not known here")
    if prod(shape) * dtype.itemsize != stop - start:
        raise ValueError(f"tensor {name} has {stop - start} bytes, which do not fit its shape")
    values = body[start:stop].view(dtype).reshape(shape)
    return (values.astype("<u4") << 16).view("<f4") if short else values


def _numbers(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(n) is not int or n < 0 for n in values):
        raise ValueError(f"got {values!r} for numbers of its header")
    return tuple(values)
