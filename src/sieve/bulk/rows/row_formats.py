"""What a format of rows is, and which of them a file has by its name.

The one place that knows all of them by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import PurePath
from typing import IO, Protocol

from sieve.bulk.rows.json_rows import JsonRows
from sieve.bulk.rows.line_rows import TabRows, TextRows
from sieve.bulk.rows.parquet_rows import ParquetRows
from sieve.bulk.rows.row_pieces import Cell, RowPiece
from sieve.errors import ConfigError
from sieve.files.compressed import compression_of_name

NAMES = ("text", "tsv", "jsonl", "parquet")
_SUFFIXES = {".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
             ".parquet": "parquet", ".pq": "parquet"}  # fmt: skip


class RowWriter(Protocol):
    """Writes rows of one file."""

    def write(self, piece: RowPiece, cells: Sequence[Cell]) -> None:
        """The rows of a piece with what became of their cells."""

    def close(self) -> None:
        """Ends the file."""


class RowFormat(Protocol):
    """A format of rows."""

    def read(self, source: BufferedReader, where: str) -> Iterator[RowPiece]:
        """The rows in pieces; what cannot be read is an error that names the file and the place."""

    def writer(self, target: IO[bytes]) -> RowWriter:
        """A writer of the same rows with their translations."""

    def count(self, source: BufferedReader) -> int:
        """Rows of a file that was written."""


@dataclass(frozen=True)
class RowOptions:
    """How rows are read and written."""

    format: str | None = None
    """A name of `NAMES`; by default what a file's name says, else text."""
    columns: tuple[str, ...] = ()
    in_place: bool = False
    replace_invalid: bool = False

    def of(self, name: str) -> RowFormat:
        """The format of a file of this name."""
        format = self.format or _named(name)
        if format == "text":
            if self.columns or self.in_place:
                raise ConfigError(f"{name}: text has no columns; give --format tsv or jsonl")
            return TextRows(self.replace_invalid)
        if not self.columns:
            raise ConfigError(f"{name}: {format} requires --columns NAME,…: which hold text")
        if format == "tsv":
            return TabRows(self.replace_invalid, self.columns, self.in_place)
        if format == "jsonl":
            return JsonRows(self.replace_invalid, self.columns, self.in_place)
        return ParquetRows(self.columns, self.in_place)


def _named(name: str) -> str:
    path = PurePath(name)
    if compression_of_name(path):
        path = path.with_suffix("")
    return _SUFFIXES.get(path.suffix.lower(), "text")
