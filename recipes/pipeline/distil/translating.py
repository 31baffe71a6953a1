"""A model translates the sources of all training text, in pieces.

`cut_text` deals the clean text out to pieces; `Translating` writes NNN.de and NNN.de.scores.npy for
each piece NNN. A piece that is there is not done again; with a budget no piece is begun that would
not end in time. Of the five best outputs the one nearest to the reference is kept, or, without
references, the model's best.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipeline.distil.choosing import (
    NBest,
    Sentences,
    Side,
    choose,
    cut,
    files_of,
    number_source,
    write,
)
from pipeline.tools import each, processes
from sieve.errors import InputError
from sieve.files import read_json, write_json

if TYPE_CHECKING:
    from pipeline.distil.bulk import Bulk

CHUNK = 8192  # sentences among whose outputs one process chooses
AHEAD = 3  # pieces numbered before they are needed
MAX_LENGTH_FACTOR = 1.5  # of an output's tokens to its source's, and ten more
PIECE_BYTES = 3_000_000  # of compressed text of both languages that make a piece: 80,000 pairs
BEAM = 5
BATCH_TOKENS, BATCH_SENTENCES = 65_536, 2048


def cut_text(collected: Path, text: Path, jobs: int) -> None:
    """Cuts the parts that are there into pieces, part1 into 100, 101, …; cut parts stay."""
    parts = _parts(collected)
    if not parts:
        raise InputError(f"{collected}: no part1/GROUP.LANGUAGE.bz2 in it; run 'collect' first")
    for part in parts:
        first, note = 100 * int(part.name[-1]), text / f"{part.name}.json"
        if not note.exists():
            packed = sorted(part.glob("*.bz2"))
            size = sum(path.stat().st_size for path in packed)
            pieces = range(first, first + max(1, round(size / PIECE_BYTES)))
            counts = each(partial(cut, output=text, pieces=pieces), packed, jobs)
            names = [path.name for path in packed]
            lines = dict(zip(names, counts, strict=True))
            text.mkdir(parents=True, exist_ok=True)
            write_json(note, {"pieces": len(pieces), "lines": lines})


def _parts(collected: Path) -> list[Path]:
    return sorted(path for path in collected.glob("part?") if any(path.glob("*.bz2")))


def all_pieces(text: Path) -> list[int]:
    """All pieces, those of the parts in turn: who stops early has text of all parts."""
    pieces: list[int] = []
    for note in sorted(text.glob("part?.json")):
        first = 100 * int(note.stem[-1])
        pieces += range(first, first + int(read_json(note)["pieces"]))
    return sorted(pieces, key=lambda piece: (piece % 100, piece))


@dataclass(frozen=True)
class Translating:
    """What is translated, by which model, and where to."""

    text: Path
    model: Path
    output: Path
    source: str
    target: str
    tag: str = ""
    """Tells a model of both directions which way to go."""
    by_reference: bool = True
    """Keep the output nearest to the reference."""
    minutes: float = 0.0
    most: int = 0
    """Pieces to have in the end; 0: all."""

    def left(self) -> list[int]:
        """Pieces to do."""
        wanted = [p for p in all_pieces(self.text) if files_of(self.text, p, self.source)]
        return [p for p in wanted[: self.most or None] if not self.path(p).exists()]

    def path(self, piece: int) -> Path:
        """The outputs of a piece."""
        return self.output / f"{piece:03d}.{self.target}"

    def run(self, jobs: int) -> None:
        """Translates all pieces that are left, or as many as fit into the budget."""
        self.output.mkdir(parents=True, exist_ok=True)
        pieces = self.left()
        if not pieces:
            return
        bulk = open_model(self.model, BEAM if self.by_reference else 1)
        started, slowest = time.monotonic(), 0.0
        written: list[Future[None]] = []
        with processes(jobs) as pool, ThreadPoolExecutor(4) as threads:
            for piece, sentences in self._numbered(pool, pieces):
                now = time.monotonic()
                if self.minutes and now + slowest > started + 60 * self.minutes:
                    print(f"out of time before piece {piece}", flush=True)
                    break
                outputs = bulk.translate(sentences)
                slowest = max(slowest, time.monotonic() - now)
                written.append(threads.submit(self._finish, pool, outputs, piece))
                print(f"piece {piece}: {len(sentences)} sentences", flush=True)
            for future in written:
                future.result()

    def _numbered(
        self, pool: ProcessPoolExecutor, pieces: list[int]
    ) -> Iterator[tuple[int, Sentences]]:
        """Pieces with their sources, the next few under way."""
        side = Side(self.text, self.source, self.model, self.tag)
        waiting = [pool.submit(number_source, side, piece) for piece in pieces[:AHEAD]]
        for place, piece in enumerate(pieces):
            sentences = waiting.pop(0).result()
            following = pieces[place + AHEAD : place + AHEAD + 1]
            waiting += [pool.submit(number_source, side, other) for other in following]
            yield piece, sentences

    def _finish(self, pool: ProcessPoolExecutor, outputs: NBest, piece: int) -> None:
        """Chooses among outputs in many processes, then writes them."""
        side = Side(self.text, self.source, self.model)
        references = replace(side, language=self.target) if self.by_reference else None
        parts = [
            pool.submit(choose, outputs.part(at, at + CHUNK), at, piece, references, self.model)
            for at in range(0, len(outputs.scores), CHUNK)
        ]
        results = [part.result() for part in parts]
        lines = [line for text, _ in results for line in text]
        write(self.path(piece), lines, np.concatenate([scores for _, scores in results]))


def open_model(model: Path, n_best: int) -> "Bulk":
    """The model, ready for many sentences; torch is imported here, not in the processes."""
    import torch

    from pipeline.distil.bulk import Bulk, BulkOptions
    from sieve.engines.options import SearchOptions
    from sieve.engines.torch.torch_engine import TorchEngine
    from sieve.model.checkpoint import load_model

    on_gpu = torch.cuda.is_available()
    loaded = load_model(model, "cuda" if on_gpu else "cpu")
    engine = TorchEngine(loaded, "bfloat16" if on_gpu else "float32", graphs=False)
    search = SearchOptions(beam_size=BEAM, n_best=n_best, max_length_factor=MAX_LENGTH_FACTOR)
    return Bulk(engine, BulkOptions(search, BATCH_TOKENS, BATCH_SENTENCES))
