"""A text in characters that a vocabulary has: what it reads instead of the others.

Letters lose their marks (ü becomes u), typographic marks become plain ones, signs of money codes;
words and addresses that stay unknown become names that models copy, and emoji nothing at all.
Knows of a vocabulary only which texts it can spell.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_MARKS = {
    **dict.fromkeys("’‘‛`´", "'"),
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("–—‒―−‐‑", "-"),
    "…": "...",
    "•": "-",
    "·": "-",
    "¿": "",
    "¡": "",
}
_LETTERS = {
    "ß": "ss",
    "ẞ": "SS",
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "Œ": "OE",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "Ł": "L",
    "đ": "d",
    "Đ": "D",
    "ð": "d",
    "Ð": "D",
    "þ": "th",
    "Þ": "Th",
    "ı": "i",
    "ħ": "h",
    "Ħ": "H",
    "ŋ": "ng",
    "Ŋ": "Ng",
    "ə": "e",
    "Ə": "E",
}
_MONEY = {"£": "GBP ", "€": "EUR ", "¥": "JPY ", "₽": "RUB ", "₹": "INR ", "₩": "KRW "}
_NAMES = ("Kim", "Smith", "Tanaka", "Martin", "Silva", "Anna", "Thomas", "Nokia", "Osaka", "BMW")
"""Names that models copy: all of these came through Firefox's students every time."""
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# scripts without spaces: there a run of letters is no word
_JOINERS = "\u200d\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff"
_JOINER = re.compile(f"[{_JOINERS}]")
"""What makes one emoji of several."""
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"


@dataclass(frozen=True)
class Respelled:
    """Characters of a line that the model reads as others."""

    start: int
    """Place in the line as it was given."""
    text: str
    read: str
    """What is read instead; nothing for emoji."""
    stands_in: bool
    """Whether that is a name which has nothing to do with the text."""

    @property
    def end(self) -> int:
        """Behind the last character."""
        return self.start + len(self.text)


def fold(line: str, knows: Callable[[str], bool]) -> tuple[Respelled, ...]:
    """What to read instead of the unknown characters of a line, from left to right.

    Args:
        line: As it was given.
        knows: Whether the vocabulary can spell a text.
    """
    unknown = {c for c in set(line) if not c.isspace() and not knows(c)}
    unknown.update(_JOINER.findall(line))
    names = iter([name for name in _NAMES if name not in line and knows(name)])
    folded = []
    for match in _runs(line, unknown):
        text = match[0]
        if unknown.isdisjoint(text) or knows(text):  # a mark that belongs to a known letter
            continue
        read = "".join(_plain(c) if c in unknown else c for c in text)
        stands_in = False
        if not knows(read) or _ADDRESS.fullmatch(text):
            is_word = any(c.isalpha() or c.isdecimal() for c in text)
            read = next(names, "") if is_word else ""
            stands_in = bool(read)
        folded.append(Respelled(match.start(), text, read, stands_in))
    return tuple(folded)


def applied(line: str, folded: tuple[Respelled, ...]) -> str:
    """The line that the model reads."""
    parts, end = [], 0
    for piece in folded:
        parts += [line[end : piece.start], piece.read]
        end = piece.end
    return "".join([*parts, line[end:]])


def _runs(line: str, unknown: set[str]) -> Iterator[re.Match[str]]:
    """Places that are read as a whole: addresses, marks, words with their unknown signs."""
    signs = "".join(map(re.escape, sorted(unknown - _MARKS.keys()))) + _JOINERS
    marks = "".join(map(re.escape, sorted(unknown & _MARKS.keys()))) or "\0"
    spaced = rf"(?:(?![{_UNSPACED}])[\w{signs}])+"
    return re.finditer(rf"{_ADDRESS.pattern}|{spaced}|[{signs}]+|[{marks}]", line)


def _plain(character: str) -> str:
    """A character in plain ones; nothing where it has no such form."""
    for table in (_MARKS, _LETTERS, _MONEY):
        if character in table:
            return table[character]
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    parts = unicodedata.normalize("NFKD", character) if character.isalpha() else ""
    return "".join(c for c in parts if not unicodedata.combining(c))
