"""The order in which lines teach a head most: those with rare tokens first. Knows no model."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from sieve.log import progress
from sieve.tokenize.tokenizer import Tokenizer
from sieve.tokenize.vocabulary import IntArray

_BATCH = 2000


def rarest_first(lines: Sequence[str], tokenizer: Tokenizer) -> npt.NDArray[np.int64]:
    """Rows of lines `by_coverage` of their tokens."""
    ids: list[IntArray] = []
    bar: tqdm[None] = progress(total=len(lines), unit="lines", label="reading")
    with bar:
        for start in range(0, len(lines), _BATCH):
            ids += map(np.unique, tokenizer.encode(list(lines[start : start + _BATCH])))
            bar.update(len(ids) - bar.n)
    return by_coverage(ids)


def by_coverage(sentences: Sequence[IntArray | Sequence[int]]) -> npt.NDArray[np.int64]:
    """Rows so that any first part of them has as many of each token as it can.

    A row's rank is the least, over its tokens, of the number of rows before it that have the token:
    rank 0 is the first with some token, and the rows of rank below n hold every token n times if
    there are as many. Rows of one rank keep their order.

    Args:
        sentences: The tokens of each row; rows without tokens come last.
    """
    unique = [np.unique(ids) for ids in sentences]
    tokens = np.concatenate([*unique, np.zeros(0, np.int64)])
    order = np.argsort(tokens, kind="stable")
    ordered = tokens[order]
    before = np.empty(len(tokens), np.int64)
    before[order] = np.arange(len(tokens)) - np.searchsorted(ordered, ordered)
    lengths = np.array([len(ids) for ids in unique], np.int64)
    ranks = np.full(len(unique), len(unique), np.int64)
    filled = np.flatnonzero(lengths)
    begins = (np.cumsum(lengths) - lengths)[filled]
    if len(filled):
        ranks[filled] = np.minimum.reduceat(before, begins)
    return np.argsort(ranks, kind="stable")
