"""Writes a prepared corpus, sentence pairs as ids, a block at a time; memory does not grow.

The directory is somebody else's: whoever calls makes it whole or not at all. The bytes written
follow from the pairs and the sizes of the blocks alone.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sieve.data.corpus import (
    CORPUS_FILE,
    FORMAT_VERSION,
    FREQUENCY_FILE,
    SIDES,
    Ragged,
    shard_file,
)
from sieve.files import whole_directory, write_json
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import EOS

SHARD_TOKENS = 1 << 27
"""Tokens of one side after which a new shard begins."""


def id_type(vocab_size: int) -> np.dtype[Any]:
    """The smallest unsigned type that holds every id."""
    return np.dtype(np.uint16 if vocab_size <= 1 << 16 else np.uint32)


class _ArrayFile:
    """A one-dimensional .npy file of which the length is known only at the end."""

    def __init__(self, path: Path, dtype: npt.DTypeLike) -> None:
        self._file: BinaryIO = path.open("wb")
        self._dtype = np.dtype(dtype)
        self._write_header(0)
        self.length = 0

    def append(self, values: npt.NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self.length += len(values)

    def close(self) -> None:
        try:
            self._file.seek(0)
            self._write_header(self.length)
        finally:
            self._file.close()

    def _write_header(self, length: int) -> None:
        # numpy leaves room for the length to grow: the header keeps its size
        header = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (length,),
        }
        np.lib.format.write_array_header_1_0(self._file, header)


class CorpusWriter:
    """Collects pairs into the files of a corpus directory; `finish` makes it a corpus."""

    def __init__(
        self,
        directory: Path,
        tokenizers: Tokenizers,
        languages: Sequence[str],
        shard_tokens: int = SHARD_TOKENS,
    ) -> None:
        self._shard_tokens = shard_tokens
        self._directory = directory
        self._tokenizers = tokenizers
        self._languages = list(languages)
        self._sizes = [tokenizers.source.vocab_size, tokenizers.target.vocab_size]
        self._stack = ExitStack()
        self._offsets = [self._array(f"{side}_offsets.npy", np.int64) for side in SIDES]
        self._lengths = [self._array(f"{side}_lengths.npy", np.int32) for side in SIDES]
        for offsets in self._offsets:
            offsets.append(np.zeros(1, np.int64))
        self._shards: list[dict[str, int]] = []
        self._current: list[_ArrayFile] = []
        self._totals = [0, 0]
        self._frequency = np.zeros(self._sizes[1], np.int64)
        self.num_pairs: int = 0

    def __enter__(self) -> "CorpusWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def append(self, source: Ragged, target: Ragged) -> None:
        """Adds a block of pairs."""
        if not self._current or max(file.length for file in self._current) >= self._shard_tokens:
            self._next_shard()
        for side, sentences in enumerate((source, target)):
            self._current[side].append(sentences.ids)
            self._shards[-1][SIDES[side]] += len(sentences.ids)
            self._lengths[side].append(np.diff(sentences.offsets))
            self._offsets[side].append(sentences.offsets[1:] + self._totals[side])
            self._totals[side] += len(sentences.ids)
        self._shards[-1]["pairs"] += len(source)
        self._count_words(target)
        self.num_pairs += len(source)

    def finish(self, statistics: Mapping[str, Any]) -> Mapping[str, Any]:
        """Writes everything that is known only at the end; returns all statistics."""
        if not self._current:
            self._next_shard()
        self._stack.close()
        self._frequency[EOS] = self.num_pairs
        np.save(self._directory / FREQUENCY_FILE, self._frequency, allow_pickle=False)
        self._tokenizers.save(self._directory)
        tokens = dict(zip(("source_tokens", "target_tokens"), self._totals, strict=True))
        numbers = {"pairs": self.num_pairs, **tokens, **statistics}
        content = {
            "format_version": FORMAT_VERSION,
            "languages": self._languages,
            "vocab_sizes": self._sizes,
            "tokenizer": self._tokenizers.fingerprint,
            "pairs": self.num_pairs,
            "shards": self._shards,
            "statistics": numbers,
        }
        write_json(self._directory / CORPUS_FILE, content)
        return numbers

    def _array(self, name: str, dtype: npt.DTypeLike) -> _ArrayFile:
        file = _ArrayFile(self._directory / name, dtype)
        self._stack.callback(file.close)
        return file

    def _next_shard(self) -> None:
        number = len(self._shards)
        self._current = [
            self._array(shard_file(number, side), id_type(size))
            for side, size in zip(SIDES, self._sizes, strict=True)
        ]
        self._shards.append({"pairs": 0, "src": 0, "tgt": 0})

    def _count_words(self, target: Ragged) -> None:
        """Counts each word once a pair."""
        vocab_size = self._sizes[1]
        pair = np.repeat(np.arange(len(target), dtype=np.int64), np.diff(target.offsets))
        unique = np.unique(pair * vocab_size + target.ids)
        self._frequency += np.bincount(unique % vocab_size, minlength=vocab_size)


def ragged(sentences: Sequence[Sequence[int]]) -> Ragged:
    """Lists of ids in one flat array."""
    offsets = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum([len(ids) for ids in sentences], out=offsets[1:])
    flat = np.fromiter((i for ids in sentences for i in ids), np.int32, int(offsets[-1]))
    return Ragged(flat, offsets)


def write_corpus(
    directory: str | Path,
    lines: tuple[Sequence[str], Sequence[str]],
    tokenizers: Tokenizers,
    languages: tuple[str, str],
) -> None:
    """Writes a small corpus of lines that are in memory, without any cleaning."""
    with (
        whole_directory(Path(directory)) as partial,
        CorpusWriter(partial, tokenizers, languages) as writer,
    ):
        source = ragged(tokenizers.source.encode(lines[0]))
        writer.append(source, ragged(tokenizers.target.encode(lines[1])))
        writer.finish({})
