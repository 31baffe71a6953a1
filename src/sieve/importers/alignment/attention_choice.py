"""Which decoder layer and heads say where a token came from: chosen by measurement.

Most models were never trained to align. Tokens that are the same in the source and in the model's
own output, once on each side (numbers, names, marks), must be aligned to each other; the attention
that does so most often is the one to ask. No reference is needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.config import ModelConfig
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.importers.forward import Array, Forward
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.tokenizer import Tokenizers, source_ids

LEAST = 20
"""Fewer tokens than these decide nothing."""
_MOST_HEADS = 4
_NOISE = 0.01
"""A smaller difference says nothing."""
_AT_ONCE = 32
"""Sentences at a time: large matrices are fast, and not too much is kept."""


@dataclass(frozen=True)
class AttentionChoice:
    """How often the chosen attention led from a token to the same token."""

    layer: int
    heads: tuple[int, ...]
    share: float
    tokens: int


def choose_alignment(
    config: ModelConfig,
    tensors: Mapping[str, Array],
    tokenizers: Tokenizers,
    sentences: Sequence[str],
) -> AttentionChoice | None:
    """The layer and heads that agree best; None where the sentences have too few such tokens.

    Args:
        config: Of the model.
        tensors: Of the model, in float32.
        tokenizers: Of the model.
        sentences: Of the source language.
    """
    least = len(tokenizers.source.specials.source_prefix) + 2
    sources = source_ids(tokenizers.source, sentences)
    sources = [source for source in sources if len(source) >= least]
    engine = NativeEngine(config, tensors, int8=False)
    rows = engine.translate(sources, FullVocabulary(), SearchOptions(beam_size=1))
    maps, answers = [], []
    forward = Forward(config, tensors)
    for start in range(0, len(sources), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        src_ids = [source.tolist() for source in sources[part]]
        tgt_ids = [list(row[0].tokens) for row in rows[part]]
        for source, target, said in zip(
            src_ids, tgt_ids, forward.forced(src_ids, tgt_ids), strict=True
        ):
            for src_place, tgt_place in _copies(tokenizers, source, target):
                maps.append(said.attention[:, :, tgt_place])
                answers.append(src_place)
    return _best(maps, answers) if len(answers) >= LEAST else None


def aligned(config: ModelConfig, chosen: AttentionChoice | None) -> ModelConfig:
    """The configuration with the chosen attention."""
    if chosen is None:
        return config
    return replace(config, alignment_layer=chosen.layer, alignment_heads=chosen.heads)


def _copies(
    tokenizers: Tokenizers, source: Sequence[int], target: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Places of tokens that are the same on both sides, once on each, and could be nothing else."""
    src = [tokenizers.source.piece(index) for index in source]
    tgt = [tokenizers.target.piece(index) for index in target]
    for place, piece in enumerate(tgt):
        text = piece.strip("▁")
        telling = text and (not text.isalpha() or (len(text) > 2 and text[0].isupper()))
        if telling and src.count(piece) == 1 and tgt.count(piece) == 1:
            yield src.index(piece), place


def _best(maps: Sequence[Array], answers: Sequence[int]) -> AttentionChoice:
    """Of single heads, of the best ones of a layer together, and of all: who agrees most."""
    layers, heads = maps[0].shape[:2]
    agreements = []
    for layer in range(layers):
        single = [_share(maps, answers, layer, (head,)) for head in range(heads)]
        ranked = sorted(range(heads), key=lambda head: -single[head])
        groups = [tuple(sorted(ranked[:n])) for n in (*range(1, _MOST_HEADS + 1), heads)]
        agreements += [
            AttentionChoice(layer, group, _share(maps, answers, layer, group), len(answers))
            for group in dict.fromkeys(groups)
        ]
    best = max(agreement.share for agreement in agreements)
    equals = [agreement for agreement in agreements if agreement.share >= best - _NOISE]
    # of equals, few heads of a late layer
    return max(
        equals, key=lambda agreement: (-len(agreement.heads), agreement.layer, agreement.share)
    )


def _share(
    maps: Sequence[Array], answers: Sequence[int], layer: int, heads: Sequence[int]
) -> float:
    chosen: list[Any] = list(heads)
    hits: npt.NDArray[np.bool_] = np.array(
        [
            int(attention[layer, chosen].mean(axis=0).argmax()) == answer
            for attention, answer in zip(maps, answers, strict=True)
        ]
    )
    return round(float(hits.mean()), 4)
