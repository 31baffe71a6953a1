"""Readers of idiom sets, and what each scope asks for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sieve.data.corpus import Corpus
from sieve.errors import InputError
from sieve.evaluate.measure.idioms import IdiomSet, ProverbSet, read_idioms
from sieve.evaluate.measure.recall import recall_of_sets
from sieve.evaluate.measure.sets import ParallelSet
from sieve.tokenize.vocabulary import EOS

DATA = Path(__file__).parents[3] / "shared" / "data" / "test"
LANGUAGES = ("xx", "yy")
ROWS = [("bda fga rga", "RGA FGA BDA", "fga rga", "FGA XGA"), ("bda", "BDA", "bda", "ODA")]


def write(path: Path, *lines: str) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "itds.xx", "bda fga rga &apos;", "bda .")
    write(tmp_path / "itds.yy", "RGA FGA BDA &apos;", "BDA .")
    write(tmp_path / "itds_detok.xx", *(row[0] for row in ROWS))
    write(tmp_path / "itds_detok.yy", *(row[1] for row in ROWS))
    write(tmp_path / "itds.info", "-1\tfga rga\tFGA XGA\t55", "2\tbda\tODA\t59")
    write(tmp_path / "mine.tsv", *("\t".join(row) for row in ROWS))
    for kind, word in (("literal", "L"), ("idiomatic", "I")):
        write(tmp_path / f"{kind}.xx-yy.xx", "bda", "fga")
        write(tmp_path / f"{kind}.xx-yy.yy", f"BDA {word}", f"FGA {word}")
    return tmp_path


def test_idiom_translation_ds_takes_the_detokenized_text(folder: Path) -> None:
    found = read_idioms(f"{folder}/itds", LANGUAGES)
    assert isinstance(found, IdiomSet)
    assert found.name == "itds"
    assert found.pairs.sources == ("bda fga rga", "bda")
    assert found.idioms == ("fga rga", "bda")
    assert found.translations == ("FGA XGA", "ODA")
    assert str(found) == "itds: 2 sentences, 2 idioms"
    assert found.first(1).idioms == ("fga rga",)


def test_tokenized_text_where_there_is_no_other(folder: Path) -> None:
    (folder / "itds_detok.yy").unlink()
    found = read_idioms(f"{folder}/itds", LANGUAGES)
    assert isinstance(found, IdiomSet)
    assert found.pairs.sources[1] == "bda ."


def test_a_tsv_of_ones_own(folder: Path) -> None:
    own, same = (
        read_idioms(f"a={folder}/mine.tsv", LANGUAGES),
        read_idioms(f"a={folder}/itds", LANGUAGES),
    )
    assert own == same


def test_proverbs(folder: Path) -> None:
    found = read_idioms(f"wq={folder}/literal.xx-yy,{folder}/idiomatic.xx-yy", LANGUAGES)
    assert found == ProverbSet("wq", ("bda", "fga"), ("BDA L", "FGA L"), ("BDA I", "FGA I"))
    assert found.first(1).sources == ("bda",)


def test_scopes(folder: Path, toy_data: Any) -> None:
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()

    def ids(text: str) -> list[int]:
        return sorted(set(tokenizers.target.encode([text])[0]))

    sentences, alone = read_idioms(f"{folder}/mine.tsv", LANGUAGES).probes(tokenizers)
    assert list(sentences.needed) == ["sentence", "idiom (b)", "idiom (c)"]
    assert list(alone.needed) == ["idiom (a)"]
    source = tokenizers.source.encode(["bda fga rga", "fga rga"])
    assert sentences.src_ids[0].tolist() == [*source[0], EOS]
    assert alone.src_ids[0].tolist() == [*source[1], EOS]
    for row, (_, reference, _, translation) in enumerate(ROWS):
        assert sentences.needed["sentence"][row].tolist() == ids(reference)
        assert sentences.needed["idiom (b)"][row].tolist() == ids(translation)
        assert alone.needed["idiom (a)"][row].tolist() == ids(translation)
        expected = np.intersect1d(ids(reference), ids(translation))
        assert sentences.needed["idiom (c)"][row].tolist() == expected.tolist()
    assert sentences.tokens("sentence") == sum(len(ids(row[1])) for row in ROWS)
    (proverbs,) = read_idioms(f"{folder}/literal.xx-yy,{folder}/idiomatic.xx-yy", LANGUAGES).probes(
        tokenizers
    )
    assert list(proverbs.needed) == ["literal", "idiomatic"]


def test_idioms_that_come_twice_count_once(toy_data: Any) -> None:
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    pairs = ParallelSet("three", ("bda", "bda fga", "rga"), ("BDA", "BDA FGA", "BDA"))
    idioms = IdiomSet(pairs, ("bda", "bda", "rga"), ("BDA", "BDA", "FGA"))
    sentences, alone = idioms.probes(tokenizers)
    assert list(alone.needed) == ["idiom (a)", "idiom (a), evenly"]
    assert alone.weights_of("idiom (a)", range(3)) == [1, 1, 1]
    assert alone.weights_of("idiom (a), evenly", range(3)) == [0.5, 0.5, 1]
    # in (c) the last one asks for nothing: no weight of it is ever used
    assert sentences.weights_of("idiom (c), evenly", range(2)) == [0.5, 0.5]
    wanted = alone.needed["idiom (a), evenly"]
    sets = [wanted[0], wanted[0], wanted[0][:0]]
    weights = alone.weights_of("idiom (a), evenly", range(3))
    assert recall_of_sets(sets, wanted, 99).recall == pytest.approx(2 / 3)
    assert recall_of_sets(sets, wanted, 99, weights).recall == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("{}/nothing", "nothing.info not found; expected a .tsv, a prefix with .info"),
        ("{}/nothing.tsv", "nothing.tsv: cannot be read"),
        ("{}/empty.tsv", "empty.tsv: is empty"),
        ("{}/three.tsv", "three.tsv, line 2: got 3 columns, expected 4 that are not empty"),
        ("{}/short", "short.info, line 1: expected a number, an idiom and its translation"),
        ("{}/fewer", "fewer.info has 1 lines and .*fewer.xx 2"),
        ("{}/literal.xx-yy,{}/other", "the source lines differ, expected the same proverbs"),
    ],
)
def test_what_cannot_be_read(folder: Path, argument: str, message: str) -> None:
    write(folder / "empty.tsv")
    write(folder / "three.tsv", "a\tb\tc\td", "a\tb\tc")
    for name in ("short", "fewer", "other"):
        write(folder / f"{name}.xx", "a", "b")
        write(folder / f"{name}.yy", "a", "b")
    write(folder / "short.info", "1\tidiom", "1\tidiom\ttranslation")
    write(folder / "fewer.info", "1\tidiom\ttranslation")
    with pytest.raises(InputError, match=message):
        read_idioms(argument.replace("{}", str(folder)), LANGUAGES)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared test sets beside the checkout")
def test_the_real_sets() -> None:
    languages = ("en", "de")
    itds = read_idioms(f"{DATA}/itds_idiom_test.en-de", languages)
    assert str(itds) == "itds_idiom_test: 1500 sentences, 68 idioms"
    assert isinstance(itds, IdiomSet)
    assert (itds.idioms[0], itds.translations[0]) == ("in this day and age", "in der heutigen zeit")
    assert not any("&apos;" in line for line in itds.pairs.sources)
    wikiquote = f"{DATA}/wikiquote_"
    proverbs = read_idioms(f"{wikiquote}literal.en-de,{wikiquote}idiomatic.en-de", languages)
    assert str(proverbs).endswith(": 94 proverbs")
