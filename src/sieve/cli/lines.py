"""Lines of text for verbs that translate: from a pipe as they arrive, out as JSON."""

import json
import sys
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, TextIO

from sieve.errors import InputError
from sieve.log import logger
from sieve.translate.raw_lines import LONG


def standard_input() -> TextIO:
    """Standard input, which whoever started this may have closed."""
    if sys.stdin is None:
        raise InputError("standard input is closed; give --input FILE")
    return sys.stdin


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


def is_compressed(path: Path | None) -> bool:
    """Whether this is a compressed file."""
    if path is None or not path.is_file():
        return False
    from sieve.files.compressed import compression_of

    with open_input(path) as file:
        return compression_of(file) is not None


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


def as_json(value: dict[str, Any]) -> bytes:
    """An object as one line; what JSON cannot say (infinite scores) is null."""
    from sieve.files import json_values

    return (
        json.dumps(json_values(value), ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"
    )
