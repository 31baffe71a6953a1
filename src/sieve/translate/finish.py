"""Translations from what an engine wrote and the repairs made of it. Runs no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.repair.draft import Draft
from sieve.tokenize.tokenizer import Tokenizer
from sieve.translate.confidence import Confidence
from sieve.translate.estimated_quality import Quality
from sieve.translate.parts import Split, joined, shifted
from sieve.translate.translation import Translation


@dataclass(frozen=True)
class Finish:
    """How hypotheses become translations."""

    target: Tokenizer
    vocab_size: int
    options: SearchOptions
    confidence: Confidence | None
    confident: bool = True
    """Whether to say how sure a translation is."""

    def draft(self, hypothesis: Hypothesis, head: int = 0) -> Draft:
        """The model's own text; its positions are those of the text that it was made from.

        Args:
            hypothesis: What an engine wrote.
            head: How many ids the encoder read before that text.
        """
        if head:
            places = tuple(max(0, place - head) for place in hypothesis.positions)
            hypothesis = replace(hypothesis, positions=places)
        return Draft(self.target.decode([hypothesis.tokens])[0], (), hypothesis)

    def lines(
        self,
        parts: Split,
        drafts: Sequence[list[Draft]],
        source: Tokenizer,
        language: str,
        quality: Quality | None = None,
    ) -> list[Translation]:
        """The translation of each line from the drafts of its sentences.

        Args:
            parts: Lines and their sentences.
            drafts: Of each sentence, best first.
            source: Counts what positions of a second sentence are behind.
            language: Of the translations.
            quality: Says how good the best of each sentence is.
        """
        ranked = [list(map(self.translation, each)) for each in drafts]
        if quality is not None:
            ranked = _judged(quality, parts, ranked)
        if self.options.alignment:
            sizes = list(map(len, source.encode([line.text for line in parts.sentences])))
            ranked = shifted(ranked, sizes, parts.starts)
        texts = joined(ranked, parts, self.options, language)
        return [
            text or self.translation(Draft((gaps or ("",))[-1] or ""))
            for text, gaps in zip(texts, parts.gaps, strict=True)
        ]

    def translation(self, draft: Draft) -> Translation:
        """A draft with everything that is known about it."""
        hypothesis = draft.hypothesis
        if hypothesis is None:
            empty = Translation(draft.text, 0.0, 0, self.vocab_size, (), ())
            return replace(empty, edits=draft.edits, warnings=draft.warnings)
        return Translation(
            text=draft.text,
            score=hypothesis.score,
            shortlist_size=hypothesis.shortlist_size,
            vocab_size=self.vocab_size,
            pieces=tuple(map(self.target.piece, hypothesis.tokens)),
            token_scores=hypothesis.token_scores,
            normalized_score=hypothesis.normalized_score(self.options.length_penalty),
            positions=hypothesis.positions,
            returns=hypothesis.returns,
            confidence=self._confidence(hypothesis) if self.confident else None,
            ids=hypothesis.tokens,
            edits=draft.edits,
            warnings=draft.warnings,
        )

    def _confidence(self, hypothesis: Hypothesis) -> float | None:
        if self.options.lossless or hypothesis.shortlist_size == self.vocab_size:
            return 1.0
        if self.confidence is None or hypothesis.margin is None:
            return None
        return self.confidence.of(hypothesis)


def _judged(
    quality: Quality, parts: Split, ranked: Sequence[list[Translation]]
) -> list[list[Translation]]:
    """The translations of each sentence, the best of them with its quality."""
    rows = [row for row, translations in enumerate(ranked) if translations]
    sources = [parts.sentences[row].text for row in rows]
    values = quality.of(sources, [ranked[row][0] for row in rows])
    result = list(ranked)
    for row, value in zip(rows, values, strict=True):
        best, *others = ranked[row]
        result[row] = [replace(best, quality=value), *others]
    return result
