"""How much a lexicon's token counts beside the selection head's: log-odds by its rank.

The better a token's rank in the list of any token of the sentence, the more is added to its logit.
The table is learnt (`sieve.train.fit_fusion`) and kept in config.json. Asks no engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.selection.bonus import Bonus
from sieve.selection.lexicon import Lexicon
from sieve.selection.shortlist import ShortlistArray
from sieve.tokenize.vocabulary import IntArray

EDGES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Last rank of each bucket; the best token of a list has rank 1."""
_MOST = 1_000_000
_LARGEST = 1000.0  # log-odds


@dataclass(frozen=True)
class Fusion:
    """A bonus for each bucket of ranks; beyond the last one there is none."""

    edges: tuple[int, ...]
    """Last rank of each bucket, ascending."""
    bonus: tuple[float, ...]
    """Log-odds, one for each bucket."""

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip((0, *self.edges), self.edges, strict=False))
        if not self.edges or not rising or self.edges[-1] > _MOST:
            raise ValueError(f"edges {self.edges}, expected ascending ranks from 1 on")
        if len(self.bonus) != len(self.edges) or not all(abs(b) <= _LARGEST for b in self.bonus):
            raise ValueError(
                f"bonuses {self.bonus}, expected {len(self.edges)} numbers up to {_LARGEST:g}"
            )

    @cached_property
    def by_rank(self) -> npt.NDArray[np.float32]:
        """(last edge,) the bonus of every rank, the best first."""
        return np.repeat(np.array(self.bonus, np.float32), np.diff((0, *self.edges)))

    def as_json(self) -> dict[str, Any]:
        """As it is kept in config.json."""
        bonus = [round(value, 4) for value in self.bonus]
        return {"kind": "rank", "edges": list(self.edges), "bonus": bonus}

    @classmethod
    def from_json(cls, content: object, where: str) -> Fusion:
        """Reads what `as_json` gave.

        Args:
            content: Of config.json.
            where: What to name in an error.
        """
        try:
            if not isinstance(content, Mapping) or content["kind"] != "rank":
                raise TypeError
            if any(type(edge) is not int for edge in content["edges"]):
                raise TypeError
            return cls(tuple(content["edges"]), tuple(map(float, content["bonus"])))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{where}: the bonuses of selection.fusion are damaged; run sieve calibrate "
                "--fuse again"
            ) from None


@dataclass(frozen=True)
class LexiconBonus:
    """The bonuses of each sentence."""

    lexicon: Lexicon
    fusion: Fusion

    def __call__(self, src_ids: Sequence[IntArray]) -> list[Bonus]:
        """See `sieve.selection.bonus.Bonuses`."""
        by_rank = self.fusion.by_rank
        entries = [best_ranks(self.lexicon, ids, len(by_rank)) for ids in src_ids]
        return [Bonus(targets, by_rank[ranks]) for targets, ranks in entries]


def best_ranks(
    lexicon: Lexicon, src_ids: IntArray, most: int
) -> tuple[ShortlistArray, npt.NDArray[np.int64]]:
    """The tokens that a sentence's lists begin with, ascending, and the best rank of each from 0.

    Args:
        lexicon: The lists.
        src_ids: Of the sentence.
        most: How far each list is read.
    """
    places, ranks = lexicon.top_entries(src_ids, most)
    # sorted by token, then rank: the first of each token is its best
    keys = np.sort(lexicon.targets[places].astype(np.int64) * most + ranks)
    targets, ranks = np.divmod(keys, most)
    first = np.diff(targets, prepend=-1) > 0
    return targets[first].astype(np.int32), ranks[first]
