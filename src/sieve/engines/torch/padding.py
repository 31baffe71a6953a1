"""Sentences of several lengths as one array."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sieve.tokenize.vocabulary import PAD, IntArray


def pad(sentences: Sequence[Sequence[int] | IntArray], width: int = 1) -> npt.NDArray[np.int64]:
    """(B, T) with PAD behind each sentence; T is the longest, `width` at least."""
    longest = max(map(len, sentences), default=1)
    padded = np.full((len(sentences), max(width, longest)), PAD, np.int64)
    for row, ids in zip(padded, sentences, strict=True):
        row[: len(ids)] = ids
    return padded
