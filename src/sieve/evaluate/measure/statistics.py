"""Means with intervals by Student's t: for repeated runs and for ratings. Knows only numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sieve.errors import require

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
    t = float(need_student().stdtrit(number - 1, 0.5 + CONFIDENCE / 2))
    return Mean(middle, t * error, number)


def t_p_value(statistic: float, freedom: float) -> float:
    """How often a t of so many degrees of freedom lies further from 0, on either side."""
    return 2 * float(need_student().stdtr(freedom, -abs(statistic)))


def need_student() -> Any:
    """Scipy's distributions, or an error that says how to install it: for before the work."""
    return require("scipy.special", "evaluate", "Student's t")
