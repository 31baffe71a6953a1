"""What a format is: how a file of it is recognised, read into pieces and written from them.

Knows no format by name.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import IO, TypeAlias

from sieve.documents.blocks import Member, Part, Piece
from sieve.errors import ConfigError, InputError

MOST_TEXT = 64 << 20
"""Bytes of a document that is read at once."""

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
          (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip


class DamagedError(InputError):
    """A document that cannot be read; whoever knows its name puts that in front."""


Write: TypeAlias = Callable[[Iterable["str | Member"], IO[bytes]], None]


def _always(head: bytes) -> bool:
    return True


@dataclass(frozen=True)
class Format:
    """A kind of document."""

    name: str
    suffixes: tuple[str, ...]
    """Endings of file names, with their points, in small letters."""
    media_type: str
    read: Callable[[IO[bytes]], Iterator[Piece]]
    """Reads a file that can be rewound; it stays open until all is written."""
    write: Write
    fits: Callable[[bytes], bool] = _always
    """Whether a file that begins so is of this format, where several share a suffix."""
    parts: Callable[[str], Iterator[Part]] | None = None
    """Reads what is text already; None where a file is no text."""
    others: Mapping[str, Write] = field(default_factory=dict)
    """How other files are written, by their endings, where a file cannot be written as it was."""
    with_columns: Callable[[Sequence[str]], Format] | None = None
    """The same format that translates these columns alone; None where it has no columns."""

    def named(self, output: str) -> Format:
        """The format where it writes a file of this name."""
        suffix = PurePath(output).suffix.lower()
        if suffix in self.others:
            return replace(self, write=self.others[suffix])
        if self.others and suffix in self.suffixes:
            known = " or ".join(self.others)
            raise ConfigError(f"{output}: {self.name} cannot be written; name it {known}")
        return self

    def of_columns(self, columns: Sequence[str]) -> Format:
        """The format for these columns, by name or by number from 1; all that are text if none."""
        if not columns:
            return self
        if self.with_columns is None:
            raise ConfigError(f"columns: {self.name} has none, expected csv or tsv")
        return self.with_columns(columns)


def text_format(
    name: str,
    suffixes: tuple[str, ...],
    media_type: str,
    parts: Callable[[str], Iterator[Part]],
    fits: Callable[[bytes], bool] = _always,
) -> Format:
    """A format of one text: UTF-8, or UTF-16 with its mark. Other bytes pass as they are."""

    def read(source: IO[bytes]) -> Iterator[Piece]:
        data = source.read(MOST_TEXT + 1)
        if len(data) > MOST_TEXT:
            raise DamagedError(f"is larger than {MOST_TEXT >> 20} MiB; split it")
        mark, encoding = next(
            ((mark, encoding) for mark, encoding in _MARKS if data.startswith(mark)), (b"", "utf-8")
        )
        if encoding != "utf-8" and len(data) % 2:
            raise DamagedError(f"is {encoding.upper()} that ends within a character")
        errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
        yield Member(encoding, errors)
        yield mark.decode(encoding)
        yield from parts(data[len(mark) :].decode(encoding, errors))

    return Format(name, suffixes, media_type, read, write_text, fits, parts)


def write_text(pieces: Iterable[str | Member], target: IO[bytes]) -> None:
    """Writes a document of one text."""
    member = Member()
    for piece in pieces:
        if isinstance(piece, Member):
            member = piece
        else:
            target.write(piece.encode(member.encoding, errors=member.errors))
