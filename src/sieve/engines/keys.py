"""A number for each sentence that its random draws come from: seed and source alone decide."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sieve.tokenize.vocabulary import IntArray


def sentence_keys(src_ids: Sequence[IntArray], seed: int) -> npt.NDArray[np.int64]:
    """(B,) a 32-bit number for each sentence, from the seed and its own ids."""
    keys = []
    for ids in src_ids:
        content = np.asarray([seed, *ids], dtype="<i8").tobytes()
        keys.append(int.from_bytes(hashlib.blake2b(content, digest_size=4).digest(), "little"))
    return np.array(keys, dtype=np.int64)
