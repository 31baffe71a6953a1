"""Some rows of a file with the cells to translate in them, and what became of a cell: values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from sieve.errors import InputError

PIECE_ROWS = 1000
PIECE_BYTES = 1 << 18


@dataclass(frozen=True)
class Cell:
    """What became of one text: its translation, or why there is none."""

    text: str | None
    score: float | None = None
    shortlist_size: int | None = None
    confidence: float | None = None
    error: str | None = None

    @property
    def values(self) -> tuple[Any, ...]:
        """In the order of `RESULTS`."""
        return astuple(self)


RESULTS = ("translation", "score", "shortlist_size", "confidence", "error")
"""Columns that a translated column gets, named NAME_translation and so on: a Cell's fields."""


@dataclass(frozen=True)
class RowPiece:
    """Rows that are read, translated and kept together."""

    content: Sequence[Any]
    """The rows as their format has them."""
    texts: Sequence[str | None]
    """The cells to translate, row after row; None where there is nothing to translate."""
    first: int = 1
    """The number of the first row in its file."""
    errors: Mapping[int, str] = field(default_factory=dict)
    """Why cells cannot be translated, by their places in `texts`."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.content)


def piece_key(made_with: str, texts: Sequence[str]) -> str:
    """The name of the translations of texts: a hash of what they depend on.

    Args:
        made_with: A hash of model and options.
        texts: To be translated.
    """
    content = json.dumps([made_with, *texts], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()


def cut(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines in pieces of even size, the same whenever they are cut."""
    piece: list[bytes] = []
    size = 0
    for line in lines:
        piece.append(line)
        size += len(line)
        if len(piece) == PIECE_ROWS or size >= PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def decoded(raw: bytes, where: str, number: int, replace: bool) -> str:
    """A line without its end.

    Args:
        raw: With its end.
        where: The file, for errors.
        number: Of the line.
        replace: Whether what is no UTF-8 becomes U+FFFD instead of an error.
    """
    try:
        return raw.decode("utf-8", errors="replace" if replace else "strict").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}, line {number}: not valid UTF-8 (byte {error.start + 1} of the line is "
            f"0x{raw[error.start]:02x}); --replace-invalid reads U+FFFD instead"
        ) from None
