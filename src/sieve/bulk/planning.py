"""What there is to do: all inputs read once, cut into pieces and checked, before work starts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from sieve.bulk.duplicates import FirstPlaces, text_hash
from sieve.bulk.inputs import InputFile
from sieve.bulk.rows.row_formats import RowOptions
from sieve.bulk.rows.row_pieces import RowPiece, piece_key
from sieve.errors import ConfigError, InputError

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True)
class PlannedPiece:
    """A piece of a file."""

    key: str
    """The name of its translations; empty where it has nothing to translate."""
    first: int
    """The number of its first row in the file."""
    rows: int
    start: int
    """The number of its first cell among those of all files."""
    cells: int


@dataclass(frozen=True)
class PlannedFile:
    """A file and its pieces."""

    file: InputFile
    pieces: tuple[PlannedPiece, ...]

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(piece.rows for piece in self.pieces)


@dataclass(frozen=True)
class BulkPlan:
    """All files in pieces."""

    files: tuple[PlannedFile, ...]
    made_with: str
    """A hash of model and options."""
    options: RowOptions
    firsts: FirstPlaces | None = field(default=None, compare=False)
    """Where each text stands first; None where duplicates are translated like all others."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(file.rows for file in self.files)

    @property
    def keys(self) -> dict[str, int]:
        """All pieces to translate and their rows; equal pieces are translated once."""
        keys = {piece.key: piece.rows for file in self.files for piece in file.pieces}
        keys.pop("", None)
        return keys

    @property
    def digest(self) -> str:
        """A hash of all there is to do."""
        parts = [f"{f.file.name}\t{p.key}\t{p.rows}\n" for f in self.files for p in f.pieces]
        return hashlib.sha256("".join(parts).encode(errors="surrogatepass")).hexdigest()

    def pieces(self, planned: PlannedFile) -> Iterator[tuple[PlannedPiece, RowPiece, list[int]]]:
        """A file read once more: its pieces, their rows, and which cells are translated."""
        waiting = list(reversed(planned.pieces))
        with planned.file.open() as source:
            for rows in self.options.of(planned.file.name).read(source, planned.file.path):
                if not waiting:
                    break
                if rows.first != waiting[-1].first:
                    continue  # of another shard
                piece = waiting.pop()
                places = self.translated(rows, piece.start)
                if len(rows.texts) != piece.cells or self._key(rows, places) != piece.key:
                    raise _changed(planned.file)
                yield piece, rows, places
        if waiting:
            raise _changed(planned.file)

    def translated(self, rows: RowPiece, start: int) -> list[int]:
        """Which cells of a piece are translated."""
        if self.firsts is not None:
            return self.firsts.firsts(start, len(rows.texts))
        return [place for place, text in enumerate(rows.texts) if text is not None]

    def _key(self, rows: RowPiece, places: list[int]) -> str:
        return piece_key(self.made_with, texts_of(rows, places)) if places else ""

    def planned(self, file: InputFile, start: int) -> PlannedFile:
        """The pieces of a file whose first cell has this number."""
        pieces = []
        with file.open() as source:
            for rows in self.options.of(file.name).read(source, file.path):
                key = self._key(rows, self.translated(rows, start))
                pieces.append(PlannedPiece(key, rows.first, rows.rows, start, len(rows.texts)))
                start += len(rows.texts)
        return PlannedFile(file, tuple(pieces))


@dataclass(frozen=True)
class PendingPieces:
    """Pieces that are still to be translated, each once; read as they are needed."""

    plan: BulkPlan
    wanted: tuple[frozenset[int], ...]
    """The first rows of wanted pieces, for each file."""

    @classmethod
    def of(cls, plan: BulkPlan, done: Collection[str]) -> PendingPieces:
        """All pieces but those that are done."""
        seen = set(done)
        wanted = []
        for file in plan.files:
            firsts = set()
            for piece in file.pieces:
                if piece.key and piece.key not in seen:
                    firsts.add(piece.first)
                    seen.add(piece.key)
            wanted.append(frozenset(firsts))
        return cls(plan, tuple(wanted))

    @property
    def left_out(self) -> set[str]:
        """Pieces that were done before."""
        wanted = {
            piece.key
            for file, firsts in zip(self.plan.files, self.wanted, strict=True)
            for piece in file.pieces
            if piece.first in firsts
        }
        return self.plan.keys.keys() - wanted

    def __len__(self) -> int:
        return sum(map(len, self.wanted))

    def groups(self, count: int) -> list[PendingPieces]:
        """The same in several parts of whole files, at most `count` of them."""
        numbers = [number for number, firsts in enumerate(self.wanted) if firsts]
        return [
            replace(
                self,
                wanted=tuple(
                    firsts if number in numbers[start::count] else frozenset()
                    for number, firsts in enumerate(self.wanted)
                ),
            )
            for start in range(min(count, len(numbers)))
        ]

    def __iter__(self) -> Iterator[tuple[str, list[str]]]:
        """The name of each piece and its texts."""
        for file, firsts in zip(self.plan.files, self.wanted, strict=True):
            if not firsts:
                continue
            for piece, rows, places in self.plan.pieces(file):
                if piece.first in firsts:
                    yield piece.key, texts_of(rows, places)


def texts_of(rows: RowPiece, places: list[int]) -> list[str]:
    """The texts of some cells."""
    return [text for place in places if (text := rows.texts[place]) is not None]


def make_plan(
    files: list[InputFile], options: RowOptions, made_with: str, scratch: Path | None
) -> BulkPlan:
    """Reads all inputs and says what there is to do.

    Args:
        files: To translate.
        options: How to read them.
        made_with: A hash of model and options.
        scratch: A directory to find duplicates in; None where they are translated like all others.
    """
    firsts = None if scratch is None else _firsts(files, options, scratch)
    plan = BulkPlan((), made_with, options, firsts)
    planned: list[PlannedFile] = []
    start = 0
    for file in files:
        planned.append(plan.planned(file, start))
        start += sum(piece.cells for piece in planned[-1].pieces)
    return BulkPlan(tuple(planned), made_with, options, firsts)


def _firsts(files: list[InputFile], options: RowOptions, scratch: Path) -> FirstPlaces:
    path = scratch / "hashes"
    with path.open("wb") as target:
        for file in files:
            with file.open() as source:
                for rows in options.of(file.name).read(source, file.path):
                    target.writelines(map(text_hash, rows.texts))
    firsts = FirstPlaces.find(path, scratch / "places")
    path.unlink()
    return firsts


def _changed(file: InputFile) -> InputError:
    return InputError(f"{file.path}: has changed since the run began; start it again with --resume")


@dataclass(frozen=True)
class Shard:
    """A run of the pieces, about as long as the others."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Reads `3/20`."""
        match = _SHARD.fullmatch(text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise ConfigError(f"--shard: got '{text}', expected one of N as K/N: 1/20 to 20/20")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, plan: BulkPlan) -> BulkPlan:
        """The pieces of this shard alone."""
        total, before = max(plan.rows, 1), 0
        files = []
        for file in plan.files:
            pieces = []
            for piece in file.pieces:
                if before * self.of // total == self.number - 1:
                    pieces.append(piece)
                before += piece.rows
            files.append(replace(file, pieces=tuple(pieces)))
        return replace(plan, files=tuple(files))
