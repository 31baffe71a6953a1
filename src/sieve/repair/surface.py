"""What a model is spared: text that nothing can translate, and text in capitals.

A line without a letter, or in a script that the source language is not written in, is given back
as it is, and so are emoji and words of other scripts at the ends of a line; a model would make up
something. A line in capitals is read in lower case and its translation set in capitals again:
models hardly ever saw such lines.
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
    before: str = ""
    """What stays as it is before the text that is translated."""
    text: str = ""
    """What the model reads; nothing where there is nothing to translate."""
    after: str = ""
    """What stays as it is behind it."""
    shouted: bool = False

    def finish(self, translation: str) -> str:
        """The translation of the line from that of `text`."""
        if self.shouted:
            translation = _loud(translation, set(self.line.split()))
        return f"{self.before}{translation}{self.after}"


def script_of(language: str) -> str | None:
    """LATIN, CYRILLIC or GREEK; None for a language that is not known here."""
    return _SCRIPT_OF.get(re.split("[-_]", language.lower())[0])


def look_at(line: str, language: str, plain: bool = False) -> Surface:
    """Says what to do with a line.

    Args:
        line: What shall be translated.
        language: The language it should be in, as a code; "" where that is not known.
        plain: Whether a model must read the line as it stands, if it reads it at all.
    """
    if not language:
        return Surface(line, text=line)
    script = script_of(language)
    letters = [c for c in line if c.isalpha()]
    own = letters if script is None else [c for c in letters if _script(c) == script]
    if 2 * len(own) < len(letters) or not own:
        return Surface(line, before=line)
    if plain:
        return Surface(line, text=line)
    before, text, after = _ends(line, script)
    shouted = len(own) >= _SHORTEST_SHOUT and all(c.upper() == c for c in own)
    quiet = _quiet(text) if shouted else text
    return Surface(line, before, quiet, after, shouted=quiet != text)


def _ends(line: str, script: str | None) -> tuple[str, str, str]:
    """The line without emoji and words of other scripts at its ends, and what was there."""
    words = re.split(r"(\s+)", line)
    odd = [_is_odd(word, script) for word in words]
    if not any(odd):
        return "", line, ""
    usual = [i for i, word in enumerate(words) if word.strip() and not odd[i]]
    first, last = usual[0], usual[-1] + 1
    parts = words[:first], words[first:last], words[last:]
    before, text, after = ("".join(part) for part in parts)
    return before, text, after


def _is_odd(word: str, script: str | None) -> bool:
    """Whether a word has emoji or letters of another script, and nothing of one's own."""
    if any(c.isdigit() or (c.isalpha() and _script(c) == (script or _script(c))) for c in word):
        return False
    return any(c.isalpha() or unicodedata.category(c) == "So" for c in word)


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
