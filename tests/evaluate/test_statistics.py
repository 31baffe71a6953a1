"""Means and Student's t against printed tables and against numbers worked out by hand."""

import math
import sys

import pytest

from sieve.errors import MissingExtraError
from sieve.evaluate.measure.statistics import mean, t_p_value

pytest.importorskip("scipy")


@pytest.mark.parametrize("statistic", [0.0, 0.1, -0.7, 2.0, 11.0])
def test_p_values_in_closed_form(statistic: float) -> None:
    t = abs(statistic)
    assert t_p_value(statistic, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, rel=1e-9)
    assert t_p_value(statistic, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-9)


def test_a_difference_without_variation_is_certain() -> None:
    assert t_p_value(math.inf, 3) == 0.0


@pytest.mark.parametrize(("number", "t"), [(2, 12.7062), (3, 4.302653), (8, 2.364624)])
def test_intervals_by_the_printed_table(number: int, t: float) -> None:
    # 0, 1, …: variance n (n + 1) / 12
    found = mean([float(value) for value in range(number)])
    error = math.sqrt(number * (number + 1) / 12 / number)
    assert found.value == (number - 1) / 2
    assert found.interval == pytest.approx(t * error, rel=1e-5)


def test_mean_as_shown() -> None:
    # 1, 2, 3: deviation 1, error 1/√3, t(2) at 97.5 % is 4.302653
    assert mean([1.0, 2.0, 3.0]).shown(1) == "2.0 ±2.5"


def test_one_value_has_no_interval() -> None:
    assert mean([4.0]).interval is None
    assert mean([4.0]).shown(1, " ms") == "4.0 ms"
    assert mean([4.0, 4.0]).interval == 0.0


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingExtraError) as error:
        mean([1.0, 2.0])
    assert str(error.value) == (
        "Student's t needs scipy, which is not installed: pip install 'sieve-nmt[evaluate]'"
    )
