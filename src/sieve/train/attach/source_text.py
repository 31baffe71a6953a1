"""The text that a head learns from: files of lines, or prepared corpora. Knows no model."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np

from sieve.data.corpus import CORPUS_FILE, Corpus
from sieve.data.reading import read_lines
from sieve.errors import InputError
from sieve.files import file_hash

Lines = Sequence[str]
_ORDER = 1  # seed of the shuffle: what was translated serves every head


class AttachText(Protocol):
    """Lines in the source language, and references if there are any."""

    def hashes(self) -> list[str]:
        """Of what the lines come from: another text has others."""

    def lines(self) -> tuple[Lines, Lines | None]:
        """Sources, and as many references."""

    def __str__(self) -> str:
        """Where the lines come from, for messages and the card."""


@dataclass(frozen=True)
class SourceText:
    """Files, one sentence a line."""

    sources: tuple[Path, ...]
    targets: tuple[Path, ...] = ()

    def hashes(self) -> list[str]:
        """See AttachText."""
        return [file_hash(path) for path in (*self.sources, *self.targets)]

    def lines(self) -> tuple[Lines, Lines | None]:
        """See AttachText."""
        lines = list(chain.from_iterable(map(read_lines, self.sources)))
        if not self.targets:
            return lines, None
        others = list(chain.from_iterable(map(read_lines, self.targets)))
        if len(others) != len(lines):
            raise InputError(
                f"{self.targets[0]}: got {len(others)} lines for {len(lines)} source lines"
            )
        return lines, others

    def __str__(self) -> str:
        return ", ".join(path.name for path in self.sources)


@dataclass(frozen=True)
class CorpusText:
    """Corpora of `sieve prepare`, as text again."""

    directories: tuple[Path, ...]

    def hashes(self) -> list[str]:
        """See AttachText."""
        return [file_hash(directory / CORPUS_FILE) for directory in self.directories]

    def lines(self) -> tuple[Lines, Lines | None]:
        """See AttachText."""
        sources: list[str] = []
        targets: list[str] = []
        for directory in self.directories:
            corpus = Corpus.open(directory)
            tokenizers = corpus.tokenizers()
            src, tgt = corpus.pairs(np.arange(corpus.num_pairs))
            sources += tokenizers.source.decode([src[row].tolist() for row in range(len(src))])
            targets += tokenizers.target.decode([tgt[row].tolist() for row in range(len(tgt))])
        return sources, targets

    def __str__(self) -> str:
        return ", ".join(directory.name for directory in self.directories)


def distinct(text: AttachText, most: int) -> tuple[list[str], list[str] | None]:
    """Distinct lines in a random order, always the same, and their references if there are any."""
    lines, others = text.lines()
    first = {line: row for row, line in reversed(list(enumerate(lines))) if line.strip()}
    rows = sorted(first.values())
    random.Random(_ORDER).shuffle(rows)
    rows = rows[:most]
    chosen = None if others is None else [others[row] for row in rows]
    return [lines[row] for row in rows], chosen
