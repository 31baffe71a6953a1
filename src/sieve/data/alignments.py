"""Word alignments in Pharaoh format: `0-0 1-2` a line, source and target position of each link.

Positions count the tokens of the prepared corpus (no BOS, no EOS). Reads millions of lines in
seconds; an unusable line is named by its number.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sieve.errors import InputError
from sieve.files import whole_file

_BLOCK = 1 << 24  # bytes parsed at once
_LINK = re.compile(rb"\d{1,5}-\d{1,5}")
_MAX_DIGITS = 5
_MAX_POSITION = int(np.iinfo(np.int16).max)


@dataclass(frozen=True, eq=False)
class Alignments:
    """Links of many sentence pairs, CSR."""

    offsets: npt.NDArray[np.int64]
    """(N + 1,): the links of pair i are offsets[i] to offsets[i + 1]."""
    src_pos: npt.NDArray[np.int16]
    tgt_pos: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def links(self, pair: int) -> npt.NDArray[np.int16]:
        """(L, 2) source and target positions of one sentence pair."""
        part = slice(self.offsets[pair], self.offsets[pair + 1])
        return np.stack([self.src_pos[part], self.tgt_pos[part]], axis=1)

    def slice(self, start: int, stop: int) -> "Alignments":
        """The pairs from `start` up to `stop`."""
        first, last = self.offsets[start], self.offsets[min(stop, len(self))]
        offsets = self.offsets[start : stop + 1] - first
        return Alignments(offsets, self.src_pos[first:last], self.tgt_pos[first:last])

    def check(
        self,
        src_lengths: npt.NDArray[np.integer],
        tgt_lengths: npt.NDArray[np.integer],
        name: str,
    ) -> None:
        """Checks that there is a line for each pair and that every link lies inside its pair."""
        if len(self) != len(src_lengths):
            raise InputError(
                f"{name}: got {len(self)} lines, expected {len(src_lengths)}, one for each pair"
            )
        pairs = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        outside = (self.src_pos >= src_lengths[pairs]) | (self.tgt_pos >= tgt_lengths[pairs])
        if outside.any():
            link = int(np.argmax(outside))
            pair = int(pairs[link])
            raise InputError(
                f"{name}: line {pair + 1}: link {self.src_pos[link]}-{self.tgt_pos[link]} lies "
                f"outside the pair of {src_lengths[pair]} and {tgt_lengths[pair]} tokens"
            )


def read_pharaoh(path: Path) -> Alignments:
    """Reads a file of alignments; an empty line is a pair without links."""
    counts, links = [], []
    line = 0
    for block in _blocks(path):
        block_counts, block_links = _parse(block, path, line)
        line += len(block_counts)
        counts.append(block_counts)
        links.append(block_links)
    all_counts = np.concatenate([np.zeros(1, np.int64), *counts])
    all_links = np.concatenate([np.empty((0, 2), np.int16), *links])
    return Alignments(
        np.cumsum(all_counts),
        np.ascontiguousarray(all_links[:, 0]),
        np.ascontiguousarray(all_links[:, 1]),
    )


def write_pharaoh(path: Path, alignments: Alignments) -> None:
    """Writes a file of alignments, one line a pair."""
    with whole_file(path) as partial, partial.open("w", encoding="ascii") as file:
        file.writelines(pharaoh_lines(alignments))


def pharaoh_lines(alignments: Alignments) -> Iterator[str]:
    """One line a pair, with its newline."""
    offsets = alignments.offsets.tolist()
    src, tgt = alignments.src_pos.tolist(), alignments.tgt_pos.tolist()
    for start, stop in pairwise(offsets):
        yield " ".join(f"{src[i]}-{tgt[i]}" for i in range(start, stop)) + "\n"


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in blocks of whole lines, each line with its newline."""
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                block += file.readline()
                yield block if block.endswith(b"\n") else block + b"\n"
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _parse(
    block: bytes, path: Path, first_line: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int16]]:
    """Links per line, and all links (L, 2), of a block of whole lines."""
    block = block.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    data = np.frombuffer(block, np.uint8)
    digit = (data >= ord("0")) & (data <= ord("9"))
    dash = data == ord("-")
    newline = data == ord("\n")
    # the numbers are the runs of digits; they must come as number, dash, number, then space
    edges = np.flatnonzero(np.diff(digit, prepend=False, append=False))
    starts, ends = edges[0::2], edges[1::2]  # ends are exclusive
    dashes = np.flatnonzero(dash)
    well_formed = (
        bool(np.all(digit | dash | newline | (data == ord(" "))))
        and len(starts) == 2 * len(dashes)
        and np.array_equal(ends[0::2], dashes)
        and np.array_equal(starts[1::2], dashes + 1)
        and (not len(starts) or int((ends - starts).max()) <= _MAX_DIGITS)
    )
    if not well_formed:
        _raise_at_line(block, path, first_line)
    values = np.zeros(len(starts), np.int64)
    for place in range(_MAX_DIGITS):
        at = np.maximum(ends - 1 - place, starts)
        values += np.where(ends - 1 - place >= starts, data[at] - np.int64(ord("0")), 0) * 10**place
    if len(values) and int(values.max()) > _MAX_POSITION:
        _raise_at_line(block, path, first_line)
    counts = np.diff(np.searchsorted(dashes, np.flatnonzero(newline)), prepend=0)
    return counts.astype(np.int64), values.astype(np.int16).reshape(-1, 2)


def _raise_at_line(block: bytes, path: Path, first_line: int) -> None:
    """Finds the first unusable line of the block and says what is wrong with it."""
    for number, line in enumerate(block.split(b"\n"), start=first_line + 1):
        for token in line.split(b" "):
            usable = _LINK.fullmatch(token) is not None
            if token and not (usable and max(map(int, token.split(b"-"))) <= _MAX_POSITION):
                shown = token[:20].decode("utf-8", errors="replace")
                raise InputError(
                    f"{path}: line {number}: got '{shown}', expected links such as '0-0 1-2' "
                    f"(source-target positions from 0 to {_MAX_POSITION})"
                )
    raise AssertionError("the block was refused but each of its lines is well formed")
