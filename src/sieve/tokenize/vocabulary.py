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

    @property
    def all(self) -> frozenset[int]:
        """The ids that stand for no text."""
        ids = (self.pad, self.start, self.eos, self.unk)
        return frozenset(index for index in ids if index is not None)

    def ended(self, ids: Sequence[int] | IntArray) -> IntArray:
        """These ids and EOS behind them."""
        return np.array([*ids, self.eos])


OWN = Specials()
"""Of the models that Sieve trains."""
