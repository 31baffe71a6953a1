"""Parallel text files, plain or compressed, as blocks of raw lines with their place.

A line ends at a line feed and nowhere else. Decoding and checking (`decode_pairs`) happen in the
workers, so that one slow core does not hold back the others; every error names file and line.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sieve.errors import InputError
from sieve.files.compressed import DAMAGED, compression_of_name, decompressed

BLOCK_LINES = 8192
BLOCK_BYTES = 1 << 20
_STEP_LINES = 64
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class PairFiles:
    """Two files, line n of the one is the translation of line n of the other."""

    source: Path
    target: Path


@dataclass(frozen=True)
class TsvFile:
    """One file with two columns, source and target, separated by a tab."""

    path: Path


Input = PairFiles | TsvFile


@dataclass(frozen=True)
class RawBlock:
    """Some lines of an input, not yet decoded: every line ends with a line feed."""

    source: bytes
    target: bytes | None
    """None where `source` holds both columns of a .tsv."""
    source_path: Path
    target_path: Path
    first_line: int
    """Number of the first line, from 1."""
    lines: int


def check_readable(inputs: Iterable[Input]) -> None:
    """Says now, not after an hour of reading others, that a file is missing."""
    for item in inputs:
        paths = (item.path,) if isinstance(item, TsvFile) else (item.source, item.target)
        for path in paths:
            number = errno.ENOENT if not path.exists() else errno.EISDIR if path.is_dir() else 0
            if not number and not os.access(path, os.R_OK):
                number = errno.EACCES
            if number:
                raise InputError(f"{path}: cannot be read: {os.strerror(number)}")


def read_blocks(inputs: Iterable[Input]) -> Iterator[RawBlock]:
    """All inputs one after the other, in blocks that fit easily into memory."""
    for item in inputs:
        if isinstance(item, TsvFile):
            yield from _tsv_blocks(item)
        else:
            yield from _pair_blocks(item)


def decode_pairs(block: RawBlock) -> tuple[list[str], list[str]]:
    """The lines of both sides as text; invalid UTF-8 and NUL are errors with their place."""
    if block.target is not None:
        source = _decode(block.source, block.source_path, block.first_line)
        return source, _decode(block.target, block.target_path, block.first_line)
    rows = _decode(block.source, block.source_path, block.first_line)
    columns = [row.split("\t") if row.rstrip("\r") else ["", ""] for row in rows]
    for number, column in enumerate(columns, block.first_line):
        if len(column) != 2:
            raise InputError(
                f"{block.source_path}, line {number}: got {len(column)} columns, expected 2 "
                "separated by one tab"
            )
    return [column[0] for column in columns], [column[1] for column in columns]


def read_lines(path: Path) -> Iterator[str]:
    """All lines of one text file, plain or compressed."""
    lines = _Lines(path)
    with closing(lines):
        while block := lines.take(_STEP_LINES):
            yield from _decode(b"".join(block), path, lines.number - len(block) + 1)


class _Lines:
    """The lines of one file, taken some at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        """Lines taken so far."""
        with self._errors():
            self._raw = path.open("rb")
        try:
            self._file = decompressed(self._raw, compression_of_name(path))
        except BaseException:
            self._raw.close()
            raise

    def take(self, count: int) -> list[bytes]:
        """Up to `count` lines, each with its line feed."""
        lines: list[bytes] = []
        start = self.number == 0
        with self._errors():
            try:
                lines.extend(islice(self._file, count))
            finally:
                self.number += len(lines)
        if start and lines:
            lines[0] = lines[0].removeprefix(_BOM)
            if not lines[0]:  # nothing but the mark
                lines.pop()
                self.number = 0
        if lines and not lines[-1].endswith(b"\n"):
            lines[-1] += b"\n"
        return lines

    def count_rest(self) -> int:
        """Number of all lines, having read to the end."""
        while self.take(BLOCK_LINES):
            pass
        return self.number

    def close(self) -> None:
        self._file.close()
        self._raw.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except DAMAGED as error:
            raise self._damaged(error) from None
        except OSError as error:
            if error.errno is None:  # bz2 says "Invalid data stream" this way
                raise self._damaged(error) from None
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from None

    def _damaged(self, error: Exception) -> InputError:
        text = " ".join(str(error).split()) or type(error).__name__
        return InputError(
            f"{self.path}, after line {self.number}: cannot be decompressed: {text}; "
            "is the file damaged or cut off?"
        )


def _tsv_blocks(item: TsvFile) -> Iterator[RawBlock]:
    with closing(_Lines(item.path)) as file:
        while True:
            first = file.number + 1
            lines: list[bytes] = []
            size = 0
            while len(lines) < BLOCK_LINES and size < BLOCK_BYTES:
                step = file.take(_STEP_LINES)
                if not step:
                    break
                lines += step
                size += sum(map(len, step))
            if not lines:
                return
            yield RawBlock(b"".join(lines), None, item.path, item.path, first, len(lines))


def _pair_blocks(item: PairFiles) -> Iterator[RawBlock]:
    with ExitStack() as stack:
        source = stack.enter_context(closing(_Lines(item.source)))
        target = stack.enter_context(closing(_Lines(item.target)))
        ended = False
        while not ended:
            first = source.number + 1
            sides: tuple[list[bytes], list[bytes]] = ([], [])
            size = 0
            while len(sides[0]) < BLOCK_LINES and size < BLOCK_BYTES and not ended:
                steps = source.take(_STEP_LINES), target.take(_STEP_LINES)
                if len(steps[0]) != len(steps[1]):
                    raise _unequal(source, target)
                ended = not steps[0]
                for side, step in zip(sides, steps, strict=True):
                    side += step
                    size += sum(map(len, step))
            if sides[0]:
                joined = b"".join(sides[0]), b"".join(sides[1])
                yield RawBlock(*joined, item.source, item.target, first, len(sides[0]))


def _unequal(source: _Lines, target: _Lines) -> InputError:
    counts = source.count_rest(), target.count_rest()
    longer = source.path if counts[0] > counts[1] else target.path
    return InputError(
        f"{source.path} has {counts[0]} lines but {target.path} has {counts[1]}: "
        f"{longer}, line {min(counts) + 1} has no partner"
    )


def _decode(data: bytes, path: Path, first_line: int) -> list[str]:
    """Lines of text without their line feeds."""
    nul = data.find(b"\0")
    if nul >= 0:
        line = first_line + data.count(b"\n", 0, nul)
        raise InputError(
            f"{path}, line {line}: got a NUL byte, expected text in UTF-8; is it UTF-16 or binary?"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{path}, line {line}: not valid UTF-8 (byte {column} of the line is "
            f"0x{data[error.start]:02x})"
        ) from None
    lines = text.split("\n")
    lines.pop()  # what follows the last line feed: nothing
    return lines
