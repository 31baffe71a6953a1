"""Plain text with hard-wrapped paragraphs: joined for translation, wrapped again as wide.

Lists, quotes and indentation stay; lines that stand alone are translated alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sieve.documents.blocks import Block, Part, Syntax
from sieve.documents.formats import text_format
from sieve.documents.texts.wrapping import rewrapped, width

_MARKER = re.compile(
    r"(?:[ \t]*[>|%#;]+(?=[ \t]))*[ \t]*(?:(?:[-*+•·o]|\(?\d{1,3}[.)]|\(?[a-z]\))[ \t]+)?"
)
_SPACES = re.compile(r"(?: {3,}|\t)(?=\S)")
_SENTENCE_END = re.compile(r"[.!?:。！？]['\"”’»)\]]*$")
_NARROW = 35
"""A line shorter than this is followed by a line of its own."""

WRAPPED = Syntax(str, lambda text, _: text)


def wrapped_parts(text: str) -> Iterator[Part]:
    """Reads a text."""
    lines = [(line.rstrip("\r\n"), line) for line in re.findall(r"[^\n]*\n|[^\n]+\Z", text)]
    longest = max((width(body.rstrip()) for body, _ in lines), default=0)
    place = 0
    while place < len(lines):
        end = place + 1
        while end < len(lines) and _goes_on(lines[end - 1][0], lines[end][0], longest):
            if (
                _marker(lines[end][0]) != _marker(lines[place][0], end > place + 1)
                and end > place + 1
            ):
                break
            end += 1
        last, raw = lines[end - 1]
        yield from paragraph([raw for _, raw in lines[place : end - 1]] + [last])
        yield raw[len(last) :]
        place = end


def _marker(line: str, rest: bool = False) -> str:
    """What a line begins with; of a list's item, for lines after the first, as much space."""
    match = _MARKER.match(line)
    marker = match[0] if match else ""
    return re.sub(r"[-*+•·o\d().a-z]", " ", marker) if rest else marker


def _goes_on(line: str, following: str, longest: int) -> bool:
    """Whether a line is wrapped: the next word would not have gone into it."""
    if not line.strip() or not following.strip():
        return False
    marker = _marker(following)
    if marker.strip() and marker != _marker(line):
        return False
    if width(_marker(line)) != width(marker) and _marker(line).strip() == "" and marker.strip():
        return False
    if re.search(r"[-*+•·o\d)][ \t]+$", marker) or _looks_set(line) or _looks_set(following):
        return False
    words = following[len(marker) :].split(maxsplit=1)
    full = width(line.rstrip()) + 1 + width(words[0] if words else "") > 0.9 * longest
    return full and width(line.rstrip()) >= min(_NARROW, longest)


def _looks_set(line: str) -> bool:
    """Whether columns are lined up in a line."""
    return _SPACES.search(line.strip()) is not None


def paragraph(raw: Sequence[str]) -> Iterator[Part]:
    """The lines of a paragraph, with their ends but for the last."""
    lines = [line.rstrip("\r\n") for line in raw]
    newline = raw[0][len(lines[0]) :] or "\n"
    marker = _marker(lines[0])
    if not any(map(str.isalpha, "".join(lines))) or (len(lines) == 1 and _looks_set(lines[0])):
        yield "".join(raw)
        return
    yield marker
    rest = _marker(lines[1]) if len(lines) > 1 else " " * len(marker)
    bodies = [lines[0][len(marker) :], *(line[len(_marker(line)) :] for line in lines[1:])]
    text = joined_lines(bodies)
    original = "".join(raw)[len(marker) :]
    most = max(map(width, lines)) if len(lines) > 1 else 0
    start = rewrapped(most, marker, rest, newline) if most else str
    yield Block((text,), WRAPPED, start, (original,))


def joined_lines(lines: Sequence[str]) -> str:
    """Lines as one; a word that was divided is one again."""
    pieces: list[str] = []
    for line in lines:
        line = line.strip()
        last = pieces[-1] if pieces else ""
        divided = re.search(r"[a-zà-ÿ]-$", last[-2:]) and re.match(r"[a-zà-ÿ]", line)
        pieces.append(line if divided or not pieces else f" {line}")
    return "".join(pieces)


WRAPPED_TEXT = text_format("wrapped", (), "text/plain", wrapped_parts)
