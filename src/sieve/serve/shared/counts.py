"""A worker's counts: named rows of numbers in memory that only it writes to and all may read.

Rows are only ever added, so a worker that takes the place of a dead one counts on from there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_WORD = 8


class Counts:
    """Rows by name. A row: bytes of the name and number of values, the name, the values."""

    def __init__(self, memory: npt.NDArray[np.uint8]) -> None:
        """Takes zeros, or what other counts have written."""
        self._memory = memory
        self._cells = memory.view(np.float64)
        self._words = memory.view(np.uint64)
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}

    def add(self, name: str, size: int, amounts: dict[int, float]) -> None:
        """Adds to values of a row, by their places; a row that nobody has written to is zeros."""
        with self._lock:
            first = self._rows.get(name) or self._row(name, size)
            if first:
                for place, amount in amounts.items():
                    self._cells[first + place] += amount

    def rows(self) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
        """Names and values."""
        for name, first, size in self._written():
            yield name, self._cells[first : first + size].copy()

    def _row(self, name: str, size: int) -> int:
        """The first cell of a row, which may be new; 0 where there is no room."""
        self._rows = {known: first for known, first, _ in self._written()}
        if name in self._rows:
            return self._rows[name]
        content = name.encode()
        words = -(-len(content) // _WORD)
        start = int(self._words[0]) or 1
        first = start + 2 + words
        if first + size > len(self._cells):
            return 0
        self._words[start : start + 2] = len(content), size
        self._memory[(start + 2) * _WORD :][: len(content)] = np.frombuffer(content, np.uint8)
        self._words[0] = first + size  # last: until now nobody sees the row
        self._rows[name] = first
        return first

    def _written(self) -> Iterator[tuple[str, int, int]]:
        """Name, first cell and size of each row."""
        place, end = 1, int(self._words[0])
        while place < end:
            length, size = map(int, self._words[place : place + 2])
            name = self._memory[(place + 2) * _WORD :][:length].tobytes().decode()
            first = place + 2 + -(-length // _WORD)
            yield name, first, size
            place = first + size
