"""Test sets: lines of two languages, read and checked before anything is computed.

A set is named on the command line as NAME=SRC,TGT or SRC,TGT (two files), or as a prefix: with a
model from en to de, `news` stands for news.en and news.de. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sieve.data.language_check import LanguageIdentifier
from sieve.data.reading import read_lines
from sieve.errors import InputError, MissingExtraError, SieveError

_CHECKED_LINES = 200
_FEWEST_LINES = 10
"""Fewer say too little of their language."""


@dataclass(frozen=True)
class ParallelSet:
    """Source lines and one reference for each."""

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...]

    def first(self, number: int | None) -> "ParallelSet":
        """The first lines of it, all for None."""
        if number is None:
            return self
        return replace(self, sources=self.sources[:number], references=self.references[:number])

    def spread(self, number: int) -> "ParallelSet":
        """So many lines of it, evenly spaced: some of each document."""
        number = min(number, len(self.sources))
        places = np.linspace(0, len(self.sources) - 1, number).astype(int)
        sources, references = (
            tuple(lines[place] for place in places) for lines in (self.sources, self.references)
        )
        return replace(self, sources=sources, references=references)


def read_set(text: str, languages: tuple[str, str]) -> ParallelSet:
    """The set that an argument names; unequal, empty and unreadable files are errors."""
    name, source, target = named_files(text, languages)
    return read_pair(name, source, target)


def named_files(text: str, languages: tuple[str, str]) -> tuple[str, Path, Path]:
    """Name, source file and target file that an argument stands for."""
    name, _, files = text.rpartition("=")
    if "," in files:
        source, _, target = files.partition(",")
        if not source or not target or "," in target:
            raise InputError(f"test set '{text}': expected NAME=SRC,TGT with two files")
        return name or stem(Path(source)), Path(source), Path(target)
    if not all(languages):
        raise InputError(
            f"test set '{text}': the model does not say its languages; expected NAME=SRC,TGT"
        )
    source, target = (f"{files}.{language}" for language in languages)
    if not Path(source).is_file():
        raise InputError(
            f"test set '{text}': {source} not found; expected a prefix of .{languages[0]} "
            f"and .{languages[1]} files, or NAME=SRC,TGT"
        )
    return name or stem(Path(source)), Path(source), Path(target)


def stem(path: Path) -> str:
    """`newstest2019` for newstest2019.en-de.en: what stands before the first dot."""
    return path.name.split(".")[0] or path.name


def read_pair(name: str, source: Path, target: Path) -> ParallelSet:
    """The lines of two files."""
    sources, references = tuple(read_lines(source)), tuple(read_lines(target))
    if len(sources) != len(references):
        raise InputError(
            f"{source} has {len(sources)} lines and {target} {len(references)}, "
            "expected as many of one as of the other"
        )
    if not sources:
        raise InputError(f"{source}: is empty, expected at least one line")
    for number, (line, reference) in enumerate(zip(sources, references, strict=True), start=1):
        if not line.strip() or not reference.strip():
            path, what = (source, "source") if not line.strip() else (target, "reference")
            raise InputError(f"{path}, line {number}: the {what} is empty, expected a sentence")
    return ParallelSet(name, sources, references)


def check_languages(test_set: ParallelSet, languages: tuple[str, str]) -> None:
    """Refuses a set most of whose lines are in another language than the model's.

    Where the identifier is not installed or does not know a language, nothing is checked.
    """
    if not all(languages) or len(test_set.sources) < _FEWEST_LINES:
        return
    try:
        identifier = LanguageIdentifier()
    except MissingExtraError:
        return
    sides = (("source", test_set.sources), ("reference", test_set.references))
    for (what, lines), language in zip(sides, languages, strict=True):
        try:
            known = identifier.check(language)
        except SieveError:
            continue
        share = float(np.mean(identifier.odds(_spread(lines, _CHECKED_LINES), known) > 0.5))
        if share < 0.5:
            raise InputError(
                f"test set {test_set.name}: {100 * share:.0f} % of the {what} lines look like "
                f"'{language}', which the model's {what} language is; expected most of them "
                "(--no-language-check to go on)"
            )


def _spread(lines: Sequence[str], number: int) -> list[str]:
    """At most `number` lines, evenly spaced."""
    return list(lines[:: max(1, len(lines) // number)])
