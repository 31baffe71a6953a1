from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sieve.data.cleaning import CleaningOptions
from sieve.data.corpus import Corpus
from sieve.data.prepare import PrepareOptions, prepare
from sieve.data.reading import Input, PairFiles, TsvFile
from sieve.errors import ConfigError, InputError, ModelError
from sieve.tokenize.tokenizer_training import TokenizerOptions

NOUNS = ["house", "garden", "tree", "river", "street", "winter", "friend", "letter"]
SACHEN = ["Haus", "Garten", "Baum", "Fluss", "Straße", "Winter", "Freund", "Brief"]
SMALL = TokenizerOptions(vocab_size=400)


def sentence_pairs(count: int) -> list[tuple[str, str]]:
    result = []
    for number in range(count):
        first, second = number % 8, number // 8 % 8
        english = f"My {NOUNS[first]} number {number} is near the old {NOUNS[second]}."
        german = f"Mein {SACHEN[first]} Nummer {number} ist beim alten {SACHEN[second]}."
        result.append((english, german))
    return result


def write_pairs(directory: Path, pairs: Sequence[tuple[str, str]], name: str = "a") -> PairFiles:
    files = PairFiles(directory / f"{name}.en", directory / f"{name}.de")
    files.source.write_text("".join(f"{s}\n" for s, _ in pairs))
    files.target.write_text("".join(f"{t}\n" for _, t in pairs))
    return files


def options(directory: Path, *inputs: Input) -> PrepareOptions:
    return PrepareOptions(inputs, directory / "corpus", ("en", "de"), training=SMALL, workers=1)


def texts(directory: Path) -> list[tuple[str, str]]:
    corpus = Corpus.open(directory)
    sides = corpus.pairs(range(corpus.num_pairs))
    both = corpus.tokenizers()
    lists = [[ids.tolist() for ids in side] for side in sides]
    source, target = both.source.decode(lists[0]), both.target.decode(lists[1])
    return list(zip(source, target, strict=True))


def leftovers(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir() if path.name.startswith(".")]


def test_what_goes_in_comes_out_in_order(tmp_path: Path) -> None:
    good = sentence_pairs(300)
    table = tmp_path / "b.tsv"
    table.write_text("".join(f"{s}\t{t}\r\n" for s, t in good[200:]))
    statistics = prepare(options(tmp_path, write_pairs(tmp_path, good[:200]), TsvFile(table)))
    assert texts(tmp_path / "corpus") == good
    assert statistics == Corpus.open(tmp_path / "corpus").statistics
    assert statistics["read"] == statistics["pairs"] == 300
    assert set(statistics["removed"].values()) == {0}
    assert leftovers(tmp_path) == []


def test_each_rule_removes_and_counts(tmp_path: Path) -> None:
    good = sentence_pairs(60)
    english, german = good[0]
    bad = {
        "empty": [("", german), (" \u00a0 ", german)],
        "test set": [("This is a test sentence.", "Etwas ganz anderes steht hier.")],
        "overlap": [(english, english)],
        "language": [(german, "Noch ein ganz normaler deutscher Satz steht in dieser Zeile.")],
        "duplicate": [good[3], (f"  {good[4][0]}\t", good[4][1])],
        "too long": [(english * 40, german * 40), ("x" * 20_000, german)],
        "length ratio": [("Yes.", "Das ist ein Satz, der sehr viel länger ist als nur ein Wort.")],
    }
    pairs = good + [pair for some in bad.values() for pair in some]
    test_set = tmp_path / "test.en"
    test_set.write_text("This is  a test sentence.\n")
    cleaning = CleaningOptions(test_sets=(test_set,))
    run = replace(options(tmp_path, write_pairs(tmp_path, pairs)), cleaning=cleaning)
    statistics = prepare(run)
    assert statistics["removed"] == {rule: len(some) for rule, some in bad.items()}
    assert statistics["pairs"] == 60 and texts(tmp_path / "corpus") == good

    everything = CleaningOptions(
        empty=False,
        max_overlap=None,
        language_odds=None,
        duplicates=False,
        max_tokens=None,
        max_length_ratio=None,
    )
    statistics = prepare(replace(run, cleaning=everything, overwrite=True))
    assert statistics["pairs"] == len(pairs)


@pytest.mark.parametrize(
    "kind", ["sentencepiece-unigram", pytest.param("moses-bpe", marks=pytest.mark.slow)]
)
def test_the_bytes_do_not_depend_on_the_workers(kind: str, tmp_path: Path) -> None:
    pairs = sentence_pairs(9000)  # more than one block
    pairs[8500:8500] = pairs[:500]
    pairs[8200] = ("", "leer")
    training = TokenizerOptions(kind=kind, vocab_size=400, sample_pairs=500)
    inputs = write_pairs(tmp_path, pairs)
    contents = []
    for workers in (1, 2):
        output = tmp_path / f"corpus{workers}"
        run = replace(options(tmp_path, inputs), output=output, workers=workers, training=training)
        assert prepare(run)["removed"]["duplicate"] == 500
        contents.append({path.name: path.read_bytes() for path in output.iterdir()})
    assert contents[0] == contents[1]
    assert texts(tmp_path / "corpus2") == [p for p in pairs[:8500] if p[0]] + pairs[9000:]


