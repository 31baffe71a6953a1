"""Parquet: texts in columns, read and written in batches; all other columns stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import IO, Any

from sieve.bulk.rows.row_pieces import PIECE_ROWS, RESULTS, Cell, RowPiece
from sieve.config import unknown
from sieve.errors import InputError, require


@dataclass(frozen=True)
class ParquetRows:
    """Rows of a Parquet file."""

    columns: tuple[str, ...]
    in_place: bool = False
    """Whether translations replace their texts instead of being columns of their own."""

    def read(self, source: BufferedReader, where: str) -> Iterator[RowPiece]:
        """The rows in pieces."""
        pyarrow, parquet = _modules()
        first = 1
        try:
            file = parquet.ParquetFile(source)
            self._check(file.schema_arrow, where)
            for batch in file.iter_batches(batch_size=PIECE_ROWS):
                columns = [batch.column(column).to_pylist() for column in self.columns]
                texts = [text for row in zip(*columns, strict=True) for text in row]
                yield RowPiece(_Rows(batch), texts, first)
                first += batch.num_rows
            if first == 1:  # its columns are written all the same
                empty = pyarrow.RecordBatch.from_pylist([], schema=file.schema_arrow)
                yield RowPiece(_Rows(empty), [], first)
        except pyarrow.ArrowException as error:
            message = " ".join(str(error).split())
            raise InputError(f"{where}: cannot be read as Parquet: {message}") from None

    def _check(self, schema: Any, where: str) -> None:
        pyarrow, _ = _modules()
        kinds = (pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_null)
        for column in self.columns:
            if column not in schema.names:
                raise InputError(f"{where}: {unknown('column', column, schema.names)}")
            kind = schema.field(column).type
            if not any(fits(kind) for fits in kinds):
                raise InputError(f"{where}: column '{column}': got {kind}, expected strings")

    def writer(self, target: IO[bytes]) -> ParquetWriter:
        """The rows with their translations."""
        return ParquetWriter(self, target)

    def count(self, source: BufferedReader) -> int:
        """Rows of a file that was written."""
        _, parquet = _modules()
        rows: int = parquet.ParquetFile(source).metadata.num_rows
        return rows

    def translated(self, batch: Any, cells: Sequence[Cell]) -> Any:
        """A batch with what became of its cells."""
        pyarrow, _ = _modules()
        table = pyarrow.Table.from_batches([batch])
        width = len(self.columns)
        for place, column in enumerate(self.columns):
            own = cells[place::width]
            if self.in_place:
                before = table.column(column).to_pylist()
                texts = [
                    old if cell.text is None or cell.error else cell.text
                    for old, cell in zip(before, own, strict=True)
                ]
                kind = table.schema.field(column).type
                index = table.schema.get_field_index(column)
                table = table.set_column(
                    index, table.schema.field(column), pyarrow.array(texts, kind)
                )
                continue
            kinds = (pyarrow.string(), pyarrow.float64(), pyarrow.int64(), pyarrow.float64(),
                     pyarrow.string())  # fmt: skip
            values = zip(*(cell.values for cell in own), strict=True) if own else [()] * len(kinds)
            for result, kind, column_values in zip(RESULTS, kinds, values, strict=True):
                array = pyarrow.array(list(column_values), kind)
                table = table.append_column(f"{column}_{result}", array)
        return table


class ParquetWriter:
    """Writes a row group per piece."""

    def __init__(self, rows: ParquetRows, target: IO[bytes]) -> None:
        self._rows = rows
        self._target = target
        self._file: Any = None

    def write(self, piece: RowPiece, cells: Sequence[Cell]) -> None:
        """The rows of a piece with what became of their cells."""
        table = self._rows.translated(piece.content.batch, cells)  # type: ignore[attr-defined]
        if self._file is None:
            _, parquet = _modules()
            self._file = parquet.ParquetWriter(self._target, table.schema, compression="zstd")
        self._file.write_table(table)

    def close(self) -> None:
        """Writes the end of the file."""
        if self._file is not None:
            self._file.close()


class _Rows(Sequence[Any]):
    """The rows of a batch, counted without being made."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def __getitem__(self, index: Any) -> Any:
        return self.batch.slice(index, 1).to_pylist()[0]


def _modules() -> tuple[Any, Any]:
    return (
        require("pyarrow", "bulk", "reading Parquet"),
        require("pyarrow.parquet", "bulk", "reading Parquet"),
    )
