"""Pieces translated on this machine, without Ray: in this process or in several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sieve.bulk.cells import CellTranslator, ModelUse
from sieve.bulk.piece_store import finished_piece
from sieve.bulk.planning import PendingPieces
from sieve.processes.pool import Workers

NamedTexts = tuple[str, list[str]]
"""The name of a piece and its texts."""
NamedContent = tuple[str, bytes]
"""The name of a piece and its finished content."""


def piece_work(use: ModelUse) -> Callable[[NamedTexts], NamedContent]:
    """Opens the model; gives what translates pieces."""
    translator = CellTranslator(use)

    def work(piece: NamedTexts) -> NamedContent:
        key, texts = piece
        return key, finished_piece(*translator.translate(texts))

    return work


@dataclass(frozen=True)
class LocalRunner:
    """Processes of this machine."""

    use: ModelUse
    workers: int

    def __enter__(self) -> LocalRunner:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is left: processes end with `run`."""

    def run(self, pending: PendingPieces) -> Iterator[NamedContent]:
        """Translates pieces."""
        with Workers(piece_work, self.use, self.workers) as workers:
            yield from workers.map(pending)
