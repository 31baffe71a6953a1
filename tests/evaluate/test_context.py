"""The head with and without context, against sets worked out one word at a time."""

from typing import Any

import numpy as np
import pytest
from directories import write_model

from sieve.errors import ModelError
from sieve.evaluate.measure.context import measure_context
from sieve.evaluate.measure.idioms import IN_REFERENCE, IN_SENTENCE, IdiomSet
from sieve.evaluate.measure.sets import ParallelSet
from sieve.evaluate.present.recall_tables import context_tables
from sieve.tokenize.vocabulary import EOS
from sieve.tokenize.words import word_spans
from sieve.translate.load import load

THRESHOLDS = (0.3, 0.5, 0.7)


def toy_idioms(toy_data: Any) -> IdiomSet:
    sources, references = (
        tuple(path.read_text().splitlines()[:20])
        for path in (toy_data.valid_src, toy_data.valid_tgt)
    )
    idioms = tuple(line.split()[0] for line in sources)
    return IdiomSet(ParallelSet("toy", sources, references), idioms, tuple(map(str.upper, idioms)))


@pytest.mark.parametrize("int8", [False, True])
def test_shares(toy_data: Any, tmp_path: Any, int8: bool) -> None:
    write_model(tmp_path / "model", toy_data.corpus, int8=int8)
    translator = load(tmp_path / "model")
    idioms = toy_idioms(toy_data)
    done: list[int] = []
    rows = measure_context(translator, idioms, THRESHOLDS, done.append)
    assert sum(done) == 20
    assert [(row.scope, row.threshold) for row in rows] == [
        (scope, threshold) for scope in (IN_SENTENCE, IN_REFERENCE) for threshold in THRESHOLDS
    ]
    source, target = translator.tokenizers.source, translator.tokenizers.target
    for row in rows[:3]:
        selector = translator.selector(f"nvs:{row.threshold}")
        counts = np.zeros(4)
        sizes = []
        for line, wanted in zip(idioms.pairs.sources, idioms.translations, strict=True):
            ids = source.encode([line])[0]
            words = [[*(ids[i] for i in span), EOS] for span in word_spans(source, ids)]
            needed = set(target.encode([wanted])[0])
            engine = translator.engine
            (whole,) = selector.plan().select(engine.encode([np.array([*ids, EOS])]))
            alone = selector.plan().select(engine.encode([np.array(word) for word in words]))
            union = {int(index) for one in alone for index in one.ids}
            a, b = needed <= set(whole.ids.tolist()), needed <= union
            counts += [a, b, a and not b, b and not a]
            sizes.append((len(whole), len(union)))
        found = [row.context, row.no_context, row.only_context, row.only_no_context]
        assert found == pytest.approx((counts / 20).tolist())
        assert (row.mean_size, row.mean_size_no_context) == pytest.approx(np.mean(sizes, axis=0))
        assert len(row.examples) == counts[2]
        # at most as large as with context, so that single words reach no more than at the same λ
        assert row.no_context_at_size <= row.no_context
        both = row.context - row.only_context_at_size
        assert both == pytest.approx(row.no_context_at_size - row.only_no_context_at_size)
        assert all(example.only_in_context for example in row.examples)
    (table,) = context_tables(rows)
    assert table.title == "toy, % of segments with all idiom tokens selected"
    assert len(table.rows) == 6 and "idiom (b): 20 segments" in table.notes


def test_a_head_is_needed(toy_data: Any, tmp_path: Any) -> None:
    write_model(tmp_path / "model", toy_data.corpus, nvs_head="none")
    with pytest.raises(ModelError, match="this model has no NVS head"):
        measure_context(load(tmp_path / "model"), toy_idioms(toy_data))
