"""What a model is spared: text that nothing can translate, and text in capitals.

A line without a letter, or in a script that the source language is not written in, is given back
as it is; a model would make up something. A line in capitals is read in lower case and its
translation set in capitals again: models hardly ever saw such lines.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from sieve.repair.draft import Draft
from sieve.repair.step import Line, Step, Trait

_SCRIPTS = {
    "LATIN": "cs da de en es et fi fr hr hu id it lt lv nb nl nn no pl pt ro sk sl sv tr vi",
    "CYRILLIC": "be bg mk ru uk",
    "GREEK": "el",
}
_SCRIPT_OF = {language: script for script, all_ in _SCRIPTS.items() for language in all_.split()}
_LITERAL = re.compile(r"[\d@/:]")
_GAP = re.compile(r"(\s+)")
_WORD = re.compile(r"\S+")
_LEAST_CAPITALS = 4  # letters: OK, USA and WHO are words as they are


def script_of(language: str) -> str | None:
    """LATIN, CYRILLIC or GREEK; None for a language that is not known here."""
    return _SCRIPT_OF.get(re.split("[-_]", language.lower())[0])


@dataclass(frozen=True)
class Untranslatable(Step):
    """Gives back lines that have no letter, or hardly any of the source language's script."""

    script: str | None

    def before(self, line: Line) -> tuple[Line, bool]:
        """Leaves nothing to translate of such a line."""
        text = line.text
        letters = [c for c in text if c.isalpha()]
        own = letters if self.script is None else letters_of(text, letters, self.script)
        kept = not own or 2 * len(own) < len(letters)
        return (replace(line, text="") if kept else line), kept

    def after(self, line: Line, draft: Draft, state: bool) -> Draft:
        """The line itself where nothing was translated."""
        return draft.replaced(0, 0, line.text, "untranslatable") if state else draft


@dataclass(frozen=True)
class Surface(Step):
    """Reads a line in capitals in lower case."""

    script: str | None
    # positions and given beginnings are those of the line as it stands
    unsuited: ClassVar[frozenset[Trait]] = frozenset(("alignment", "prefix"))

    def before(self, line: Line) -> tuple[Line, bool]:
        """The text in lower case where the line is in capitals, and whether it is."""
        text = line.text
        if text.isascii() and not text.isupper() and self.script in ("LATIN", None):
            return line, False
        if not _is_loud(text, self.script):
            return line, False
        quiet = _quiet(text)
        return replace(line, text=quiet), quiet != text

    def after(self, line: Line, draft: Draft, state: bool) -> Draft:
        """The translation in capitals where the line was."""
        if not state:
            return draft
        kept = set(line.text.split())
        return draft.substituted(
            _WORD, lambda word: word[0] if word[0] in kept else word[0].upper(), "surface"
        )


def letters_of(text: str, letters: list[str], script: str) -> list[str]:
    """The letters of a script."""
    if text.isascii():
        return letters if script == "LATIN" else []
    return [c for c in letters if letter_script(c) == script]


def _is_loud(line: str, script: str | None) -> bool:
    """Whether a line is in capitals."""
    own = [c for c in line if c.isalpha() and (script is None or letter_script(c) == script)]
    return len(own) >= _LEAST_CAPITALS and all(c.upper() == c for c in own)


@lru_cache(maxsize=4096)
def letter_script(character: str) -> str:
    """LATIN, CYRILLIC, …: the first word of a character's name."""
    return unicodedata.name(character, "").split(" ")[0]


def _quiet(line: str) -> str:
    """In lower case but for the first letter; addresses and words with digits stay."""
    words = [w if _LITERAL.search(w) else w.lower() for w in _GAP.split(line)]
    text = "".join(words)
    first = next((i for i, c in enumerate(text) if c.isalpha()), 0)
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]
