"""A lexicon with random entries, for tests that need one and no alignments."""

import numpy as np

from sieve.selection.lexicon import Lexicon


def random_lexicon(words: int, entries: int = 6, seed: int = 0) -> Lexicon:
    """`entries` targets for each of so many source words, other than PAD, BOS, EOS and UNK."""
    rng = np.random.default_rng(seed)
    targets = [rng.choice(np.arange(4, words), entries, replace=False) for _ in range(words)]
    return Lexicon(
        np.arange(0, (words + 1) * entries, entries, dtype=np.int64),
        np.concatenate(targets).astype(np.int32),
        np.tile(np.arange(entries, 0, -1, dtype=np.int32), words),
        np.full(words, entries * (entries + 1) // 2, np.int64),
        np.arange(words, dtype=np.int64),
    )
