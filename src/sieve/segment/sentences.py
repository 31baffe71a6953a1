"""Text into sentences, and into parts that a model can take; translations back into one line.

A boundary is sentence-ending punctuation before something that can begin a sentence, unless the
point belongs to an abbreviation, an initial or an ordinal (sieve.segment.abbreviations). A sentence
that is too long is cut at weaker marks, then at spaces, then anywhere. Nothing is lost: the parts
together are the text. Knows no model.
"""

import re
from collections.abc import Callable, Iterator

from sieve.segment.abbreviations import Rules, rules

_UPPER = r"[^\W\d_a-zß-öø-ÿа-яё]"
_END = re.compile(
    rf"(?<![.!?…])(?P<mark>[.!?…]+)(?:\s?[\"'”’»)\]“‹›]+)?\s+(?=[\"'“‘«»„(\[¿¡]*\s?(?:[—–-]\s)?(?:{_UPPER}|\d))"
    r"|(?<=[。！？])(?![。！？」』”])"
)
_WEAK = re.compile(r"(?<=[;:])\s+|(?<=[；：])|(?<=,)\s+|(?<=[，、])")
_SPACES = re.compile(r"\s+")
_LAST_WORD = re.compile(r"[^\s\"'“”‘’«»„(\[]*\Z")
_FIRST_WORD = re.compile(r"[^\w]*(\w+'?)")
_INITIAL = re.compile(rf"(?:{_UPPER}\.?-?)*{_UPPER}\Z")
_DOTTED = re.compile(rf"(?:\w\.)+\w\Z|{_UPPER}\Z")
_LONGEST_WORD = 40  # characters looked at before a point
_UNSPACED = {"zh", "ja", "th", "lo", "km", "my"}

Length = Callable[[str], int]


def sentences(text: str, language: str = "") -> list[str]:
    """The sentences of a text, each with the space behind it; joined together they are the text.

    Args:
        text: Any text; line breaks are spaces like others.
        language: Its code; "" takes the abbreviations of all languages.
    """
    known = rules(language)
    parts, start = [], 0
    for match in _END.finditer(text):
        if match.end() > start and _ends(text, match, known):
            parts.append(text[start : match.end()])
            start = match.end()
    return [*parts, text[start:]] if start < len(text) else parts


def divided(text: str, length: Length, limit: int, language: str = "") -> list[str]:
    """The sentences of a text, none longer than `limit`; joined together they are the text.

    Args:
        text: Any text; line breaks are spaces like others.
        length: Number of tokens of a text.
        limit: Most tokens of a part.
        language: Of the text.
    """
    return [
        part for sentence in sentences(text, language) for part in _fitted(sentence, length, limit)
    ]


def split(text: str, length: Length, limit: int, language: str = "") -> list[str]:
    """The text itself where it is short enough, else its sentences, none longer than `limit`.

    Args:
        text: One line.
        length: Number of tokens of a text.
        limit: Most tokens of a part.
        language: Of the text.
    """
    if length(text) <= limit:
        return [text]
    return [part.strip() for part in divided(text, length, limit, language) if part.strip()]


def join(parts: list[str], language: str) -> str:
    """Translated parts as one line, with spaces where the language has them."""
    return separator(language).join(part for part in parts if part)


def separator(language: str) -> str:
    """What stands between two sentences."""
    return "" if language.partition("-")[0] in _UNSPACED else " "


def _ends(text: str, match: re.Match[str], known: Rules) -> bool:
    """Whether the punctuation that matched ends a sentence."""
    if match["mark"] != ".":
        return True
    before = _LAST_WORD.search(text, max(0, match.start() - _LONGEST_WORD), match.start())
    word = before[0] if before else ""
    if not word or text[match.start() + 1 : match.end()].strip():  # a quotation or bracket closes
        return True
    first = _FIRST_WORD.match(text, match.end())
    starts = first is not None and first[1].lower() in known.starters
    if word.isdecimal():
        heads_list = not text[: match.start() - len(word)].strip(" \n\t")
        ordinal = known.ordinals and len(word) <= 2 and not starts
        return not (heads_list or ordinal)
    bare = word.lower().strip("-–(")
    if _spaced(text, match, known) or bare in known.final:
        return starts
    return not (bare in known.inner or _INITIAL.match(word)) or (
        starts and _DOTTED.match(word) is not None and len(word) > 1
    )


def _spaced(text: str, match: re.Match[str], known: Rules) -> bool:
    """Whether the point closes an abbreviation with spaces in it, such as `v. Chr.` or `т. д.`."""
    tail = text[max(0, match.start() - 12) : match.start()].lower()
    pieces = re.split(r"\s+", tail)
    return any(
        "".join(pieces[-count:]).lstrip("(") in known.final
        for count in (2, 3)
        if len(pieces) >= count and all(piece.endswith(".") for piece in pieces[-count:-1])
    )


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
