"""More text than fits in a list: lines from an iterator or a file, translations in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sieve.errors import InputError
from sieve.files import check_name, whole_file

if TYPE_CHECKING:
    from sieve.translate.translation import Translation

_MOST = 512
"""Lines in one go: enough to sort into even batches and keep every core busy."""

Run = Callable[[Sequence[str]], "list[Translation]"]


def checked(texts: Iterable[object]) -> list[str]:
    """The texts, or one line that says which of them is none."""
    lines = list(texts)
    for place, line in enumerate(lines):
        if not isinstance(line, str):
            raise InputError(f"text {place + 1}: got {type(line).__name__}, expected a string")
    return lines  # type: ignore[return-value]


def in_order(lines: Iterable[str], run: Run) -> Iterator[Translation]:
    """Translations one by one; more and more lines in one go, so that the first comes soon."""
    waiting, size = iter(lines), 1
    while chunk := checked(islice(waiting, size)):
        yield from run(chunk)
        size = min(2 * size, _MOST)


def file_lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 file; a file that is none says so, with the line."""
    number = 0
    check_name(path)
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):  # noqa: B007 (told in errors)
                yield line.rstrip("\r\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 after line {number}: {error.reason}; convert it first"
        ) from None


def write_lines(path: str | Path, translations: Iterable[Translation]) -> int:
    """Writes a line for each, whole or not at all, and says how many."""
    number = 0
    with whole_file(Path(path)) as partial, partial.open("w", encoding="utf-8") as file:
        for translation in translations:
            file.write(" ".join(translation.text.splitlines()) + "\n")
            number += 1
    return number
