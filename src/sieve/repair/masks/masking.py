"""Parts of a line that are not language: a model never sees them, and they all come out.

Stand-ins take the place of placeholders, addresses and code, and are replaced in the translation.
Where one is lost, the line is translated again with others, and at last without any: then the parts
go where the alignment says. Tags and emoji, without which a sentence reads the same, go there at
once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from sieve.repair.draft import Draft
from sieve.repair.masks.patterns import LinePart, parts
from sieve.repair.masks.placing import Loose, placed
from sieve.repair.masks.positions import as_of
from sieve.repair.masks.watched import lacks, watched
from sieve.repair.stand_ins import CODES, Masked
from sieve.repair.step import Line, Retry, Step, Trait
from sieve.tokenize.tokenizer import Tokenizers

NAME = "masks"
"""Of the step, in edits."""
_ONE_BEST: frozenset[Trait] = frozenset(("n-best", "prefix", "samples"))
"""Lines that are not asked for again for the sake of a code."""
_SIGNS = re.compile(r"\*|([*~^=#|&'])\1+")
_TAG = re.compile(r"[<\[](/?)([A-Za-z][\w:-]*)")


@dataclass(frozen=True)
class _Hidden:
    """A line without what is not language."""

    parts: tuple[LinePart, ...]
    masked: Masked
    """What the model reads: stand-ins for some parts, nothing for others."""
    loose: tuple[Loose, ...]
    """Those others."""


@dataclass(frozen=True)
class Masking(Step):
    """Keeps placeholders, markup, addresses, code, emoji and words of other scripts."""

    script: str | None
    """Of the source language."""
    tokenizers: Tokenizers

    def before(self, line: Line) -> tuple[Line, _Hidden | None]:
        """The line with stand-ins; no text where it holds nothing else."""
        of_line = tuple(parts(line.text, self.script))
        if not of_line or any(line.text[part.start : part.end] in line.prefix for part in of_line):
            return line, None
        hidden = _hidden(line.text, of_line, 0)
        asked = _asked(line, hidden)
        return (asked if _has_language(line.text, of_line) else replace(asked, text="")), hidden

    def after(self, line: Line, draft: Draft, state: _Hidden | None) -> Draft | Retry:
        """The translation with all parts, or a retry where a stand-in was lost."""
        if state is None:
            return self._complete(line, (), draft)
        if not _has_language(line.text, state.parts):
            return Draft("").replaced(0, 0, line.text, NAME)
        return self._restored(line, state, 0, draft)

    def _restored(
        self, line: Line, hidden: _Hidden, attempt: int, draft: Draft | None
    ) -> Draft | Retry:
        """A translation of the hidden line with its parts; a retry where it lost some."""
        read = hidden.masked.text
        placed_parts = placed(draft or Draft(""), read, hidden.loose, self.tokenizers, NAME)
        restored = hidden.masked.restored(placed_parts, NAME)
        if restored is not None:
            done = as_of(line, restored, hidden.parts, hidden.masked, self.tokenizers.source)
            return self._complete(line, hidden.parts, done)
        others = _hidden(line.text, hidden.parts, attempt + 1)
        return Retry(_asked(line, others), partial(self._restored, line, others, attempt + 1))

    def _complete(self, line: Line, hidden: tuple[LinePart, ...], draft: Draft) -> Draft | Retry:
        """The draft; a retry with more parts hidden where it lost a code or the like."""
        if not _ONE_BEST.isdisjoint(line.traits) or not lacks(line.text, draft.text):
            return draft
        more = (LinePart(start, end, False) for start, end in watched(line.text))
        apart = [
            new
            for new in more
            if all(new.end <= old.start or old.end <= new.start for old in hidden)
        ]
        if not apart:
            return draft
        of_line = tuple(sorted((*hidden, *apart), key=lambda part: part.start))
        others = _hidden(line.text, of_line, 0)
        return Retry(_asked(line, others), partial(self._restored, line, others, 0))


def _asked(line: Line, hidden: _Hidden) -> Line:
    read = hidden.masked.text
    inside = any(read[: loose.at].strip() and read[loose.at :].strip() for loose in hidden.loose)
    traits: frozenset[Trait] = frozenset(("alignment",) if inside else ())
    return replace(line, text=read, traits=line.traits | traits)


def _has_language(line: str, of_line: Sequence[LinePart]) -> bool:
    """Whether a line has a letter outside of its parts."""
    ends = [0, *(part.end for part in of_line)]
    starts = [*(part.start for part in of_line), len(line)]
    between = (line[end:start] for end, start in zip(ends, starts, strict=True))
    return any(c.isalpha() for text in between for c in text)


def _hidden(line: str, of_line: tuple[LinePart, ...], attempt: int) -> _Hidden:
    """A line without its parts: with stand-ins of one kind; without any after the last kind."""
    free = (word for word in CODES[attempt]() if word not in line) if attempt < len(CODES) else None
    text, behind = "", 0
    loose: list[Loose] = []
    meant: list[tuple[str, str]] = []
    for part in of_line:
        text += line[behind : part.start]
        behind = part.end
        said = line[part.start : part.end]
        if free is not None and not part.floating:
            stand_in = next(free)
            meant.append((stand_in, said))
            apart = " " if text[-1:].isalnum() else "", " " if line[behind:][:1].isalnum() else ""
            text += stand_in.join(apart)
            continue
        before, after = line[: part.start][-1:], line[behind:][:1]
        spaced = " " if before.isspace() else "", " " if after == " " else ""
        loose.append(Loose(said.join(spaced), len(text)))
        if spaced[1] and (text[-1:].isspace() or not text):
            behind += 1  # one space is left
    return _Hidden(of_line, Masked(text + line[behind:], tuple(meant)), tuple(_paired(loose)))


def _paired(loose: Sequence[Loose]) -> list[Loose]:
    """Texts of which tags know their other halves."""
    paired = list(loose)
    opened: list[tuple[str, int]] = []
    for index, text in enumerate(paired):
        tag, sign = _TAG.search(text.text), text.text.strip()
        if not (tag or _SIGNS.fullmatch(sign)) or sign.endswith("/>"):
            continue
        name = tag[2].lower() if tag else sign
        first_half = not tag[1] if tag else all(other != sign for other, _ in opened)
        if first_half:
            if tag or not text.text[-1].isspace():  # 2 ** 3 is no **bold**
                opened.append((name, index))
            continue
        halves = [at for other, at in opened if other == name]
        if halves:
            first = paired[halves[-1]]
            paired[halves[-1]] = replace(first, opens=text.at)
            paired[index] = replace(text, closes=first.at)
            opened.remove((name, halves[-1]))
    return paired