def test_an_existing_tokenizer_is_used_again(tmp_path: Path) -> None:
    first = options(tmp_path, write_pairs(tmp_path, sentence_pairs(100)))
    prepare(first)
    for path in (tmp_path / "corpus", tmp_path / "corpus" / "tokenizer.spm"):
        second = replace(first, output=tmp_path / "other", tokenizer=path, overwrite=True)
        prepare(second)
        one, two = Corpus.open(tmp_path / "corpus"), Corpus.open(tmp_path / "other")
        assert one.fingerprint == two.fingerprint
    with pytest.raises(ModelError, match="has no tokenizer"):
        prepare(replace(second, tokenizer=tmp_path))


def test_unknown_characters_are_counted(tmp_path: Path) -> None:
    files = write_pairs(tmp_path, sentence_pairs(100))
    moses = TokenizerOptions(kind="moses-bpe", vocab_size=100)
    run = replace(options(tmp_path, files), training=moses)
    assert prepare(run)["target_unknown"] == 0
    pairs = [("My house is near 家.", "Mein Haus ist bei 家庭.")]
    other = replace(
        options(tmp_path, write_pairs(tmp_path, pairs)),
        output=tmp_path / "other",
        tokenizer=tmp_path / "corpus",
    )
    statistics = prepare(other)
    assert (statistics["source_unknown"], statistics["target_unknown"]) == (1, 2)


def test_separate_vocabularies(tmp_path: Path) -> None:
    training = TokenizerOptions(vocab_size=365, separate=True)
    run = options(tmp_path, write_pairs(tmp_path, sentence_pairs(80)))
    run = replace(run, training=training, cleaning=CleaningOptions(max_length_ratio=None))
    prepare(run)
    assert not Corpus.open(tmp_path / "corpus").tokenizers().joint
    assert texts(tmp_path / "corpus") == sentence_pairs(80)


def test_nothing_is_left(tmp_path: Path) -> None:
    files = write_pairs(tmp_path, [("", "a"), ("same words", "same words")])
    with pytest.raises(InputError, match=r"no pair is left of 2 read; removed: empty 1.*overlap 1"):
        prepare(options(tmp_path, files))
    assert leftovers(tmp_path) == [] and not (tmp_path / "corpus").exists()


def test_an_existing_output_is_safe(tmp_path: Path) -> None:
    run = options(tmp_path, write_pairs(tmp_path, sentence_pairs(50)))
    run.output.mkdir()
    (run.output / "diary.txt").write_text("mine")
    with pytest.raises(InputError, match="corpus: already exists; choose another name or pass"):
        prepare(run)
    with pytest.raises(InputError, match="not a prepared corpus: not overwritten"):
        prepare(replace(run, overwrite=True))
    assert (run.output / "diary.txt").read_text() == "mine"
    link = tmp_path / "link"
    link.symlink_to(run.output)
    with pytest.raises(InputError, match="link: is a symbolic link"):
        prepare(replace(run, output=link, overwrite=True))
    (run.output / "diary.txt").unlink()
    prepare(replace(run, overwrite=True))
    prepare(replace(run, overwrite=True))


def test_a_failed_overwrite_keeps_the_old_corpus(tmp_path: Path) -> None:
    run = options(tmp_path, write_pairs(tmp_path, sentence_pairs(50)))
    prepare(run)
    run.inputs[0].source.write_bytes(b"\xff\n")  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"has no partner|not valid UTF-8"):
        prepare(replace(run, overwrite=True))
    assert texts(run.output) == sentence_pairs(50)


def test_what_a_killed_run_left_is_removed_but_not_what_is_in_use(tmp_path: Path) -> None:
    from sieve.processes.scratch import claim

    stale, used, other = (tmp_path / name for name in (".corpus.x", ".corpus.y", ".other.z"))
    for directory in (stale, used, other):
        (directory / "scratch").mkdir(parents=True)
        (directory / "scratch" / "lock").touch()
    (used / "scratch" / "lock").unlink()
    (used / "scratch").rmdir()
    with claim(used):
        prepare(options(tmp_path, write_pairs(tmp_path, sentence_pairs(50))))
        assert sorted(leftovers(tmp_path)) == [".corpus.y", ".other.z"]


def test_options_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no input"):
        PrepareOptions((), tmp_path)
    with pytest.raises(ConfigError, match="workers: got -1"):
        PrepareOptions((TsvFile(tmp_path),), tmp_path, workers=-1)
