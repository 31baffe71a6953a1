"""Requests to a translator and its results: plain values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from sieve.engines.options import SearchOptions
from sieve.files import json_values
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
    quality: float | None = None
    """How good it is likely to be: about its sentence chrF, 0 to 1, without a reference; the lowest
    for a long text that was split. Only from a translator that was opened with `quality`."""
    n_best: tuple[Translation, ...] = ()
    """All requested translations, this one first; empty if only one was requested."""
    ids: tuple[int, ...] = ()
    """What the model wrote, in ids of its vocabulary, without the ends of sentences."""
    edits: tuple[Edit, ...] = ()
    """Corrections that repairs made to the model's text, in order."""
    warnings: tuple[str, ...] = ()
    """What may be wrong with the text and could not be put right, in short sentences: the number 18
    is missing."""

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """What JSON can say of it, as `sieve translate --json` does.

        Infinite scores are None; positions and n_best are there if they were asked for, warnings if
        there are any. Ids and edits are left out: they are of use to programs that have the model.
        """
        fields = asdict(self)
        for each in (fields, *fields["n_best"]):
            for name in ("ids", "edits"):
                del each[name]
        for name in ("positions", "n_best", "warnings"):
            if not fields[name]:
                del fields[name]
        plain: dict[str, Any] = json_values(fields)
        return plain

    def to_json(self) -> str:
        """The same as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


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
