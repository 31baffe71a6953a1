import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import write_model
from toy_lexicon import random_lexicon

from sieve.evaluate.measure.curve import THRESHOLDS, TOP, Curve, Point, measure_curves
from sieve.evaluate.measure.probes import BATCH, Probe, recalls
from sieve.evaluate.present.figures import draw_curves
from sieve.selection.lexicon import Lexicon
from sieve.translate.load import load
from sieve.translate.translator import Translator


@pytest.fixture(scope="module")
def translator(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    directory = tmp_path_factory.mktemp("models") / "xx-yy"
    config, _ = write_model(directory, toy_data.corpus)
    random_lexicon(config.src_vocab_size, entries=350).save(directory)
    return load(directory)


def test_settings_of_the_paper() -> None:
    paper = {0.99, 0.9, 0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}
    assert paper <= set(THRESHOLDS)
    assert list(THRESHOLDS) == sorted(THRESHOLDS, reverse=True)
    assert TOP[:3] == (100, 200, 300) and TOP[9:12] == (1000, 2000, 3000) and TOP[-1] == 10_000


def test_a_curve_is_what_the_selectors_give(translator: Translator, toy_data: Any) -> None:
    sources = toy_data.valid_src.read_text().splitlines() * 2
    references = toy_data.valid_tgt.read_text().splitlines() * 2
    assert len(sources) > BATCH
    targets = {"sentence": references, "first word": [line.split()[0] for line in references]}
    probe = Probe.of_text("toy", translator.tokenizers, sources, targets)
    lexicon = translator.resources.need_lexicon("lexicon")
    done: list[int] = []
    curves = measure_curves(translator.engine, probe, lexicon, done=done.append)
    assert sum(done) == len(sources)
    assert [(curve.scope, curve.method) for curve in curves] == [
        ("sentence", "nvs"), ("sentence", "lexicon"),
        ("first word", "nvs"), ("first word", "lexicon"),
    ]  # fmt: skip
    for curve in curves:
        chosen = curve.points if curve.method == "nvs" else curve.points[:4]
        names = [f"{curve.method}:{point.setting}" for point in chosen]
        names = [name.removesuffix(".0") for name in names]
        expected = recalls(
            translator.engine, probe, {name: translator.selector(name) for name in names}
        )
        for name, point in zip(names, chosen, strict=True):
            one = expected[name][curve.scope]
            assert point.recall == pytest.approx(one.recall)
            assert point.mean_size == pytest.approx(one.mean_size)
        assert curve.counted == curve.sentences == len(sources)


def test_what_a_model_has_not_is_not_drawn(translator: Translator) -> None:
    probe = Probe("toy", [np.array([5, 2])], {"sentence": [np.array([6])]})
    (curve,) = measure_curves(translator.engine, probe, None)
    assert curve.method == "nvs"
    lexicon: Lexicon = random_lexicon(translator.engine.vocab_size)
    (curve,) = measure_curves(translator.engine, probe, lexicon, head=False)
    assert curve.method == "lexicon"
    assert {point.mean_size for point in curve.points} <= {float(n) for n in range(7, 14)}


def test_recall_between_points() -> None:
    points = (Point(0.9, 0.5, 10.0), Point(0.5, 0.9, 1000.0))
    curve = Curve("toy", "sentence", "nvs", 1, 1, 1, 2000, points)
    assert curve.recall_at(100.0) == pytest.approx(0.7)  # half way in log(size)
    assert curve.recall_at(10.0) == 0.5
    assert math.isnan(curve.recall_at(9.0)) and math.isnan(curve.recall_at(1001.0))


def test_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    points = (Point(0.9, 0.5, 10.0), Point(0.5, 0.9, 1000.0))
    curves = [
        Curve(test, "sentence", method, 1, 1, 1, 2000, points, model)
        for test in ("one", "two", "three", "four")
        for method in ("nvs", "lexicon")
        for model in ("base", "adapted")
    ]
    png, svg = draw_curves(curves, tmp_path / "fig.1")
    assert (png.name, svg.name) == ("fig.1.png", "fig.1.svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    assert "four, sentence" in text and "NVS, adapted" in text and "λ=0.9" not in text
    draw_curves(curves, tmp_path / "again")
    assert (tmp_path / "again.svg").read_text() == text
    draw_curves(curves[::4], tmp_path / "one")
    assert "λ=0.9" in (tmp_path / "one.svg").read_text()
