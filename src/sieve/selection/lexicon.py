"""The alignment lexicon: for each source token, target tokens by how often they were aligned.

Stored as CSR in lexicon.safetensors and memory-mapped, so that a lexicon of any size opens at
once. Counts whatever alignments it is given; knows no aligner.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files import map_tensors, write_tensors
from sieve.selection.shortlist import Shortlist
from sieve.text.alignments import Alignments
from sieve.text.corpus import Ragged

LEXICON_FILE = "lexicon.safetensors"
Ids = Sequence[int] | npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Target tokens of each source token, most frequently aligned first."""

    offsets: npt.NDArray[np.int64]
    """(V_src + 1,): the targets of source token s are `targets[offsets[s] : offsets[s + 1]]`."""
    targets: npt.NDArray[np.int32]
    """Descending by count; the lower id first where counts are equal."""
    counts: npt.NDArray[np.int32]
    """How often source and target token were aligned."""
    target_counts: npt.NDArray[np.int64]
    """(V_tgt,): how often each target token occurs, aligned or not."""

    @property
    def src_vocab_size(self) -> int:
        """Number of source tokens."""
        return len(self.offsets) - 1

    @property
    def tgt_vocab_size(self) -> int:
        """Number of target tokens."""
        return len(self.target_counts)

    def top_k(self, src_ids: Ids, k: int) -> Shortlist:
        """The k words most frequently aligned to each token of a sentence, and EOS."""
        ids = np.unique(np.asarray(src_ids, dtype=np.int64))
        starts = self.offsets[ids]
        lengths = np.minimum(self.offsets[ids + 1] - starts, k)
        return Shortlist.of(self.targets[_ranges(starts, lengths)])

    def pruned(self, k: int) -> "Lexicon":
        """The lexicon with at most k targets for each source token."""
        lengths = np.minimum(np.diff(self.offsets), k)
        keep = _ranges(self.offsets[:-1], lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Lexicon(offsets, self.targets[keep], self.counts[keep], self.target_counts)

    def save(self, directory: Path) -> None:
        """Writes lexicon.safetensors into a model directory."""
        tensors: dict[str, npt.NDArray[Any]] = {
            "offsets": self.offsets,
            "targets": self.targets,
            "counts": self.counts,
            "target_counts": self.target_counts,
        }
        write_tensors(directory / LEXICON_FILE, tensors)

    @classmethod
    def open(cls, directory: Path) -> "Lexicon":
        """Maps the lexicon of a model directory into memory."""
        path = directory / LEXICON_FILE
        tensors = map_tensors(path)
        expected = {
            "offsets": np.int64,
            "targets": np.int32,
            "counts": np.int32,
            "target_counts": np.int64,
        }
        for name, dtype in expected.items():
            if name not in tensors or tensors[name].dtype != dtype or tensors[name].ndim != 1:
                raise ModelError(
                    f"{path}: not a lexicon: expected {name} as {np.dtype(dtype)} (n,)"
                )
        lexicon = cls(**{name: tensors[name] for name in expected})
        offsets, size = lexicon.offsets, len(lexicon.targets)
        if (
            not len(offsets)
            or offsets[0] != 0
            or offsets[-1] != size
            or np.any(np.diff(offsets) < 0)
        ):
            raise ModelError(f"{path}: damaged: the offsets do not fit {size} entries")
        if len(lexicon.counts) != size:
            raise ModelError(f"{path}: damaged: {size} targets but {len(lexicon.counts)} counts")
        return lexicon


class LexiconBuilder:
    """Counts aligned tokens batch by batch; memory grows with distinct pairs only."""

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int) -> None:
        self._src_vocab_size = src_vocab_size
        self._tgt_vocab_size = tgt_vocab_size
        self._target_counts = np.zeros(tgt_vocab_size, np.int64)
        # distinct pairs as source · V_tgt + target, sorted, and how often each was seen
        self._keys = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._waiting: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []

    def add(self, src: Ragged, tgt: Ragged, alignments: Alignments, weight: int = 1) -> None:
        """Counts a batch of sentence pairs and their links, each `weight` times."""
        link_counts = np.diff(alignments.offsets)
        # position in the flat ids = start of the sentence + position in it
        src_ids = src.ids[np.repeat(src.offsets[:-1], link_counts) + alignments.src_pos]
        tgt_ids = tgt.ids[np.repeat(tgt.offsets[:-1], link_counts) + alignments.tgt_pos]
        keys = src_ids.astype(np.int64) * self._tgt_vocab_size + tgt_ids
        unique, counts = np.unique(keys, return_counts=True)
        self._waiting.append((unique, counts * weight))
        self._target_counts += weight * np.bincount(tgt.ids, minlength=self._tgt_vocab_size)
        # merged only when as much waits as is there: every pair is then sorted O(log) times
        if sum(len(keys) for keys, _ in self._waiting) > len(self._keys):
            self._merge()

    def build(self, max_k: int | None = None) -> Lexicon:
        """The lexicon of everything counted, at most `max_k` targets a source token."""
        self._merge()
        src_ids, targets = np.divmod(self._keys, self._tgt_vocab_size)
        # stable: equal counts stay in the order of the keys, that is by id
        by_count = np.argsort(-self._counts, kind="stable")
        order = by_count[np.argsort(src_ids[by_count], kind="stable")]
        offsets = np.searchsorted(src_ids, np.arange(self._src_vocab_size + 1)).astype(np.int64)
        counts = np.minimum(self._counts[order], np.iinfo(np.int32).max).astype(np.int32)
        lexicon = Lexicon(offsets, targets[order].astype(np.int32), counts, self._target_counts)
        return lexicon.pruned(max_k) if max_k is not None else lexicon

    def _merge(self) -> None:
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._waiting)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._waiting)])
        self._waiting = []
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        self._keys = keys[starts]
        self._counts = np.add.reduceat(counts, starts) if len(starts) else counts


def _ranges(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """starts[0], starts[0] + 1, …, for `lengths[0]` numbers, then the same for the next."""
    ends = np.cumsum(lengths)
    places = np.arange(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    shifted: npt.NDArray[np.int64] = places + np.repeat(starts - (ends - lengths), lengths)
    return shifted
