"""Deciles of confidence against what became of the translations."""

import random

import numpy as np
import pytest
from scipy.stats import spearmanr

from sieve.evaluate.measure.reliability import measure_reliability, rank_correlation
from sieve.evaluate.present.confidence_tables import reliability_tables
from sieve.translate.translation import Translation

REFERENCE = "the cat sat on the mat"


def line(text: str, confidence: float | None) -> Translation:
    return Translation(text, 0.0, 5, 9, (), (), confidence=confidence)


def test_deciles_say_what_happened() -> None:
    """Of twenty sentences the surer ten are unchanged and right."""
    confidences = [n / 20 for n in range(20)]
    lines = [line(REFERENCE if c >= 0.5 else f"a dog {c}", c) for c in confidences]
    shuffled = random.Random(3).sample(lines, k=20)
    full = [line(REFERENCE, None)] * 20
    (found,) = measure_reliability("m", "t", {"none": full, "nvs": shuffled}, [REFERENCE] * 20)
    assert (found.model, found.test, found.selection) == ("m", "t", "nvs")
    assert [part.sentences for part in found.deciles] == [2] * 10
    middles = [c + 0.025 for c in confidences[::2]]
    assert [part.confidence for part in found.deciles] == pytest.approx(middles)
    assert [part.same for part in found.deciles] == [0.0] * 5 + [1.0] * 5
    assert all(part.chrf == pytest.approx(100) for part in found.deciles[5:])
    assert all(part.chrf < 50 for part in found.deciles[:5])
    distances = [min(middle, 1 - middle) for middle in middles]
    assert found.gap == pytest.approx(np.mean(distances))
    assert found.correlation > 0.7
    (table,) = reliability_tables([found])
    assert table.rows[0][:4] == ("1", "2", "0.025", "0.0")
    assert table.rows[9] == ("10", "2", "0.925", "100.0", "100.0")


def test_lines_without_a_confidence_do_not_count() -> None:
    full = [line("a", None), line("b", None), line("c", None)]
    ways = {
        "none": full,
        "lexicon:2": [line("x", None)] * 3,
        "nvs": [line("a", 0.9), line("2", None), line("x", 0.1)],
    }
    (found,) = measure_reliability("m", "t", ways, ["a", "b", "c"])
    assert found.selection == "nvs"
    assert [(part.confidence, part.same) for part in found.deciles] == [(0.1, 0.0), (0.9, 1.0)]
    assert measure_reliability("m", "t", {"none": full}, ["a", "b", "c"]) == []


def test_rank_correlation_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        first, second = rng.integers(0, 6, (2, 30)).astype(np.float64)
        expected = spearmanr(first, second).statistic
        assert rank_correlation(first, second) == pytest.approx(expected)
    assert rank_correlation(np.ones(4), np.arange(4.0)) == 0.0
