"""What a model is spared: text that nothing can translate, and text in capitals.

A line without a letter, or in a script that the source language is not written in, is given back
as it is; a model would make up something. A line in capitals is read in lower case and its
translation set in capitals again: models hardly ever saw such lines.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_SCRIPTS = {
    "LATIN": "cs da de en es et fi fr hr hu id it lt lv nb nl nn no pl pt ro sk sl sv tr vi",
    "CYRILLIC": "be bg mk ru uk",
    "GREEK": "el",
}
_SCRIPT_OF = {language: script for script, all_ in _SCRIPTS.items() for language in all_.split()}
_LITERAL = re.compile(r"[\d@/:]")
_SHORTEST_SHOUT = 4  # letters: OK, USA and WHO are words as they are


@dataclass(frozen=True)
class Surface:
    """How one line is to be handled around the model."""

    line: str
    translatable: bool
    shouted: bool

    @property
    def text(self) -> str:
        """What the model reads."""
        return _quiet(self.line) if self.shouted else self.line

    def finish(self, translation: str) -> str:
        """The translation of the line from that of `text`."""
        return _loud(translation, set(self.line.split())) if self.shouted else translation


def look_at(line: str, language: str) -> Surface:
    """Says what to do with a line.

    Args:
        line: What shall be translated.
        language: The language it should be in, as a code; "" where that is not known.
    """
    letters = [c for c in line if c.isalpha()]
    script = _SCRIPT_OF.get(re.split("[-_]", language.lower())[0])
    if not language:
        return Surface(line, translatable=True, shouted=False)
    if not letters:
        return Surface(line, translatable=False, shouted=False)
    if script is not None:
        foreign = sum(_script(c) != script for c in letters)
        if 2 * foreign > len(letters):
            return Surface(line, translatable=False, shouted=False)
    shouted = len(letters) >= _SHORTEST_SHOUT and all(c.upper() == c for c in letters)
    return Surface(line, translatable=True, shouted=shouted and _quiet(line) != line)


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    return unicodedata.name(character, "").split(" ")[0]


def _quiet(line: str) -> str:
    """In lower case but for the first letter; addresses and words with digits stay."""
    words = [w if _LITERAL.search(w) else w.lower() for w in re.split(r"(\s+)", line)]
    text = "".join(words)
    first = next((i for i, c in enumerate(text) if c.isalpha()), 0)
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


def _loud(text: str, kept: set[str]) -> str:
    return "".join(w if w in kept else w.upper() for w in re.split(r"(\s+)", text))
