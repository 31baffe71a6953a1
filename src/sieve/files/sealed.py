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

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files.folder import Folder
from sieve.files.regular import ALIGNMENT, check_fits, regular_file
from sieve.files.tensor_files import TensorFile, parse_tensors

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


def seal_folder(folder: Folder) -> int:
    """The descriptor of a sealed copy of all regular files of a directory.

    Raises:
        ModelError: A file cannot be read, is none of a model, or is not what its hash says.
    """
    names = sorted(path.name for path in folder.path.iterdir() if path.is_file())
    sizes = {name: (folder.path / name).stat().st_size for name in names}
    check_fits(folder.path, sum(sizes.values()))
    places, end = dict[str, tuple[int, int]](), 0
    for name, size in sizes.items():
        places[name] = (end, size)
        end += size + -size % ALIGNMENT
    head = json.dumps({"path": str(folder.path), "files": places}).encode()
    start = _NUMBER + len(head) + -(_NUMBER + len(head)) % ALIGNMENT
    descriptor = os.memfd_create(_NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with open(descriptor, "wb", buffering=0, closefd=False) as memory:
            memory.write(len(head).to_bytes(_NUMBER, "little") + head)
            for name, (place, size) in places.items():
                os.lseek(descriptor, start + place, os.SEEK_SET)
                folder.check_digest(name, _copied(folder.path / name, size, descriptor))
        os.ftruncate(descriptor, max(start + end, 1))
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
    size = int.from_bytes(memory[:_NUMBER].tobytes(), "little")
    head = json.loads(memory[_NUMBER : _NUMBER + size].tobytes())
    start = _NUMBER + size + -(_NUMBER + size) % ALIGNMENT
    places = {name: (start + place, size) for name, (place, size) in head["files"].items()}
    return SealedFolder(Path(head["path"]), memory=memory, places=places)


def _copied(path: Path, size: int, descriptor: int) -> str:
    """Copies a file to where the descriptor stands, and gives its SHA-256."""
    digest, buffer = hashlib.sha256(), memoryview(bytearray(_BLOCK))
    with regular_file(path, size) as (file, _):
        while count := file.readinto(buffer[: min(size, _BLOCK)]):  # type: ignore[attr-defined]
            digest.update(buffer[:count])
            os.write(descriptor, buffer[:count])
            size -= count
    if size:
        raise ModelError(f"{path}: became shorter while it was read; try again")
    return digest.hexdigest()
