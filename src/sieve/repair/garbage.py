"""Texts that are no translation: loops, nothing, the source itself, letters of another script.

Such a text is asked for again: with a wider search over all tokens, then without what is unusual in
the line. Where that does not help, what repeats is cut, and a warning says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import ClassVar

from sieve.repair.draft import Draft
from sieve.repair.step import Line, Retry, Step, Trait
from sieve.repair.surface import letters_of

_NAME = "garbage"
_REPEATS = "the translation repeats itself"
_MOST = 3  # times that a phrase may stand in a row
_PHRASE = 6  # words of the longest phrase that is looked for
_LENGTH, _SPARE = (
    2.5,
    60,
)  # a translation has at most so many times the characters, and so many more
_COPIED = 5  # words in lower case from which a copy of the line is no list of names
_LONG = 12  # letters of a word in which syllables may repeat
_NOT_LATIN = re.compile("[\u0370-\u1dff\u2c80-\U0010ffff]")
_UNKNOWN = "\ufffd"
_WORDS = re.compile(r"\S+")
_LETTERS = re.compile(r"([^\W\d_]{2,9}?)\1\1+|(.)\2{15,}")
_UNUSUAL = re.compile(r"[^\w\s.,;:!?()€$£¥%&+/'\"’„“”«»-]|_")


@dataclass(frozen=True)
class Garbage(Step):
    """Retries lines whose translation is none."""

    languages: tuple[str, str]
    script: str | None
    """Of the target language."""
    # samples may be anything, and who gives the beginning answers for the rest
    unsuited: ClassVar[frozenset[Trait]] = frozenset(("n-best", "prefix", "samples"))

    def after(self, line: Line, draft: Draft, state: None) -> Draft | Retry:
        """The draft, or a retry where it is no translation."""
        fault = self._fault(line.text, draft.text)
        if fault == _REPEATS and not _looped(draft.text.split()):
            return _cut(line.text, draft).warned(fault)  # a syllable: the sentence is a sentence
        return self._next(line, draft, fault, 0) if fault else draft

    def _next(self, line: Line, draft: Draft, fault: str, attempt: int) -> Draft | Retry:
        plain = " ".join(_UNUSUAL.sub(" ", line.text).split())
        tries = [replace(line, thorough=True)]
        if plain != line.text and any(map(str.isalpha, plain)):
            tries.append(replace(line, text=plain, thorough=True))
        if attempt < len(tries):
            return Retry(tries[attempt], partial(self._taken, line, draft, fault, attempt))
        return _cut(line.text, draft).warned(fault)

    def _taken(
        self, line: Line, draft: Draft, fault: str, attempt: int, answer: Draft | None
    ) -> Draft | Retry:
        if answer is not None and not self._fault(line.text, answer.text):
            return answer
        return self._next(line, draft, fault, attempt + 1)

    def _fault(self, line: str, text: str) -> str:
        """What is wrong with a text; nothing where it may be a translation."""
        if _UNKNOWN in text and text.count(_UNKNOWN) > line.count(_UNKNOWN):
            return "the translation has characters that the model could not write"
        if not text.strip():
            return "the translation is empty" if any(map(str.isalpha, line)) else ""
        if len(text) > _LENGTH * len(line) + _SPARE:
            return "the translation is far longer than its source"
        if repeats(text) and not repeats(line):
            return _REPEATS
        if text == line and self._is_copy(line):
            return "the translation is the source itself"
        if self._is_foreign(line, text):
            return "the translation is in another script"
        return ""

    def _is_copy(self, line: str) -> bool:
        """Whether a line that was copied should not have been."""
        words = [word for word in line.split() if word.isalpha() and word.islower()]
        return len(words) >= _COPIED and self.languages[0] != self.languages[1]

    def _is_foreign(self, line: str, text: str) -> bool:
        if self.script is None or (self.script == "LATIN" and not _NOT_LATIN.search(text)):
            return False
        letters = [c for c in text if c.isalpha()]
        own = letters_of(text, letters, self.script)
        given = {c for c in line if c.isalpha()}
        strange = [c for c in letters if c not in given]
        return 2 * len(own) < len(letters) and 2 * len(strange) > len(letters)


def repeats(text: str) -> bool:
    """Whether a phrase, or a few letters, stand in a text several times in a row."""
    words = text.split()
    if len(words) > _MOST and len(set(words)) <= len(words) - _MOST and _looped(words):
        return True
    return any(len(word) >= _LONG and _has_thrice(word) and _LETTERS.search(word) for word in words)


def _has_thrice(word: str) -> bool:
    """Whether two letters may stand three times in a word, which is seen faster than loops."""
    return len(set(pairwise(word))) <= len(word) - 3


def _looped(words: Sequence[str]) -> tuple[int, int, int] | None:
    """Where a phrase is repeated: its first word, how many words it has, and where it ends."""
    for size in range(1, _PHRASE + 1):
        run = 0
        for place in range(size, len(words)):
            run = run + 1 if words[place] == words[place - size] else 0
            if run >= size * _MOST:
                first = place - run - size + 1
                while place + 1 < len(words) and words[place + 1] == words[place + 1 - size]:
                    place += 1
                return first, size, place + 1
    return None


def _cut(line: str, draft: Draft) -> Draft:
    """A draft with each loop once, without unknown characters and of bounded length."""
    draft = (
        draft.substituted(re.compile(_UNKNOWN), lambda _: "", _NAME)
        if (draft.text.count(_UNKNOWN) > line.count(_UNKNOWN))
        else draft
    )
    while loop := _looped([match[0] for match in _WORDS.finditer(draft.text)]):
        places = list(_WORDS.finditer(draft.text))
        first, size, end = loop
        kept = places[first + size - 1].end()
        draft = draft.replaced(kept, places[end - 1].end(), "", _NAME)
    draft = draft.substituted(_LETTERS, lambda match: match[1] or match[2], _NAME)
    most = int(_LENGTH * len(line)) + _SPARE
    return draft.replaced(most, len(draft.text), "", _NAME) if len(draft.text) > most else draft
