"""Lines of bytes to text for verbs that translate: whatever a line holds, it stays one line."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from sieve.errors import InputError
from sieve.log import logger

_READ = 1 << 20  # bytes; a pipe gives less, at once
_LONG = 10_000


def standard_input() -> TextIO:
    """Standard input, which whoever started this may have closed."""
    if sys.stdin is None:
        raise InputError("standard input is closed; give --input FILE")
    return sys.stdin


def arriving_lines(read: Callable[[int], bytes]) -> Iterator[list[str]]:
    """Whole lines as they arrive, all that are there at a time; the last may lack its newline."""
    rest = b""
    number = 0  # lines given out so far
    while data := read(_READ):
        *raw_lines, rest = (rest + data).split(b"\n")
        if raw_lines:
            yield [decode(raw, number + i) for i, raw in enumerate(raw_lines, start=1)]
            number += len(raw_lines)
    if rest:
        yield [decode(rest, number + 1)]


def open_input(path: Path) -> BinaryIO:
    """A file to read bytes from, or one line that says why it cannot be read."""
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def decode(raw: bytes, number: int) -> str:
    """Text of line `number`; what is odd about it goes to the log."""
    if len(raw) > _LONG:
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
