"""The table of a model with random weights: numbers against their definitions."""

from typing import Any

import numpy as np
import pytest
from directories import write_model
from toy_lexicon import random_lexicon

from sieve.engines.options import SearchOptions
from sieve.evaluate.measure.comparison import TableOptions, measure, steps
from sieve.evaluate.measure.latency import measure_latency
from sieve.evaluate.measure.quality import bleu
from sieve.evaluate.measure.sets import ParallelSet
from sieve.translate.load import load
from sieve.translate.translator import Translator

SELECTIONS = ("nvs:0.4", "lexicon:3", "nvs:0.4+lexicon:3")
OPTIONS = TableOptions(SELECTIONS, SearchOptions(beam_size=2), 3, resamples=20)


@pytest.fixture(scope="module")
def translator(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    directory = tmp_path_factory.mktemp("models") / "xx-yy"
    config, _ = write_model(directory, toy_data.corpus)
    random_lexicon(config.src_vocab_size).save(directory)
    return load(directory)


@pytest.fixture(scope="module")
def one(toy_data: Any) -> ParallelSet:
    sources, references = (
        tuple(path.read_text().splitlines()[:12])
        for path in (toy_data.valid_src, toy_data.valid_tgt)
    )
    return ParallelSet("toy", sources, references)


def test_rows(translator: Translator, one: ParallelSet) -> None:
    done: list[int] = []
    rows = measure(translator, "model", one, OPTIONS, done.append)
    assert [row.selection for row in rows] == ["none", *SELECTIONS]
    assert sum(done) == steps([one], OPTIONS) == 4 * 12 + 3
    none = rows[0]
    assert (none.identical, none.reference.recall, none.output.recall) == (1.0, 1.0, 1.0)
    texts = {
        row.selection: [
            line.text
            for line in translator.translate(
                list(one.sources), selection=row.selection, beam_size=2
            )
        ]
        for row in rows
    }
    for row in rows:
        found = texts[row.selection]
        assert row.quality[0].value == pytest.approx(bleu(found, one.references).value)
        same = np.mean([a == b for a, b in zip(found, texts["none"], strict=True)])
        assert row.identical == same
        assert row.latency is not None and 0 < row.latency.p50 <= row.latency.p90
        assert row.signature.startswith(f"test:toy|sentences:12|selection:{row.selection}|beam:2|")


def test_sets_are_those_of_the_engine(translator: Translator, one: ParallelSet) -> None:
    rows = measure(translator, "model", one, OPTIONS)
    tokenizers = translator.tokenizers
    target = [set(ids) for ids in tokenizers.target.encode(list(one.references))]
    source = [np.array([*ids, 2]) for ids in tokenizers.source.encode(list(one.sources))]
    encoded = translator.engine.encode(source)
    for row in rows:
        sets = [
            set(words.ids.tolist())
            for words in translator.selector(row.selection).plan().select(encoded)
        ]
        shares = [len(a & b) / len(a) for a, b in zip(target, sets, strict=True)]
        assert row.reference.recall == pytest.approx(np.mean(shares))
        assert row.reference.mean_size == pytest.approx(np.mean([len(words) for words in sets]))
    both, head = rows[3], rows[1]
    assert both.reference.recall >= head.reference.recall


def test_latency_of_each_selection(translator: Translator) -> None:
    sentences = [np.array([5, 6, 2]), np.array([7, 2])]
    selectors = {name: translator.selector(name) for name in ("none", "nvs:0.4")}
    done: list[int] = []
    found = measure_latency(
        translator.engine, sentences, selectors, SearchOptions(beam_size=1), done.append
    )
    assert list(found) == ["none", "nvs:0.4"]
    assert done == [1, 1]
    assert all(one.sentences == 2 for one in found.values())
