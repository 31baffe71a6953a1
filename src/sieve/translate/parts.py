"""Lines into sentences that a model can take, and translations of lines from those of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.repair.step import Line, Trait
from sieve.segment import sentences
from sieve.segment.layout import laid_out
from sieve.tokenize.language_tags import cut_tag
from sieve.tokenize.tokenizer import Tokenizer
from sieve.translate.translation import Request, Translation

MAX_TOKENS = 128
"""Lines of more source tokens are split into sentences; no part is longer."""


Gaps = tuple[str | None, ...]
"""What stands before each sentence of a text and behind the last; None for what the language has
between sentences. Empty for a single line."""
_PREFIXED: frozenset[Trait] = frozenset(("prefix",))


@dataclass(frozen=True)
class Split:
    """The sentences of several texts."""

    sentences: list[Line]
    starts: list[int]
    """The first sentence of each text, and the number of sentences."""
    gaps: list[Gaps]
    """Of each text."""


def split(lines: Sequence[str], request: Request, source: Tokenizer, max_tokens: int) -> Split:
    """Cuts texts into sentences; a given beginning is that of a text's first sentence.

    The tag that a text begins with is that of all its sentences.

    Args:
        lines: As they were given; blank ones have no sentence. The line ends of others stay.
        request: What is asked for them.
        source: Counts tokens.
        max_tokens: Of a sentence.
    """
    traits, starts, gaps = _traits(request), [0], list[Gaps]()
    all_sentences: list[Line] = []
    for number, line in enumerate(lines):
        tag, line = cut_tag(line, source.tags)
        texts, gaps_of_line = _sentences(line.lstrip(" ") if tag else line, source, max_tokens)
        for text in texts:
            first = len(all_sentences) == starts[-1]
            prefix = request.prefixes[number] if first and request.prefixes else ""
            own = traits.union(_PREFIXED) if prefix else traits
            all_sentences.append(Line(text, own, prefix, tag=tag))
        starts.append(len(all_sentences))
        gaps.append(gaps_of_line)
    return Split(all_sentences, starts, gaps)


def _sentences(line: str, source: Tokenizer, max_tokens: int) -> tuple[Sequence[str], Gaps]:
    def length(text: str) -> int:
        return len(source.encode([text])[0])

    if "\n" in line or "\t" in line:
        layout = laid_out(line, length, max_tokens)
        return layout.sentences, layout.gaps
    if not line.strip():
        return [], ()
    if len(line) <= max_tokens:  # a token has a character at least, but for rare bytes
        return [line], ()
    return sentences.split(line, length, max_tokens), ()


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
    parts: Split,
    options: SearchOptions,
    language: str,
) -> list[Translation | None]:
    """The translation of each text from those of its sentences; None where none has any.

    Args:
        ranked: Translations of each sentence, best first.
        parts: The sentences and what is between them.
        options: How they were searched for.
        language: Of the translations.
    """
    separator = sentences.separator(language)
    return [
        _text(ranked[start:end], _Between(gaps, separator), options)
        for (start, end), gaps in zip(pairwise(parts.starts), parts.gaps, strict=True)
    ]


@dataclass(frozen=True)
class _Between:
    """What stands between the sentences of a text."""

    gaps: Gaps
    separator: str

    def filled(self, texts: Sequence[str]) -> tuple[str, list[int]]:
        """The whole text, and where each of the texts begins in it."""
        pieces, starts, size = list[str](), list[int](), 0
        for place, text in enumerate(texts):
            gap = self.gaps[place] if self.gaps else None
            if gap is None:
                gap = self.separator if size and text else ""
            pieces += [gap, text]
            starts.append(size + len(gap))
            size += len(gap) + len(text)
        return "".join(pieces) + self.end, starts

    @property
    def end(self) -> str:
        """What stands behind the last sentence."""
        return self.gaps[-1] or "" if self.gaps else ""


def _text(
    ranked: Sequence[list[Translation]], between: _Between, options: SearchOptions
) -> Translation | None:
    most = max(map(len, ranked), default=0)
    if not most:
        return None
    texts = [
        _concatenated([part[min(rank, len(part) - 1)] if part else None for part in ranked],
                      between, options)
        for rank in range(most)
    ]  # fmt: skip
    return texts[0] if options.n_best == 1 else replace(texts[0], n_best=tuple(texts))


def _concatenated(
    sentence_parts: Sequence[Translation | None], between: _Between, options: SearchOptions
) -> Translation:
    parts = [part for part in sentence_parts if part is not None]
    if len(parts) == 1 and not between.gaps:
        return parts[0]
    scores = tuple(score for part in parts for score in part.token_scores)
    joined = Hypothesis((), scores, 0)
    text, starts = between.filled([part.text if part else "" for part in sentence_parts])
    return Translation(
        text=text,
        score=joined.score,
        shortlist_size=max(part.shortlist_size for part in parts),
        vocab_size=parts[0].vocab_size,
        pieces=tuple(piece for part in parts for piece in part.pieces),
        token_scores=scores,
        normalized_score=joined.normalized_score(options.length_penalty),
        positions=tuple(place for part in parts for place in part.positions),
        returns=sum(part.returns for part in parts),
        confidence=_lowest([part.confidence for part in parts]),
        quality=_lowest([part.quality for part in parts]),
        ids=tuple(index for part in parts for index in part.ids),
        edits=tuple(
            edit.shifted(start)
            for part, start in zip(sentence_parts, starts, strict=True)
            if part is not None
            for edit in part.edits
        ),
        warnings=tuple(warning for part in parts for warning in part.warnings),
    )


def _lowest(values: Sequence[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)
