"""Requests to a translator and its results: plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sieve.engines.options import SearchOptions
from sieve.repair.draft import Edit
from sieve.repair.glossary import Glossary


@dataclass(frozen=True)
class Translation:
    """One translated text and how it came about."""

    text: str
    score: float
    """Log-probability over the shortlist."""
    shortlist_size: int
    """Number of tokens the search could choose from, EOS included; 0 for an empty text. For a long
    text that was split, the largest."""
    vocab_size: int
    pieces: tuple[str, ...]
    """What the model wrote, as subword pieces; repairs show in the text alone."""
    token_scores: tuple[float, ...]
    """Log-probability of each piece, and of the end unless the translation was cut."""
    normalized_score: float = 0.0
    """The score divided by length**α: what translations are compared by."""
    positions: tuple[int, ...] = ()
    """Source piece that each piece came from, on request."""
    returns: int = 0
    """How often a lossless search went back for a token that was not selected."""
    confidence: float | None = None
    """Probability (0 to 1) that a search over all tokens gives the same translation; the lowest for
    a long text that was split. None if the model is not calibrated."""
    n_best: tuple[Translation, ...] = ()
    """All requested translations, this one first; empty if only one was requested."""
    ids: tuple[int, ...] = ()
    """What the model wrote, in ids of its vocabulary, without the ends of sentences."""
    edits: tuple[Edit, ...] = ()
    """Corrections that repairs made to the model's text, in order."""


@dataclass(frozen=True)
class Request:
    """The arguments of `Translator.translate`, without the text."""

    selection: str | None = None
    """`none`, `frequent:N`, `lexicon:K`, `nvs:λ`, joined by `+`. By default `nvs` at the model's
    own threshold where it has a head, else `none`."""
    options: SearchOptions = field(default_factory=SearchOptions)
    include: tuple[str, ...] = ()
    """Words that translations may use whatever the selection says."""
    exclude: tuple[str, ...] = ()
    """Words that no translation may contain."""
    prefixes: tuple[str, ...] = ()
    """What each translation must begin with: one for each text, or none at all."""
    glossary: Glossary | None = None
    """Phrases whose translations are made reachable where a text has them."""
    force_glossary: bool = False
    """Whether these translations must appear."""
    repair: bool = True
    """Whether to correct what models do badly: names, numbers, times of day, capitals, …"""


class Runner(Protocol):
    """What translates lines: a `Translator`, or whoever puts its lines through a queue."""

    def run(self, lines: Sequence[str], request: Request) -> list[Translation]:
        """One translation for each line, in order."""
