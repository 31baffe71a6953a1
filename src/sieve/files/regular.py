"""What files hold: read whole, into memory of our own, and only from regular files of bounded size.

A device, a pipe or a file without end is refused before it is read, and what was read stays as it
was when somebody replaces or truncates the file. Knows JSON, but nobody's keys.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sieve.errors import InputError, ModelError

ALIGNMENT = 64
"""Bytes: where memory that a file is read into begins."""
MOST = 2**26
"""Bytes of a file of a model, but for its tensors."""
_BLOCK = 2**20
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextmanager
def regular_file(path: Path, most: int) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file that is open for reading, and its size; a ModelError says what else it is.

    Args:
        path: The file, or a link to one.
        most: Bytes that it may have.
    """
    check_name(path)
    try:  # a pipe that nobody writes to must not block
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
                raise ModelError(f"{path}: is {kind}, expected a regular file")
            if status.st_size > most:
                raise ModelError(
                    f"{path}: has {status.st_size} bytes, expected at most {most}: not of a model"
                )
            yield file, status.st_size
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None


def check_name(path: str | Path) -> None:
    """Refuses what no file can be called."""
    try:
        if b"\0" not in os.fsencode(path):
            return
    except UnicodeEncodeError:  # half of a surrogate pair
        pass
    raise InputError(f"{str(path)!r:.200}: got a name with NUL or half a character, which none has")


def read_content(path: Path, most: int = MOST) -> bytes:
    """The bytes of a regular file."""
    with regular_file(path, most) as (file, size):
        parts = []
        while size > 0 and (part := file.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def read_memory(path: Path) -> npt.NDArray[np.uint8]:
    """The bytes of a regular file that fits this machine's memory, aligned for vectors."""
    with regular_file(path, _memory()) as (file, size):
        memory = np.empty(size + ALIGNMENT, np.uint8)
        first = -memory.ctypes.data % ALIGNMENT
        content = memory[first : first + size]
        read = 0
        while read < size and (count := file.readinto(content[read:].data)):  # type: ignore[attr-defined]
            read += count
        return content[:read]


def check_fits(path: Path, size: int) -> None:
    """Refuses to read more than this machine's memory has room for."""
    if size > _memory():
        raise ModelError(f"{path}: has {size} bytes, expected at most {_memory()}: not of a model")


def file_hash(path: Path) -> str:
    """SHA-256 of the content of a file, in hexadecimal."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object; a damaged file is a ModelError that names it."""
    return parse_json(read_content(path), path)


def parse_json(content: bytes, path: Path) -> dict[str, Any]:
    """The JSON object that a file holds.

    Args:
        content: Of the file.
        path: Its name, for error messages.
    """
    try:
        value = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise ModelError(f"{path}: got {type(value).__name__}, expected a JSON object")
    return value


def _memory() -> int:
    """Bytes that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
