"""A set of words in a few bits each: a Bloom filter.

What was put in is found. Of other words some are found, too: one in a hundred with 10 bits a word,
one in five thousand with 20.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_PROBES = 7  # bits that each word sets: the best number for 10 bits a word


@dataclass(frozen=True, eq=False)
class WordSet:
    """Words; `word in words` may err for one that was never put in."""

    bits: npt.NDArray[np.uint8]
    """Eight a byte, the lowest first."""

    @classmethod
    def of(cls, words: Collection[str], bits: int = 10) -> "WordSet":
        """A set of these words with so many bits for each."""
        size = 64 * max(1, -(-len(words) * bits // 512))  # whole lines of 64 bytes
        flags = np.zeros(8 * size, np.uint8)
        for word in words:
            flags[_places(word, len(flags))] = 1
        return cls(np.packbits(flags, bitorder="little"))

    def __contains__(self, word: str) -> bool:
        bits = self.bits
        return all(bits[i >> 3] >> (i & 7) & 1 for i in _places(word, 8 * len(bits)))


def _places(word: str, number: int) -> list[int]:
    """The bits of a word among so many."""
    digest = hashlib.blake2b(word.encode(), digest_size=16).digest()
    first = int.from_bytes(digest[:8], "little")
    step = int.from_bytes(digest[8:], "little") | 1
    return [(first + i * step) % number for i in range(_PROBES)]
