"""What the workers of a server have in common; a server of one process has its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from sieve.serve.access_log import AccessLog
from sieve.serve.file_work import KeptFile, KeptFiles
from sieve.serve.shared.board import Board


class FileKeeper(Protocol):
    """Keeps translated documents until they are fetched."""

    def keep(self, name: str, data: bytes) -> str:
        """Keeps a file and gives the key to it."""
        ...

    def find(self, key: str) -> KeptFile | None:
        """A file by its key, unless its time is up."""
        ...


@dataclass(frozen=True)
class Common:
    """Numbers, documents and the log."""

    board: Board = field(default_factory=Board.alone)
    files: FileKeeper = field(default_factory=KeptFiles)
    keys: Callable[[], frozenset[bytes]] = frozenset
    """API keys, as they are now."""
    log: AccessLog | None = None
