"""Special ids: those that Sieve's own tokenizers assign, and those of any model as a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

PAD, BOS, EOS, UNK = 0, 1, 2, 3
"""What Sieve's own tokenizers assign; an imported model has its own (`Specials`)."""
SPECIAL_PIECES = ("<pad>", "<s>", "</s>", "<unk>")
"""Names of ids 0 to 3. No tokenizer ever produces them from text, UNK of Moses + BPE excepted."""

IntArray = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Specials:
    """The special ids of a model."""

    pad: int | None = PAD
    start: int | None = BOS
    """What a translation starts from; None where that is a vector of zeros."""
    eos: int = EOS
    unk: int | None = UNK
    source_prefix: tuple[int, ...] = ()
    """Ids before every source sentence."""
    source_eos: bool = True
    """Whether a source sentence ends in EOS."""

    @property
    def all(self) -> frozenset[int]:
        """The ids that stand for no text."""
        ids = (self.pad, self.start, self.eos, self.unk)
        return frozenset(index for index in ids if index is not None)

    @property
    def first(self) -> int:
        """The id at the place of the start; where that is a vector of zeros, nobody reads it."""
        return self.eos if self.start is None else self.start

    @property
    def fill(self) -> int:
        """What fills up batches; -1, which is no id, where a model has none of its own."""
        return -1 if self.pad is None else self.pad

    def source_ids(self, ids: Sequence[int] | IntArray) -> IntArray:
        """A source sentence as the encoder reads it."""
        return np.array([*self.source_prefix, *ids, *[self.eos] * self.source_eos], np.int64)


OWN = Specials()
"""Of the models that Sieve trains."""
