"""Sentence pairs as ids, a block at a time: from a prepared corpus or from two text files.

May not know what the pairs are for.
"""

from collections.abc import Iterator
from pathlib import Path

from sieve.data.corpus import Corpus, Ragged
from sieve.data.corpus_writer import ragged
from sieve.data.reading import PairFiles, decode_pairs, read_blocks
from sieve.errors import InputError
from sieve.tokenize.tokenizer import Tokenizers

Block = tuple[Ragged, Ragged]
_BLOCK = 20_000


def corpus_pairs(directory: Path, tokenizers: Tokenizers) -> Iterator[Block]:
    """The pairs of a corpus that was prepared with these tokenizers."""
    corpus = Corpus.open(directory)
    if corpus.fingerprint != tokenizers.fingerprint:
        raise InputError(f"{directory}: was prepared with another tokenizer")
    starts = range(0, corpus.num_pairs, _BLOCK)
    return (corpus.pairs(range(i, min(i + _BLOCK, corpus.num_pairs))) for i in starts)


def text_pairs(files: PairFiles, tokenizers: Tokenizers) -> Iterator[Block]:
    """The pairs of two text files, plain or compressed."""
    for block in read_blocks([files]):
        source, target = decode_pairs(block)
        yield ragged(tokenizers.source.encode(source)), ragged(tokenizers.target.encode(target))
