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

import numpy as np

from sieve.errors import ModelError
from sieve.files import map_tensors, read_metadata, write_tensors
from sieve.text.word_set import WordSet

NAMES_FILE = "names.safetensors"
WORD = re.compile(r"[^\W\d_]+")
"""What counts as a word here: letters, without apostrophes and hyphens."""
_LIKE = 0.6  # similarity of two words from which one is taken for the other
_MORE_LIKE = 0.7  # the same where any capitalised word of the source may be a name
_SHORTEST = 4  # letters of a name
_ENDINGS = frozenset(["e", "en", "er", "erin", "ern", "ers", "es", "in", "is", "n", "s"])
"""What a German name may have that the translation has not: Neymars Tore, Neymar's goals."""
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
    def open(cls, directory: Path) -> "Names":
        """Maps the file of a directory into memory; where it has none, nothing is known."""
        path = directory / NAMES_FILE
        if not path.is_file():
            return cls()
        tensors, note = map_tensors(path), read_metadata(path)
        if note.get("format") != _NOTE["format"]:
            raise ModelError(f"{path}: got the note {note}, expected {_NOTE}")
        expected = [field.name for field in fields(cls)]
        for name, bits in tensors.items():
            if name not in expected or bits.dtype != np.uint8 or bits.ndim != 1 or not len(bits):
                raise ModelError(
                    f"{path}: got {name} as {bits.dtype} {bits.shape}, expected some of "
                    f"{', '.join(expected)} as uint8 (n,)"
                )
        return cls(**{name: WordSet(bits) for name, bits in tensors.items()})

    def put_right(self, source: str, translation: str) -> str:
        """A translation with the source's names, where they were nearly right.

        A name that the translation lacks takes the place of a capitalised word there that the
        source does not have and that is nearly the same.

        Args:
            source: The text that was translated.
            translation: What the model wrote.
        """
        of_target = self.known_target if self.translated_source is None else None
        if source.isupper() or (self.translated_source is None and of_target is None):
            return translation
        least = _LIKE if of_target is None else _MORE_LIKE
        said = WORD.findall(source)
        strange = [
            match
            for match in WORD.finditer(translation)
            if match[0][0].isupper()
            and match[0] not in said
            and not (of_target and (match.start() == 0 or match[0].lower() in of_target))
        ]
        right: dict[re.Match[str], str] = {}
        for name in self._missing(said, translation) if strange else ():
            left = [(_likeness(name, m[0], least), m) for m in strange if m not in right]
            like, match = max(left, key=lambda pair: pair[0], default=(0.0, None))
            if match is None or like < least:
                continue
            if not (of_target and name.startswith(match[0]) and name[len(match[0]) :] in _ENDINGS):
                right[match] = name
        for match in sorted(right, key=re.Match.start, reverse=True):
            translation = translation[: match.start()] + right[match] + translation[match.end() :]
        return translation

    def lost(self, source: str, translation: str) -> list[str]:
        """Names of a text that are nowhere in its translation; a first word may be none."""
        if source.isupper() or (self.translated_source is None and self.copied_source is None):
            return []
        missing = self._missing(WORD.findall(source)[1:], translation)
        if self.translated_source is not None:
            return list(missing)
        return [name for name in missing if self.copied_source and name in self.copied_source]

    def _missing(self, said: list[str], translation: str) -> Iterator[str]:
        """Capitalised words that may be names and that a translation lacks."""
        lower, translated = translation.lower(), self.translated_source
        for word in dict.fromkeys(said):
            if len(word) < _SHORTEST or not word[0].isupper() or word.lower() in lower:
                continue
            if translated is None or word.lower() not in translated:
                yield word


def _likeness(name: str, word: str, least: float) -> float:
    """From 0 to 1; not worked out where it is certainly less than `least`."""
    matcher = SequenceMatcher(None, name.lower(), word.lower(), autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= least else 0.0
