"""Learning rates against numbers worked out by hand."""

import pytest

from sieve.train.update.schedule import Schedule, rescaled


@pytest.mark.parametrize(
    ("step", "expected"),
    [(1, 0.25e-6), (2000, 0.5e-3), (4000, 1e-3), (16000, 0.5e-3), (64000, 0.25e-3)],
)
def test_inverse_square_root(step: int, expected: float) -> None:
    rate = Schedule("inverse_sqrt", 1e-3, 4000).rate(step)
    assert rate == pytest.approx(expected, rel=1e-9)
    # the paper's form: 0.06325 · min(t^-½, t · 4000^-1.5), rounded to four digits
    paper = 0.06325 * min(step**-0.5, step * 4000**-1.5)
    assert rate == pytest.approx(paper, rel=2e-4)


@pytest.mark.parametrize(
    ("step", "progress", "expected"),
    [(5, 0.04, 0.5), (10, 0.09, 1.0), (11, 0.1, 1.0), (56, 0.55, 0.5), (101, 1.0, 0.0)],
)
def test_linear_to_the_end_of_the_budget(step: int, progress: float, expected: float) -> None:
    # warm-up 10 of a budget of 100 updates: 10 % is spent when the decay begins
    rate = Schedule("linear", 1.0, 10).rate(step, progress, 0.1)
    assert rate == pytest.approx(expected)


def test_linear_never_goes_below_zero() -> None:
    assert Schedule("linear", 1.0, 10).rate(200, 1.3, 0.1) == 0.0


def test_constant() -> None:
    schedule = Schedule("constant", 1e-4, 1)
    assert [schedule.rate(step) for step in (1, 2, 10_000)] == [1e-4] * 3


def test_short_ramp_for_trained_weights() -> None:
    schedule = Schedule("inverse_sqrt", 1e-3, 4000, ramp=200)
    assert schedule.rate(100) == pytest.approx(0.5e-3)
    assert schedule.rate(200) == schedule.rate(4000) == 1e-3
    assert schedule.rate(16000) == pytest.approx(0.5e-3)
    assert schedule.warm_steps == 200


@pytest.mark.parametrize(("spent", "share"), [(0.5, 0.25), (0.5, 0.4), (0.3, 0.6), (0.2, 0.2)])
def test_a_changed_budget_does_not_move_the_rate(spent: float, share: float) -> None:
    schedule = Schedule("linear", 1.0, 10)
    before = schedule.rate(100, spent, 0.1)
    warm = rescaled(0.1, spent, share)
    assert schedule.rate(100, share, warm) == pytest.approx(before)
    assert schedule.rate(200, (1 + share) / 2, warm) == pytest.approx(before / 2)
    assert schedule.rate(300, 1.0, warm) == 0.0
