"""Translations of a line from those of the sentences it was split into."""

from collections.abc import Sequence
from dataclasses import replace

from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.segment import sentences
from sieve.translate.translation import Translation


def shifted(
    found: Sequence[list[Translation]], sizes: Sequence[int], starts: Sequence[int]
) -> list[list[Translation]]:
    """Positions counted from the start of a line.

    Args:
        found: Translations of each sentence, best first.
        sizes: Source tokens of each sentence.
        starts: The first sentence of each line.
    """
    offset, result, firsts = 0, [], set(starts)
    for index, translations in enumerate(found):
        offset = 0 if index in firsts else offset + sizes[index - 1]
        result.append(
            [
                replace(one, positions=tuple(place + offset for place in one.positions))
                for one in translations
            ]
        )
    return result


def joined(
    parts: Sequence[list[Translation]], options: SearchOptions, language: str
) -> Translation | None:
    """The translation of a line from those of its sentences, rank by rank; None where none has any.

    Args:
        parts: Translations of each sentence, best first.
        options: How they were searched for.
        language: Of the translations.
    """
    parts = [found for found in parts if found]
    if not parts:
        return None
    ranked = [
        _concatenated([found[min(rank, len(found) - 1)] for found in parts], options, language)
        for rank in range(max(map(len, parts)))
    ]
    return ranked[0] if options.n_best == 1 else replace(ranked[0], n_best=tuple(ranked))


def _concatenated(
    parts: Sequence[Translation], options: SearchOptions, language: str
) -> Translation:
    if len(parts) == 1:
        return parts[0]
    scores = tuple(score for part in parts for score in part.token_scores)
    whole = Hypothesis((), scores, 0)
    return Translation(
        text=sentences.join([part.text for part in parts], language),
        score=whole.score,
        shortlist_size=max(part.shortlist_size for part in parts),
        vocab_size=parts[0].vocab_size,
        pieces=tuple(piece for part in parts for piece in part.pieces),
        token_scores=scores,
        normalized_score=whole.normalized_score(options.length_penalty),
        positions=tuple(place for part in parts for place in part.positions),
        returns=sum(part.returns for part in parts),
        confidence=min((p.confidence for p in parts if p.confidence is not None), default=None),
    )
