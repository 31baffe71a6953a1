"""Names and dates that a translation lost: asked for once more.

Where a name or a date is gone, the line is translated again with stand-ins
(sieve.repair.stand_ins), and that translation is taken if they came through. The text changes,
nothing else: what the model wrote stays that of the line as it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from sieve.repair.dates import dates, lost_dates, put_dates_right
from sieve.repair.draft import Draft
from sieve.repair.names import Names
from sieve.repair.stand_ins import StandIns, stand_ins
from sieve.repair.step import Line, Retry, Step, Trait

ATTEMPTS = 2
"""How often a line is translated again, each time with other stand-ins."""


@dataclass(frozen=True)
class LostWords(Step):
    """Retries lines whose translation lost a name or a date."""

    names: Names
    # for one best translation of a whole line, whose words are nobody's wish
    unsuited: ClassVar[frozenset[Trait]] = frozenset(
        ("alignment", "n-best", "prefix", "samples", "stand-ins", "words")
    )

    def after(self, line: Line, draft: Draft, state: None) -> Draft | Retry:
        """The draft, or a retry where it lacks something."""
        lost = self._lost(line.text, draft.text)
        return self._attempt(line, draft, lost, 0) if lost else draft

    def _attempt(self, line: Line, draft: Draft, lost: set[str], attempt: int) -> Draft | Retry:
        """The next retry; the draft as it is where there are no more."""
        while attempt < ATTEMPTS:
            words = _replaced(line.text, lost)
            standing = stand_ins(line.text, words, draft.text, attempt)
            attempt += 1
            if standing is not None:
                retried = replace(line, text=standing.line, traits=line.traits | {"stand-ins"})
                return Retry(retried, partial(self._taken, line, draft, (standing, attempt)))
        return draft

    def _taken(
        self, line: Line, draft: Draft, asked: tuple[StandIns, int], answer: Draft | None
    ) -> Draft | Retry:
        """The draft with the text of a second translation, if that lost less."""
        standing, attempt = asked
        lost = self._lost(line.text, draft.text)
        text = None if answer is None else standing.restored(answer.text)
        if text is not None:
            right = self.names.put_right(line.text, put_dates_right(line.text, Draft(text))).text
            if self._lost(line.text, right) < lost:  # some of them, and no others
                return draft.replaced(0, len(draft.text), right, "lost words")
        return self._attempt(line, draft, lost, attempt)

    def _lost(self, source: str, translation: str) -> set[str]:
        return {*lost_dates(source, translation), *self.names.lost(source, translation)}


def _replaced(line: str, lost: set[str]) -> list[str]:
    """What stand-ins are for, in the order of the line: lost names, and all dates if one is."""
    every = dates(line)
    wanted = lost.union(every) if lost.intersection(every) else lost
    return sorted(wanted, key=lambda word: (line.find(word), word))
