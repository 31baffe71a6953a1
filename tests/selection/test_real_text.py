"""Aligners and the Pharaoh reader on real text; nothing of it is part of the repository."""

import bz2
from itertools import islice
from pathlib import Path

import pytest

from sieve.data.alignments import read_pharaoh, write_pharaoh
from sieve.data.corpus import Corpus
from sieve.data.corpus_writer import write_corpus
from sieve.selection.aligners.align_corpus import AlignOptions
from sieve.selection.build import CountOptions, build_lexicon, count_alignments
from sieve.tokenize.sentence_piece import SentencePieceOptions, train_sentence_piece
from sieve.tokenize.tokenizer import Tokenizers

DATA = Path(__file__).parents[3] / "shared" / "data" / "train"
PAIRS = 100_000


def lines(language: str) -> list[str]:
    with bz2.open(DATA / f"tatoeba.en-de.{language}.bz2", "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in islice(file, PAIRS)]


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared parallel text beside the checkout")
def test_a_hundred_thousand_real_lines(tmp_path: Path) -> None:
    text = lines("en"), lines("de")
    sample = [line for side in text for line in side[:20_000]]
    tokenizer = train_sentence_piece(SentencePieceOptions(vocab_size=8000), sample)
    tokenizers = Tokenizers(tokenizer, tokenizer)
    write_corpus(tmp_path / "corpus", text, tokenizers, ("en", "de"))
    kept = tmp_path / "links"
    lexicon = build_lexicon(
        [(str(tmp_path / "corpus"), 1)],
        AlignOptions(train_pairs=30_000),
        CountOptions(keep_alignments=kept),
    )
    for word, translation in {"house": "Haus", "water": "Wasser", "never": "nie"}.items():
        row = lexicon.row(tokenizer.encode([word])[0][0])[0]
        assert tokenizer.encode([translation])[0][0] in row[:3]
    # the reader, against a plain parser, on every line
    found = read_pharaoh(kept)
    assert len(found) == PAIRS
    with kept.open() as file:
        for pair, line in enumerate(file):
            plain = [[int(side) for side in link.split("-")] for link in line.split()]
            assert found.links(pair).tolist() == plain
    corpus = Corpus.open(tmp_path / "corpus")
    found.check(corpus.src_lengths, corpus.tgt_lengths, str(kept))
    write_pharaoh(tmp_path / "again", found)
    assert (tmp_path / "again").read_bytes() == kept.read_bytes()
    counted = count_alignments(corpus, kept, CountOptions())
    assert counted.counts.tolist() == lexicon.counts.tolist()
