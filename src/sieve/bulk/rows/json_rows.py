"""JSON lines: an object per line, with the texts in fields of theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import IO, Any

from sieve.bulk.rows.line_rows import LineRows, LineWriter
from sieve.bulk.rows.row_pieces import RESULTS, Cell, RowPiece
from sieve.config import unknown
from sieve.errors import InputError


@dataclass(frozen=True)
class JsonRows(LineRows):
    """Objects, one per line."""

    columns: tuple[str, ...] = ()
    """Names of fields with texts."""
    in_place: bool = False
    """Whether translations replace their texts instead of being fields of their own."""

    def read(self, source: BufferedReader, where: str) -> Iterator[RowPiece]:
        """The rows in pieces."""
        for number, lines in self.decoded_pieces(source, where):
            texts: list[str | None] = []
            errors: dict[int, str] = {}
            records = [_record(line) for line in lines]
            for line, record in enumerate(records, number):
                for column in self.columns:
                    text, error = _text(record, column)
                    if error:
                        errors[len(texts)] = f"line {line}: {error}"
                    texts.append(text)
            if number == 1:
                self._check(records, where)
            yield RowPiece([*zip(lines, records, strict=True)], texts, number, errors)

    def _check(self, records: Sequence[Any], where: str) -> None:
        """Refuses a file in whose first piece no record has a column."""
        names = [name for record in records if isinstance(record, dict) for name in record]
        for column in self.columns:
            if any(records) and column not in names:
                known = list(dict.fromkeys(names)) or ["none, for its lines are no JSON objects"]
                raise InputError(f"{where}: {unknown('field', column, known)}")

    def writer(self, target: IO[bytes]) -> LineWriter:
        """The objects with their translations; a line that is none becomes one that says so."""
        return LineWriter(target, self._lines)

    def _lines(self, piece: RowPiece, cells: Sequence[Cell]) -> Iterator[bytes]:
        width = len(self.columns)
        for place, (line, record) in enumerate(piece.content):
            own = cells[place * width : (place + 1) * width]
            yield self._line(line, record, own) + b"\n"

    def _line(self, line: str, record: Any, cells: Sequence[Cell]) -> bytes:
        if not line.strip() or (self.in_place and not isinstance(record, dict)):
            return line.encode()
        if not isinstance(record, dict):
            return _dumped({"line": line, "error": cells[0].error})
        fields = dict(record)
        for column, cell in zip(self.columns, cells, strict=True):
            if not self.in_place:
                names = (f"{column}_{result}" for result in RESULTS)
                fields.update(zip(names, cell.values, strict=True))
            elif cell.text is not None and cell.error is None:
                fields[column] = cell.text
        return _dumped(fields)


def _record(line: str) -> Any:
    """What a line holds; None for an empty one, the error for one that is no JSON."""
    if not line.strip():
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return error


def _text(record: Any, column: str) -> tuple[str | None, str]:
    """The text of a field, or why there is none."""
    if record is None:
        return None, ""
    if isinstance(record, Exception):
        return None, f"not JSON: {record}"
    if not isinstance(record, dict):
        return None, f"got {type(record).__name__}, expected an object"
    if column not in record:
        return None, f"has no field '{column}'"
    value = record[column]
    if value is None or isinstance(value, str):
        return value, ""
    return None, f"field '{column}': got {type(value).__name__}, expected a string"


def _dumped(value: dict[str, Any]) -> bytes:
    """One line; half of a surrogate pair can only be written as an escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
