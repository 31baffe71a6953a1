"""The demo's trained model in every engine: native against torch, int8 against fp32.

Seen: scores of the two engines differ by 6e-6 at most; int8 sets are 0.2 % smaller in the mean and
find all words that fp32 finds; of 500 sentences 471 are translated exactly in int8, 470 in fp32.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from experiment import THRESHOLD, Experiment, idiom_ids, source_ids
from language import Pair

import sieve
from sieve.cli.main import main
from sieve.selection.selectors import NeuralSelection
from sieve.translate.translation import Translation
from sieve.translate.translator import Translator


@pytest.fixture(scope="module")
def packed(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("int8") / "model"
    assert main(["convert", str(experiment.model), "--int8", "--output", str(output)]) == 0
    return output


@pytest.fixture(scope="module")
def exact(experiment: Experiment) -> Translator:
    return sieve.load(experiment.model)


@pytest.fixture(scope="module")
def rounded(packed: Path) -> Translator:
    return sieve.load(packed)


def translated(translator: Translator, pairs: Sequence[Pair], selection: str) -> list[Translation]:
    return translator.translate([pair.source_text for pair in pairs], selection=selection)


@pytest.mark.parametrize("selection", ["none", f"nvs:{THRESHOLD}"])
def test_native_equals_torch(
    experiment: Experiment, exact: Translator, held_out: Sequence[Pair], selection: str
) -> None:
    """500 sentences: the same words, the same sets, the same scores."""
    reference = sieve.load(experiment.model, engine="torch")
    assert len(held_out) == 500
    first, second = (translated(t, held_out, selection) for t in (exact, reference))
    for one, other in zip(first, second, strict=True):
        assert one.pieces == other.pieces
        assert one.shortlist_size == other.shortlist_size
        assert one.token_scores == pytest.approx(other.token_scores, abs=1e-3)


def test_int8_translates_as_well(
    exact: Translator, rounded: Translator, held_out: Sequence[Pair]
) -> None:
    rights = []
    for translator in (exact, rounded):
        found = translated(translator, held_out, f"nvs:{THRESHOLD}")
        rights.append(
            sum(t.text == pair.target_text for t, pair in zip(found, held_out, strict=True))
        )
    assert rights[1] >= rights[0] - 0.01 * len(held_out)


def test_int8_selects_as_well(
    exact: Translator, rounded: Translator, held_out: Sequence[Pair]
) -> None:
    """Sets within 2 % in size, found words within 0.1 points of recall."""
    sizes, recalls = [], []
    words = idiom_ids(exact.tokenizers, held_out)
    sources = source_ids(exact.tokenizers, held_out)
    for translator in (exact, rounded):
        sets = NeuralSelection(THRESHOLD).plan().select(translator.engine.encode(sources))
        sizes.append(np.mean([len(one) for one in sets]))
        wanted = [(word, one) for ids, one in zip(words, sets, strict=True) for word in ids]
        recalls.append(np.mean([word in one for word, one in wanted]))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.02)
    assert recalls[1] >= recalls[0] - 0.001
