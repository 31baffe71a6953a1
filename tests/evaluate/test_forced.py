"""Forced decoding as a metric: against scores by hand, and what it must and must not see."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import write_model

from sieve.errors import InputError
from sieve.evaluate.measure.forced import ForcedDecoding, difference
from sieve.translate.load import load


@pytest.fixture
def judge(toy_data: Any, tmp_path: Path) -> ForcedDecoding:
    for name, languages in (("there", ["xx", "yy"]), ("back", ["yy", "xx"])):
        write_model(tmp_path / name, toy_data.corpus)
        config = json.loads((tmp_path / name / "config.json").read_text())
        (tmp_path / name / "config.json").write_text(json.dumps(config | {"languages": languages}))
    return ForcedDecoding(load(tmp_path / "there"), load(tmp_path / "back"))


def test_the_mean_of_both_directions_per_token(judge: ForcedDecoding) -> None:
    sources, hypotheses = ["bda fga", "", "bda"], ["FGA BDA", "BDA", ""]
    found = judge.sentences(sources, hypotheses)
    there = judge.forward.score(sources, hypotheses, "none")
    back = judge.backward.score(hypotheses, sources, "none")
    for row, lines in zip(found, zip(there, back, strict=True), strict=True):
        assert row == pytest.approx([line.score / (len(line.pieces) + 1) for line in lines])
    scores = judge.compared(sources, {"same": hypotheses, "again": hypotheses}, resamples=50)
    assert scores["same"].value == pytest.approx(found.mean())
    assert scores["same"].p_value is None
    assert scores["again"].p_value == 1.0
    assert "xx-yy" in scores["same"].signature


def test_models_of_one_direction_are_refused(judge: ForcedDecoding) -> None:
    with pytest.raises(InputError, match="got models of xx-yy and xx-yy, expected both directions"):
        ForcedDecoding(judge.forward, judge.forward)


def test_a_difference_is_found_where_there_is_one() -> None:
    noise = np.random.default_rng(1).normal(0.0, 1.0, 400)
    assert difference(noise - noise.mean() + 0.5) < 0.01
    assert difference(noise - noise.mean() + 0.001) > 0.5
