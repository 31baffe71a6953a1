"""Numbers the word pairs that meet in a corpus, so that a table over them is a plain array.

A bitmap over all (source, target) pairs and the number of set bits before each 64 of them: the
place of a pair in the table is two look-ups, for whole batches at once. This is what makes an
aligner in numpy fast; it holds V_src · V_tgt / 8 bytes.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_WORD = 64
_BYTE_BITS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)

Places = npt.NDArray[np.int32]


class WordPairs:
    """The set of word pairs (source, target), each with its place from 0 to len - 1."""

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int) -> None:
        self.src_vocab_size = src_vocab_size
        self.tgt_vocab_size = tgt_vocab_size
        # rows begin at a whole word, so that each source word has words of its own
        self._stride = -(-tgt_vocab_size // _WORD) * _WORD
        self._bits = np.zeros(src_vocab_size * self._stride // _WORD, np.uint64)
        self._before = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return int(self._before[-1])

    def add(self, keys: npt.NDArray[np.int64]) -> None:
        """Puts pairs into the set; `freeze` must follow before places are asked for."""
        # most pairs are there already, and looking them up costs less than sorting them
        keys = np.unique(keys[~self._contains(keys)])
        places = keys >> 6
        bits = np.uint64(1) << (keys & 63).astype(np.uint64)
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        if len(starts):
            self._bits[places[starts]] |= np.bitwise_or.reduceat(bits, starts)

    def freeze(self) -> None:
        """Numbers the pairs, in the order of source and then target ids."""
        self._before = np.zeros(len(self._bits) + 1, np.int32)
        np.cumsum(_bit_count(self._bits), out=self._before[1:])

    def keys(self, src: npt.NDArray[np.int32], tgt: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """(B, U, T) keys of all pairs of source (B, T) and target (B, U)."""
        rows = src.astype(np.int64) * self._stride
        keys: npt.NDArray[np.int64] = rows[:, None, :] + tgt[:, :, None]
        return keys

    def pair_keys(
        self, src: npt.NDArray[np.integer], tgt: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int64]:
        """Keys of single pairs, of the same shape as the ids."""
        keys: npt.NDArray[np.int64] = src.astype(np.int64) * self._stride + tgt
        return keys

    def places(self, keys: npt.NDArray[np.int64], all_known: bool) -> Places:
        """The place of each pair; pairs not in the set have place `len` unless `all_known`."""
        words = keys >> 6
        shift = (keys & 63).astype(np.uint64)
        below = self._bits[words] & ((np.uint64(1) << shift) - np.uint64(1))
        places: Places = self._before[words] + _bit_count(below)
        if not all_known:
            places = np.where(self._contains(keys), places, np.int32(len(self)))
        return places

    def _contains(self, keys: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        shift = (keys & 63).astype(np.uint64)
        present: npt.NDArray[np.bool_] = ((self._bits[keys >> 6] >> shift) & np.uint64(1)) == 1
        return present

    def row_starts(self) -> npt.NDArray[np.int64]:
        """(V_src + 1,): the places of source word s are row_starts[s] to row_starts[s + 1]."""
        return self._before[:: self._stride // _WORD].astype(np.int64)

    def rows(self, block: int = 1024) -> Iterator[npt.NDArray[np.int32]]:
        """Target ids of all pairs in their order, a block of source words at a time."""
        words = self._stride // _WORD
        for start in range(0, self.src_vocab_size, block):
            part = self._bits[start * words : (start + block) * words]
            flat = np.flatnonzero(np.unpackbits(part.view(np.uint8), bitorder="little"))
            yield (flat % self._stride).astype(np.int32)


def _bit_count(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    if hasattr(np, "bitwise_count"):
        counts: Places = np.bitwise_count(words).astype(np.int32)
        return counts
    parts = _BYTE_BITS[np.ascontiguousarray(words).view(np.uint8)]  # numpy before 2.0
    old: Places = parts.reshape(*words.shape, 8).sum(axis=-1, dtype=np.int32)
    return old
