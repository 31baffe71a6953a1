"""Directories as they were at one moment, in memory that processes share and nobody can change.

A copy is a memory file under seals: every process that gets its descriptor maps the same pages,
and none, not even its maker, can write to them, shrink or grow them. Linux only.
"""

import hashlib
import json
import mmap
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files.folder import Folder
from sieve.files.regular import ALIGNMENT, check_fits, regular_file
from sieve.files.tensor_files import TensorFile, Tensors, parse_tensors, put_tensors

if sys.platform == "linux":
    import fcntl

CAN_SEAL: bool = hasattr(os, "memfd_create")
_NAME = "sieve-model"
_BLOCK = 2**20
_NUMBER = 8


@dataclass(frozen=True)
class SealedFolder(Folder):
    """A directory in sealed memory; its files were checked when the copy was made."""

    memory: npt.NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Begin and size of each file in the memory."""

    def has(self, name: str) -> bool:
        """See `Folder.has`."""
        return name in self.places

    def read(self, name: str) -> bytes:
        """See `Folder.read`."""
        return self._content(name).tobytes()

    def tensors(self, name: str) -> TensorFile:
        """See `Folder.tensors`; arrays are views of the sealed memory."""
        return parse_tensors(self._content(name), self.path / name)

    def _content(self, name: str) -> npt.NDArray[np.uint8]:
        if name not in self.places:
            raise ModelError(f"{self.path / name}: no such file")
        start, size = self.places[name]
        return self.memory[start : start + size]


def seal_folder(folder: Folder, instead: Mapping[str, Tensors] = MappingProxyType({})) -> int:
    """The descriptor of a sealed copy of all regular files of a directory.

    Args:
        folder: The directory.
        instead: Tensors that the copy has in place of those in the files of these names.

    Raises:
        ModelError: A file cannot be read, is none of a model, or is not what its hash says.
    """
    names = sorted(path.name for path in folder.path.iterdir() if path.is_file())
    check_fits(folder.path, sum((folder.path / name).stat().st_size for name in names))
    descriptor = os.memfd_create(_NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with open(descriptor, "wb", closefd=False) as memory:
            places = dict[str, tuple[int, int]]()
            for name in names:
                start = _aligned(memory)
                if name in instead:
                    put_tensors(memory, instead[name])
                else:
                    folder.check_digest(name, _copied(folder.path / name, memory))
                places[name] = (start, memory.tell() - start)
            start = _aligned(memory)
            memory.write(json.dumps({"path": str(folder.path), "files": places}).encode())
            memory.write(start.to_bytes(_NUMBER, "little"))
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def sealed_folder(descriptor: int) -> SealedFolder:
    """The directory in a sealed copy, whose descriptor may be closed afterwards."""
    memory = np.frombuffer(
        mmap.mmap(descriptor, 0, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ), np.uint8
    )
    start = int.from_bytes(memory[-_NUMBER:].tobytes(), "little")
    content = json.loads(memory[start:-_NUMBER].tobytes())
    places = {name: (place, size) for name, (place, size) in content["files"].items()}
    return SealedFolder(Path(content["path"]), memory=memory, places=places)


def _aligned(memory: BinaryIO) -> int:
    """Goes on at the next place where tensors may begin."""
    return memory.seek(-memory.tell() % ALIGNMENT, os.SEEK_CUR)


def _copied(path: Path, memory: BinaryIO) -> str:
    """Copies a file to where the memory stands, and gives its SHA-256."""
    digest, buffer = hashlib.sha256(), memoryview(bytearray(_BLOCK))
    with regular_file(path, 2**63) as (file, size):
        while size and (count := file.readinto(buffer[: min(size, _BLOCK)])):  # type: ignore[attr-defined]
            digest.update(buffer[:count])
            memory.write(buffer[:count])
            size -= count
    if size:
        raise ModelError(f"{path}: became shorter while it was read; try again")
    return digest.hexdigest()
