"""The cheap way to ask a selection head: a lexicon proposes tokens, the head decides among them.

The head's products shrink to the rows of these tokens. What the lexicon does not propose, the head
cannot choose. Asks no engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sieve.selection.lexicon import Lexicon
from sieve.selection.shortlist import ShortlistArray
from sieve.tokenize.vocabulary import IntArray


@dataclass(frozen=True)
class LexiconCandidates:
    """The k best tokens of each source token, and the k most frequent ones."""

    lexicon: Lexicon
    k: int

    def __call__(self, src_ids: Sequence[IntArray]) -> list[ShortlistArray]:
        """The candidates of each sentence, ascending."""
        return [np.union1d(self.lexicon.top_k(ids, self.k), self._frequent) for ids in src_ids]

    def __str__(self) -> str:
        return f"among:{self.k}"

    @cached_property
    def _frequent(self) -> npt.NDArray[np.int32]:
        counts = self.lexicon.target_counts.astype(np.int64)
        return np.argsort(-counts, kind="stable")[: self.k].astype(np.int32)
