"""Bytes to lines of text and back: whatever a line holds, it stays one line. Knows no file."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader

from sieve.kinds import HEAD, refuse, text_encoding

_READ = 1 << 20  # bytes; a pipe gives less, at once
_MARK = 4  # bytes of the longest byte order mark
LONG = 10_000
"""Characters of a line that is translated piece by piece."""


def utf8(read: Callable[[int], bytes], name: str) -> Iterator[bytes]:
    """What there is to read, as UTF-8 without a byte order mark; what is no text is refused.

    Args:
        read: Gives at most so many bytes, none at the end.
        name: Of the source, for errors.
    """
    first = read(_READ)
    while len(first) < _MARK and b"\n" not in first and (more := read(_READ)):
        first += more
    refuse(first[:HEAD], name)
    decoder = codecs.getincrementaldecoder(text_encoding(first))(errors="replace")
    if text_encoding(first) == "utf-8":  # whatever is odd in it is told line by line
        yield first
        yield from iter(lambda: read(_READ), b"")
        return
    yield decoder.decode(first).encode()
    for data in iter(lambda: read(_READ), b""):
        yield decoder.decode(data).encode()
    yield decoder.decode(b"", final=True).encode()


def utf8_lines(source: BufferedReader, name: str) -> Iterator[bytes]:
    """The lines of a file, as UTF-8 without a byte order mark; what is no text is refused at once.

    Args:
        source: At its start.
        name: Of the file, for errors.
    """
    head = source.peek(HEAD)[:HEAD]
    refuse(head, name)
    return iter(source) if text_encoding(head) == "utf-8" else _split(utf8(source.read, name))


def _split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for data in chunks:
        *lines, rest = (rest + data).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def as_line(text: str) -> bytes:
    """The text as one line of UTF-8."""
    return " ".join(text.splitlines()).encode("utf-8", errors="replace") + b"\n"
