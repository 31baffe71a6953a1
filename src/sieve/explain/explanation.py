"""Why a sentence got the tokens it got: who voted for what, and what was out of reach.

A source word's vote for an output token is the highest over its pieces, as a probability σ(z); the
word that votes highest decides. Works with any engine; a model without a head has no votes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.engines.options import SearchOptions
from sieve.errors import InputError
from sieve.selection.selectors import NeuralSelection
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.words import word_spans, word_texts
from sieve.translate.translation import Request
from sieve.translate.translator import Translator


@dataclass(frozen=True)
class System:
    """A way to select, and what it makes of the sentence."""

    selection: str
    size: int
    """Tokens it could choose from."""
    translation: str


@dataclass(frozen=True)
class ExplainedToken:
    """A piece of an output or a reference."""

    piece: str
    probability: float | None
    """That the head gives it; None without a head."""
    voter: str
    """The source word that voted for it most."""
    missing: tuple[str, ...]
    """Selections under which it cannot be reached."""


@dataclass(frozen=True)
class Text:
    """An output or a reference, token by token."""

    label: str
    tokens: tuple[ExplainedToken, ...]

    def lost(self, selection: str) -> int:
        """Tokens that cannot be reached under a selection."""
        return sum(selection in token.missing for token in self.tokens)


@dataclass(frozen=True)
class Vote:
    """An output token and how probable a source word made it."""

    piece: str
    probability: float


@dataclass(frozen=True)
class SourceWord:
    """A word of the source, and the selected tokens that it voted for more than others did."""

    text: str
    number: int
    votes: tuple[Vote, ...]
    """The most probable first, and not all where there are many."""


@dataclass(frozen=True)
class Explanation:
    """Everything there is to show about a sentence."""

    source: str
    vocab_size: int
    systems: tuple[System, ...]
    texts: tuple[Text, ...]
    threshold: float | None
    """λ that `words` were selected by; None without a head."""
    words: tuple[SourceWord, ...]


@dataclass(frozen=True)
class ExplainOptions:
    """What to explain."""

    selections: tuple[str, ...] = ("none",)
    reference: str = ""
    top: int = 8
    """Votes shown for a source word."""
    search: SearchOptions = field(default_factory=SearchOptions)


def explain(translator: Translator, source: str, options: ExplainOptions) -> Explanation:
    """Translates a sentence in every way and says what selection did to it."""
    ids = translator.tokenizers.source.encode([source])[0]
    if not ids:
        raise InputError("the sentence is empty, expected one to explain")
    src_ids = translator.tokenizers.source.specials.source_ids(ids)
    selections = dict.fromkeys(["none", *options.selections])
    translations = {
        name: translator.run([source], Request(name, options.search))[0] for name in selections
    }
    encoded = translator.engine.encode([src_ids])
    sets = {name: translator.selector(name).plan().select(encoded)[0] for name in selections}
    systems = tuple(System(name, len(sets[name]), translations[name].text) for name in selections)
    head = _Head(translator, src_ids) if translator.resources.threshold is not None else None
    texts = [("unrestricted output", list(translations["none"].ids))]
    if options.reference:
        encoded_reference = translator.tokenizers.target.encode([options.reference])[0]
        texts.append(("reference", encoded_reference))
    threshold = _threshold(translator, options.selections)
    return Explanation(
        source,
        translator.engine.vocab_size,
        systems,
        tuple(
            Text(label, tuple(_token(translator, index, head, sets) for index in indices))
            for label, indices in texts
        ),
        threshold,
        () if head is None or threshold is None else head.words(threshold, options.top),
    )


class _Head:
    """What each source word votes for, (words, V)."""

    def __init__(self, translator: Translator, src_ids: npt.NDArray[Any]) -> None:
        self._target = translator.tokenizers.target
        source = translator.tokenizers.source
        ids = src_ids.tolist()
        self.texts = word_texts(source, ids)
        engine = translator.engine
        (logits,) = engine.position_logits(engine.encode([src_ids]))  # (T, V)
        spans = [list(span) for span in word_spans(source, ids)]
        votes = np.stack([logits[span].max(axis=0) for span in spans])
        self.probabilities = 1.0 / (1.0 + np.exp(-votes.astype(np.float64)))

    def best(self, index: int) -> tuple[float, str]:
        """The highest probability of an output token, and the source word it came from."""
        place = int(self.probabilities[:, index].argmax())
        return float(self.probabilities[place, index]), self.texts[place]

    def words(self, threshold: float, top: int) -> tuple[SourceWord, ...]:
        """For each source word the selected tokens that it decided."""
        winners = self.probabilities.argmax(axis=0)  # (V,)
        highest = self.probabilities.max(axis=0)
        source_words = []
        for place, text in enumerate(self.texts):
            chosen = np.flatnonzero((winners == place) & (highest > threshold))
            order = chosen[np.argsort(-highest[chosen], kind="stable")][:top]
            votes = tuple(
                Vote(self._target.piece(int(index)), float(highest[index])) for index in order
            )
            source_words.append(SourceWord(text, len(chosen), votes))
        return tuple(source_words)


def _token(
    translator: Translator, index: int, head: _Head | None, sets: Mapping[str, Shortlist]
) -> ExplainedToken:
    probability, voter = head.best(index) if head else (None, "")
    missing = tuple(name for name, words in sets.items() if index not in words)
    return ExplainedToken(translator.tokenizers.target.piece(index), probability, voter, missing)


def _threshold(translator: Translator, selections: Sequence[str]) -> float | None:
    """The model's own λ where it, or no λ, is asked for; else the first one asked for."""
    own = translator.resources.threshold
    selectors = [translator.selector(name) for name in selections]
    asked = [selector.threshold for selector in selectors if isinstance(selector, NeuralSelection)]
    return own if own in asked or not asked else asked[0]
