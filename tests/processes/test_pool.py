import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sieve.errors import ConfigError, InputError
from sieve.processes.pool import Workers, run_in_process


def setup_square(settings: int) -> Callable[[int], int]:
    return lambda value: value * value + settings


def setup_trouble(settings: str) -> Callable[[int], int]:
    def work(value: int) -> int:
        if value < 3:
            return value
        if settings == "user":
            raise ConfigError("the user can mend it")
        if settings == "bug":
            raise ZeroDivisionError("a bug")
        os._exit(1)

    return work


@pytest.fixture(autouse=True)
def _workers_find_this_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


@pytest.mark.parametrize("count", [1, 3])
def test_results_in_order(count: int) -> None:
    with Workers(setup_square, 1, count) as workers:
        assert list(workers.map(range(40))) == [i * i + 1 for i in range(40)]


def test_input_is_read_only_as_fast_as_it_is_used() -> None:
    taken = 0

    def chunks() -> Iterator[int]:
        nonlocal taken
        for value in range(1000):
            taken += 1
            yield value

    with Workers(setup_square, 0, 2) as workers:
        results = workers.map(chunks())
        assert [next(results) for _ in range(10)] == [i * i for i in range(10)]
        assert taken <= 10 + 2 * 2 + 1
        results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("count", [1, 2])
def test_errors_cross_the_border(count: int) -> None:
    trouble = pytest.raises(ConfigError, match="the user can mend it")
    with Workers(setup_trouble, "user", count) as workers, trouble:
        list(workers.map(range(10)))


def test_bugs_and_deaths_are_told_apart() -> None:
    bug = pytest.raises(RuntimeError, match="ZeroDivisionError: a bug")
    with Workers(setup_trouble, "bug", 2) as workers, bug:
        list(workers.map(range(10)))
    death = pytest.raises(InputError, match="a worker process died")
    with Workers(setup_trouble, "death", 2) as workers, death:
        list(workers.map(range(10)))


def test_one_piece_of_work_in_its_own_process() -> None:
    assert run_in_process(setup_square, 2, 5) == 27
