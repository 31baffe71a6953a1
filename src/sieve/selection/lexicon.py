"""The alignment lexicon: for each source token, target tokens by how often they were aligned.

Stored as CSR in lexicon.safetensors. Counts whatever alignments it is given; knows no aligner.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sieve.bundle.directory import LEXICON_FILE
from sieve.data.alignments import Alignments
from sieve.data.corpus import Ragged
from sieve.errors import ModelError
from sieve.files import Place, folder_of, write_tensors
from sieve.selection.aligners.translation_table import TranslationTable
from sieve.selection.shortlist import Ids, ShortlistArray
from sieve.tokenize.vocabulary import IntArray

PROBABILITY_UNIT = 1 << 30
"""What counts as probability one in a lexicon that an aligner's own table was ranked by."""


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Target tokens of each source token, most frequently aligned first."""

    offsets: npt.NDArray[np.int64]
    """(V_src + 1,): the targets of source token s are `targets[offsets[s] : offsets[s + 1]]`."""
    targets: npt.NDArray[np.int32]
    """Descending by count; the lower id first where counts are equal."""
    counts: npt.NDArray[np.int32]
    """How often source and target token were aligned."""
    source_counts: npt.NDArray[np.int64]
    """(V_src,): links of each source token, also those pruned: p(t | s) = count / this."""
    target_counts: npt.NDArray[np.int64]
    """(V_tgt,): how often each target token occurs, aligned or not."""
    info: Mapping[str, str] = field(default_factory=dict)
    """Where it comes from: aligner, tokenizer, …; kept in the file for people and checks."""

    @property
    def src_vocab_size(self) -> int:
        """Number of source tokens."""
        return len(self.offsets) - 1

    @property
    def tgt_vocab_size(self) -> int:
        """Number of target tokens."""
        return len(self.target_counts)

    def row(self, src_id: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """The targets of one source token and p(t | s) of each, the best first."""
        part = slice(int(self.offsets[src_id]), int(self.offsets[src_id + 1]))
        return self.targets[part], self.counts[part] / max(1, int(self.source_counts[src_id]))

    def table(self) -> TranslationTable:
        """p(t | s) of all entries."""
        totals = np.repeat(np.maximum(self.source_counts, 1), np.diff(self.offsets))
        return TranslationTable(
            self.offsets, self.targets, (self.counts / totals).astype(np.float32)
        )

    def top_k(self, src_ids: Ids, k: int) -> ShortlistArray:
        """The k tokens most frequently aligned to each token of a sentence, ascending."""
        return np.unique(self.targets[self.top_entries(src_ids, k)[0]])

    def top_entries(
        self, src_ids: Ids, k: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the k best entries of each token of a sentence are, and the rank of each from 0."""
        ids = np.unique(np.asarray(src_ids, dtype=np.int64))
        starts = self.offsets[ids]
        lengths = np.minimum(self.offsets[ids + 1] - starts, k)
        places = _ranges(starts, lengths)
        return places, places - np.repeat(starts, lengths)

    def pruned(self, k: int) -> "Lexicon":
        """The lexicon with at most k targets for each source token."""
        lengths = np.minimum(np.diff(self.offsets), k)
        keep = _ranges(self.offsets[:-1], lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return replace(self, offsets=offsets, targets=self.targets[keep], counts=self.counts[keep])

    def save(self, path: Path) -> None:
        """Writes lexicon.safetensors into a directory, or the file that is named."""
        write_tensors(
            _file(path), {name: getattr(self, name) for name in _TENSORS}, {**_NOTE, **self.info}
        )

    @classmethod
    def open(cls, place: Place) -> "Lexicon":
        """Reads the lexicon of a directory, or the file that is named."""
        folder, name = folder_of(place), LEXICON_FILE
        if folder.path.suffix == ".safetensors":
            folder, name = folder_of(folder.path.parent), folder.path.name
        file, path = folder.tensors(name), folder.path / name
        tensors = file.tensors
        for name, dtype in _TENSORS.items():
            if name not in tensors or tensors[name].dtype != dtype or tensors[name].ndim != 1:
                raise ModelError(
                    f"{path}: not a lexicon: expected {name} as {np.dtype(dtype)} (n,)"
                )
        lexicon = cls(**{name: tensors[name] for name in _TENSORS}, info=file.metadata)
        lexicon._check(path)
        return lexicon

    def _check(self, path: Path) -> None:
        """Refuses offsets and ids that lead outside, and counts below 0."""
        offsets, size = self.offsets, len(self.targets)
        if (
            not len(offsets)
            or offsets[0] != 0
            or offsets[-1] != size
            or np.any(np.diff(offsets) < 0)
        ):
            raise ModelError(f"{path}: damaged: the offsets do not fit {size} entries")
        if len(self.counts) != size:
            raise ModelError(f"{path}: damaged: {size} targets but {len(self.counts)} counts")
        if len(self.source_counts) != len(offsets) - 1:
            raise ModelError(
                f"{path}: damaged: {len(self.source_counts)} source counts, "
                f"expected {len(offsets) - 1}"
            )
        targets = self.targets
        if size and not 0 <= int(targets.min()) <= int(targets.max()) < self.tgt_vocab_size:
            raise ModelError(
                f"{path}: damaged: target ids {targets.min()} to {targets.max()}, expected 0 to "
                f"{self.tgt_vocab_size - 1}"
            )
        for name in ("counts", "source_counts", "target_counts"):
            numbers = getattr(self, name)
            if len(numbers) and numbers.min() < 0:
                raise ModelError(f"{path}: damaged: {name} has {numbers.min()}, expected 0 or more")


_TENSORS: dict[str, type[np.generic]] = {
    "offsets": np.int64,
    "targets": np.int32,
    "counts": np.int32,
    "source_counts": np.int64,
    "target_counts": np.int64,
}
_NOTE = {"format": "sieve lexicon 1"}


def _file(path: Path) -> Path:
    return path if path.suffix == ".safetensors" else path / LEXICON_FILE


def lexicon_of_table(
    table: TranslationTable, target_counts: npt.NDArray[np.int64], max_k: int | None = None
) -> Lexicon:
    """The lexicon that ranks by an aligner's own probabilities instead of counted links."""
    num_sources = len(table.offsets) - 1
    src_ids = np.repeat(np.arange(num_sources, dtype=np.int32), np.diff(table.offsets))
    order = np.lexsort((table.targets, -table.probabilities, src_ids))
    scaled = np.rint(table.probabilities[order].astype(np.float64) * PROBABILITY_UNIT)
    lexicon = Lexicon(
        table.offsets,
        table.targets[order],
        np.maximum(scaled, 1).astype(np.int32),
        np.full(num_sources, PROBABILITY_UNIT, np.int64),
        target_counts,
    )
    return lexicon.pruned(max_k) if max_k is not None else lexicon


class LexiconBuilder:
    """Counts aligned tokens batch by batch; memory grows with distinct pairs only."""

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int) -> None:
        self._src_vocab_size = src_vocab_size
        self._tgt_vocab_size = tgt_vocab_size
        self._source_counts = np.zeros(src_vocab_size, np.int64)
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
        self.add_links(src_ids, tgt_ids, tgt.ids, weight)

    def add_links(
        self, src_ids: IntArray, tgt_ids: IntArray, occurring: IntArray, weight: int = 1
    ) -> None:
        """Counts linked tokens, and all target tokens that occur, linked or not."""
        keys = src_ids.astype(np.int64) * self._tgt_vocab_size + tgt_ids
        unique, counts = np.unique(keys, return_counts=True)
        self._source_counts += weight * np.bincount(src_ids, minlength=self._src_vocab_size)
        self._target_counts += weight * np.bincount(occurring, minlength=self._tgt_vocab_size)
        self._wait(unique, counts * weight)

    def add_lexicon(self, lexicon: Lexicon) -> None:
        """Adds everything that another lexicon of the same vocabularies has counted."""
        src_ids = np.repeat(
            np.arange(self._src_vocab_size, dtype=np.int64), np.diff(lexicon.offsets)
        )
        self._source_counts += lexicon.source_counts
        self._target_counts += lexicon.target_counts
        keys = src_ids * self._tgt_vocab_size + lexicon.targets
        self._wait(keys, lexicon.counts.astype(np.int64))

    def build(self, max_k: int | None = None) -> Lexicon:
        """The lexicon of everything counted, at most `max_k` targets a source token."""
        self._merge()
        src_ids, targets = np.divmod(self._keys, self._tgt_vocab_size)
        # stable: equal counts stay in the order of the keys, that is by id
        by_count = np.argsort(-self._counts, kind="stable")
        order = by_count[np.argsort(src_ids[by_count], kind="stable")]
        offsets = np.searchsorted(src_ids, np.arange(self._src_vocab_size + 1)).astype(np.int64)
        counts = np.minimum(self._counts[order], np.iinfo(np.int32).max).astype(np.int32)
        lexicon = Lexicon(
            offsets,
            targets[order].astype(np.int32),
            counts,
            self._source_counts,
            self._target_counts,
        )
        return lexicon.pruned(max_k) if max_k is not None else lexicon

    def _wait(self, keys: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> None:
        self._waiting.append((keys, counts))
        # merged only when as much waits as is there: every pair is then sorted O(log) times
        if sum(len(keys) for keys, _ in self._waiting) > len(self._keys):
            self._merge()

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
