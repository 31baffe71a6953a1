"""A text as the sentences that a model translates, and the way back.

Line ends, indents, tabs and lines without a letter stay as they are; between tabs stand cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sieve.segment import sentences

Length = Callable[[str], int]

_CELL = re.compile(r"[^\t]*\t|[^\t]+", re.S)


@dataclass(frozen=True)
class _Line:
    """Sentences between what stays."""

    before: str
    number: int
    """Of sentences; 0 for a line that stays as it is."""
    after: str


@dataclass(frozen=True)
class TextLayout:
    """The sentences of a text, and what is between them."""

    sentences: tuple[str, ...]
    lines: tuple[_Line, ...]

    @property
    def gaps(self) -> tuple[str | None, ...]:
        """What stands before each sentence, and behind the last; None inside a line."""
        gaps: list[str | None] = []
        waiting = ""
        for line in self.lines:
            waiting += line.before
            if line.number:
                gaps += [waiting, *[None] * (line.number - 1)]
                waiting = line.after
        return (*gaps, waiting)

    def filled(self, translations: Sequence[str], language: str) -> str:
        """The text with its sentences translated."""
        parts, start = [], 0
        for line in self.lines:
            sentences_of_line = list(translations[start : start + line.number])
            parts += [line.before, sentences.join(sentences_of_line, language), line.after]
            start += line.number
        return "".join(parts)


def _cells(line: str) -> list[str]:
    """What stands between tabs, each with the tab behind it."""
    return _CELL.findall(line) if "\t" in line else [line]


def laid_out(text: str, length: Length, limit: int) -> TextLayout:
    """Takes a text apart.

    Args:
        text: Any number of lines.
        length: Number of tokens of a text.
        limit: Most tokens of a sentence; longer ones are cut.
    """
    texts: list[str] = []
    lines = []
    for full_line in (cell for line in text.splitlines(keepends=True) for cell in _cells(line)):
        line = full_line.strip()
        if not any(map(str.isalpha, line)):
            lines.append(_Line(full_line, 0, ""))
            continue
        # a token has a character at least, but for rare bytes
        parts = [line] if len(line) <= limit else sentences.split(line, length, limit)
        start = full_line.index(line)
        lines.append(_Line(full_line[:start], len(parts), full_line[start + len(line) :]))
        texts += parts
    return TextLayout(tuple(texts), tuple(lines))
