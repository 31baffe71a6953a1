"""What a model writes for a text, and its encoder's states: what a head learns from.

Kept on disk in pieces of some thousand lines, each written whole or not at all, so that an
interrupted run resumes with the pieces it has. States are stored in 16 bits and mapped into memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.files import map_tensors, whole_file, write_tensors
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray

PIECE_LINES = 2000
"""Lines of a piece: half a minute of work for a slow model."""
GREEDY = SearchOptions(beam_size=1, alignment=True)


@dataclass(frozen=True, eq=False)
class Labels:
    """Sentences as their encoder states, and the tokens that each needs."""

    src_offsets: IntArray
    """(n + 1,) where the states of each sentence begin."""
    states: npt.NDArray[np.float16]
    """(ΣT, D)"""
    tgt_offsets: IntArray
    tgt_ids: IntArray
    """Tokens of the model's own translation, or of that and a reference; without EOS."""
    links: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    """(L, 2) a source token and the token that the model wrote for it, by its own attention."""

    def __len__(self) -> int:
        return len(self.src_offsets) - 1

    def targets(self, row: int) -> IntArray:
        """The tokens that a sentence needs."""
        return self.tgt_ids[self.tgt_offsets[row] : self.tgt_offsets[row + 1]]

    def source(self, row: int) -> npt.NDArray[np.float16]:
        """The states of a sentence, (T, D)."""
        return self.states[self.src_offsets[row] : self.src_offsets[row + 1]]


def write_piece(
    path: Path,
    engine: NativeEngine,
    src_ids: Sequence[IntArray],
    references: Sequence[Sequence[int]] | None,
) -> None:
    """Translates sentences greedily over all tokens and keeps states and tokens.

    Args:
        path: The piece to write.
        engine: Of the model that gets a head.
        src_ids: Sentences with EOS.
        references: Tokens that each sentence needs besides, if any.
    """
    encoded = engine.encode(src_ids)
    every = Shortlist.everything(engine.vocab_size, engine.specials.eos)
    hypotheses = engine.decode(encoded, [every] * len(src_ids), GREEDY)
    written = [best for best, *_ in hypotheses]
    targets = [np.asarray(best.tokens, np.int32) for best in written]
    links = [
        np.stack([ids[list(best.positions)], best.tokens], axis=1)
        for ids, best in zip(src_ids, written, strict=True)
        if best.tokens
    ]
    if references is not None:
        pairs = zip(targets, references, strict=True)
        targets = [np.concatenate([own, np.asarray(other, np.int32)]) for own, other in pairs]
    tensors: dict[str, npt.NDArray[Any]] = {
        "src_offsets": _offsets(src_ids),
        "states": engine.source_states(encoded).astype(np.float16),
        "tgt_offsets": _offsets(targets),
        "tgt_ids": np.concatenate([*targets, np.zeros(0, np.int32)]),
        "links": np.concatenate([*links, np.zeros((0, 2), np.int32)]).astype(np.int32),
    }
    with whole_file(path) as partial:
        write_tensors(partial, tensors)


def read_piece(path: Path) -> Labels:
    """A piece, mapped into memory."""
    return Labels(**map_tensors(path))


def padded_states(
    labels: Labels, rows: Sequence[int], device: str | torch.device = "cpu"
) -> tuple[Tensor, Tensor]:
    """States (B, T, D) in float32 and their mask (B, T); 16 bits travel to the device."""
    sentences = [labels.source(row) for row in rows]
    lengths = np.array([len(sentence) for sentence in sentences])
    at = np.arange(lengths.max())
    mask = torch.from_numpy(at < lengths[:, None]).to(device)
    begins = np.cumsum(lengths) - lengths
    places = torch.from_numpy(begins[:, None] + np.minimum(at, lengths[:, None] - 1)).to(device)
    flat = torch.from_numpy(np.concatenate(sentences)).to(device).float()
    return flat[places] * mask[..., None], mask


def pieces(total: int) -> Iterator[slice]:
    """The lines of each piece."""
    return (slice(start, start + PIECE_LINES) for start in range(0, total, PIECE_LINES))


def _offsets(rows: Sequence[Sequence[int] | IntArray]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
