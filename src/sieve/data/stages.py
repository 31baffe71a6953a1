"""What the worker processes of `prepare` do: clean raw blocks, train tokenizers, encode blocks.

Each stage is a setup function, called once in a process, that returns the work for one block.
Everything that crosses the border between processes is declared here.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sieve.data.cleaning import (
    CleaningOptions,
    apply_text_rules,
    apply_token_rules,
    sentence_hash,
    text_rules,
)
from sieve.data.corpus import Ragged
from sieve.data.corpus_writer import ragged
from sieve.data.deduplicate import Hashes
from sieve.data.reading import RawBlock, decode_pairs
from sieve.data.spool import SpoolBlock, SpoolFiles, SpoolReader, sample
from sieve.log import logger
from sieve.tokenize.normalize import normalize
from sieve.tokenize.sentence_piece import LittleTextError
from sieve.tokenize.tokenizer import Tokenizers, load_tokenizers
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers
from sieve.tokenize.vocabulary import UNK


@dataclass(frozen=True)
class CleanSettings:
    """For the stage that cleans text."""

    cleaning: CleaningOptions
    languages: tuple[str, str] | None
    test_hashes: Path | None
    """File of the 64-bit hashes of all test sentences."""


@dataclass(frozen=True)
class CleanBlock:
    """Pairs that passed the rules on text."""

    source: bytes
    target: bytes
    hashes: Hashes
    removed: Counter[str]


def setup_cleaning(settings: CleanSettings) -> Callable[[RawBlock], CleanBlock]:
    """Normalises, applies the rules on text, hashes what is left."""
    known: frozenset[int] = frozenset()
    if settings.test_hashes is not None:
        known = frozenset(np.fromfile(settings.test_hashes, np.uint64).tolist())
    rules = text_rules(settings.cleaning, settings.languages, known)

    def clean(block: RawBlock) -> CleanBlock:
        source, target = decode_pairs(block)
        source = [normalize(text) for text in source]
        target = [normalize(text) for text in target]
        (source, target), removed = apply_text_rules(rules, source, target)
        pairs = zip(source, target, strict=True)
        hashes = np.array([sentence_hash(f"{s}\n{t}") for s, t in pairs], np.uint64)
        return CleanBlock(_joined(source), _joined(target), hashes, removed)

    return clean


@dataclass(frozen=True)
class TrainingSettings:
    """For the stage that trains tokenizers, on one core or many, in one process."""

    tokenizer: TokenizerOptions
    spool: SpoolFiles
    num_unique: int
    languages: tuple[str, str]
    output: Path


def setup_training(settings: TrainingSettings) -> Callable[[Sequence[SpoolBlock]], None]:
    """Trains tokenizers on a sample of the spool and saves them.

    Where the text has not enough for the pieces that were asked for, they are fewer.
    """

    def trained(options: TokenizerOptions, blocks: Sequence[SpoolBlock]) -> Tokenizers:
        share = min(1.0, options.sample_pairs / max(1, settings.num_unique))
        reader = SpoolReader(settings.spool)
        source, target = (sample(reader, blocks, side, share) for side in range(2))
        return train_tokenizers(options, source, target, settings.languages)

    def train(blocks: Sequence[SpoolBlock]) -> None:
        options = settings.tokenizer
        while True:
            try:
                tokenizers = trained(options, blocks)
            except LittleTextError as error:
                logger.warning(
                    "vocabulary of %d pieces instead of %d: the text has no more",
                    error.limit,
                    options.vocab_size,
                )
                options = replace(options, vocab_size=error.limit)
            else:
                tokenizers.save(settings.output)
                return

    return train


@dataclass(frozen=True)
class EncodeSettings:
    """For the stage that turns text into ids."""

    cleaning: CleaningOptions
    spool: SpoolFiles
    tokenizer: Path


@dataclass(frozen=True)
class EncodedBlock:
    """Pairs that passed all rules, as ids."""

    source: Ragged
    target: Ragged
    pairs: int
    """Pairs of the block before, duplicates included."""
    removed: Counter[str]
    unknown: tuple[int, int]
    """UNK of both sides."""


def setup_encoding(settings: EncodeSettings) -> Callable[[SpoolBlock], EncodedBlock]:
    """Tokenises and applies the rules on subword counts."""
    tokenizers = load_tokenizers(settings.tokenizer)
    reader = SpoolReader(settings.spool)

    def encode(block: SpoolBlock) -> EncodedBlock:
        source, target = reader.pairs(block)
        ids = tokenizers.source.encode(source), tokenizers.target.encode(target)
        lengths = [np.array([len(line_ids) for line_ids in side], np.int64) for side in ids]
        keep, removed = apply_token_rules(settings.cleaning, lengths[0], lengths[1])
        kept = np.flatnonzero(keep).tolist()
        sides = [ragged([side[i] for i in kept]) for side in ids]
        unknown = [int((side.ids == UNK).sum()) for side in sides]
        return EncodedBlock(sides[0], sides[1], block.pairs, removed, (unknown[0], unknown[1]))

    return encode


def _joined(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()
