"""A text as a model translates it, in pieces in a folder; what is there is not made again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from sieve.engines.native.native_engine import NativeEngine
from sieve.log import logger, progress
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import IntArray
from sieve.train.attach.labels import PIECE_LINES, Labels, pieces, read_piece, write_piece

_LONGEST = 128  # tokens: longer sentences are split before a model sees them


@dataclass(frozen=True)
class Labelling:
    """Translates lines, or reads what it translated before."""

    folder: Path
    engine: NativeEngine
    tokenizers: Tokenizers

    def ids(self, lines: Sequence[str]) -> list[IntArray]:
        """Lines as the model reads them."""
        eos = self.engine.specials.eos
        return [np.array([*ids[:_LONGEST], eos]) for ids in self.tokenizers.source.encode(lines)]

    def piece(self, name: str, lines: Sequence[str], targets: Sequence[str] | None) -> Labels:
        """One piece, with the references of its lines if there are any."""
        path = self._path(name)
        if not path.is_file():
            references = None if targets is None else self.tokenizers.target.encode(targets)
            write_piece(path, self.engine, self.ids(lines), references)
        return read_piece(path)

    def text(
        self,
        lines: Sequence[str],
        targets: Sequence[str] | None,
        enough: Callable[[int], bool],
    ) -> list[Labels]:
        """Pieces of a text: all that are there, one at least, and more until there are enough.

        Args:
            lines: The text.
            targets: References.
            enough: Whether so many lines are as many as there is time for.
        """
        labelled: list[Labels] = []
        bar: tqdm[None] = progress(total=len(lines), unit="lines", label="translating the text")
        with bar:
            for number, rows in enumerate(pieces(len(lines))):
                name, count = f"{number:05}", number * PIECE_LINES
                if labelled and not self._path(name).is_file() and enough(count):
                    logger.info("%d of %d lines translated in time", count, len(lines))
                    break
                references = None if targets is None else targets[rows]
                labelled.append(self.piece(name, lines[rows], references))
                bar.update(len(labelled[-1]))
        return labelled

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"
