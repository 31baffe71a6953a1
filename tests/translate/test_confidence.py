"""Confidence: fitted to what happened, between 0 and 1, and only where it is known."""

import math

import numpy as np
import pytest

from sieve.engines.engine import Hypothesis
from sieve.errors import ModelError
from sieve.translate.confidence import Confidence, features


def made(mean: float, margin: float, length: int = 8) -> Hypothesis:
    return Hypothesis((5,) * (length - 1), (mean,) * length, 100, margin=margin)


def test_features_by_hand() -> None:
    one = Hypothesis((5, 6), (-0.5, -1.0, -1.5), 100, margin=20.0)
    assert features(one) == [-1.0, -1.5, 8.0, pytest.approx(math.log(3)), 1.0]
    assert features(Hypothesis((), (), 0)) == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_by_hand() -> None:
    one = made(mean=-1.0, margin=2.0, length=1)
    assert Confidence((1.0, 0.0, 1.0, 0.0, 0.5)).of(one) == pytest.approx(1 / (1 + math.exp(-1.5)))


def test_deciles_match_what_happens() -> None:
    rng = np.random.default_rng(3)
    hypotheses = [made(-rng.random(), rng.normal(1.0, 2.0)) for _ in range(6000)]
    chance = [1 / (1 + math.exp(-(1.5 * one.margin - 0.5))) for one in hypotheses]  # type: ignore[operator]
    same = [bool(rng.random() < p) for p in chance]
    fitted = Confidence.fit(hypotheses[:4000], same[:4000])
    found = np.array([fitted.of(one) for one in hypotheses[4000:]])
    happened = np.array(same[4000:])
    order = np.argsort(found)
    for part in np.array_split(order, 10):
        assert found[part].mean() == pytest.approx(happened[part].mean(), abs=0.09)


@pytest.mark.parametrize("same", [True, False])
def test_one_outcome_only(same: bool) -> None:
    fitted = Confidence.fit([made(-0.1 * n, 1.0 + n) for n in range(20)], [same] * 20)
    value = fitted.of(made(-0.5, 5.0))
    assert 0.0 <= value <= 1.0
    assert (value > 0.9) == same


@pytest.mark.parametrize(
    "content",
    [
        None,
        "x",
        [1, 2],
        [1, 2, 3, 4, "x"],
        [1, 2, 3, 4, math.inf],
        [1, 2, 3, 4, 1e9],
        [10**400] * 5,
    ],
)
def test_damaged(content: object) -> None:
    with pytest.raises(ModelError, match="weights of confidence are damaged"):
        Confidence.from_json(content, "here")


def test_large_weights_overflow_nothing() -> None:
    for sign, expected in ((1.0, 1.0), (-1.0, 0.0)):
        confidence = Confidence((0.0, 0.0, sign * 1e6, 0.0, 0.0))
        assert confidence.of(made(-0.5, 5.0)) == expected
