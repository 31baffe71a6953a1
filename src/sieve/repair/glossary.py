"""A glossary: phrases of the source and what they shall be called in the translation.

A TSV file, one entry a line: phrase, tab, translation. A phrase in lower case is found in any case
and its translation follows: SOURCE gives TARGET, Source at the beginning gives Target. One with a
capital letter is found as it is written, and its translation stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sieve.data.reading import read_lines
from sieve.errors import InputError


@dataclass(frozen=True)
class Match:
    """An entry that was found in a text."""

    start: int
    end: int
    target: str
    """In the case that belongs here."""


@dataclass(frozen=True)
class Glossary:
    """Entries by their source phrase."""

    entries: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> Glossary:
        """Reads a TSV file; a line that is no entry is an error that names it."""
        return cls(tuple(_entries(read_lines(path), str(path))))

    def find(self, text: str) -> list[Match]:
        """Entries in a text, from left to right: of those that begin together the longest."""
        matches = []
        for match in self._pattern.finditer(text) if self.entries else ():
            said = match[0]
            spaced = " ".join(said.split())
            target = self._targets.get(spaced)
            if target is None and spaced.lower() in self._any_case:
                target = _in_case(self._any_case[spaced.lower()], spaced, match.start() == 0)
            if target is not None:
                matches.append(Match(match.start(), match.end(), target))
        return matches

    @cached_property
    def _targets(self) -> dict[str, str]:
        return dict(self.entries)

    @cached_property
    def _any_case(self) -> dict[str, str]:
        return {phrase: target for phrase, target in self.entries if phrase == phrase.lower()}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        ordered = sorted(self._targets, key=len, reverse=True)
        forms = []
        for phrase in ordered:
            form = r"\s+".join(map(re.escape, phrase.split()))
            forms.append(f"(?i:{form})" if phrase == phrase.lower() else form)
        return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)")


def _in_case(target: str, said: str, first: bool) -> str:
    if len(said) > 1 and said.isupper():
        return target.upper()
    if first and said[:1].isupper():
        return target[:1].upper() + target[1:]
    return target


def _entries(lines: Iterable[str], where: str) -> Iterable[tuple[str, str]]:
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        fields = [" ".join(field.split()) for field in line.split("\t")]
        if len(fields) != 2 or not all(fields):
            raise InputError(
                f"{where}, line {number}: got {len(fields)} fields, expected a phrase, a tab and "
                "its translation"
            )
        if fields[0] in seen:
            raise InputError(
                f"{where}, line {number}: '{fields[0]}' already stands in line {seen[fields[0]]}"
            )
        seen[fields[0]] = number
        yield fields[0], fields[1]
