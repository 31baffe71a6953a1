"""Text in, text out: tokenizes, sorts into batches, asks an engine, and puts things back in order.

Knows which selections a model offers, and no engine by name: `load` picks one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from sieve.errors import ConfigError
from sieve.inference.engine import Engine, Hypothesis, SearchOptions
from sieve.selection.selectors import Resources, Selector, parse_selection
from sieve.text.tokenizer import Tokenizers
from sieve.text.vocabulary import EOS, IntArray

BATCH_TOKENS = 4096
"""Most padded source tokens in one call of the engine."""


@dataclass(frozen=True)
class Translation:
    """One translated text and how it came about."""

    text: str
    score: float
    """Log-probability over the words that were selected."""
    shortlist_size: int
    """Number of words the search could choose from, EOS included; 0 where the text was empty."""
    vocab_size: int
    pieces: tuple[str, ...]
    """The translation as subword pieces."""
    token_scores: tuple[float, ...]
    """Log-probability of each piece, and of the end unless the translation was cut."""


class Translator:
    """A model that translates text. Made by `sieve.load`."""

    def __init__(
        self,
        engine: Engine[Any],
        tokenizers: Tokenizers,
        resources: Resources,
        languages: tuple[str, str] = ("", ""),
    ) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self.resources = resources
        self.languages = languages

    @overload
    def translate(
        self,
        text: str,
        *,
        selection: str | None = None,
        threshold: float | None = None,
        options: SearchOptions | None = None,
    ) -> Translation: ...

    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        *,
        selection: str | None = None,
        threshold: float | None = None,
        options: SearchOptions | None = None,
    ) -> list[Translation]: ...

    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        *,
        selection: str | None = None,
        threshold: float | None = None,
        options: SearchOptions | None = None,
    ) -> Translation | list[Translation]:
        """Translates one text, or several in one go; the order is kept and empty ones stay empty.

        Args:
            text: A sentence, or a list of them.
            selection: `none`, `frequent:N`, `lexicon:K`, `nvs:λ`, joined by `+`. By default `nvs`
                at the model's own threshold where it has a head, else `none`.
            threshold: Short for `selection="nvs:threshold"`.
            options: How to search.
        """
        selector = self.selector(selection, threshold)
        lines = [text] if isinstance(text, str) else list(text)
        translations = self._translate(lines, selector, options or SearchOptions())
        return translations[0] if isinstance(text, str) else translations

    def selector(self, selection: str | None = None, threshold: float | None = None) -> Selector:
        """The selector that `translate` uses for these arguments."""
        if threshold is not None:
            if selection is not None:
                raise ConfigError(
                    f"got threshold {threshold} and selection '{selection}', expected one of them"
                )
            selection = f"nvs:{threshold}"
        return parse_selection(selection, self.resources)

    def _translate(
        self, lines: Sequence[str], selector: Selector, options: SearchOptions
    ) -> list[Translation]:
        empty = Translation("", 0.0, 0, self.engine.vocab_size, (), ())
        results = [empty] * len(lines)
        sources = [np.array([*ids, EOS]) for ids in self.tokenizers.source.encode(lines)]
        for rows in _batches(sources):
            found = self.engine.translate([sources[row] for row in rows], selector, options)
            for row, hypotheses in zip(rows, found, strict=True):
                results[row] = self._finish(hypotheses[0])
        return results

    def _finish(self, hypothesis: Hypothesis) -> Translation:
        target = self.tokenizers.target
        return Translation(
            text=target.decode([hypothesis.tokens])[0],
            score=hypothesis.score,
            shortlist_size=hypothesis.shortlist_size,
            vocab_size=self.engine.vocab_size,
            pieces=tuple(target.piece(token) for token in hypothesis.tokens),
            token_scores=hypothesis.token_scores,
        )


def _batches(sources: Sequence[IntArray]) -> Iterator[list[int]]:
    """Rows of similar length together; sentences without a token but EOS are left out."""
    rows = [row for row, source in enumerate(sources) if len(source) > 1]
    batch: list[int] = []
    for row in sorted(rows, key=lambda row: len(sources[row])):
        if batch and (len(batch) + 1) * len(sources[row]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
