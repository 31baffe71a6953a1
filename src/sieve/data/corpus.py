"""A prepared corpus: a directory of memory-mapped shards of ids, with tokenizer and statistics.

Written by `sieve prepare`, read by training, lexicons and evaluation. Reading is safe from several
threads. Knows neither text cleaning nor batches. Layout of the directory:

    corpus.json                  format_version, languages, vocab_sizes, pairs, shards, statistics
    shard-00000.{src,tgt}.npy    ids of all sentences of the shard, one after the other
    {src,tgt}_offsets.npy        where each sentence starts, counted over all shards (pairs + 1)
    {src,tgt}_lengths.npy        tokens of each sentence, without EOS
    target_frequency.npy         number of pairs whose target holds the token, EOS: all
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files import read_json
from sieve.tokenize.tokenizer import Tokenizers, load_tokenizers
from sieve.tokenize.vocabulary import IntArray

FORMAT_VERSION = 1
CORPUS_FILE = "corpus.json"
FREQUENCY_FILE = "target_frequency.npy"
SIDES = ("src", "tgt")


@dataclass(frozen=True)
class Ragged:
    """Sentences of different lengths in one flat array."""

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    """Start of each sentence in `ids`, and the end of the last: one more than sentences."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> npt.NDArray[np.int32]:
        if index < 0:
            index += len(self)
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.int32]]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each sentence."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class _Side:
    """One language of the corpus: its shards as one long row of tokens."""

    shards: tuple[IntArray, ...]
    starts: npt.NDArray[np.int64]
    """First token of each shard, and the end of the last."""
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int32]
    vocab_size: int

    def take(self, indices: IntArray) -> Ragged:
        """Gathers sentences; ids that no tokenizer can have made are damage."""
        sentences = self._gather(indices)
        if len(sentences.ids) and int(sentences.ids.max()) >= self.vocab_size:
            got = int(sentences.ids.max())
            raise ModelError(f"the corpus is damaged: got id {got} of {self.vocab_size} tokens")
        return sentences

    def _gather(self, indices: IntArray) -> Ragged:
        lengths = self.lengths[indices]
        offsets = np.zeros(len(indices) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        # position of every token: start of its sentence plus its place in the sentence
        shift = self.offsets[indices] - offsets[:-1]
        positions = np.arange(offsets[-1], dtype=np.int64) + np.repeat(shift, lengths)
        if len(self.shards) == 1:
            return Ragged(self.shards[0][positions].astype(np.int32), offsets)
        ids = np.empty(len(positions), np.int32)
        shard_of = np.searchsorted(self.starts, positions, side="right") - 1
        for shard in np.unique(shard_of):
            here = shard_of == shard
            ids[here] = self.shards[shard][positions[here] - self.starts[shard]]
        return Ragged(ids, offsets)


class Corpus:
    """A prepared corpus, opened: numbered sentence pairs as ids."""

    def __init__(self, directory: Path, content: Mapping[str, Any], sides: Sequence[_Side]) -> None:
        self.directory = directory
        self.languages: tuple[str, str] = tuple(content["languages"])
        self.num_pairs: int = content["pairs"]
        self.statistics: Mapping[str, Any] = content["statistics"]
        self.fingerprint: str = content["tokenizer"]
        """Fingerprint of the tokenizers: corpora with the same one can be trained together."""
        self._sides = sides

    @classmethod
    def open(cls, directory: str | Path) -> "Corpus":
        """Opens and checks a corpus directory; damage is a ModelError that names the file."""
        directory = Path(directory)
        path = directory / CORPUS_FILE
        if not path.is_file():
            raise ModelError(f"{directory}: not a prepared corpus: it has no {CORPUS_FILE}")
        content = read_json(path)
        _check_content(path, content)
        sides = [_open_side(directory, number, content) for number in range(2)]
        return cls(directory, content, sides)

    @property
    def src_lengths(self) -> npt.NDArray[np.int32]:
        """Tokens of each source sentence, without EOS."""
        return self._sides[0].lengths

    @property
    def tgt_lengths(self) -> npt.NDArray[np.int32]:
        """Tokens of each target sentence, without EOS."""
        return self._sides[1].lengths

    def pairs(self, indices: Sequence[int] | IntArray) -> tuple[Ragged, Ragged]:
        """The pairs with these numbers, in this order, as source and target ids without EOS."""
        wanted = np.asarray(indices, dtype=np.int64)
        source, target = self._sides
        return source.take(wanted), target.take(wanted)

    def tokenizers(self) -> Tokenizers:
        """The tokenizers that made the ids."""
        return load_tokenizers(self.directory)

    def target_frequency(self) -> npt.NDArray[np.int64]:
        """(V,) number of pairs whose target holds each token; EOS: every pair."""
        path = self.directory / FREQUENCY_FILE
        return np.array(_open_array(path, self._sides[1].vocab_size, "i"), dtype=np.int64)


def _check_content(path: Path, content: Mapping[str, Any]) -> None:
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path}: got format_version {version!r}, this version of Sieve reads {FORMAT_VERSION}"
        )
    shards = content.get("shards")
    languages = content.get("languages")
    sizes = content.get("vocab_sizes")
    good = (
        isinstance(content.get("pairs"), int)
        and content["pairs"] >= 0
        and isinstance(content.get("statistics"), dict)
        and isinstance(content.get("tokenizer"), str)
        and isinstance(languages, list)
        and len(languages) == 2
        and all(isinstance(language, str) for language in languages)
        and isinstance(sizes, list)
        and len(sizes) == 2
        and all(isinstance(size, int) for size in sizes)
        and isinstance(shards, list)
        and len(shards) > 0
        and all(isinstance(s, dict) and _counts(s) for s in shards)
    )
    if not good:
        raise ModelError(f"{path}: damaged: keys are missing or of the wrong kind")


