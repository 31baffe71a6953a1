"""Marian's `.npz` model files: numpy arrays in a zip archive. Nothing is unpickled.

Knows the container only. Arrays are read by hand, so that a header that lies about its size costs
nothing.
"""

import io
import math
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files import regular_file
from sieve.importers.marian.marian_binary import SETTINGS, Marian
from sieve.importers.origin import MOST_BYTES

_MOST_EXPANSION = 64
_HEADER_LIMIT = 10_000


def read_marian_npz(path: Path) -> Marian:
    """The settings and parameters of a file; damage is a ModelError."""
    try:
        with regular_file(path, MOST_BYTES) as (file, _), zipfile.ZipFile(file) as archive:
            _check_sizes(archive, path)
            arrays = {
                info.filename.removesuffix(".npy"): _array(archive.read(info), path, info.filename)
                for info in archive.infolist()
            }
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError) as error:
        raise ModelError(f"{path}: not a readable .npz file: {error}") from None
    except RuntimeError as error:  # encrypted
        raise ModelError(f"{path}: not a readable .npz file: {error}") from None
    settings = arrays.pop(SETTINGS, None)
    if settings is None or settings.dtype.itemsize != 1:
        raise ModelError(f"{path}: has no {SETTINGS}: not a model of Marian 1.2 or later")
    text = settings.tobytes().rstrip(b"\0").decode("utf-8", "replace")
    for name, array in arrays.items():
        if array.dtype not in (np.float32, np.float16):
            raise ModelError(f"{path}: tensor {name} is {array.dtype}, expected float32")
    return Marian(text, {name: array.astype(np.float32) for name, array in arrays.items()})


def _check_sizes(archive: zipfile.ZipFile, path: Path) -> None:
    total = sum(info.file_size for info in archive.infolist())
    if total > _MOST_EXPANSION * path.stat().st_size:
        raise ModelError(f"{path}: unpacks to {total} bytes: not a model")


def _array(content: bytes, path: Path, name: str) -> npt.NDArray[np.generic]:
    """An array in numpy's format, of plain numbers only."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ModelError(f"{path}: {name}: got version {version} of numpy's format")
    header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, by_columns, dtype = header(file, max_header_size=_HEADER_LIMIT)
    count = math.prod(shape)
    if dtype.hasobject or (by_columns and len(shape) > 1) or dtype.kind not in "fiu":
        raise ModelError(f"{path}: {name}: got an array of {dtype}, expected rows of numbers")
    if any(size < 0 for size in shape) or count * dtype.itemsize > len(content) - file.tell():
        raise ModelError(f"{path}: damaged: {name} of shape {shape} has {len(content)} bytes")
    return np.frombuffer(content, dtype, count, file.tell()).reshape(shape)
