"""What the comparisons of heads and shortlists on one frozen model share.

A way to select gives every token of a sentence a number; one threshold for all sentences makes the
shortlists of every way equally large on average.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import FrequentTokens, LexiconTopK, Union
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray

Scores = npt.NDArray[np.float32]
Output = tuple[int, ...]
Choice = Callable[[int], Any]
"""The selector, or the shortlists, of the batch that begins at a line."""
BATCH = 64
PER_TOKEN = FREQUENT = 50
SEARCHES = {"greedy": SearchOptions(beam_size=1), "beam 5": SearchOptions(beam_size=5)}


def outputs(
    engine: NativeEngine, src_ids: Sequence[IntArray], select: Choice, search: str
) -> list[Output]:
    """Best translations."""
    best: list[Output] = []
    for start in range(0, len(src_ids), BATCH):
        batch = list(src_ids[start : start + BATCH])
        chosen = select(start)
        if isinstance(chosen, list):
            hypotheses = engine.decode(engine.encode(batch), chosen, SEARCHES[search])
        else:
            hypotheses = engine.translate(batch, chosen, SEARCHES[search])
        best += [first.tokens for first, *_ in hypotheses]
    return best


def head_logits(engine: NativeEngine, src_ids: Sequence[IntArray]) -> Scores:
    """Of the head, (N, V)."""
    starts = range(0, len(src_ids), BATCH)
    rows = [engine.bow_logits(engine.encode(src_ids[at : at + BATCH])) for at in starts]
    return np.concatenate(rows).astype(np.float32, copy=False)


def top_of(lexicon: Lexicon, per_token: int = PER_TOKEN) -> Union:
    """The best of each source token, and the most frequent tokens."""
    frequent = FrequentTokens.from_counts(lexicon.target_counts, FREQUENT)
    return Union((LexiconTopK(lexicon, per_token), frequent))


def static_shortlists(
    engine: NativeEngine, lexicon: Lexicon, src_ids: Sequence[IntArray]
) -> list[Shortlist]:
    """As Marian and Bergamot make them: of a vocabulary for both sides, the source's tokens too."""
    plan, eos = top_of(lexicon).plan(), engine.config.eos
    shared = lexicon.src_vocab_size == lexicon.tgt_vocab_size
    chosen = []
    for start in range(0, len(src_ids), BATCH):
        batch = src_ids[start : start + BATCH]
        for shortlist, ids in zip(plan.select(engine.encode(batch)), batch, strict=True):
            copies = ids if shared else ids[:0]
            chosen.append(Shortlist.of(np.concatenate([shortlist.ids, copies]), eos))
    return chosen


def mean_size(shortlists: Sequence[Shortlist]) -> float:
    """Of their numbers of tokens."""
    return float(np.mean([len(shortlist) for shortlist in shortlists]))


def threshold(scores: Scores, size: float, eos: int) -> float:
    """What a token's number must reach for shortlists of a mean size, EOS in each."""
    flat = np.delete(scores, eos, axis=1).ravel()
    count = int((size - 1) * len(scores))
    return float(np.partition(flat, len(flat) - count)[len(flat) - count])


def above(scores: Scores, least: float, eos: int) -> list[Shortlist]:
    """Shortlists of the tokens that reach a threshold."""
    return [Shortlist.of(np.flatnonzero(row >= least), eos) for row in scores]


def cut(scores: Scores, size: float, eos: int) -> list[Shortlist]:
    """Shortlists of a mean size, from one threshold for all sentences."""
    return above(scores, threshold(scores, size, eos), eos)


def with_bonus(logits: Scores, shortlists: Sequence[Shortlist], bonus: float) -> Scores:
    """The same log-odds more for every token that another shortlist has."""
    raised = logits.copy()
    for row, shortlist in zip(raised, shortlists, strict=True):
        row[shortlist.ids] += bonus
    return raised
