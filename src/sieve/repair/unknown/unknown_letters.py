"""Words, signs and emoji that a vocabulary lacks: read in other characters, and put back.

Where what was read instead is in the translation, the original takes its place; a name that stood
for a word of another script is also known by its alignment, and emoji follow the word before them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sieve.repair.draft import Draft
from sieve.repair.step import Line, Step, Trait
from sieve.repair.surface import letter_script
from sieve.repair.unknown.folding import applied, fold
from sieve.repair.unknown.line_reading import Reading
from sieve.repair.unknown.restoring import STEP, Change, Target, changed, restoring_changes
from sieve.tokenize.tokenizer import Tokenizer

_POSITIONS: frozenset[Trait] = frozenset(("alignment",))
_READ_BY_ALL = ("LATIN", "GREEK")
"""Scripts of names and formulas, which models copy wherever they know the letters."""
_FIRST_EMOJI = "\u2300"
_UNASSIGNED = "\U0010fffd"
"""A character that no vocabulary has."""


@dataclass(frozen=True)
class _State:
    reading: Reading | None
    """None where only the given beginning was changed."""
    begun: str
    """The given beginning as the model got it."""


@dataclass(frozen=True)
class UnknownLetters(Step):
    """Brings characters through that the source vocabulary lacks."""

    source: Tokenizer
    target: Tokenizer
    script: str | None
    """Of the source language; letters of others pass a model by though it may have them."""

    def before(self, line: Line) -> tuple[Line, _State | None]:
        """The line, and what its translation begins with, in characters that are known."""
        reading, begun = None, line.prefix
        if not self._reads(line.text):
            reading = Reading.of(line.text, fold(line.text, self._reads))
            line = replace(line, text=reading.text, traits=line.traits | _POSITIONS)
        if begun and not knows(self.target, begun):
            begun = applied(begun, fold(begun, lambda text: knows(self.target, text)))
            line = replace(line, prefix=begun)
        elif reading is None:
            return line, None
        return line, _State(reading, begun)

    def after(self, line: Line, draft: Draft, state: _State | None) -> Draft:
        """The translation with the line's own characters."""
        hypothesis = draft.hypothesis
        if state is None:
            return draft
        if hypothesis is None:  # there was nothing else in the line
            return draft.replaced(0, len(draft.text), line.text, STEP)
        changes: list[Change] = []
        if state.begun != line.prefix and draft.text.startswith(state.begun):
            changes.append(((0, len(state.begun)), line.prefix))
        if state.reading is None:
            return changed(draft, changes)
        sizes = state.reading.pieces(self.source)
        groups = state.reading.groups_at(hypothesis.positions, sizes)
        target = Target(draft.text, groups, _ends(self.target, hypothesis.tokens, draft.text))
        changes += restoring_changes(target, state.reading)
        positions: tuple[int, ...] = ()
        if "alignment" in line.traits:
            positions = state.reading.original(hypothesis.positions, sizes, self.source)
        return replace(changed(draft, changes), hypothesis=replace(hypothesis, positions=positions))

    def _reads(self, text: str) -> bool:
        """Whether the model can make something of a text."""
        strange = not text.isascii() and any(map(self._is_foreign, text))
        return not strange and knows(self.source, text)

    def _is_foreign(self, character: str) -> bool:
        if character.isalpha() and self.script is not None:
            return letter_script(character) not in (self.script, *_READ_BY_ALL)
        return character >= _FIRST_EMOJI and unicodedata.category(character) == "So"


def knows(tokenizer: Tokenizer, text: str) -> bool:
    """Whether a tokenizer can spell a text."""
    return tokenizer.specials.unk not in tokenizer.encode([text])[0]


def can_lack(tokenizer: Tokenizer) -> bool:
    """Whether there are characters that a tokenizer cuts off: no bytes, and pieces with spaces."""
    return tokenizer.piece_id("▁") is not None and not knows(tokenizer, _UNASSIGNED)


def _ends(tokenizer: Tokenizer, ids: Sequence[int], text: str) -> list[int]:
    """Where each piece of a translation ends."""
    prefixes = tokenizer.decode([list(ids[: count + 1]) for count in range(len(ids))])
    return [min(len(prefix), len(text)) for prefix in prefixes]
