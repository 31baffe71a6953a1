"""Aligns prepared corpora: the two directions as two processes, then joined block by block.

What passes between processes lies in a scratch directory, so memory stays with the models. Knows
neither lexicons nor file formats: whoever calls counts or writes the links.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from sieve.config import unknown
from sieve.data.alignments import Alignments
from sieve.data.corpus import Corpus, Ragged
from sieve.errors import ConfigError
from sieve.files import map_tensors, write_tensors
from sieve.log import progress
from sieve.processes.cores import usable_cores
from sieve.processes.pool import Workers
from sieve.selection.aligners.named_aligners import Aligner, check_aligner, make_aligner
from sieve.selection.aligners.symmetrize import HEURISTICS, symmetrize
from sieve.selection.aligners.translation_table import TranslationTable

_BLOCK = 20_000  # sentence pairs aligned and joined at once
_POLL = 0.5  # seconds between looks at how far the processes are

Weighted = tuple[str, int]
"""A corpus directory, and how often each of its pairs counts."""


@dataclass(frozen=True)
class AlignOptions:
    """How a corpus is aligned."""

    aligner: str = "fast_align"
    """fast_align, hmm, ibm4 or eflomal."""
    symmetrize: str = "grow-diag-final-and"
    """How the two directions are joined; `forward` runs one direction only."""
    train_pairs: int | None = None
    """Train on so many pairs, evenly spread over the first corpus; None: on all."""
    processes: int = 2

    def __post_init__(self) -> None:
        check_aligner(self.aligner)
        if self.symmetrize not in HEURISTICS:
            raise ConfigError(unknown("heuristic", self.symmetrize, list(HEURISTICS)))
        if self.train_pairs is not None and self.train_pairs < 1:
            raise ConfigError(f"train_pairs: got {self.train_pairs}, expected at least 1")


@dataclass(frozen=True)
class CorpusBlock:
    """Aligned sentence pairs of one corpus."""

    corpus: int
    """Which of the corpora."""
    src: Ragged
    tgt: Ragged
    links: Alignments


@dataclass(frozen=True)
class _Job:
    """What the processes are told."""

    corpora: tuple[Weighted, ...]
    options: AlignOptions
    scratch: str
    with_table: bool

    def open(self) -> list[Corpus]:
        return [Corpus.open(directory) for directory, _ in self.corpora]

    def positions_file(self, direction: int, corpus: int) -> Path:
        return Path(self.scratch) / f"positions.{direction}.{corpus}"

    def progress_file(self, direction: int) -> Path:
        return Path(self.scratch) / f"progress.{direction}"

    @property
    def table_file(self) -> Path:
        return Path(self.scratch) / "table.safetensors"


class CorpusAlignment:
    """The links of all pairs of some corpora, computed when made, read block by block."""

    def __init__(
        self,
        corpora: Sequence[Weighted],
        options: AlignOptions,
        scratch: Path,
        with_table: bool = False,
    ) -> None:
        self._job = _Job(tuple(corpora), options, str(scratch), with_table)
        directions = [0] if options.symmetrize == "forward" else [0, 1]
        total = len(directions) * _work(self._job)
        count = min(options.processes, len(directions))
        with (
            _watched_progress(self._job, directions, total),
            Workers(_direction_setup, self._job, count) as workers,
        ):
            for _ in workers.map(directions):
                pass

    def blocks(self) -> Iterator[CorpusBlock]:
        """All pairs, in the order of the corpora."""
        corpora = self._job.open()
        ranges = [
            (number, start, min(start + _BLOCK, corpus.num_pairs))
            for number, corpus in enumerate(corpora)
            for start in range(0, corpus.num_pairs, _BLOCK)
        ]
        count = min(self._job.options.processes, usable_cores(), max(1, len(ranges) // 2))
        total = sum(corpus.num_pairs for corpus in corpora)
        bar: tqdm[None] = progress(total=total, unit=" pairs", label="join and count")
        with (
            bar,
            Workers(_join_setup, self._job, count) as workers,
        ):
            for (number, start, stop), links in zip(ranges, workers.map(ranges), strict=True):
                src, tgt = corpora[number].pairs(np.arange(start, stop))
                yield CorpusBlock(number, src, tgt, links)
                bar.update(stop - start)

    def table(self) -> TranslationTable:
        """p(t | s) of the aligner itself, where it was asked for."""
        tensors = map_tensors(self._job.table_file)
        return TranslationTable(tensors["offsets"], tensors["targets"], tensors["probabilities"])


def _work(job: _Job) -> int:
    """Sentence pairs that one direction works through, each pass counted."""
    corpora = job.open()
    sizes = _vocab_sizes(corpora[0])
    passes = make_aligner(job.options.aligner, *sizes).passes
    aligned = sum(corpus.num_pairs for corpus in corpora)
    return passes * sum(len(index) for index in _training_pairs(job, corpora)) + aligned


def _training_pairs(job: _Job, corpora: Sequence[Corpus]) -> list[npt.NDArray[np.int64]]:
    """For each corpus the pairs to train on: all, or evenly spread ones of the first."""
    chosen = [np.arange(corpus.num_pairs, dtype=np.int64) for corpus in corpora]
    limit = job.options.train_pairs
    if limit is not None and limit < len(chosen[0]):
        chosen[0] = np.arange(limit, dtype=np.int64) * len(chosen[0]) // limit
    return chosen


def _direction_setup(job: _Job) -> Any:
    return lambda direction: _run_direction(job, direction)


def _run_direction(job: _Job, direction: int) -> None:
    """Trains the model of one direction and aligns all corpora with it."""
    corpora = job.open()
    sizes = _vocab_sizes(corpora[0])
    aligner = make_aligner(job.options.aligner, *(sizes if direction == 0 else sizes[::-1]))
    with job.progress_file(direction).open("wb") as file:
        report = _Report(file)
        _train(aligner, job, corpora, direction, report)
        for number, corpus in enumerate(corpora):
            with job.positions_file(direction, number).open("wb") as positions:
                for start in range(0, corpus.num_pairs, _BLOCK):
                    stop = min(start + _BLOCK, corpus.num_pairs)
                    pairs = corpus.pairs(np.arange(start, stop))
                    positions.write(aligner.align(*_turned(pairs, direction)).tobytes())
                    report(stop - start)
    if job.with_table and direction == 0:
        table = aligner.table()
        write_tensors(
            job.table_file,
            {
                "offsets": table.offsets,
                "targets": table.targets,
                "probabilities": table.probabilities,
            },
        )


def _train(
    aligner: Aligner, job: _Job, corpora: Sequence[Corpus], direction: int, report: "_Report"
) -> None:
    chosen = _training_pairs(job, corpora)
    pairs = [corpus.pairs(index) for corpus, index in zip(corpora, chosen, strict=True)]
    weights = [
        np.full(len(index), weight) for index, (_, weight) in zip(chosen, job.corpora, strict=True)
    ]
    src, tgt = (_concatenate([pair[side] for pair in pairs]) for side in range(2))
    aligner.train(*_turned((src, tgt), direction), np.concatenate(weights), report)


def _join_setup(job: _Job) -> Any:
    corpora = job.open()

    def join(part: tuple[int, int, int]) -> Alignments:
        number, start, stop = part
        src, tgt = corpora[number].pairs(np.arange(start, stop))
        forward = _positions(job, 0, number, corpora[number].tgt_lengths, start, stop)
        if job.options.symmetrize == "forward":
            backward = np.full(len(src.ids), -1, np.int16)
        else:
            backward = _positions(job, 1, number, corpora[number].src_lengths, start, stop)
        return symmetrize(job.options.symmetrize, src, tgt, forward, backward)

    return join


def _positions(
    job: _Job,
    direction: int,
    corpus: int,
    lengths: npt.NDArray[np.int32],
    start: int,
    stop: int,
) -> npt.NDArray[np.int16]:
    first = int(lengths[:start].sum(dtype=np.int64))
    count = int(lengths[start:stop].sum(dtype=np.int64))
    return np.fromfile(job.positions_file(direction, corpus), np.int16, count, offset=first * 2)


def _vocab_sizes(corpus: Corpus) -> tuple[int, int]:
    tokenizers = corpus.tokenizers()
    return tokenizers.source.vocab_size, tokenizers.target.vocab_size


def _turned(pair: tuple[Ragged, Ragged], direction: int) -> tuple[Ragged, Ragged]:
    return pair if direction == 0 else (pair[1], pair[0])


def _concatenate(parts: Sequence[Ragged]) -> Ragged:
    lengths = np.concatenate([part.lengths for part in parts])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Ragged(np.concatenate([part.ids for part in parts]), offsets)


class _Report:
    """Writes how many pairs are done where the parent looks."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._done = 0

    def __call__(self, pairs: int) -> None:
        self._done += pairs
        self._file.seek(0)
        self._file.write(self._done.to_bytes(8, "little"))
        self._file.flush()


@contextmanager
def _watched_progress(job: _Job, directions: Sequence[int], total: int) -> Iterator[None]:
    """A bar over what the processes say they have done."""
    ended = threading.Event()
    label = f"{job.options.aligner}, {len(directions)} directions"
    bar: tqdm[None] = progress(total=total, unit=" pairs", label=label)
    with bar:

        def look() -> None:
            done = 0
            for direction in directions:
                path = job.progress_file(direction)
                if path.is_file():
                    done += int.from_bytes(path.read_bytes(), "little")
            bar.update(done - bar.n)

        def watch() -> None:
            while not ended.wait(_POLL):
                look()

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
            look()
        finally:
            ended.set()
            thread.join()
