"""Words that stand for parts of a line while a model translates it, and are put back after it.

What a small model drops or garbles (a name it never saw, a number, a placeholder) it translates
well around another word. Which words come through, measurements say (docs/fidelity.md); they are
of several kinds, so that a line has another chance where one kind is lost, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from sieve.repair.draft import Draft, Span

_GLUED = re.compile(r"(?!(?:st|nd|rd|th|s|er|ern)\b)[^\W\d_]")  # 5pm, £11million; not 18th
_NAMES = ("Peter", "Maria", "Berlin", "Thomas", "London", "Anna", "Smith")

Family = Callable[[], Iterator[str]]
"""A kind of stand-ins: as many as are needed."""


def familiar_names() -> Iterator[str]:
    """Peter, Maria and others."""
    return iter(_NAMES)


def other_names() -> Iterator[str]:
    """The same without the first of them."""
    return iter(_NAMES[1:])


def letter_codes() -> Iterator[str]:
    """Q7, Q8, …: models copy them, whatever they stand for."""
    return (f"Q{number}" for number in count(7))


def vitamin_codes() -> Iterator[str]:
    """B12, B13 and so on."""
    return (f"B{number}" for number in count(12))


def short_codes() -> Iterator[str]:
    """X1, X2 and so on."""
    return (f"X{number}" for number in count(1))


NAMES: tuple[Family, ...] = familiar_names, other_names
"""What stands for a name, one kind after the other."""
CODES: tuple[Family, ...] = letter_codes, vitamin_codes, short_codes
"""What stands for any part of a line, one kind after the other."""


@dataclass(frozen=True)
class Masked:
    """A line with stand-ins, and what they stand for."""

    text: str
    meant: tuple[tuple[str, str], ...]
    """Each stand-in and its text, in the order of the line."""

    def restored(self, draft: Draft, step: str) -> Draft | None:
        """A translation of the line with what was meant; None where a stand-in is not kept."""
        for stand_in in {stand_in for stand_in, _ in self.meant}:
            written, asked = (len(_whole(stand_in).findall(x)) for x in (draft.text, self.text))
            if not written == asked > 0 or self._leaks(stand_in, draft.text):
                return None
        texts = dict(self.meant)
        if not texts:
            return draft
        return draft.substituted(_any_of(texts), lambda match: texts[match[0]], step)

    def _leaks(self, stand_in: str, translation: str) -> bool:
        """Whether a stand-in's figures became a number of their own: Article Q7, article 7 Q7."""
        figures = stand_in[1:]
        if not figures.isdecimal():  # a name
            return False
        alone = re.compile(rf"(?<![\w.,]){figures}(?![\w,])")
        return len(alone.findall(translation)) > len(alone.findall(self.text))


def masked(line: str, spans: Sequence[Span], family: Family, avoid: str = "") -> Masked | None:
    """A line with a stand-in in the place of each span; equal names get equal ones.

    Args:
        line: As it was given.
        spans: What is to be replaced, in order.
        family: Of the stand-ins; None comes back where it has too few.
        avoid: Text whose words are no stand-ins, either.
    """
    taken = f"{line} {avoid}"
    free = (word for word in family() if word not in taken)
    chosen: dict[str, str] = {}
    text, behind = "", 0
    for start, end in spans:
        said = line[start:end]
        if said not in chosen:
            stand_in = next(free, None)
            if stand_in is None:
                return None
            chosen[said] = stand_in
        text += line[behind:start] + chosen[said]
        text += " " if _GLUED.match(line, end) else ""
        behind = end
    return Masked(text + line[behind:], tuple((word, said) for said, word in chosen.items()))


def occurrences(line: str, words: Iterable[str]) -> list[Span]:
    """Where a line has one of these words."""
    return [match.span() for match in _any_of(words).finditer(line)]


def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
