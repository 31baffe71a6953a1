"""The lines that a head learns from."""

from pathlib import Path
from typing import Any

import pytest

from sieve.data.corpus import Corpus
from sieve.errors import InputError
from sieve.train.attach.source_text import CorpusText, SourceText, distinct


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_lines_are_distinct_and_keep_their_references(tmp_path: Path) -> None:
    sources = written(tmp_path / "a", "one", "two", "", "one"), written(tmp_path / "b", "three")
    targets = written(tmp_path / "c", "1", "2", "3", "4"), written(tmp_path / "d", "5")
    lines, others = distinct(SourceText(sources, targets), most=10)
    assert others is not None
    assert {*zip(lines, others, strict=True)} == {("one", "1"), ("two", "2"), ("three", "5")}
    assert distinct(SourceText(sources), most=2) == (lines[:2], None)


def test_lines_are_mixed_the_same_way_each_time(tmp_path: Path) -> None:
    text = SourceText((written(tmp_path / "a", *map(str, range(50))),))
    lines, _ = distinct(text, most=50)
    assert lines != sorted(lines, key=int)
    assert distinct(text, most=50)[0] == lines
    assert distinct(text, most=10)[0] == lines[:10]


def test_as_many_references_as_lines(tmp_path: Path) -> None:
    text = SourceText((written(tmp_path / "a", "x", "y"),), (written(tmp_path / "b", "z"),))
    with pytest.raises(InputError, match="b: got 1 lines for 2 source lines"):
        text.lines()


def test_a_corpus_is_text_again(toy_data: Any) -> None:
    lines, others = CorpusText((toy_data.corpus,)).lines()
    assert others is not None
    corpus = Corpus.open(toy_data.corpus)
    src, tgt = corpus.pairs([3])
    tokenizers = corpus.tokenizers()
    assert tokenizers.source.encode([lines[3]])[0] == src[0].tolist()
    assert tokenizers.target.encode([others[3]])[0] == tgt[0].tolist()
    assert len(lines) == len(others) == corpus.num_pairs
