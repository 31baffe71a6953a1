"""Names that a translation lost: asked for once more.

Where a name is gone, the line is translated again with a familiar one (sieve.repair.stand_ins), and
that translation is taken if it came through. The text changes, nothing else: what the model wrote
stays that of the line as it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from sieve.repair.draft import Draft
from sieve.repair.names import Names
from sieve.repair.stand_ins import NAMES, Masked, masked, occurrences
from sieve.repair.step import Line, Retry, Step, Trait


@dataclass(frozen=True)
class LostWords(Step):
    """Retries lines whose translation lost a name."""

    names: Names
    # for one best translation of a whole line, whose words are nobody's wish
    unsuited: ClassVar[frozenset[Trait]] = frozenset(
        ("alignment", "n-best", "prefix", "samples", "stand-ins", "words")
    )

    def after(self, line: Line, draft: Draft, state: None) -> Draft | Retry:
        """The draft, or a retry where it lacks something."""
        lost = set(self.names.lost(line.text, draft.text))
        return self._attempt(line, draft, lost, 0) if lost else draft

    def _attempt(self, line: Line, draft: Draft, lost: set[str], attempt: int) -> Draft | Retry:
        """The next retry; the draft as it is where there are no more."""
        spans = occurrences(line.text, lost)
        for number, family in enumerate(NAMES[attempt:], attempt + 1):
            standing = masked(line.text, spans, family, draft.text)
            if standing is not None:
                retried = replace(line, text=standing.text, traits=line.traits | {"stand-ins"})
                return Retry(retried, partial(self._taken, line, draft, (standing, number)))
        return draft

    def _taken(
        self, line: Line, draft: Draft, asked: tuple[Masked, int], answer: Draft | None
    ) -> Draft | Retry:
        """The draft with the text of a second translation, if that lost less."""
        standing, attempt = asked
        lost = set(self.names.lost(line.text, draft.text))
        restored = None if answer is None else standing.restored(answer, "lost words")
        if restored is not None:
            text = self.names.put_right(line.text, Draft(restored.text)).text
            if set(self.names.lost(line.text, text)) < lost:  # fewer of them, and no others
                return draft.replaced(0, len(draft.text), text, "lost words")
        return self._attempt(line, draft, lost, attempt)
