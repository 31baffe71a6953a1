"""Marian's `.npz` model files: numpy arrays in a zip archive. Nothing is unpickled.

Knows the container only. Arrays are read by hand, so that a header that lies about its size costs
nothing, and none is an expression that is evaluated.
"""

import math
import re
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files import regular_file
from sieve.importers.marian.marian_binary import SETTINGS, Marian
from sieve.importers.origin import MOST_BYTES

_MOST_EXPANSION = 64
_HEADER = re.compile(
    rb"\{'descr': ?'(?P<kind>[<>|][fiu][1248])', ?'fortran_order': ?(?P<columns>True|False), ?"
    rb"'shape': ?\((?P<shape>[\d, ]{0,99})\),? ?\} *\n?"
)
"""Read by hand, as all of it: numpy takes its own header for a Python expression."""


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
    version = content[6:8]
    if content[:6] != b"\x93NUMPY" or version not in (b"\1\0", b"\2\0"):
        raise ModelError(f"{path}: {name}: not an array of numpy's format 1.0 or 2.0")
    begin = 10 if version == b"\1\0" else 12
    end = begin + int.from_bytes(content[8:begin], "little")
    header = _HEADER.fullmatch(content, begin, end)
    if header is None:
        shown = content[begin:end][:60].decode("latin-1")
        raise ModelError(f"{path}: {name}: got an array of {shown!r}, expected rows of numbers")
    dtype = np.dtype(header["kind"].decode())
    shape = tuple(int(size) for size in header["shape"].split(b",") if size.strip())
    if header["columns"] == b"True" and len(shape) > 1:
        raise ModelError(f"{path}: {name}: got an array of columns, expected rows of numbers")
    count = math.prod(shape)
    if count * dtype.itemsize > len(content) - end:
        raise ModelError(f"{path}: damaged: {name} of shape {shape} has {len(content)} bytes")
    return np.frombuffer(content, dtype, count, end).reshape(shape)
