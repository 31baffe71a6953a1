"""Student's t against scipy, means against numbers worked out by hand."""

import math

import pytest

from sieve.evaluate.measure.statistics import mean, t_p_value, t_quantile

scipy_stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("freedom", [1, 2, 3.5, 7, 29, 308, 5000])
@pytest.mark.parametrize("share", [0.6, 0.9, 0.975, 0.9995])
def test_quantiles_are_scipys(share: float, freedom: float) -> None:
    assert t_quantile(share, freedom) == pytest.approx(scipy_stats.t.ppf(share, freedom), rel=1e-9)


@pytest.mark.parametrize("freedom", [1, 4, 40, 400])
@pytest.mark.parametrize("statistic", [0.0, 0.1, -0.7, 2.0, 11.0])
def test_p_values_are_scipys(statistic: float, freedom: float) -> None:
    expected = 2 * scipy_stats.t.sf(abs(statistic), freedom)
    assert t_p_value(statistic, freedom) == pytest.approx(expected, rel=1e-9)


def test_mean_by_hand() -> None:
    # 1, 2, 3: deviation 1, error 1/√3, t(2) at 97.5 % is 4.302653
    found = mean([1.0, 2.0, 3.0])
    assert found.value == 2.0
    assert found.interval == pytest.approx(4.302653 / math.sqrt(3), abs=1e-6)
    assert found.shown(1) == "2.0 ±2.5"


def test_one_value_has_no_interval() -> None:
    assert mean([4.0]).interval is None
    assert mean([4.0]).shown(1, " ms") == "4.0 ms"
    assert mean([4.0, 4.0]).interval == 0.0
