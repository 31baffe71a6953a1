"""Short lines in capitals that may be names: tried with capital initials, too.

A line in capitals is read in lower case, which is right for sentences and wrong for names. Of up to
three words, the reading that the model is surer of is taken. Sets nothing in lower case itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from sieve.engines.engine import Hypothesis
from sieve.repair.draft import Draft
from sieve.repair.step import Line, Retry, Step, Trait

_MOST_WORDS = 3
_LEAST_LETTERS = 4
_SURER = 0.05
"""Mean log-probability of a token by which the reading as names must be better."""


@dataclass(frozen=True)
class ShoutedNames(Step):
    """Reads short lines in capitals as names where the model is surer of them."""

    unsuited: ClassVar[frozenset[Trait]] = frozenset(
        ("alignment", "n-best", "prefix", "samples", "stand-ins", "words")
    )

    def after(self, line: Line, draft: Draft, state: None) -> Draft | Retry:
        """The draft, or a retry with capital initials."""
        text = line.text
        letters = sum(map(str.isalpha, text))
        short = len(text.split()) <= _MOST_WORDS and letters >= _LEAST_LETTERS
        if not (short and text.isupper()) or draft.hypothesis is None:
            return draft
        names = " ".join(word[:1] + word[1:].lower() for word in text.split())
        return Retry(replace(line, text=names), partial(_surer, text, draft))


def _surer(text: str, draft: Draft, answer: Draft | None) -> Draft:
    """The draft, or the answer in capitals where the model is surer of that."""
    if answer is None or answer.hypothesis is None or draft.hypothesis is None:
        return draft
    if _mean(answer.hypothesis) <= _mean(draft.hypothesis) + _SURER:
        return draft
    kept = set(text.split())
    loud = " ".join(word if word in kept else word.upper() for word in answer.text.split())
    return answer.replaced(0, len(answer.text), loud, "capitals")


def _mean(hypothesis: Hypothesis) -> float:
    return hypothesis.score / max(1, len(hypothesis.token_scores))
