"""Long text into sentences that a model can take, and translations back into one line.

Cuts after sentence-ending punctuation; what is still too long is cut at weaker marks, then at
spaces, then anywhere. Nothing is lost: the parts together are the text. Knows no model.
"""

import re
from collections.abc import Callable, Iterator

_ENDS = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[\"'“‘«(\[¿¡]*[^\s\W\d_a-zß-öø-ÿ])|(?<=[。！？])(?![。！？」』”])"
)
_WEAK = re.compile(r"(?<=[;:])\s+|(?<=[；：])|(?<=,)\s+|(?<=[，、])")
_SPACES = re.compile(r"\s+")
_UNSPACED = {"zh", "ja", "th", "lo", "km", "my"}

_NO_END = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Hr|Fr|vs|e\.g|i\.e|z\.\s?B|d\.\s?h|u\.\s?a|bzw|ca|vgl|No|Nr|Fig"
    r"|Abb|Str|Tel|Mio|Mrd|Inc|Ltd)|\b[^\W\d_a-zß-öø-ÿ]|\b\d{1,2})\.\s+$"
)
"""Points that end no sentence: abbreviations, initials, German ordinals (3. Oktober)."""

Length = Callable[[str], int]


def divided(text: str, length: Length, limit: int) -> list[str]:
    """The sentences of a text, however short it is; joined together they are the text.

    Args:
        text: Any text; line breaks are spaces like others.
        length: Number of tokens of a text.
        limit: Most tokens of a part.
    """
    parts: list[str] = []
    for cut in _cut(text, _ENDS):
        if parts and _NO_END.search(parts[-1][-12:]):
            parts[-1] += cut
        else:
            parts.append(cut)
    return [part for whole in parts for part in _fitted(whole, length, limit)]


def split(text: str, length: Length, limit: int) -> list[str]:
    """The text itself where it is short enough, else its sentences, none longer than `limit`.

    Args:
        text: One line.
        length: Number of tokens of a text.
        limit: Most tokens of a part.
    """
    if length(text) <= limit:
        return [text]
    parts = (part for cut in _cut(text, _ENDS) for part in _fitted(cut, length, limit))
    return [part.strip() for part in parts if part.strip()]


def join(parts: list[str], language: str) -> str:
    """Translated parts as one line, with spaces where the language has them."""
    separator = "" if language.partition("-")[0] in _UNSPACED else " "
    return separator.join(part for part in parts if part)


def _fitted(text: str, length: Length, limit: int) -> Iterator[str]:
    """Parts of at most `limit` tokens, as long as they can be, cut at the strongest marks."""
    if length(text) <= limit:
        yield text
        return
    for mark in (_WEAK, _SPACES):
        pieces = list(_cut(text, mark))
        if len(pieces) > 1:
            parts = list(_packed(pieces, length, limit))
            for part in parts if len(parts) > 1 else pieces:
                yield from _fitted(part, length, limit)
            return
    half = max(1, len(text) // 2)
    yield from _fitted(text[:half], length, limit)
    yield from _fitted(text[half:], length, limit)


def _packed(pieces: list[str], length: Length, limit: int) -> Iterator[str]:
    """Neighbours together as long as they fit."""
    part, size = pieces[0], length(pieces[0])
    for piece in pieces[1:]:
        more = length(piece)
        if size + more <= limit:
            part, size = part + piece, size + more
        else:
            yield part
            part, size = piece, more
    yield part


def _cut(text: str, mark: re.Pattern[str]) -> Iterator[str]:
    """The text in parts, each up to the end of a mark."""
    start = 0
    for match in mark.finditer(text):
        if match.end() > start:
            yield text[start : match.end()]
            start = match.end()
    if start < len(text):
        yield text[start:]
