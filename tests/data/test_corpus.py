import json
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sieve.data.corpus import Corpus
from sieve.data.corpus_writer import CorpusWriter, id_type, ragged, write_corpus
from sieve.errors import ModelError, SieveError
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers
from sieve.tokenize.vocabulary import EOS

SOURCE = ["one two three", "two", "", "three three one two"]
TARGET = ["eins zwei drei", "zwei", "nichts", "drei drei eins zwei"]


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return train_tokenizers(TokenizerOptions(vocab_size=366), SOURCE, TARGET)


@pytest.fixture
def corpus(tokenizers: Tokenizers, tmp_path: Path) -> Corpus:
    write_corpus(tmp_path / "corpus", (SOURCE, TARGET), tokenizers, ("en", "de"))
    return Corpus.open(tmp_path / "corpus")


def test_what_was_written_is_read(corpus: Corpus, tokenizers: Tokenizers) -> None:
    assert (corpus.num_pairs, corpus.languages) == (4, ("en", "de"))
    source, target = corpus.pairs([3, 0, 2, 0])
    assert tokenizers.source.decode([ids.tolist() for ids in source]) == [
        SOURCE[i] for i in (3, 0, 2, 0)
    ]
    assert tokenizers.target.decode([ids.tolist() for ids in target]) == [
        TARGET[i] for i in (3, 0, 2, 0)
    ]
    assert len(source) == 4 and len(source[2]) == 0 and source.ids.dtype == np.int32
    assert corpus.src_lengths.tolist() == [len(ids) for ids in tokenizers.source.encode(SOURCE)]
    assert corpus.tgt_lengths.tolist() == [len(ids) for ids in tokenizers.target.encode(TARGET)]
    assert corpus.fingerprint == corpus.tokenizers().fingerprint
    empty, _ = corpus.pairs([])
    assert len(empty) == 0


def test_target_frequency_counts_a_word_once_a_pair(corpus: Corpus, tokenizers: Tokenizers) -> None:
    frequency = corpus.target_frequency()
    assert frequency.shape == (tokenizers.target.vocab_size,)
    expected = np.zeros_like(frequency)
    for ids in tokenizers.target.encode(TARGET):
        expected[list(set(ids))] += 1
    expected[EOS] = 4
    assert frequency.tolist() == expected.tolist()


def test_many_shards_read_like_one(tokenizers: Tokenizers, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    blocks = [
        [rng.integers(4, 366, rng.integers(0, 7)).tolist() for _ in range(5)] for _ in "ab3de"
    ]
    (tmp_path / "c").mkdir()
    with CorpusWriter(tmp_path / "c", tokenizers, ("a", "b"), shard_tokens=10) as writer:
        for block in blocks:
            writer.append(ragged(block), ragged(block[::-1]))
        writer.finish({})
    assert len(list((tmp_path / "c").glob("shard-*.src.npy"))) > 2
    corpus = Corpus.open(tmp_path / "c")
    order = rng.permutation(25)
    source, target = corpus.pairs(order)
    flat = [ids for block in blocks for ids in block]
    flipped = [ids for block in blocks for ids in block[::-1]]
    assert [list(ids) for ids in source] == [flat[i] for i in order]
    assert [list(ids) for ids in target] == [flipped[i] for i in order]


def test_ids_are_as_small_as_they_can_be() -> None:
    assert [id_type(n).itemsize for n in (65535, 65536, 65537)] == [2, 2, 4]


def test_reading_from_several_threads(corpus: Corpus) -> None:
    expected = corpus.pairs([0, 1, 3])[0].ids.tolist()
    wrong: list[list[int]] = []

    def read() -> None:
        for _ in range(200):
            if (ids := corpus.pairs([0, 1, 3])[0].ids.tolist()) != expected:
                wrong.append(ids)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_batch_of_random_pairs(tokenizers: Tokenizers, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sentences = ragged([rng.integers(4, 366, 30).tolist() for _ in range(20_000)])
    (tmp_path / "c").mkdir()
    with CorpusWriter(tmp_path / "c", tokenizers, ("a", "b")) as writer:
        writer.append(sentences, sentences)
        writer.finish({})
    corpus = Corpus.open(tmp_path / "c")
    indices = rng.integers(0, 20_000, 1500)
    for side in corpus.pairs(indices):
        assert len(side) == 1500
        for row in (0, 700, 1499):
            np.testing.assert_array_equal(side[row], sentences[int(indices[row])])


def test_damage_is_named(corpus: Corpus) -> None:
    directory = corpus.directory
    with pytest.raises(ModelError, match="not a prepared corpus: it has no corpus"):
        Corpus.open(directory.parent)
    path = directory / "corpus.json"
    good = path.read_text()
    for key, value in [("pairs", -1), ("pairs", "4"), ("shards", []), ("languages", ["en"])]:
        path.write_text(json.dumps({**json.loads(good), key: value}))
        with pytest.raises(ModelError, match="damaged: keys are missing or of the wrong kind"):
            Corpus.open(directory)
    path.write_text(json.dumps({**json.loads(good), "pairs": 5}))
    with pytest.raises(ModelError, match=r"src_offsets\.npy: got 5 numbers, expected 6"):
        Corpus.open(directory)
    path.write_text(json.dumps({**json.loads(good), "format_version": 2}))
    with pytest.raises(ModelError, match="got format_version 2"):
        Corpus.open(directory)
    path.write_text(good)
    np.save(directory / "shard-00000.tgt.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ModelError, match=r"shard-00000\.tgt\.npy: not a readable array"):
        Corpus.open(directory)


@given(data=st.data())
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_is_an_error_or_harmless(
    corpus: Corpus, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("damage") / "corpus"
    shutil.copytree(corpus.directory, directory)
    path = data.draw(st.sampled_from(sorted(directory.iterdir())))
    content = path.read_bytes()
    cut = data.draw(st.integers(0, len(content) - 1))
    damage = data.draw(st.one_of(st.just(None), st.binary(min_size=1, max_size=4)))
    path.write_bytes(content[:cut] + (b"" if damage is None else damage + content[cut + 1 :]))
    try:
        damaged = Corpus.open(directory)
        damaged.pairs(range(damaged.num_pairs))
        damaged.target_frequency()
        damaged.tokenizers()
    except SieveError as error:
        assert "\n" not in str(error)
