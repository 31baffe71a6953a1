"""The operating point of a model: the sets at λ are as large as asked, nothing else changes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import write_model
from generated_models import SMALL, native, random_weights

from sieve.bundle.directory import open_bundle
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, ModelError
from sieve.evaluate.measure.recall import Recall
from sieve.selection.dial import Dial, DialPoint
from sieve.selection.selectors import FullVocabulary, NeuralSelection
from sieve.tokenize.vocabulary import EOS, OWN, IntArray
from sieve.train.calibrate import (
    Calibration,
    CalibrationOptions,
    calibrate,
    store,
)
from sieve.train.calibrate import mean_size as calibrated_size
from sieve.translate.confidence import Confidence
from sieve.translate.load import selection_resources

OPTIONS = SearchOptions()


def sentences(number: int = 40, seed: int = 3) -> list[IntArray]:
    rng = np.random.default_rng(seed)
    return [OWN.source_ids(rng.integers(4, 90, rng.integers(2, 12))) for _ in range(number)]


def shifted(weights: dict[str, Any], shift: float) -> dict[str, Any]:
    return {**weights, "nvs.bias": weights["nvs.bias"] + np.float32(shift)}


def moved(shift: float, threshold: float) -> Calibration:
    options = CalibrationOptions(threshold, least=7, fall=0.125)
    dial = Dial(2, (DialPoint(1.0, 0.5, 10.0, 20.0), DialPoint(-1.0, 1.0, 20.0, 30.0)))
    confidence = Confidence((1.0, 2.0, 3.0, 4.0, 5.0))
    return Calibration(options, shift, Recall(1.0, 20.0, 90), dial, confidence)


def mean_size(engine: NativeEngine, ids: list[IntArray], threshold: float) -> float:
    sets = NeuralSelection(threshold).plan().select(engine.encode(ids))
    return float(np.mean([len(words) for words in sets]))


@pytest.mark.parametrize(("threshold", "size"), [(0.9, 20), (0.9, 60), (0.5, 20), (0.99, 5)])
def test_sets_at_the_threshold_are_as_large_as_asked(threshold: float, size: int) -> None:
    weights, ids = random_weights(SMALL), sentences()
    found = calibrate(native(SMALL, weights), ids, CalibrationOptions(threshold, size))
    after = native(SMALL, shifted(weights, found.shift))
    size_after = mean_size(after, ids, threshold)
    assert size_after == pytest.approx(found.own.mean_size, abs=0.1)  # one word of 40 sentences
    assert size - 0.2 <= size_after <= size + 0.03


def test_long_sentences_count_with_their_lower_threshold() -> None:
    weights = random_weights(SMALL)
    ids = [*sentences(), *(OWN.source_ids(np.arange(4 + at, 44 + at)) for at in range(5))]
    found = calibrate(native(SMALL, weights), ids, CalibrationOptions(size=20, fall=0.5))
    after = native(SMALL, shifted(weights, found.shift))
    chosen = NeuralSelection(0.9, fall=0.5).plan().select(after.encode(ids))
    size = float(np.mean([len(tokens) for tokens in chosen]))
    assert size == pytest.approx(found.own.mean_size, abs=0.1)
    assert mean_size(after, ids, 0.9) < size - 0.5
    votes = calibrated_size(after, ids, 0.9, 0.5)
    assert size - 1 <= votes <= size  # EOS is in every shortlist, voted for or not
    assert calibrated_size(after, ids, 0.9) < votes - 0.5


def test_recall_is_of_the_model_s_own_words() -> None:
    weights, ids = random_weights(SMALL), sentences()
    engine = native(SMALL, weights)
    found = calibrate(engine, ids, CalibrationOptions(0.9, 45))
    outputs = engine.translate(ids, FullVocabulary(), OPTIONS)
    sets = (
        NeuralSelection(0.9).plan().select(native(SMALL, shifted(weights, found.shift)).encode(ids))
    )
    shares = [
        np.mean([word in words.ids for word in set(best.tokens)])
        for [best, *_], words in zip(outputs, sets, strict=True)
        if best.tokens
    ]
    assert found.own.recall == pytest.approx(float(np.mean(shares)), abs=0.01)


def test_fewer_words_where_they_are_enough() -> None:
    engine, ids = native(SMALL, random_weights(SMALL)), sentences()
    largest = calibrate(engine, ids, CalibrationOptions(0.9, 80))
    goal = largest.own.recall - 0.1
    found = calibrate(engine, ids, CalibrationOptions(0.9, 80, recall=goal))
    assert goal <= found.own.recall < largest.own.recall
    assert found.own.mean_size < largest.own.mean_size
    assert found.shift < largest.shift


@pytest.mark.parametrize("int8", [False, True])
def test_the_directory_is_the_same_but_for_bias_and_threshold(
    tmp_path: Path, toy_data: Any, int8: bool
) -> None:
    model, output = tmp_path / "model", tmp_path / "calibrated"
    config, _ = write_model(model, toy_data.corpus, int8=int8)
    (model / "MODEL_CARD.md").write_text("A card.\n")
    store(model, output, moved(1.25, 0.9))
    before, after = open_bundle(model), open_bundle(output)
    calibration = {"sentences": 2, "points": [[1.0, 0.5, 10.0, 20.0], [-1.0, 1.0, 20.0, 30.0]]}
    selection = {
        "threshold": 0.9,
        "least": 7,
        "fall": 0.125,
        "safe": True,
        "calibration": calibration,
    }
    selection["confidence"] = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert after.config == {**before.config, "selection": selection}
    assert selection_resources(after).fall == 0.125
    assert selection_resources(after).dial == moved(0.0, 0.9).dial
    assert (output / "MODEL_CARD.md").read_text() == "A card.\n"
    old, new = before.tensors(), after.tensors()
    assert old.keys() == new.keys()
    for name, tensor in old.items():
        expected = tensor + np.float32(1.25) if name == "nvs.bias" else tensor
        np.testing.assert_array_equal(new[name], expected)
        assert new[name].dtype == tensor.dtype
    ids = sentences(8)
    engines = [NativeEngine.open(bundle, threads=1) for bundle in (before, after)]
    first, second = (engine.translate(ids, FullVocabulary(), OPTIONS) for engine in engines)
    assert first == second
    store(output, output, moved(-1.25, 0.5))  # in place
    again = open_bundle(output)
    np.testing.assert_allclose(again.tensors()["nvs.bias"], old["nvs.bias"], atol=1e-6)
    assert again.config["selection"]["threshold"] == 0.5
    assert config.nvs_head == "tied"


def test_errors(tmp_path: Path, toy_data: Any) -> None:
    engine = native(SMALL, random_weights(SMALL))
    with pytest.raises(ConfigError, match="no development sentences to calibrate on"):
        calibrate(engine, [], CalibrationOptions())
    with pytest.raises(ModelError, match="shortlists of 1000 of 90 tokens select nothing; choose"):
        calibrate(engine, [np.array([5, EOS])], CalibrationOptions())
    for name, value in (
        ("threshold", 1.0),
        ("size", 1),
        ("recall", 0.0),
        ("least", -1),
        ("fall", 2),
    ):
        with pytest.raises(ConfigError, match=f"{name}: got {value}, expected"):
            CalibrationOptions(**{name: value})  # type: ignore[arg-type]
    write_model(tmp_path / "bare", toy_data.corpus, nvs_head="none")
    with pytest.raises(ModelError, match="has no NVS head whose bias could be shifted"):
        store(tmp_path / "bare", tmp_path / "never", moved(0.0, 0.9))


@pytest.mark.parametrize("least", [0, 12])
def test_the_dial_says_what_thresholds_do(least: int) -> None:
    weights, ids = random_weights(SMALL), sentences()
    engine = native(SMALL, weights)
    found = calibrate(engine, ids, CalibrationOptions(0.9, 30, least=least))
    after = native(SMALL, shifted(weights, found.shift))
    outputs = [best.tokens for [best, *_] in engine.translate(ids, FullVocabulary(), OPTIONS)]
    for point in found.dial.points[:: len(found.dial.points) // 6]:
        sets = NeuralSelection(point.threshold, least).plan().select(after.encode(ids))
        sizes = [len(words) for words in sets]
        # EOS belongs to each set, voted for or not
        assert point.mean_words - 0.1 <= np.mean(sizes) <= point.mean_words + 1
        shares = [
            np.mean([word in words.ids for word in set(tokens) - {EOS}])
            for tokens, words in zip(outputs, sets, strict=True)
            if set(tokens) - {EOS, 0, 1}
        ]
        assert point.recall == pytest.approx(float(np.mean(shares)), abs=0.02)
    recalls = [point.recall for point in found.dial.points]
    assert recalls == sorted(recalls)
