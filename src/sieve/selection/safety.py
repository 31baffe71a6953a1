"""Tokens that every sentence can use: what it says itself, digits, punctuation.

Names, numbers, addresses and code are often copied. A source piece that is also an output piece is
reachable, and one that is not is spelled in the pieces of the output; where a source spells a
character in bytes, all bytes are reachable. Asks no engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sieve.selection.plan import Plan
from sieve.selection.shortlist import ShortlistArray
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import IntArray

_MARKS = "▁"
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


@dataclass(frozen=True)
class SafeTokens:
    """The safety set of each sentence."""

    tokenizers: Tokenizers
    _copies: dict[int, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def plan(self) -> Plan:
        """For each sentence what it can copy, and the tokens that are always safe."""
        return Plan(lists=(self.words,))

    def words(self, src_ids: Sequence[IntArray]) -> list[ShortlistArray]:
        """The ids of each sentence, in no order."""
        return [self._of(ids) for ids in src_ids]

    def __str__(self) -> str:
        return "safe"

    def _of(self, ids: IntArray) -> ShortlistArray:
        if self.tokenizers.joint:
            copied = ids[~np.isin(ids, list(self.tokenizers.source.specials.all))]
        else:
            special = self.tokenizers.source.specials.all
            pieces = [self._copy(int(index)) for index in ids if int(index) not in special]
            copied = np.array([index for piece in pieces for index in piece], np.int32)
        parts = [self._always, copied.astype(np.int32)]
        if self._is_byte[copied].any():
            parts.append(self._bytes)
        return np.concatenate(parts)

    def _copy(self, index: int) -> tuple[int, ...]:
        """How the output spells a source piece."""
        if index not in self._copies:
            source, target = self.tokenizers.source, self.tokenizers.target
            piece = source.piece(index)
            same = target.piece_id(piece)
            spelled = target.encode([piece.strip(_MARKS)])[0] if same is None else [same]
            self._copies[index] = tuple(word for word in spelled if word not in target.specials.all)
        return self._copies[index]

    @cached_property
    def _always(self) -> ShortlistArray:
        """Digits and punctuation, those that every keyboard has."""
        return self._where(lambda text: len(text) == 1 and text.isascii() and not text.isalpha())

    @cached_property
    def _bytes(self) -> ShortlistArray:
        return self._where(lambda text: _BYTE.fullmatch(text) is not None)

    @cached_property
    def _is_byte(self) -> npt.NDArray[np.bool_]:
        is_byte = np.zeros(self.tokenizers.target.vocab_size, np.bool_)
        is_byte[self._bytes] = True
        return is_byte

    def _where(self, wanted: Callable[[str], bool]) -> ShortlistArray:
        target = self.tokenizers.target
        texts = (target.piece(index).strip(_MARKS) for index in range(target.vocab_size))
        special = target.specials.all
        safe = [n for n, text in enumerate(texts) if n not in special and wanted(text)]
        return np.array(safe, np.int32)