def _counts(shard: Mapping[str, Any]) -> bool:
    return all(isinstance(shard.get(key), int) and shard[key] >= 0 for key in SIDES)


def _open_side(directory: Path, number: int, content: Mapping[str, Any]) -> _Side:
    side, num_pairs = SIDES[number], content["pairs"]
    tokens = [shard[side] for shard in content["shards"]]
    starts = np.concatenate([[0], np.cumsum(tokens)]).astype(np.int64)
    shards = tuple(
        _open_array(directory / shard_file(number, side), count, "u")
        for number, count in enumerate(tokens)
    )
    path = directory / f"{side}_offsets.npy"
    offsets = _open_array(path, num_pairs + 1, "i")
    lengths = _open_array(directory / f"{side}_lengths.npy", num_pairs, "i")
    if offsets[0] != 0 or offsets[-1] != starts[-1] or not _consistent(offsets, lengths):
        raise ModelError(f"{path}: damaged: it does not fit the lengths and shards beside it")
    return _Side(shards, starts, offsets, lengths, content["vocab_sizes"][number])


def _consistent(offsets: IntArray, lengths: IntArray) -> bool:
    """Whether offsets and lengths tell the same; block by block, to hold little of either."""
    block = 1 << 20
    for start in range(0, len(lengths), block):
        part = lengths[start : start + block]
        if (part < 0).any():
            return False
        if not np.array_equal(np.diff(offsets[start : start + len(part) + 1]), part):
            return False
    return True


def _open_array(path: Path, length: int, kind: str) -> npt.NDArray[Any]:
    """Memory-maps a one-dimensional array and checks its length and kind."""
    try:
        array = _map(path)
    except Exception as error:  # numpy reads the header as Python source: anything can come
        text = " ".join(str(error).split())
        raise ModelError(f"{path}: not a readable array: {text}") from None
    if array.ndim != 1 or array.dtype.kind != kind:
        raise ModelError(f"{path}: got {array.dtype} of shape {array.shape}, expected a row of ids")
    if len(array) != length:
        raise ModelError(f"{path}: got {len(array)} numbers, expected {length}")
    return array


def _map(path: Path) -> npt.NDArray[Any]:
    """A plain array over the mapped file: indexing one costs less than indexing np.memmap."""
    mapped: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    if math.prod(mapped.shape) == 0:
        return np.zeros(mapped.shape, mapped.dtype)
    return mapped.view(np.ndarray)


def shard_file(number: int, side: str) -> str:
    """Name of the file of one side of one shard."""
    return f"shard-{number:05d}.{side}.npy"
