"""Raw parallel text into a prepared corpus, in three passes that need the same memory for any size.

1. clean: read, normalise, rules on text; survivors to a scratch directory, duplicates marked there.
2. learn: a tokenizer from a bounded sample, unless one is given.
3. encode: ids, rules on subword counts, shards.

The order is that of the input, whatever the number of workers. The output directory appears
complete or not at all; scratch lies in a hidden directory beside it.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from sieve.config import to_dict
from sieve.data.cleaning import RULES, CleaningOptions, sentence_hash
from sieve.data.corpus import CORPUS_FILE
from sieve.data.corpus_writer import CorpusWriter
from sieve.data.reading import Input, RawBlock, check_readable, read_blocks, read_lines
from sieve.data.spool import SpoolWriter, remove_duplicates
from sieve.data.stages import (
    CleanBlock,
    CleanSettings,
    EncodedBlock,
    EncodeSettings,
    TrainingSettings,
    setup_cleaning,
    setup_encoding,
    setup_training,
)
from sieve.errors import ConfigError, InputError, ModelError
from sieve.files import whole_directory
from sieve.log import logger, progress
from sieve.processes.cores import usable_cores
from sieve.processes.pool import Workers, run_in_process
from sieve.processes.scratch import claim, remove_stale
from sieve.tokenize.normalize import normalize
from sieve.tokenize.sentence_piece import SentencePieceTokenizer
from sieve.tokenize.tokenizer import Tokenizers, load_tokenizers
from sieve.tokenize.tokenizer_training import TokenizerOptions

UNKNOWN_LANGUAGE = "und"


@dataclass(frozen=True)
class PrepareOptions:
    """All of `sieve prepare`."""

    inputs: tuple[Input, ...]
    """Files of parallel text, in the order of the corpus."""
    output: Path
    """Directory to make."""
    languages: tuple[str, str] | None = None
    """Codes of source and target (en, de, …); without them languages are not checked."""
    tokenizer: Path | None = None
    """An existing tokenizer: a corpus, model or tokenizer directory, or a SentencePiece file."""
    training: TokenizerOptions = field(default_factory=TokenizerOptions)
    """For a new tokenizer."""
    cleaning: CleaningOptions = field(default_factory=CleaningOptions)
    """Which pairs are kept."""
    workers: int = 0
    """Processes; 0 for one a core."""
    overwrite: bool = False
    """Replaces a corpus that is already there."""

    def __post_init__(self) -> None:
        if not self.inputs:
            raise ConfigError("no input: give at least one pair of files or one .tsv file")
        if self.workers < 0:
            raise ConfigError(f"workers: got {self.workers}, expected 0 or more")


def prepare(options: PrepareOptions) -> Mapping[str, Any]:
    """Prepares a corpus and returns its statistics."""
    _check_output(options)
    check_readable(options.inputs)
    run = _Run(options)
    try:
        remove_stale(options.output)
        with whole_directory(options.output) as directory, claim(directory) as scratch:
            return run.all(directory, scratch)
    except OSError as error:
        place = f" (reached {run.reached})" if run.reached else ""
        reason = error.strerror or str(error)
        raise InputError(f"{options.output}: cannot be written: {reason}{place}") from None


def _check_output(options: PrepareOptions) -> None:
    output = options.output
    if not output.exists() and not output.is_symlink():
        return
    if output.is_symlink():
        raise InputError(f"{output}: is a symbolic link; give the directory itself")
    if not options.overwrite:
        raise InputError(f"{output}: already exists; choose another name or pass --overwrite")
    if not (output / CORPUS_FILE).is_file() and not (output.is_dir() and not any(output.iterdir())):
        raise InputError(f"{output}: exists and is not a prepared corpus: not overwritten")


class _Run:
    """The passes of one call, and what they counted."""

    def __init__(self, options: PrepareOptions) -> None:
        self._options = options
        self._workers = options.workers or usable_cores()
        self._removed: Counter[str] = Counter()
        self._read = 0
        self.reached = ""
        """Place in the input, for messages."""

    def all(self, directory: Path, scratch: Path) -> Mapping[str, Any]:
        given = self._given_tokenizers()  # a wrong path should not cost an hour
        with SpoolWriter(scratch) as spool:
            self._clean(spool, scratch)
        if self._options.cleaning.duplicates:
            self._removed["duplicate"] += remove_duplicates(spool.files)
        self._check_left(spool.num_pairs - self._removed["duplicate"])
        tokenizer = scratch / "tokenizer"
        tokenizer.mkdir()
        if given is None:
            self._learn(spool, tokenizer)
        else:
            given.save(tokenizer)
        return self._encode(spool, tokenizer, directory)

    def _clean(self, spool: SpoolWriter, scratch: Path) -> None:
        options = self._options
        settings = CleanSettings(options.cleaning, options.languages, self._test_hashes(scratch))
        places: list[RawBlock] = []

        def blocks() -> Iterator[RawBlock]:
            for block in read_blocks(options.inputs):
                places.append(block)
                yield block

        with (
            _stage("clean", None) as count,
            Workers(setup_cleaning, settings, self._workers) as workers,
        ):
            result: CleanBlock
            for result in workers.map(blocks()):
                block = places.pop(0)
                last = block.first_line + block.lines - 1
                self.reached = f"{block.source_path}, line {last}"
                self._read += block.lines
                self._removed.update(result.removed)
                spool.append(result.source, result.target, result.hashes)
                count(block.lines)

    def _learn(self, spool: SpoolWriter, output: Path) -> None:
        options = self._options
        unique = spool.num_pairs - self._removed["duplicate"]
        size = min(unique, options.training.sample_pairs)
        logger.info("learning a %s tokenizer from %d pairs", options.training.kind, size)
        languages = options.languages or ("en", "en")
        settings = TrainingSettings(options.training, spool.files, unique, languages, output)
        run_in_process(setup_training, settings, spool.blocks)

    def _encode(self, spool: SpoolWriter, tokenizer: Path, directory: Path) -> Mapping[str, Any]:
        options = self._options
        settings = EncodeSettings(options.cleaning, spool.files, tokenizer)
        languages = options.languages or (UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE)
        unknown = np.zeros(2, np.int64)
        with (
            _stage("encode", spool.num_pairs) as count,
            Workers(setup_encoding, settings, self._workers) as workers,
            CorpusWriter(directory, load_tokenizers(tokenizer), languages) as writer,
        ):
            result: EncodedBlock
            for result in workers.map(spool.blocks):
                self._removed.update(result.removed)
                unknown += result.unknown
                writer.append(result.source, result.target)
                count(result.pairs)
            self._check_left(writer.num_pairs)
            return writer.finish(self._statistics(unknown.tolist()))

    def _statistics(self, unknown: list[int]) -> dict[str, Any]:
        return {
            "read": self._read,
            "removed": {rule: self._removed[rule] for rule in RULES},
            "source_unknown": unknown[0],
            "target_unknown": unknown[1],
            "cleaning": to_dict(self._options.cleaning),
        }

    def _check_left(self, left: int) -> None:
        if left == 0:
            counts = ", ".join(f"{rule} {self._removed[rule]}" for rule in RULES)
            raise InputError(f"no pair is left of {self._read} read; removed: {counts}")

    def _given_tokenizers(self) -> Tokenizers | None:
        path = self._options.tokenizer
        if path is None:
            return None
        if path.is_file():
            try:
                joint = SentencePieceTokenizer(path.read_bytes(), str(path))
            except OSError as error:
                raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
            return Tokenizers(joint, joint)
        return load_tokenizers(path)

    def _test_hashes(self, scratch: Path) -> Path | None:
        sets = self._options.cleaning.test_sets
        if not sets:
            return None
        texts = (normalize(line) for path in sets for line in read_lines(path))
        hashes = sorted({sentence_hash(text) for text in texts if text})
        path = scratch / "test_hashes.u64"
        np.array(hashes, np.uint64).tofile(path)
        return path


@contextmanager
def _stage(label: str, total: int | None) -> Iterator[Any]:
    """A progress bar in pairs, and one line with the speed at the end."""
    start = time.monotonic()
    done = 0
    bar: tqdm[Any]
    with progress(total=total, unit=" pairs", label=label) as bar:

        def count(pairs: int) -> None:
            nonlocal done
            done += pairs
            bar.update(pairs)

        yield count
    seconds = time.monotonic() - start
    logger.info("%s: %d pairs in %.1f s, %.0f pairs/s", label, done, seconds, done / seconds)
