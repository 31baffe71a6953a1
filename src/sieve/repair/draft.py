"""A translation on its way: the text so far, and every edit that was made to it.

Edits say where a place of the model's own text went, so that nobody has to compare texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sieve.engines.engine import Hypothesis

Span = tuple[int, int]


@dataclass(frozen=True)
class Edit:
    """Characters that a step replaced; places count in the text that the edits before it left."""

    start: int
    end: int
    text: str
    step: str
    """Name of the step."""

    def shifted(self, offset: int) -> Edit:
        """The same edit in a text that begins so many characters earlier."""
        return replace(self, start=self.start + offset, end=self.end + offset)


@dataclass(frozen=True)
class Draft:
    """A text, how it came about, and the model's output that it began as."""

    text: str
    edits: tuple[Edit, ...] = ()
    hypothesis: Hypothesis | None = None
    """None for a text that no model was asked about."""
    warnings: tuple[str, ...] = ()
    """What could not be kept, a short sentence each."""

    def replaced(self, start: int, end: int, text: str, step: str) -> Draft:
        """With other characters from `start` to `end`."""
        if self.text[start:end] == text:
            return self
        edit = Edit(start, end, text, step)
        text = self.text[:start] + text + self.text[end:]
        return replace(self, text=text, edits=(*self.edits, edit))

    def warned(self, *warnings: str) -> Draft:
        """With more warnings."""
        return replace(self, warnings=(*self.warnings, *warnings)) if warnings else self

    def substituted(
        self, pattern: re.Pattern[str], text_of: Callable[[re.Match[str]], str], step: str
    ) -> Draft:
        """With every match of a pattern replaced, as by `re.sub`."""
        pairs = [(match, text_of(match)) for match in pattern.finditer(self.text)]
        draft = self
        for match, text in reversed(pairs):  # from the end, so that the places before it hold
            draft = draft.replaced(match.start(), match.end(), text, step)
        return draft


def carried(spans: Iterable[Span], edits: Sequence[Edit]) -> list[Span]:
    """Where spans of the model's own text are after edits."""
    moved = list(spans)
    for edit in edits:
        moved = [_moved(span, edit) for span in moved]
    return moved


def _moved(span: Span, edit: Edit) -> Span:
    """A span after one edit; where it begins or ends inside of what was replaced, it still does."""
    grown = len(edit.text) - (edit.end - edit.start)
    start, end = span
    if start >= edit.end:
        start += grown
    elif start > edit.start:
        start = edit.start + min(start - edit.start, len(edit.text))
    if end >= edit.end and end > edit.start:
        end += grown
    elif end > edit.start:
        end = edit.start + min(end - edit.start, len(edit.text))
    return start, max(start, end)
