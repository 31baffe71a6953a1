"""A directory that somebody hands us: files are read whole and checked against their hashes.

Only plain names are read: nothing outside of the directory. Knows no format of ours.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from sieve.errors import ModelError
from sieve.files.regular import file_hash, parse_json, read_content, read_memory
from sieve.files.tensor_files import TensorFile, parse_tensors


@dataclass(frozen=True)
class Folder:
    """A directory, and what is known of its files."""

    path: Path
    hashes: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 by name; what has none is read unchecked."""

    def has(self, name: str) -> bool:
        """Whether a regular file of this name is there."""
        return is_plain(name) and (self.path / name).is_file()

    def read(self, name: str) -> bytes:
        """The content of a small file."""
        content = read_content(self._place(name))
        self._check(name, lambda: hashlib.sha256(content).hexdigest())
        return content

    def json(self, name: str) -> dict[str, Any]:
        """The JSON object that a file holds."""
        return parse_json(self.read(name), self.path / name)

    def tensors(self, name: str) -> TensorFile:
        """A safetensors file, in memory that nobody else can change."""
        content = read_memory(self._place(name))
        self._check(name, lambda: hashlib.sha256(content.data).hexdigest())
        return parse_tensors(content, self.path / name)

    def check(self) -> None:
        """Refuses a directory with a file that has another hash than the one that is known."""
        for name in self.hashes:
            self.checked(name)

    def checked(self, name: str) -> Path:
        """The path of a file, unharmed: to copy it."""
        path = self._place(name)
        self._check(name, lambda: file_hash(path))
        return path

    def _place(self, name: str) -> Path:
        if not is_plain(name):
            raise ModelError(
                f"{self.path}: names the file {name[:60]!r}, expected a plain name without folders"
            )
        return self.path / name

    def _check(self, name: str, digest: Callable[[], str]) -> None:
        if name in self.hashes:
            self.check_digest(name, digest())

    def check_digest(self, name: str, digest: str) -> None:
        """Refuses a file that has another hash than the one that is known."""
        if self.hashes.get(name, digest) != digest:
            raise ModelError(
                f"{self.path / name}: damaged or changed: its SHA-256 is not the one that "
                "manifest.json records; get it again, or remove manifest.json if you changed it"
            )


Place: TypeAlias = str | Path | Folder
"""A directory, with or without what is known of its files."""


def folder_of(place: Place) -> Folder:
    """The directory as a `Folder`."""
    return place if isinstance(place, Folder) else Folder(Path(place))


def is_plain(name: str) -> bool:
    """Whether this is the name of a file, not a way to one."""
    return name not in ("", ".", "..") and not set(name) & {"/", "\\", "\0"}
