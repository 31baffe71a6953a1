"""A line as the model reads it beside the line as it was given, word by word.

Pieces never reach across a space, so that counting the pieces of each word says which piece of the
one belongs to which piece of the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from sieve.repair.unknown.folding import Respelled, applied
from sieve.tokenize.tokenizer import Tokenizer

_GROUP = re.compile(r"\S+")
_CLOSING = re.compile(r"[.,;:!?)\]}]+")


@dataclass(frozen=True)
class Group:
    """What stands between two spaces, with all that is read together with it."""

    start: int
    text: str
    read: str
    """Nothing where only emoji were there."""
    folded: tuple[Respelled, ...]


@dataclass(frozen=True)
class Reading:
    """A line in groups."""

    groups: tuple[Group, ...]

    @classmethod
    def of(cls, line: str, folded: Sequence[Respelled]) -> Reading:
        """The groups of a line of which some characters are read as others."""
        groups: list[Group] = []
        for match in _GROUP.finditer(line):
            inside = tuple(f for f in folded if match.start() <= f.start < match.end())
            shifted = tuple(
                Respelled(f.start - match.start(), f.text, f.read, f.stands_in) for f in inside
            )
            read = applied(match[0], shifted).strip()
            group = Group(match.start(), match[0], read, inside)
            if groups and inside and _CLOSING.fullmatch(read):  # it was behind an emoji
                before = groups.pop()
                group = Group(
                    before.start,
                    line[before.start : match.end()],
                    before.read + read,
                    before.folded + inside,
                )
            groups.append(group)
        return cls(tuple(groups))

    @property
    def text(self) -> str:
        """What the model reads."""
        return " ".join(group.read for group in self.groups if group.read)

    def pieces(self, tokenizer: Tokenizer) -> list[int]:
        """Source pieces of each group, as it is read."""
        return _sizes(tokenizer, [group.read for group in self.groups])

    def groups_at(self, positions: Sequence[int], sizes: Sequence[int]) -> list[int]:
        """The group that each target piece came from; the number of groups for the end."""
        of_piece = [number for number, size in enumerate(sizes) for _ in range(size)]
        return [
            of_piece[place] if place < len(of_piece) else len(self.groups) for place in positions
        ]

    def original(
        self, positions: Sequence[int], sizes: Sequence[int], tokenizer: Tokenizer
    ) -> tuple[int, ...]:
        """Positions among the pieces of the line as it was given."""
        own = _sizes(tokenizer, [group.text for group in self.groups])
        read_starts, own_starts = _starts(sizes), _starts(own)
        moved = []
        for place, group in zip(positions, self.groups_at(positions, sizes), strict=True):
            if group == len(self.groups):
                moved.append(own_starts[-1])
            else:
                inside = min(place - read_starts[group], max(own[group] - 1, 0))
                moved.append(own_starts[group] + inside)
        return tuple(moved)


def _sizes(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    return list(map(len, tokenizer.encode(texts)))


def _starts(sizes: Sequence[int]) -> list[int]:
    return [0, *accumulate(sizes)]
