from pathlib import Path

import numpy as np
import pytest

from sieve.data.alignments import read_pharaoh
from sieve.data.corpus import Corpus
from sieve.data.corpus_writer import write_corpus
from sieve.errors import ConfigError, InputError
from sieve.selection.aligners.align_corpus import AlignOptions
from sieve.selection.build import CountOptions, adapt_lexicon, build_lexicon, count_alignments
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.sentence_piece import SentencePieceOptions, train_sentence_piece
from sieve.tokenize.tokenizer import Tokenizers

WORDS = ["red", "green", "blue", "house", "tree", "river", "old", "new", "big", "small"]
FOREIGN = ["rot", "grün", "blau", "Haus", "Baum", "Fluss", "alt", "neu", "groß", "klein"]


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    text = [" ".join(WORDS), " ".join(FOREIGN), "Wald", "forest"] * 20
    tokenizer = train_sentence_piece(SentencePieceOptions(vocab_size=380), text)
    return Tokenizers(tokenizer, tokenizer)


def sentences(seed: int, count: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    picks = [rng.choice(10, rng.integers(2, 6), replace=False) for _ in range(count)]
    return [" ".join(WORDS[i] for i in p) for p in picks], [
        " ".join(FOREIGN[i] for i in p) for p in picks
    ]


@pytest.fixture(scope="module")
def corpus(tokenizers: Tokenizers, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpora") / "general"
    write_corpus(path, sentences(1, 300), tokenizers, ("en", "de"))
    return path


@pytest.fixture(scope="module")
def domain(tokenizers: Tokenizers, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpora") / "domain"
    write_corpus(path, (["tree"] * 9, ["Wald"] * 9), tokenizers, ("en", "de"))
    return path


def best(lexicon: Lexicon, tokenizers: Tokenizers, word: str) -> str:
    """The piece ranked first for the piece that begins the word."""
    src_id = tokenizers.source.encode([word])[0][0]
    return tokenizers.target.piece(int(lexicon.row(src_id)[0][0]))


@pytest.mark.parametrize("heuristic", ["grow-diag-final-and", "intersection", "forward"])
def test_finds_the_translations(corpus: Path, tokenizers: Tokenizers, heuristic: str) -> None:
    align = AlignOptions(symmetrize=heuristic)
    lexicon = build_lexicon([(str(corpus), 1)], align, CountOptions())
    for word, foreign in zip(WORDS, FOREIGN, strict=True):
        first = tokenizers.target.encode([foreign])[0]
        assert best(lexicon, tokenizers, word) in {tokenizers.target.piece(i) for i in first}
    assert lexicon.info["signature"] == f"fast_align|{heuristic}|by:count|pairs:300"


def test_one_process_or_two_and_kept_links(
    corpus: Path, tmp_path: Path, tokenizers: Tokenizers
) -> None:
    kept = [tmp_path / "one.align", tmp_path / "two.align"]
    lexicons = [
        build_lexicon(
            [(str(corpus), 1)],
            AlignOptions(processes=processes),
            CountOptions(keep_alignments=path),
        )
        for processes, path in enumerate(kept, start=1)
    ]
    assert kept[0].read_bytes() == kept[1].read_bytes()
    np.testing.assert_array_equal(lexicons[0].counts, lexicons[1].counts)
    opened = Corpus.open(corpus)
    read_pharaoh(kept[0]).check(opened.src_lengths, opened.tgt_lengths, "kept")
    # the links, given as a file, count to the same lexicon
    counted = count_alignments(opened, kept[0], CountOptions())
    for name in ("offsets", "targets", "counts", "source_counts", "target_counts"):
        np.testing.assert_array_equal(getattr(counted, name), getattr(lexicons[0], name))


def test_trained_on_a_part_aligns_all(corpus: Path) -> None:
    lexicon = build_lexicon([(str(corpus), 1)], AlignOptions(train_pairs=100), CountOptions())
    lengths = Corpus.open(corpus).tgt_lengths
    assert lexicon.target_counts.sum() == lengths.sum()
    assert lexicon.source_counts.sum() > 0.8 * lengths.sum()


def test_by_probability(corpus: Path, tokenizers: Tokenizers) -> None:
    count = CountOptions(by="probability", top=3)
    lexicon = build_lexicon([(str(corpus), 1)], AlignOptions(), count)
    assert np.diff(lexicon.offsets).max() == 3
    shares = lexicon.row(tokenizers.source.encode(["house"])[0][0])[1]
    assert 0.8 < shares.sum() <= 1.01 and (np.diff(shares) <= 0).all()
    with pytest.raises(InputError, match="holds no counts to add to"):
        adapt_lexicon(lexicon, [], 10)


def test_adapting_the_papers_way_and_the_cheap_way(
    corpus: Path, domain: Path, tokenizers: Tokenizers
) -> None:
    plain = build_lexicon([(str(corpus), 1)], AlignOptions(), CountOptions())
    extra = build_lexicon([(str(corpus), 1), (str(domain), 10)], AlignOptions(), CountOptions())
    new_text = Corpus.open(domain)
    cheap = adapt_lexicon(plain, [new_text.pairs(range(4)), new_text.pairs(range(4, 9))], 10)
    # 9 pairs x 10 of tree = Wald against about 100 of tree = Baum: Wald is among the first
    src_id = tokenizers.source.encode(["tree"])[0][0]
    new = tokenizers.target.encode(["Wald"])[0]
    assert not set(new) & set(plain.row(src_id)[0][:2].tolist())
    for adapted in (extra, cheap):
        assert set(new) & set(adapted.row(src_id)[0].tolist())
        assert adapted.target_counts[new[0]] == plain.target_counts[new[0]] + 90
    assert cheap.info["signature"].endswith("|adapted:9x10")
    with pytest.raises(ConfigError, match="upsample: got 0"):
        adapt_lexicon(plain, [], 0)


def test_bad_input(corpus: Path, domain: Path, tmp_path: Path) -> None:
    opened = Corpus.open(corpus)
    links = tmp_path / "links"
    links.write_text("0-0\n" * 299)
    with pytest.raises(InputError, match=r"links: got 299 lines, expected 300, one for each pair"):
        count_alignments(opened, links, CountOptions())
    links.write_text("0-0\n" * 7 + "99-0\n" + "0-0\n" * 292)
    with pytest.raises(InputError, match=r"links: line 8: link 99-0 lies outside the pair of"):
        count_alignments(opened, links, CountOptions())
    with pytest.raises(ConfigError, match="a file of links has none"):
        count_alignments(opened, links, CountOptions(by="probability"))
    with pytest.raises(ConfigError, match="unknown heuristic 'grow'"):
        AlignOptions(symmetrize="grow")
    with pytest.raises(ConfigError, match="train_pairs: got 0"):
        AlignOptions(train_pairs=0)
    with pytest.raises(ConfigError, match="top: got 0"):
        CountOptions(top=0)


def test_other_tokenizers_are_refused(corpus: Path, tmp_path: Path) -> None:
    other = train_sentence_piece(SentencePieceOptions(vocab_size=365), WORDS * 30)
    write_corpus(tmp_path / "x", sentences(2, 5), Tokenizers(other, other), ("en", "de"))
    with pytest.raises(InputError, match="its tokenizer is not that of"):
        build_lexicon([(str(corpus), 1), (str(tmp_path / "x"), 1)], AlignOptions(), CountOptions())
