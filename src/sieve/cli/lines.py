"""Lines of bytes to text for verbs that translate: whatever a line holds, it stays one line."""

import codecs
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, TextIO

from sieve.errors import InputError
from sieve.kinds import HEAD, refuse, text_encoding
from sieve.log import logger

_READ = 1 << 20  # bytes; a pipe gives less, at once
_MARK = 4  # bytes of the longest byte order mark
LONG = 10_000
"""Characters of a line that is translated piece by piece."""


def standard_input() -> TextIO:
    """Standard input, which whoever started this may have closed."""
    if sys.stdin is None:
        raise InputError("standard input is closed; give --input FILE")
    return sys.stdin


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


def arriving_lines(chunks: Iterable[bytes]) -> Iterator[list[str]]:
    """Whole lines as they arrive, all that are there at a time; the last may lack its newline."""
    rest: list[bytes] = []
    number = 0  # lines given out so far
    for data in chunks:
        *raw_lines, last = data.split(b"\n")
        if raw_lines:
            raw_lines[0] = b"".join((*rest, raw_lines[0]))
            rest = []
            yield [decode(raw, number + i) for i, raw in enumerate(raw_lines, start=1)]
            number += len(raw_lines)
        rest.append(last)
    if any(rest):
        yield [decode(b"".join(rest), number + 1)]


def open_input(path: Path) -> BufferedReader:
    """A file to read bytes from, or one line that says why it cannot be read."""
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def decode(raw: bytes, number: int) -> str:
    """Text of line `number`; what is odd about it goes to the log."""
    if len(raw) > LONG:
        logger.warning("line %d: %d bytes long, translated in parts", number, len(raw))
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        logger.warning(
            "line %d: invalid UTF-8 at byte %d, unreadable characters were replaced",
            number,
            error.start + 1,
        )
        return raw.decode("utf-8", errors="replace").rstrip("\r\n")


def as_line(text: str) -> bytes:
    """The text as one line of UTF-8."""
    return " ".join(text.splitlines()).encode("utf-8", errors="replace") + b"\n"


def as_json(value: dict[str, Any]) -> bytes:
    """An object as one line; what JSON cannot say (infinite scores) is null."""
    from sieve.files import json_values

    return (
        json.dumps(json_values(value), ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"
    )
