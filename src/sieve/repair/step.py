"""The shape of a repair: what it does to a line before the model and to a draft after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from sieve.repair.draft import Draft

Trait = Literal["alignment", "n-best", "prefix", "samples", "stand-ins", "words"]
"""What is special about a line: positions, several translations or samples are asked for, its
translation has a given beginning or given words, or a step has put stand-ins into it."""


@dataclass(frozen=True)
class Line:
    """A text to translate, and what holds for it alone."""

    text: str
    """Nothing where there is nothing to translate: then no model is asked."""
    traits: frozenset[Trait] = frozenset()
    prefix: str = ""
    """What its translation begins with."""
    include: tuple[str, ...] = ()
    """Words that its translation may use whatever the selection says."""
    thorough: bool = False
    """Whether to search widely and among all tokens."""
    tag: str = ""
    """What the encoder reads before the text: the target language's, in models of several."""


@dataclass(frozen=True)
class Retry:
    """A step's wish for another translation before it gives its draft."""

    line: Line
    then: Callable[[Draft | None], Draft | Retry]
    """What to do with it; None where the model wrote nothing."""


class Step(Protocol):
    """A repair. Steps lie around the model like the skins of an onion."""

    unsuited: ClassVar[frozenset[Trait]] = frozenset()
    """Lines with one of these traits pass it by."""

    def before(self, line: Line) -> tuple[Line, Any]:
        """What the steps inside and the model read instead, and what `after` must know."""
        return line, None

    def after(self, line: Line, draft: Draft, state: Any) -> Draft | Retry:
        """The draft put right.

        Args:
            line: What `before` got.
            draft: What came out of the steps inside.
            state: What `before` gave.
        """
        ...
