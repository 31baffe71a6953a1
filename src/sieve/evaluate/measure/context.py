"""What context is worth to the head (paper, table 6 and figure 5).

With context the head sees the whole sentence; without, every word of it on its own (its pieces
together, and the end), and the union of what these select. A segment counts as reached when all
the tokens of its idiom are in the shortlist. At the same λ single words give larger sets than
sentences: they are measured once more with one threshold whose sets are as large on average.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.engines.engine import Engine, FloatArray
from sieve.evaluate.measure.idioms import IN_REFERENCE, IN_SENTENCE, IdiomSet
from sieve.evaluate.measure.probes import HeadAnswers
from sieve.selection.selectors import log_odds
from sieve.tokenize.tokenizer import Tokenizer
from sieve.tokenize.vocabulary import IntArray
from sieve.tokenize.words import word_spans
from sieve.translate.translator import Translator

THRESHOLDS = (0.9, 0.99)
EXAMPLES = 20
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Example:
    """A segment that is reached with context only."""

    source: str
    idiom: str
    translation: str
    only_in_context: tuple[str, ...]
    """Pieces that no word on its own selects."""


@dataclass(frozen=True)
class ContextRow:
    """Shares of segments all of whose idiom tokens are in the shortlist."""

    test: str
    scope: str
    threshold: float
    segments: int
    context: float
    no_context: float
    only_context: float
    only_no_context: float
    mean_size: float
    """Tokens in a shortlist, with context."""
    mean_size_no_context: float
    no_context_at_size: float
    """As `no_context` and the next two, with sets of the size that context has."""
    only_context_at_size: float
    only_no_context_at_size: float
    examples: tuple[Example, ...]


def measure_context(
    translator: Translator,
    idiom_set: IdiomSet,
    thresholds: Sequence[float] = THRESHOLDS,
    done: Callable[[int], object] = lambda number: None,
) -> list[ContextRow]:
    """The comparison for each threshold, with all idiom tokens and with those in the reference."""
    translator.resources.need_threshold()
    probe, _ = idiom_set.probes(translator.tokenizers)
    source, engine = translator.tokenizers.source, translator.engine
    shape = len(probe.src_ids), engine.vocab_size
    in_sentence, alone = np.empty(shape, np.float32), np.empty(shape, np.float32)
    for row, src_ids in enumerate(probe.src_ids):
        in_sentence[row] = HeadAnswers(engine, [src_ids]).logits[0]
        alone[row] = _without_context(engine, source, src_ids)
        done(1)
    for logits in (in_sentence, alone):
        logits[:, engine.specials.eos] = np.inf  # in every shortlist
    rows = []
    for scope in (IN_SENTENCE, IN_REFERENCE):
        for threshold in thresholds:
            odds = np.float32(log_odds(threshold))
            cuts = odds, odds, _cut(alone, float((in_sentence > odds).sum()))
            reached = _Reached.of(probe.needed[scope], (in_sentence, alone, alone), cuts)
            rows.append(_row(translator, idiom_set, (scope, threshold), reached))
    return rows


def _cut(logits: FloatArray, number: float) -> np.float32:
    """The threshold that so many values are above."""
    place = max(0, logits.size - int(number) - 1)
    threshold: np.float32 = np.partition(logits, place, axis=None)[place]
    return threshold


@dataclass(frozen=True, eq=False)
class _Reached:
    """With context, without, and without in sets as large."""

    segments: tuple[tuple[int, IntArray, tuple[BoolArray, ...]], ...]
    """Row, tokens needed and which of them are selected."""
    sizes: tuple[float, ...]

    @classmethod
    def of(
        cls,
        needed: Sequence[IntArray],
        logits: Sequence[FloatArray],
        cuts: Sequence[np.float32],
    ) -> "_Reached":
        """Of all segments that need anything."""
        selected = [values > cut for values, cut in zip(logits, cuts, strict=True)]
        return cls(
            tuple(
                (row, tokens, tuple(tokens_in[row, tokens] for tokens_in in selected))
                for row, tokens in enumerate(needed)
                if len(tokens)
            ),
            tuple(float(tokens_in.sum(1).mean()) for tokens_in in selected),
        )


def _without_context(engine: Engine[Any], tokenizer: Tokenizer, src_ids: IntArray) -> FloatArray:
    """The highest logit of each output token over the words of a sentence taken one by one (V,)."""
    ids, special = src_ids.tolist(), tokenizer.specials
    spans = [span for span in word_spans(tokenizer, ids) if ids[span[0]] not in special.all]
    words = [special.source_ids([ids[place] for place in span]) for span in spans]
    highest: FloatArray = HeadAnswers(engine, words or [src_ids]).logits.max(axis=0)
    return highest


def _row(
    translator: Translator, idiom_set: IdiomSet, setting: tuple[str, float], reached: _Reached
) -> ContextRow:
    complete = [[hits.all() for hits in ways] for _, _, ways in reached.segments]
    context, alone, at_size = np.array(complete, bool).reshape(-1, 3).T
    segments = {
        "context": context,
        "no_context": alone,
        "only_context": context & ~alone,
        "only_no_context": alone & ~context,
        "no_context_at_size": at_size,
        "only_context_at_size": context & ~at_size,
        "only_no_context_at_size": at_size & ~context,
    }
    shares = {name: float(hits.mean()) if len(hits) else 0.0 for name, hits in segments.items()}
    piece = translator.tokenizers.target.piece
    examples = [
        Example(
            idiom_set.pairs.sources[row],
            idiom_set.idioms[row],
            idiom_set.translations[row],
            tuple(piece(int(index)) for index in needed[in_sentence & ~words]),
        )
        for row, needed, (in_sentence, words, _) in reached.segments
        if in_sentence.all() and not words.all()
    ]
    return ContextRow(
        idiom_set.name,
        setting[0],
        setting[1],
        len(reached.segments),
        mean_size=reached.sizes[0],
        mean_size_no_context=reached.sizes[1],
        examples=tuple(examples[:EXAMPLES]),
        **shares,
    )
