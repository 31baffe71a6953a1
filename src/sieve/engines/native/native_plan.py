"""A plan and ragged rows in the terms of the C++ core: plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.selection.bonus import Bonus
from sieve.selection.plan import Plan, Votes
from sieve.tokenize.vocabulary import IntArray

Ragged = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]


def native_plan(plan: Plan, src_ids: Sequence[IntArray], eos: int) -> dict[str, Any]:
    """A plan that asks no engine, for these sentences; all tokens need neither head nor list."""
    votes = None if plan.everything else plan.votes
    words = None if plan.everything else plan.listed(src_ids, eos)
    return {
        "everything": plan.everything,
        "cuts": None if votes is None else votes.cuts(src_ids),
        "least": 0 if votes is None else votes.least,
        "bonuses": None if votes is None else _bonuses(votes.bonuses_of(src_ids)),
        "candidates": None if votes is None else _candidates(votes, src_ids, eos),
        "tokens": None if words is None else ragged(words),
        "include": ragged([plan.include])[0],
        "exclude": ragged([plan.exclude])[0],
    }


def _candidates(votes: Votes, src_ids: Sequence[IntArray], eos: int) -> Ragged | None:
    return None if votes.among is None else ragged(votes.candidates_of(src_ids, eos))


def _bonuses(bonuses: Sequence[Bonus]) -> tuple[Ragged, npt.NDArray[np.float32]] | None:
    """Ids and the values of all, one sentence behind the other."""
    if not bonuses:
        return None
    return ragged([bonus.ids for bonus in bonuses]), np.concatenate([b.values for b in bonuses])


def ragged(rows: Sequence[Sequence[int] | IntArray]) -> Ragged:
    """Rows one behind the other, and where each begins."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    ids = np.concatenate([np.asarray(row) for row in rows]) if len(rows) else np.zeros(0)
    narrow = np.ascontiguousarray(ids, np.int32)
    if not np.array_equal(narrow, ids):
        raise ValueError(
            f"got ids from {ids.min()} to {ids.max()}, expected whole numbers below 2**31"
        )
    return narrow, offsets
