"""Search options in the terms of the C++ core: numbers and plain arrays. Needs no engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sieve.engines.keys import sentence_keys
from sieve.engines.native.native_plan import ragged
from sieve.engines.options import SearchOptions
from sieve.tokenize.vocabulary import IntArray


def search_arguments(
    src_ids: Sequence[IntArray],
    options: SearchOptions,
    prefixes: Sequence[Sequence[int]] | None,
    forced_start: Sequence[int] = (),
) -> dict[str, Any]:
    """What a search needs to know beside a plan.

    Args:
        src_ids: The sentences.
        options: For all of them.
        prefixes: What each translation begins with, if anything.
        forced_start: Tokens that every translation of this model begins with.
    """
    if forced_start:
        prefixes = [(*forced_start, *prefix) for prefix in prefixes or [()] * len(src_ids)]
    return _for_all(options) | _by_sentence(src_ids, options, prefixes)


def _for_all(options: SearchOptions) -> dict[str, Any]:
    sampling = options.sampling
    return {
        "rows": options.rows,
        "n_best": options.n_best,
        "length_penalty": options.length_penalty,
        "stop_first": options.stop == "first",
        "sampling": sampling is not None,
        "temperature": sampling.temperature if sampling else 1.0,
        "top_k": min(sampling.top_k, 2**31) if sampling else 0,
        "alignment": options.alignment,
        "lossless": options.lossless,
        "blocked": [
            (list(sequence.tokens), sequence.at_word_start) for sequence in options.blocked
        ],
        "open_ids": list(options.open_ids) if options.blocked else [],
    }


def _by_sentence(
    src_ids: Sequence[IntArray],
    options: SearchOptions,
    prefixes: Sequence[Sequence[int]] | None,
) -> dict[str, Any]:
    """The longest translation, random key and prefix of each."""
    keys = np.zeros(0, np.int64)
    if options.sampling is not None:
        keys = sentence_keys(src_ids, options.sampling.seed)
    return {
        "limits": np.array([options.max_length(max(1, len(ids))) for ids in src_ids], np.int64),
        "keys": keys,
        "prefixes": ragged(prefixes) if prefixes is not None and any(map(len, prefixes)) else None,
    }
