"""Cleaned pairs between the stages of `prepare`: text on disk, in numbered blocks, with hashes.

One process writes; any process reads a block by its place. The directory is scratch: it goes away
with the run.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from sieve.data.cleaning import Mask
from sieve.data.deduplicate import Hashes, mark_duplicates


@dataclass(frozen=True)
class SpoolBlock:
    """Where a block of pairs lies in the files of the spool."""

    first: int
    """Number of its first pair."""
    pairs: int
    source: tuple[int, int]
    """First byte and end in the file of the source side."""
    target: tuple[int, int]


@dataclass(frozen=True)
class SpoolFiles:
    """The files of a spool."""

    directory: Path

    @property
    def sides(self) -> tuple[Path, Path]:
        """Text of the two sides, one sentence a line."""
        return self.directory / "source.txt", self.directory / "target.txt"

    @property
    def hashes(self) -> Path:
        """64 bits a pair."""
        return self.directory / "hashes.u64"

    @property
    def marks(self) -> Path:
        """One byte a pair, 1 for a duplicate; there only once duplicates were looked for."""
        return self.directory / "duplicates.u8"


class SpoolWriter:
    """Appends blocks of cleaned pairs."""

    def __init__(self, directory: Path) -> None:
        self.files: SpoolFiles = SpoolFiles(directory)
        self.blocks: list[SpoolBlock] = []
        self.num_pairs: int = 0
        self._ends = [0, 0]
        self._stack = ExitStack()
        paths = (*self.files.sides, self.files.hashes)
        self._open = [self._stack.enter_context(path.open("wb")) for path in paths]

    def __enter__(self) -> "SpoolWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def append(self, source: bytes, target: bytes, hashes: Hashes) -> None:
        """Adds a block; every sentence ends with a line feed."""
        places = []
        for side, data in enumerate((source, target)):
            self._open[side].write(data)
            places.append((self._ends[side], self._ends[side] + len(data)))
            self._ends[side] += len(data)
        self._open[2].write(hashes.tobytes())
        self.blocks.append(SpoolBlock(self.num_pairs, len(hashes), places[0], places[1]))
        self.num_pairs += len(hashes)


class SpoolReader:
    """Reads blocks of pairs without those marked as duplicates; holds nothing open."""

    def __init__(self, files: SpoolFiles) -> None:
        self._files = files

    def pairs(self, block: SpoolBlock) -> tuple[list[str], list[str]]:
        """The texts of a block, duplicates left out."""
        unique = self.unique(block)
        source = _lines(self._files.sides[0], block.source)
        target = _lines(self._files.sides[1], block.target)
        if unique.all():
            return source, target
        kept = np.flatnonzero(unique).tolist()
        return [source[i] for i in kept], [target[i] for i in kept]

    def unique(self, block: SpoolBlock) -> Mask:
        """(pairs,) True where no equal pair came before."""
        if not self._files.marks.exists():
            return np.ones(block.pairs, bool)
        place = (block.first, block.first + block.pairs)
        return np.equal(np.frombuffer(_bytes(self._files.marks, place), np.uint8), 0)


def remove_duplicates(files: SpoolFiles) -> int:
    """Marks all but the first of equal pairs; returns how many are marked."""
    return mark_duplicates(files.hashes, files.marks)


def sample(
    reader: SpoolReader, blocks: Sequence[SpoolBlock], side: int, share: float
) -> Iterator[str]:
    """Sentences of one side, spread evenly: the same for both sides and on every machine."""
    due = 0.0
    for block in blocks:
        for text in reader.pairs(block)[side]:
            due += share
            if due >= 1.0:
                due -= 1.0
                yield text


def _lines(path: Path, place: tuple[int, int]) -> list[str]:
    lines = _bytes(path, place).decode().split("\n")
    lines.pop()
    return lines


def _bytes(path: Path, place: tuple[int, int]) -> bytes:
    with path.open("rb") as file:
        file.seek(place[0])
        return file.read(place[1] - place[0])
