"""Lines into sentences that a model can take, and translations of lines from those of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.repair.draft import Edit
from sieve.repair.step import Line, Trait
from sieve.segment import sentences
from sieve.tokenize.tokenizer import Tokenizer
from sieve.translate.translation import Request, Translation

MAX_TOKENS = 128
"""Lines of more source tokens are split into sentences; no part is longer."""


_PREFIXED: frozenset[Trait] = frozenset(("prefix",))


@dataclass(frozen=True)
class Split:
    """The sentences of several lines."""

    sentences: list[Line]
    starts: list[int]
    """The first sentence of each line, and the number of sentences."""


def split(lines: Sequence[str], request: Request, source: Tokenizer, max_tokens: int) -> Split:
    """Cuts lines into sentences; a given beginning is that of a line's first sentence.

    Args:
        lines: As they were given; blank ones have no sentence.
        request: What is asked for them.
        source: Counts tokens.
        max_tokens: Of a sentence.
    """
    traits, starts = _traits(request), [0]
    all_sentences: list[Line] = []
    for number, line in enumerate(lines):
        for text in _sentences(line, source, max_tokens):
            first = len(all_sentences) == starts[-1]
            prefix = request.prefixes[number] if first and request.prefixes else ""
            own = traits.union(_PREFIXED) if prefix else traits
            all_sentences.append(Line(text, own, prefix))
        starts.append(len(all_sentences))
    return Split(all_sentences, starts)


def _sentences(line: str, source: Tokenizer, max_tokens: int) -> list[str]:
    if not line.strip():
        return []
    if len(line) <= max_tokens:  # a token has a character at least, but for rare bytes
        return [line]
    return sentences.split(line, lambda text: len(source.encode([text])[0]), max_tokens)


def _traits(request: Request) -> frozenset[Trait]:
    """What is special about every line of a request."""
    options = request.options
    flags: dict[Trait, bool] = {
        "alignment": options.alignment,
        "n-best": options.n_best > 1,
        "samples": options.sampling is not None,
        "words": bool(request.include or request.exclude),
    }
    return frozenset(trait for trait, is_so in flags.items() if is_so)


def shifted(
    ranked: Sequence[list[Translation]], sizes: Sequence[int], starts: Sequence[int]
) -> list[list[Translation]]:
    """Positions counted from the start of a line.

    Args:
        ranked: Translations of each sentence, best first.
        sizes: Source tokens of each sentence.
        starts: The first sentence of each line.
    """
    offset, result, firsts = 0, [], set(starts)
    for index, translations in enumerate(ranked):
        offset = 0 if index in firsts else offset + sizes[index - 1]
        result.append(
            [
                replace(each, positions=tuple(place + offset for place in each.positions))
                for each in translations
            ]
        )
    return result


def joined(
    ranked: Sequence[list[Translation]],
    starts: Sequence[int],
    options: SearchOptions,
    language: str,
) -> list[Translation | None]:
    """The translation of each line from those of its sentences; None where none has any.

    Args:
        ranked: Translations of each sentence, best first.
        starts: The first sentence of each line, and the number of sentences.
        options: How they were searched for.
        language: Of the translations.
    """
    return [_line(ranked[a:b], options, language) for a, b in pairwise(starts)]


def _line(
    ranked: Sequence[list[Translation]], options: SearchOptions, language: str
) -> Translation | None:
    parts = [translations for translations in ranked if translations]
    if not parts:
        return None
    lines = [
        _concatenated([part[min(rank, len(part) - 1)] for part in parts], options, language)
        for rank in range(max(map(len, parts)))
    ]
    return lines[0] if options.n_best == 1 else replace(lines[0], n_best=tuple(lines))


def _concatenated(
    parts: Sequence[Translation], options: SearchOptions, language: str
) -> Translation:
    if len(parts) == 1:
        return parts[0]
    scores = tuple(score for part in parts for score in part.token_scores)
    joined = Hypothesis((), scores, 0)
    texts = [part.text for part in parts]
    return Translation(
        text=sentences.join(texts, language),
        score=joined.score,
        shortlist_size=max(part.shortlist_size for part in parts),
        vocab_size=parts[0].vocab_size,
        pieces=tuple(piece for part in parts for piece in part.pieces),
        token_scores=scores,
        normalized_score=joined.normalized_score(options.length_penalty),
        positions=tuple(place for part in parts for place in part.positions),
        returns=sum(part.returns for part in parts),
        confidence=min((p.confidence for p in parts if p.confidence is not None), default=None),
        ids=tuple(index for part in parts for index in part.ids),
        edits=tuple(_edits(parts, language)),
    )


def _edits(parts: Sequence[Translation], language: str) -> list[Edit]:
    """The edits of sentences as those of a line; what stands before a sentence is finished."""
    edits: list[Edit] = []
    before = ""
    for part in parts:
        start = len(sentences.join([before, part.text], language)) - len(part.text)
        edits += [edit.shifted(start) for edit in part.edits]
        before = sentences.join([before, part.text], language)
    return edits
