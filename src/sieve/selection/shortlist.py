"""The output tokens that a sentence may use: a value, never a state.

Ids are those of the whole vocabulary; no engine's own numbering or padding ever shows here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.tokenize.vocabulary import EOS

Ids = Sequence[int] | npt.NDArray[Any]
ShortlistArray = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Shortlist:
    """An immutable, sorted, unique array of output token ids that always holds EOS."""

    ids: ShortlistArray
    """(S,) read-only. Use `Shortlist.of` for ids that are not sorted yet."""
    eos: int = EOS
    """The id that ends a translation; it belongs to every shortlist."""
    full: bool = field(default=False, kw_only=True)
    """Whether these are all tokens of the vocabulary, so that an engine need not gather rows."""

    def __post_init__(self) -> None:
        ids = self.ids
        if ids.dtype != np.int32 or ids.ndim != 1 or not len(ids):
            raise ValueError(f"shortlist of {ids.dtype} {ids.shape}, expected int32 (S,), S > 0")
        if ids[0] < 0 or not bool(np.all(ids[1:] > ids[:-1])):
            raise ValueError("shortlist ids must be sorted, unique and not negative")
        if self.eos not in self:
            raise ValueError("a shortlist must hold EOS, or translations could not end")
        ids.flags.writeable = False

    @classmethod
    def of(cls, ids: Ids, eos: int = EOS) -> "Shortlist":
        """The shortlist of these ids, in any order and with repetitions, and EOS."""
        words = np.union1d(np.asarray(ids, dtype=np.int32), np.int32(eos))
        return cls(words.astype(np.int32), eos)

    @classmethod
    def everything(cls, vocab_size: int, eos: int = EOS) -> "Shortlist":
        """All tokens of the vocabulary."""
        return cls(np.arange(vocab_size, dtype=np.int32), eos, full=True)

    def with_tokens(self, ids: Ids) -> "Shortlist":
        """This shortlist and these tokens; itself where it has them all."""
        if self.full or all(word in self for word in ids):
            return self
        words = np.concatenate([self.ids, np.asarray(ids, dtype=np.int32)])
        return Shortlist.of(words, self.eos)

    def without(self, ids: Ids) -> "Shortlist":
        """This shortlist less these tokens; EOS always stays."""
        drop = np.setdiff1d(np.asarray(ids, dtype=np.int32), np.int32(self.eos))
        kept = np.setdiff1d(self.ids, drop, assume_unique=True)
        return self if len(kept) == len(self) else Shortlist(kept, self.eos)

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, word: object) -> bool:
        place = int(np.searchsorted(self.ids, word))  # type: ignore[call-overload]
        return place < len(self.ids) and bool(self.ids[place] == word)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shortlist) and np.array_equal(self.ids, other.ids)

    def __hash__(self) -> int:
        return hash(self.ids.tobytes())


def shortlists_above(
    scores: npt.NDArray[np.floating[Any]],
    cuts: npt.ArrayLike,
    least: int = 0,
    eos: int = EOS,
) -> list[Shortlist]:
    """For each row of (B, V) scores the tokens above its cut or of the `least` highest, and EOS.

    A score of −∞ is never among them. `cuts` is a number for each row, or one for all.
    """
    selected = scores > np.reshape(np.asarray(cuts, scores.dtype), (-1, 1))
    least = min(least, scores.shape[1])
    for row in np.flatnonzero(selected.sum(axis=1) < least):
        lowest = np.partition(scores[row], -least)[-least]
        selected[row] = (scores[row] >= lowest) & (scores[row] > -np.inf)
    selected[:, eos] = True
    words = np.nonzero(selected)[1].astype(np.int32)
    return shortlists_of_rows(words, selected.sum(axis=1), scores.shape[1], eos)


def shortlists_of_rows(
    words: ShortlistArray, sizes: npt.NDArray[Any], vocab_size: int, eos: int = EOS
) -> list[Shortlist]:
    """Shortlists of sorted tokens that stand one sentence behind the other."""
    ends = np.cumsum(sizes).tolist()
    return [
        Shortlist(np.ascontiguousarray(words[start:end]), eos, full=end - start == vocab_size)
        for start, end in zip([0, *ends], ends, strict=False)
    ]
