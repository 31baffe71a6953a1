"""Plain text, a text per line, and tables whose cells are separated by tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import IO, TypeAlias

from sieve.bulk.rows.row_pieces import RESULTS, Cell, RowPiece, cut, decoded
from sieve.config import unknown
from sieve.errors import InputError
from sieve.translate.raw_lines import as_line, utf8_lines

Lines: TypeAlias = Callable[[RowPiece, Sequence[Cell]], Iterable[bytes]]


class LineWriter:
    """Writes rows that are lines."""

    def __init__(self, target: IO[bytes], lines: Lines) -> None:
        self._target = target
        self._lines = lines

    def write(self, piece: RowPiece, cells: Sequence[Cell]) -> None:
        """The rows of a piece with what became of their cells."""
        self._target.write(b"".join(self._lines(piece, cells)))

    def close(self) -> None:
        """Nothing follows the last line."""


@dataclass(frozen=True)
class LineRows:
    """What formats share whose rows are lines."""

    replace: bool = False
    """Whether what is no UTF-8 becomes U+FFFD instead of an error."""

    def decoded_pieces(self, source: BufferedReader, where: str) -> Iterator[tuple[int, list[str]]]:
        """The lines in pieces, each with the number of its first."""
        number = 1
        for lines in cut(utf8_lines(source, where)):
            yield (
                number,
                [decoded(raw, where, i, self.replace) for i, raw in enumerate(lines, number)],
            )
            number += len(lines)

    def count(self, source: BufferedReader) -> int:
        """Rows of a file that was written."""
        return sum(1 for _ in source)


@dataclass(frozen=True)
class TextRows(LineRows):
    """A text per line."""

    def read(self, source: BufferedReader, where: str) -> Iterator[RowPiece]:
        """The rows in pieces."""
        for number, lines in self.decoded_pieces(source, where):
            yield RowPiece(lines, lines, number)

    def writer(self, target: IO[bytes]) -> LineWriter:
        """Translations as lines; a cell with an error is an empty line."""
        return LineWriter(target, lambda piece, cells: (as_line(cell.text or "") for cell in cells))


@dataclass(frozen=True)
class TabRows(LineRows):
    """A table: cells separated by tabs, without quotes."""

    columns: tuple[str, ...] = ()
    """Names, which the first line lists, or numbers from 1 where it is a row like the others."""
    in_place: bool = False
    """Whether translations replace their cells instead of following in columns of their own."""

    def read(self, source: BufferedReader, where: str) -> Iterator[RowPiece]:
        """The rows in pieces; the header is a row with nothing to translate."""
        places: list[int] = []
        for number, lines in self.decoded_pieces(source, where):
            rows = [line.split("\t") for line in lines]
            places = places or self._places(rows[0], where)
            texts: list[str | None] = []
            errors = {}
            for line, row in enumerate(rows, number):
                for place in places:
                    empty = row == [""] or self._is_header(line)
                    if not empty and place >= len(row):
                        errors[len(texts)] = (
                            f"line {line}: got {len(row)} columns, expected {place + 1} or more"
                        )
                        empty = True
                    texts.append(None if empty else row[place])
            yield RowPiece(rows, texts, number, errors)

    def _is_header(self, line: int) -> bool:
        return line == 1 and not all(column.isdecimal() for column in self.columns)

    def _places(self, first: Sequence[str], where: str) -> list[int]:
        if self._is_header(1):
            for column in self.columns:
                if column not in first:
                    raise InputError(f"{where}: {unknown('column', column, first)}")
            return [first.index(column) for column in self.columns]
        places = [int(column) - 1 for column in self.columns]
        for place in places:
            if not 0 <= place < len(first):
                raise InputError(
                    f"{where}: got {len(first)} columns, expected a column {place + 1}"
                )
        return places

    def writer(self, target: IO[bytes]) -> LineWriter:
        """The rows with their translations."""
        places: list[int] = []
        columns = 0

        def lines(piece: RowPiece, cells: Sequence[Cell]) -> Iterator[bytes]:
            nonlocal columns
            if not places:
                places.extend(self._places(piece.content[0], "the table"))
                columns = len(piece.content[0])
            width = len(places)
            for number, row in enumerate(piece.content):
                own = cells[number * width : (number + 1) * width]
                if row == [""]:
                    fields = row
                elif self._is_header(piece.first + number):
                    fields = self._header(row)
                elif self.in_place:
                    fields = _replaced(row, own, places)
                else:
                    fields = _followed(row, own, columns)
                yield ("\t".join(fields) + "\n").encode(errors="replace")

        return LineWriter(target, lines)

    def _header(self, row: list[str]) -> list[str]:
        if self.in_place:
            return row
        return [*row, *(f"{name}_{result}" for name in self.columns for result in RESULTS)]


def _replaced(row: list[str], cells: Sequence[Cell], places: Sequence[int]) -> list[str]:
    """A row with translations in the place of its texts."""
    replaced = list(row)
    for place, cell in zip(places, cells, strict=True):
        if cell.text is not None and cell.error is None:
            replaced[place] = _field(cell.text)
    return replaced


def _followed(row: list[str], cells: Sequence[Cell], columns: int) -> list[str]:
    """A row with results behind the columns of the first line; what has no column comes last."""
    filled = row[:columns] + [""] * (columns - len(row))
    return [*filled, *(_field(value) for cell in cells for value in cell.values), *row[columns:]]


def _field(value: object) -> str:
    """A value without tabs and line ends."""
    return "" if value is None else " ".join(str(value).replace("\t", " ").splitlines())
