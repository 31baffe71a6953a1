"""Finished pieces as files: named by what they were made from, written whole or not at all.

A file holds a line that accounts for it and a line of JSON per cell.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sieve.bulk.cells import PieceAccount
from sieve.bulk.rows.row_pieces import Cell
from sieve.errors import InputError, ModelError
from sieve.files import json_values, read_content, read_json, whole_file, writable, write_json
from sieve.processes.locks import FileLock

_MOST = 1 << 30  # bytes of a piece
_NOTE = "made_with.json"
_SHOWN = 3


def finished_piece(cells: Sequence[Cell], account: PieceAccount) -> bytes:
    """The content of a finished piece's file."""
    head = json.dumps(asdict(account))
    return "\n".join([head, *(json.dumps(json_values(cell.values)) for cell in cells), ""]).encode()


class PieceStore:
    """The finished pieces of one run, in a directory of their own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock: FileLock | None = None

    def claim(self, made_with: Mapping[str, Any], holder: str) -> None:
        """Makes the directory and keeps other processes out of it.

        Args:
            made_with: What the pieces depend on, by names that a user knows.
            holder: A name of what this process does of the work: others may do the rest.
        """
        with writable(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = FileLock(self.directory / f"{holder}.lock")
        except BlockingIOError:
            raise InputError(
                f"{self.directory.parent}: another process is writing it; wait for it or choose "
                "another --output"
            ) from None
        if not (note := self.directory / _NOTE).is_file():
            with suppress(InputError):  # another shard writes the same at this moment
                write_json(note, made_with)

    def made_with(self) -> dict[str, Any] | None:
        """What the pieces of an earlier run depend on; None without such a run."""
        note = self.directory / _NOTE
        return read_json(note) if note.is_file() else None

    def remove(self) -> None:
        """Removes all of it."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def release(self) -> None:
        """Lets others have the directory."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def has(self, key: str) -> bool:
        """Whether a piece is finished."""
        return self._path(key).is_file()

    def put(self, key: str, content: bytes) -> None:
        """Keeps a finished piece; one that is kept already has the same content."""
        path = self._path(key)
        if path.is_file():
            return
        path.parent.mkdir(exist_ok=True)
        with whole_file(path) as partial:
            partial.write_bytes(content)

    def lines(self, key: str) -> tuple[PieceAccount, list[bytes]]:
        """The account of a finished piece and a line for each of its cells."""
        path = self._path(key)
        head, *lines = read_content(path, _MOST).split(b"\n")
        try:
            account = PieceAccount(**json.loads(head))
        except (ValueError, TypeError):
            raise ModelError(f"{path}: damaged; remove it and resume the run") from None
        if len(lines) != account.cells + 1 or lines.pop():
            raise ModelError(f"{path}: damaged; remove it and resume the run")
        return account, lines

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}.jsonl"


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Names of what is another now, a few of them."""
    changed = sorted(_changed(before, json.loads(json.dumps(now))))
    return changed if len(changed) <= _SHOWN else [*changed[:_SHOWN], "…"]


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in before.keys() | now:
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _changed(old, new)
        elif old != new:
            yield name


def cell_of(line: bytes) -> Cell:
    """The cell of a line of a finished piece."""
    return Cell(*json.loads(line))
