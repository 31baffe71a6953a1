"""Equal pairs in a corpus of any size, with the same small memory.

Works on a file of 64-bit hashes: passes over it, each looking only at the hashes of one part of
their range, small enough to sort in memory. Two different pairs share a hash with a probability of
one in 37 million for a million pairs, 3 % for a billion.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

_PART = 1 << 21  # hashes sorted at once
_BLOCK = 1 << 19  # hashes read at once

Hashes = npt.NDArray[np.uint64]


def mark_duplicates(hashes: Path, marks: Path, part: int = _PART) -> int:
    """Writes one byte a hash, 1 where an equal one came before; returns how many those are."""
    total = hashes.stat().st_size // 8
    with marks.open("wb") as file:
        file.truncate(total)
    parts = -(-total // part)
    duplicated = 0
    with marks.open("r+b") as file:
        for number in range(parts):
            duplicates = _duplicates_in(hashes, number, parts)
            duplicated += len(duplicates)
            _write_marks(file.fileno(), total, duplicates)
    return duplicated


def _duplicates_in(hashes: Path, number: int, parts: int) -> npt.NDArray[np.int64]:
    """Positions, ascending, of hashes of one part of the range that came before."""
    values: list[Hashes] = [np.zeros(0, np.uint64)]
    positions: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
    start = 0
    for block in _blocks(hashes):
        # the upper half of the hash decides, so that parts are of equal size
        here = np.flatnonzero((block >> np.uint64(32)) % np.uint64(parts) == number)
        values.append(block[here])
        positions.append(here + start)
        start += len(block)
    flat, places = np.concatenate(values), np.concatenate(positions)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    repeated = order[1:][ordered[1:] == ordered[:-1]]
    return np.sort(places[repeated])


def _blocks(hashes: Path) -> Iterator[Hashes]:
    with hashes.open("rb") as file:
        while len(block := np.fromfile(file, np.uint64, _BLOCK)):
            yield block


def _write_marks(descriptor: int, total: int, positions: npt.NDArray[np.int64]) -> None:
    for start in range(0, total, _BLOCK):
        first, last = np.searchsorted(positions, [start, start + _BLOCK])
        if first == last:
            continue
        count = min(_BLOCK, total - start)
        marks = np.frombuffer(os.pread(descriptor, count, start), np.uint8).copy()
        marks[positions[first:last] - start] = 1
        os.pwrite(descriptor, marks.tobytes(), start)
