"""Names that a translation misspells or loses.

A small model spells a name that it never saw piece by piece, and errs: Macron becomes Makron. Where
the two languages share a script a name is written the same in both, so that it can be checked
against the source. Which capitalised words are names, training text says: in English, those that it
does not know as words to be translated; in German, where all nouns have capitals, those that it
knows to be taken over. Kept as names.safetensors in a model's directory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from pathlib import Path
from typing import ClassVar

import numpy as np

from sieve.bundle.directory import NAMES_FILE
from sieve.errors import ModelError
from sieve.files import Place, folder_of, write_tensors
from sieve.repair.draft import Draft
from sieve.repair.rules import english, german
from sieve.repair.step import Line, Step, Trait
from sieve.repair.word_set import WordSet

WORD = re.compile(r"[^\W\d_]+")
"""What counts as a word here: letters, without apostrophes and hyphens."""
_LIKE = 0.6  # similarity of two words from which one is taken for the other
_MORE_LIKE = 0.7  # the same where any capitalised word of the source may be a name
_SHORTEST = 4  # letters of a name
_LONGEST = 40  # letters of words that are compared
_ENGLISH, _GERMAN = re.compile(english.ENDINGS), re.compile(german.ENDINGS)
_NOTE = {"format": "sieve names 1"}


@dataclass(frozen=True, eq=False)
class Names:
    """What training text says about the words of two languages; each set may be missing."""

    translated_source: WordSet | None = None
    """Words of the source, in lower case, that are translated: capitalised others are names."""
    known_target: WordSet | None = None
    """Words of the target, in lower case: none of them is a name that was misspelt."""
    copied_source: WordSet | None = None
    """Capitalised words of the source that the target takes over: names."""

    def save(self, directory: Path) -> None:
        """Writes the file into a directory."""
        sets = {field.name: getattr(self, field.name) for field in fields(self)}
        tensors = {name: words.bits for name, words in sets.items() if words is not None}
        write_tensors(directory / NAMES_FILE, tensors, _NOTE)

    @classmethod
    def open(cls, directory: Place) -> "Names":
        """Reads the file of a directory; where it has none, nothing is known."""
        folder = folder_of(directory)
        path = folder.path / NAMES_FILE
        if not folder.has(NAMES_FILE):
            return cls()
        file = folder.tensors(NAMES_FILE)
        tensors, note = file.tensors, file.metadata
        if note.get("format") != _NOTE["format"]:
            raise ModelError(f"{path}: got the note {note!s:.60}, expected {_NOTE}")
        expected = [field.name for field in fields(cls)]
        for name, bits in tensors.items():
            if name not in expected or bits.dtype != np.uint8 or bits.ndim != 1 or not len(bits):
                raise ModelError(
                    f"{path}: got {name} as {bits.dtype} {bits.shape}, expected some of "
                    f"{', '.join(expected)} as uint8 (n,)"
                )
        return cls(**{name: WordSet(bits) for name, bits in tensors.items()})

    def put_right(self, source: str, draft: Draft) -> Draft:
        """A translation with the source's names, where they were nearly right.

        A name that the translation lacks takes the place of a capitalised word there that the
        source does not have and that is nearly the same.

        Args:
            source: The text that was translated.
            draft: What the model wrote.
        """
        translation = draft.text
        of_target = self.known_target if self.translated_source is None else None
        if source.isupper() or (self.translated_source is None and of_target is None):
            return draft
        least = _LIKE if of_target is None else _MORE_LIKE
        said = WORD.findall(source)
        strange = [
            match
            for match in WORD.finditer(translation)
            if match[0][0].isupper()
            and match[0] not in said
            and not (of_target and (match.start() == 0 or match[0].lower() in of_target))
        ]
        right: dict[str, str] = {}
        for name in self._missing(said, translation) if strange else ():
            left = {match[0] for match in strange if match[0] not in right}
            like, word = max(((_likeness(name, x, least), x) for x in left), default=(0.0, ""))
            if like >= least and not _same_word(name, word, of_target is not None):
                right[word] = name
        for match in reversed(strange):
            name = right.get(match[0], match[0])
            draft = draft.replaced(match.start(), match.end(), name, "names")
        return draft

    def lost(self, source: str, translation: str) -> list[str]:
        """Names of a text that are nowhere in its translation; a first word may be none."""
        if source.isupper() or (self.translated_source is None and self.copied_source is None):
            return []
        said = WORD.findall(source)
        missing = list(self._missing(said[1:], translation))
        if not missing or self.translated_source is not None:
            return [] if missing and self._is_headline(said) else missing
        strange = [x for x in WORD.findall(translation) if x[0].isupper() and x not in said]
        return [  # Florenz is not lost where there is Florence
            name
            for name in missing
            if self.copied_source is not None
            and name in self.copied_source
            and not any(_likeness(name, word, _LIKE) for word in strange)
        ]

    def _missing(self, said: list[str], translation: str) -> Iterator[str]:
        """Capitalised words that may be names and that a translation lacks."""
        written, translated = WORD.findall(translation.lower()), self.translated_source
        for word in dict.fromkeys(said):
            if not _SHORTEST <= len(word) <= _LONGEST or not word[0].isupper():
                continue
            if translated is not None and word.lower() in translated:
                continue
            if not any(_has(other, word.lower()) for other in written):
                yield word

    def _is_headline(self, said: list[str]) -> bool:
        """Whether most words that are no names have capitals, which then say nothing."""
        known = [
            w for w in said[1:] if self.translated_source and w.lower() in self.translated_source
        ]
        capitals = sum(word[0].isupper() for word in known)
        return capitals > 1 and 2 * capitals > len(known)


@dataclass(frozen=True)
class NameSpelling(Step):
    """Puts misspelt names right."""

    names: Names
    # who names words gets them; stand-ins are names of ours
    unsuited: ClassVar[frozenset[Trait]] = frozenset(("prefix", "stand-ins", "words"))

    def after(self, line: Line, draft: Draft, state: None) -> Draft:
        """The translation with the line's names where it has something like them."""
        return self.names.put_right(line.text, draft)


def _has(word: str, name: str) -> bool:
    """Whether a word is a name, or a name with an ending."""
    return word.startswith(name) and len(word) <= len(name) + 3


def _same_word(name: str, word: str, from_german: bool) -> bool:
    """Whether two words differ in an ending that the languages explain."""
    if from_german:
        return name.startswith(word) and name[len(word) :] in german.NAME_ENDINGS
    letters = [text.lower().replace("c", "k") for text in (name, word)]
    same = [a == b for a, b in zip(*letters, strict=False)]
    stem = [*same, False].index(False)
    of_name, of_word = (text.lower()[stem:] for text in (name, word))
    explained = _ENGLISH.fullmatch(of_name) and _GERMAN.fullmatch(of_word)
    return stem >= _SHORTEST and explained is not None


def _likeness(name: str, word: str, least: float) -> float:
    """From 0 to 1; 0 where it is less than `least`."""
    if len(word) > _LONGEST:
        return 0.0
    matcher = SequenceMatcher(None, name.lower(), word.lower(), autojunk=False)
    like = matcher.ratio() if matcher.quick_ratio() >= least else 0.0
    return like if like >= least else 0.0
