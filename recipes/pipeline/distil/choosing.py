"""Distillation, the work of processes without a GPU: cutting text, numbering it, choosing outputs.

Text is cut into pieces, each an even sample of all corpora: whatever number of pieces the teacher
gets through, the student sees every corpus. Line n of a piece's output belongs to line n of its
source, files of a piece one behind the other in the order of their names.
"""

import functools
import math
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sieve.data.reading import read_lines
from sieve.files import whole_file
from sieve.tokenize.tokenizer import Tokenizer, load_tokenizers
from sieve.tokenize.vocabulary import EOS

MOST_TOKENS = 104  # longer sources are left out: 100, two for the tag, EOS
Ids = npt.NDArray[np.uint16]


@dataclass(frozen=True)
class Sentences:
    """Sentences as numbers, one behind the other."""

    ids: Ids
    lengths: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lengths)

    @functools.cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each begins, and the end of the last."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def __getitem__(self, row: int) -> Ids:
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Sentences":
        """From lists of numbers."""
        lengths = np.array([len(row) for row in rows], np.int64)
        return cls(np.array([i for row in rows for i in row], np.uint16), lengths)


@dataclass(frozen=True)
class NBest:
    """For M sentences n outputs each, best first: row m · n + k is output k of sentence m."""

    outputs: Sentences
    scores: npt.NDArray[np.float32]
    """(M, n) mean log-probability of a token; −inf for outputs without an end."""

    def part(self, start: int, stop: int) -> "NBest":
        """The outputs of sentences from `start` up to `stop`."""
        n = self.scores.shape[1]
        first, last = start * n, min(stop * n, len(self.outputs))
        offsets = self.outputs.offsets
        ids = self.outputs.ids[offsets[first] : offsets[last]]
        return NBest(Sentences(ids, self.outputs.lengths[first:last]), self.scores[start:stop])


@dataclass(frozen=True)
class Side:
    """Where one side of the text of a piece is, and how it is numbered."""

    text: Path
    """Pieces as `cut` makes them."""
    language: str
    tokenizer: Path
    tag: str = ""
    """Put before each line."""


def cut(packed: Path, output: Path, pieces: range) -> int:
    """Deals the lines of GROUP.LANGUAGE.bz2 out to pieces; returns how many there were."""
    name = packed.name.removesuffix(".bz2")
    number = 0
    with ExitStack() as stack:
        files = []
        for piece in pieces:
            path = output / f"{piece:03d}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            files.append(stack.enter_context(path.open("w", encoding="utf-8", newline="\n")))
        for number, line in enumerate(read_lines(packed), start=1):
            files[(number - 1) % len(pieces)].write(f"{line}\n")
    return number


def files_of(text: Path, piece: int, language: str) -> list[Path]:
    """The files of a piece, in the order in which they make it up."""
    return sorted((text / f"{piece:03d}").glob(f"*.{language}"))


def lines_of(text: Path, piece: int, language: str) -> list[str]:
    """All lines of a piece."""
    files = files_of(text, piece, language)
    return [line for path in files for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def number_source(side: Side, piece: int) -> Sentences:
    """The source of a piece for the model; what is too long becomes empty."""
    tag = f"{side.tag} " if side.tag else ""
    lines = lines_of(side.text, piece, side.language)
    rows = _tokenizer(side.tokenizer).encode([tag + line for line in lines])
    return Sentences.of([[*row, EOS] if len(row) < MOST_TOKENS else [] for row in rows])


def choose(
    outputs: NBest, start: int, piece: int, references: Side | None, tokenizer: Path
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Outputs as text and their scores, of n outputs the one nearest to the reference.

    Args:
        outputs: Of the sentences of a piece from `start` on; empty text where there is no output.
        start: Place of the first in the piece.
        piece: Which one.
        references: None to keep the first of n outputs.
        tokenizer: Of the model.
    """
    model = _tokenizer(tokenizer)
    number, n = outputs.scores.shape
    best = np.zeros(number, np.int64)
    if references is not None and n > 1:
        lines = lines_of(references.text, piece, references.language)[start : start + number]
        for row, reference in enumerate(model.encode(lines)):
            best[row] = nearest(
                [outputs.outputs[row * n + k].tolist() for k in range(n)],
                outputs.scores[row].tolist(),
                reference,
            )
    rows = np.arange(number) * n + best
    scores = outputs.scores.reshape(-1)[rows]
    texts = model.decode([outputs.outputs[int(row)].tolist() for row in rows])
    return [t if s > -math.inf else "" for t, s in zip(texts, scores, strict=True)], scores


def write(output: Path, lines: Sequence[str], scores: npt.NDArray[np.float32]) -> None:
    """A piece's outputs; the text comes last and says that the piece is complete."""
    np.save(output.with_name(f"{output.name}.scores.npy"), scores.astype(np.float16))
    with whole_file(output) as partial:
        partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def nearest(outputs: list[list[int]], scores: list[float], reference: list[int]) -> int:
    """Which output is most like the reference; of equals the first, none without an end."""
    wanted = _ngrams(reference)
    values = [
        similarity(output, reference, wanted) if score > -math.inf else -1.0
        for output, score in zip(outputs, scores, strict=True)
    ]
    return values.index(max(values))


def similarity(output: list[int], reference: list[int], wanted: Counter[tuple[int, ...]]) -> float:
    """BLEU of one sentence in subword tokens, each precision smoothed by one."""
    ngrams = _ngrams(output)
    hits = [0, 0, 0, 0]
    for ngram, count in ngrams.items():
        hits[len(ngram) - 1] += min(count, wanted[ngram])
    value = min(0.0, 1.0 - len(reference) / max(len(output), 1))
    for order, hit in enumerate(hits, start=1):
        value += math.log((hit + 1) / (max(len(output) - order + 1, 0) + 1)) / 4
    return math.exp(value)


def _ngrams(tokens: list[int]) -> Counter[tuple[int, ...]]:
    shifted = [tokens[i:] for i in range(4)]
    counts: Counter[tuple[int, ...]] = Counter()
    for order in range(1, 5):
        counts.update(zip(*shifted[:order], strict=False))
    return counts


@functools.cache
def _tokenizer(directory: Path) -> Tokenizer:
    return load_tokenizers(directory).source
