"""Where each text of a corpus stands first: of any number of texts, in little memory.

A file holds 16 bytes of a hash per text; passes over it look only at the hashes of one part of
their range, small enough to sort. Two different texts of a billion share a hash with a probability
of one in 10^20.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

_PART = 1 << 20  # hashes sorted at once
_BLOCK = 1 << 18  # hashes read at once
_HASH = np.dtype([("high", "<u8"), ("low", "<u8")])
NOTHING = b"\0" * _HASH.itemsize
"""Stands for the hash of what is no text."""


def text_hash(text: str | None) -> bytes:
    """The hash of a text."""
    if text is None:
        return NOTHING
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=_HASH.itemsize).digest()


@dataclass(frozen=True)
class FirstPlaces:
    """For each text of a corpus, the number of the first that equals it; -1 for what is none."""

    path: Path
    """A file of 8 bytes per text."""

    @classmethod
    def find(cls, hashes: Path, path: Path, part: int = _PART) -> FirstPlaces:
        """Makes the file.

        Args:
            hashes: `text_hash` of all texts, one after the other.
            path: Of the file to make.
            part: Hashes to sort at once.
        """
        total = hashes.stat().st_size // _HASH.itemsize
        with path.open("wb") as file:
            file.truncate(total * 8)
        if total:
            places = np.memmap(path, np.int64, "r+")
            parts = -(-total // part)
            for number in range(parts):
                own, firsts = _part(hashes, number, parts)
                places[own] = firsts
            places.flush()
        return cls(path)

    def of(self, start: int, count: int) -> npt.NDArray[np.int64]:
        """The first places of `count` texts from number `start` on."""
        return np.fromfile(self.path, np.int64, count, offset=8 * start)

    def firsts(self, start: int, count: int) -> list[int]:
        """Which of `count` texts from number `start` on stand nowhere before."""
        own = np.flatnonzero(self.of(start, count) == np.arange(start, start + count))
        return [int(place) for place in own]


def _part(
    hashes: Path, number: int, parts: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Numbers of the texts of one part, and of the first that equals each."""
    values, positions, start = [np.zeros(0, _HASH)], [np.zeros(0, np.int64)], 0
    for block in _blocks(hashes):
        here = np.flatnonzero((block["high"] >> np.uint64(32)) % np.uint64(parts) == number)
        values.append(block[here])
        positions.append(here + start)
        start += len(block)
    flat, places = np.concatenate(values), np.concatenate(positions)
    order = np.lexsort((places, flat["low"], flat["high"]))
    ordered, places = flat[order], places[order]
    begins = np.ones(len(ordered), bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    firsts = places[begins][np.cumsum(begins) - 1]
    firsts[(ordered["high"] == 0) & (ordered["low"] == 0)] = -1
    return places, firsts


def _blocks(hashes: Path) -> Iterator[npt.NDArray[np.void]]:
    with hashes.open("rb") as file:
        while len(block := np.fromfile(file, _HASH, _BLOCK)):
            yield block
