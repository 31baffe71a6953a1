"""Means with intervals by Student's t: for repeated runs and for ratings. Pure Python.

The quantile needs no library, so that `sieve benchmark` and `sieve human` run where only the
engine is installed; the tests hold it against scipy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean and half of its 95 % interval; no interval of a single value."""

    value: float
    interval: float | None
    number: int

    def shown(self, digits: int, unit: str = "") -> str:
        """`12.3 ±0.4`."""
        half = "" if self.interval is None else f" ±{self.interval:.{digits}f}"
        return f"{self.value:.{digits}f}{half}{unit}"


def mean(values: Sequence[float]) -> Mean:
    """Of independent values: x̄ ± t · s / √n."""
    number = len(values)
    middle = math.fsum(values) / number
    if number < 2:
        return Mean(middle, None, number)
    squares = math.fsum((value - middle) ** 2 for value in values)
    error = math.sqrt(squares / (number - 1) / number)
    return Mean(middle, t_quantile(0.5 + CONFIDENCE / 2, number - 1) * error, number)


def t_p_value(statistic: float, freedom: float) -> float:
    """How often a t of so many degrees of freedom lies further from 0, on either side."""
    if math.isinf(statistic):
        return 0.0
    return _beta_share(freedom / 2, 0.5, freedom / (freedom + statistic**2))


def t_quantile(share: float, freedom: float) -> float:
    """The t below which a share (over 0.5) of the distribution lies, by bisection."""
    low, high = 0.0, 1.0
    while t_p_value(high, freedom) / 2 > 1 - share:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if t_p_value(middle, freedom) / 2 > 1 - share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_share(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta I_x(a, b), by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - _beta_share(b, a, 1 - x)
    front = a * math.log(x) + b * math.log1p(-x)
    front -= math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(front) / a * _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    upper, lower = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1), tiny)
    found = lower
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for factor in (even, odd):
            lower = 1 / _apart(1 + factor * lower, tiny)
            upper = _apart(1 + factor / upper, tiny)
            step = lower * upper
            found *= step
        if abs(step - 1) < 1e-15:
            break
    return found


def _apart(value: float, tiny: float) -> float:
    """The value, or something that can be divided by."""
    return value if abs(value) > tiny else tiny
