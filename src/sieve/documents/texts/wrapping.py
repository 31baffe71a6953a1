"""Where lines may break, how wide they are, and a text over lines. Knows no format."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

_WIDE = (
    "\u1100-\u11ff\u2e80-\u312f\u3190-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
)
_CLOSING = "、。，．！？：；」』）】〉》…ー々"
_UNIT = re.compile(rf"\s*(?:<[^<>]*>)*(?:[{_WIDE}][{_CLOSING}]*|(?:<[^<>]*>|[^\s{_WIDE}])+)|\s+")
_TAG = re.compile(r"<[^<>]*>")


def units(text: str) -> list[str]:
    """A text in pieces that no line end goes into; a space begins a piece. Tags are no text."""
    return _UNIT.findall(text)


def width(text: str) -> int:
    """How many columns a text takes, without tags."""
    text = _TAG.sub("", text) if "<" in text else text
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def lines_of(pieces: Sequence[str], most: int, first: int | None = None) -> list[str]:
    """Pieces in lines of at most so many columns, where no piece is longer.

    Args:
        pieces: Of `units`, or any others that begin with their space.
        most: Columns of a line.
        first: Columns of the first line, if these are others.
    """
    lines: list[str] = []
    line, columns = "", 0
    room = most if first is None else first
    for piece in pieces:
        size = width(piece)
        if line and columns + size > room:
            lines.append(line.rstrip())
            line, columns, room = "", 0, most
        if not line:
            piece = piece.lstrip() if lines else piece
            size = width(piece)
        line += piece
        columns += size
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def balanced(text: str, most: int) -> list[str]:
    """A text in as few lines of at most so many columns, of much the same length."""
    pieces = units(text.strip())
    lines = lines_of(pieces, most)
    if len(lines) < 2:
        return lines
    low, high = max(1, width(text) // len(lines)), most
    while low < high:
        middle = (low + high) // 2
        if len(lines_of(pieces, middle)) <= len(lines):
            high = middle
        else:
            low = middle + 1
    return lines_of(pieces, high)


def rewrapped(most: int, first: str, rest: str, newline: str) -> Callable[[str], str]:
    """Wraps a text after a marker, with another before all further lines."""

    def write(text: str) -> str:
        room = max(10, most - width(rest))
        lines = lines_of(units(text.strip()), room, max(10, most - width(first)))
        return (newline + rest).join(lines)

    return write
