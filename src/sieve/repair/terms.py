"""Translations that can use, or must use, the words of a glossary.

Targets of entries that a line has are made reachable. To force one that the model did not write,
the translation is cut where its alignment reaches the source phrase, the target is put there, and
the model goes on from that beginning; so each forced target appears, in the order of the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from sieve.engines.engine import Hypothesis
from sieve.repair.draft import Draft
from sieve.repair.glossary import Glossary, Match
from sieve.repair.masks.placing import piece_ends
from sieve.repair.step import Line, Retry, Step, Trait
from sieve.repair.surface import Surface, Untranslatable
from sieve.tokenize.tokenizer import Tokenizers

_PREFIXED: frozenset[Trait] = frozenset(("prefix",))


@dataclass(frozen=True)
class _State:
    line: Line
    """As the steps inside got it."""
    matches: tuple[Match, ...]
    loud: bool
    """Whether the line was in capitals."""


@dataclass(frozen=True)
class Terms(Step):
    """Makes the targets of a glossary's entries reachable, or forces them."""

    glossary: Glossary
    forced: bool
    tokenizers: Tokenizers
    surface: tuple[Untranslatable, Surface] | None
    """Reads lines in capitals in lower case, as given beginnings need it; None to leave them."""

    def before(self, line: Line) -> tuple[Line, _State]:
        """The line with the targets of its entries among the words that may be used."""
        inner, loud = self._quiet(line)
        matches = tuple(self.glossary.find(inner.text))
        targets = tuple(sorted({match.target for match in matches}))
        if targets:
            inner = replace(
                inner, include=(*inner.include, *targets), traits=inner.traits | {"words"}
            )
        return inner, _State(inner, matches, loud)

    def _quiet(self, line: Line) -> tuple[Line, bool]:
        """The normalised line; in lower case where it is in capitals."""
        line = replace(line, text=self.tokenizers.source.normalize(line.text))
        if self.surface is not None and self.surface[0].before(line)[0].text:
            return self.surface[1].before(line)
        return line, False

    def after(self, line: Line, draft: Draft, state: _State) -> Draft | Retry:
        """The draft, or a retry for the first target that it lacks."""
        return self._next(line, state, draft, "")

    def _next(self, line: Line, state: _State, draft: Draft, begun: str) -> Draft | Retry:
        """What to do about the matches that are left, after a fixed beginning."""
        left = state.matches if self.forced and draft.hypothesis is not None else ()
        while left and left[0].target in draft.text:
            left = left[1:]
        state = replace(state, matches=left)
        if not left:
            quiet = replace(line, text=self.tokenizers.source.normalize(line.text))
            return self._loud(quiet, draft) if state.loud else draft
        guess = _begun(state.line, begun, "alignment")
        return Retry(guess, partial(self._forced, line, state, begun))

    def _loud(self, line: Line, draft: Draft) -> Draft:
        assert self.surface is not None
        return self.surface[1].after(line, draft, True)

    def _forced(self, line: Line, state: _State, begun: str, guess: Draft | None) -> Draft | Retry:
        """A retry that begins with the guess up to the first match, and its target."""
        match, inner = state.matches[0], state.line
        ends = piece_ends(self.tokenizers.source, inner.text)
        first = next((i for i, end in enumerate(ends) if end > match.start), 0)
        last = next((i for i, end in enumerate(ends) if end >= match.end), len(ends) - 1)
        kept = ""
        if guess is not None and guess.hypothesis is not None:
            kept = self._kept(guess.hypothesis, first, last)
        begun = f"{kept if len(kept) >= len(begun) else begun} {match.target}".strip()

        def then(draft: Draft | None) -> Draft | Retry:
            rest = replace(state, matches=state.matches[1:])
            return self._next(line, rest, Draft("") if draft is None else draft, begun)

        return Retry(_begun(inner, begun), then)

    def _kept(self, guess: Hypothesis, first: int, last: int) -> str:
        """What a translation says before the words of source pieces `first` to `last`."""
        pieces, places = self._pieces(guess.tokens), guess.positions
        inside = [u for u, place in enumerate(places) if first <= place <= last]
        later = [u for u, place in enumerate(places) if place > last]
        cut = min(inside) if inside else min(later, default=len(places))
        while 0 < cut < len(places) and not pieces[cut].startswith("▁"):
            cut -= 1  # never within a word
        return "".join(pieces[:cut]).replace("▁", " ").strip()

    def _pieces(self, ids: Sequence[int]) -> list[str]:
        return [self.tokenizers.target.piece(index) for index in ids]


def _begun(line: Line, prefix: str, *traits: Trait) -> Line:
    """A line whose translation has a given beginning."""
    more = line.traits.union(traits)
    return replace(line, prefix=prefix, traits=more.union(_PREFIXED) if prefix else more)
