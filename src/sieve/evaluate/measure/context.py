"""What context is worth to the head (paper, table 6 and figure 5).

With context the head sees the whole sentence; without, every word of it on its own (its pieces
together, and the end), and the union of what these select. A segment counts as reached when all
the tokens of its idiom are in the shortlist.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    scopes = (IN_SENTENCE, IN_REFERENCE)
    settings = [(scope, threshold) for scope in scopes for threshold in thresholds]
    reached: dict[tuple[str, float], list[_Reached]] = {setting: [] for setting in settings}
    sizes: dict[float, list[tuple[int, int]]] = {threshold: [] for threshold in thresholds}
    source, engine = translator.tokenizers.source, translator.engine
    eos = engine.specials.eos
    for row, src_ids in enumerate(probe.src_ids):
        both = HeadAnswers(engine, [src_ids]).logits[0], _without_context(engine, source, src_ids)
        for threshold in thresholds:
            odds = np.float32(log_odds(threshold))
            in_context, alone = (values > odds for values in both)  # (V,) each
            in_context[eos] = alone[eos] = True
            sizes[threshold].append((int(in_context.sum()), int(alone.sum())))
            for scope in scopes:
                needed = probe.needed[scope][row]
                if len(needed):
                    segment = _Reached(row, in_context[needed], alone[needed], needed)
                    reached[scope, threshold].append(segment)
        done(1)
    return [
        _row(translator, idiom_set, scope, threshold, (segments, sizes[threshold]))
        for (scope, threshold), segments in reached.items()
    ]


@dataclass(frozen=True, eq=False)
class _Reached:
    """Of one segment: which needed tokens are selected with context, and which without."""

    row: int
    in_context: Any
    alone: Any
    needed: IntArray


def _without_context(engine: Engine[Any], tokenizer: Tokenizer, src_ids: IntArray) -> FloatArray:
    """The highest logit of each output token over the words of a sentence taken one by one (V,)."""
    ids, special = src_ids.tolist(), tokenizer.specials
    spans = [span for span in word_spans(tokenizer, ids) if ids[span[0]] not in special.all]
    words = [special.source_ids([ids[place] for place in span]) for span in spans]
    highest: FloatArray = HeadAnswers(engine, words or [src_ids]).logits.max(axis=0)
    return highest


def _row(
    translator: Translator,
    idiom_set: IdiomSet,
    scope: str,
    threshold: float,
    measured: tuple[Sequence[_Reached], Sequence[tuple[int, int]]],
) -> ContextRow:
    segments, sizes = measured
    in_context = np.array([segment.in_context.all() for segment in segments], bool)
    alone = np.array([segment.alone.all() for segment in segments], bool)
    shares = (in_context, alone, in_context & ~alone, alone & ~in_context)
    piece = translator.tokenizers.target.piece
    examples = [
        Example(
            idiom_set.pairs.sources[segment.row],
            idiom_set.idioms[segment.row],
            idiom_set.translations[segment.row],
            tuple(
                piece(int(index)) for index in segment.needed[segment.in_context & ~segment.alone]
            ),
        )
        for segment in segments
        if segment.in_context.all() and not segment.alone.all()
    ]
    means = [float(np.mean(column)) for column in zip(*sizes, strict=True)]
    context, no_context, only, only_no = (
        float(share.mean()) if len(share) else 0.0 for share in shares
    )
    return ContextRow(
        idiom_set.name, scope, threshold, len(segments), context, no_context, only, only_no,
        means[0], means[1], tuple(examples[:EXAMPLES]),
    )  # fmt: skip
