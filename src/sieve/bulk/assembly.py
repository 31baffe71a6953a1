"""Outputs from finished pieces: every row once, in its place, in the format of its input."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sieve.bulk.cells import PieceAccount
from sieve.bulk.inputs import InputFile
from sieve.bulk.piece_store import PieceStore, cell_of
from sieve.bulk.planning import BulkPlan, PlannedFile, PlannedPiece
from sieve.bulk.rows.row_pieces import Cell, RowPiece
from sieve.errors import InputError
from sieve.files import whole_file, writable
from sieve.files.compressed import compressing, compression_of_name

_PIECES = 32  # whose lines are kept in memory
_LINES = 100_000  # of texts that are repeated
_ERRORS = 100  # listed per file


@dataclass
class FileAccount:
    """What became of a file."""

    path: str
    output: str
    rows: int = 0
    errors: int = 0
    """Cells without a translation."""
    listed: list[dict[str, Any]] = field(default_factory=list)
    """The first errors, each with its row."""

    def note(self, row: int, cell: Cell) -> None:
        """Counts an error."""
        self.errors += 1
        if len(self.listed) < _ERRORS:
            self.listed.append({"row": row, "error": cell.error})


class Assembly:
    """Puts outputs together."""

    def __init__(self, plan: BulkPlan, store: PieceStore) -> None:
        self._plan = plan
        self._store = store
        self._pieces = [piece for file in plan.files for piece in file.pieces]
        self._starts = [piece.start for piece in self._pieces]
        self._lines: Callable[[str], tuple[PieceAccount, list[bytes]]] = lru_cache(_PIECES)(
            store.lines
        )
        self._repeated: Callable[[int], bytes] = lru_cache(_LINES)(self._line)
        self.account = PieceAccount()
        """Of all pieces, each counted once."""
        self._counted: set[str] = set()

    def write(self, planned: PlannedFile, output: Path) -> FileAccount:
        """Writes the output of a file, whole or not at all.

        Args:
            planned: The file.
            output: To write; the ending of its name says how it is compressed.
        """
        account = FileAccount(planned.file.path, str(output))
        format = self._plan.options.of(planned.file.name)
        with writable(output):
            output.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(output) as partial:
            with partial.open("wb") as raw:
                target = compressing(raw, compression_of_name(output))
                writer = format.writer(target)
                for piece, rows, places in self._plan.pieces(planned):
                    cells = self._cells(piece, rows, places)
                    self._note(rows, cells, account)
                    writer.write(rows, cells)
                writer.close()
                target.close()
            with InputFile(str(partial), output.name).open() as source:
                account.rows = format.count(source)
            if account.rows != planned.rows:
                raise InputError(
                    f"{output}: got {account.rows} rows, expected {planned.rows} as in "
                    f"{planned.file.path}; this is a bug, please report it"
                )
        return account

    def _cells(self, piece: PlannedPiece, rows: RowPiece, places: list[int]) -> list[Cell]:
        cells = [Cell(None, error=rows.errors.get(place)) for place in range(len(rows.texts))]
        if piece.key:
            account, lines = self._lines(piece.key)
            if piece.key not in self._counted:
                self._counted.add(piece.key)
                self.account.add(account)
            for place, line in zip(places, lines, strict=True):
                cells[place] = cell_of(line)
        if self._plan.firsts is not None and len(places) < len(cells):
            firsts = self._plan.firsts.of(piece.start, piece.cells)
            for place, first in enumerate(firsts):
                if 0 <= first != piece.start + place:
                    cells[place] = cell_of(self._repeated(int(first)))
        return cells

    def _line(self, number: int) -> bytes:
        """What became of the cell with this number, which is translated in an earlier piece."""
        assert self._plan.firsts is not None
        piece = self._pieces[bisect_right(self._starts, number) - 1]
        before = self._plan.firsts.of(piece.start, number - piece.start)
        own = before == np.arange(piece.start, number)
        return self._lines(piece.key)[1][int(np.count_nonzero(own))]

    def _note(self, rows: RowPiece, cells: list[Cell], account: FileAccount) -> None:
        width = len(cells) // max(rows.rows, 1)
        for place, cell in enumerate(cells):
            if cell.error is not None:
                account.note(rows.first + place // width, cell)
