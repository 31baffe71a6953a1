"""Repeated runs in fresh processes: whose turn it is, what is averaged, what is refused."""

from pathlib import Path
from typing import Any

import pytest
from directories import write_model

from sieve.errors import InputError
from sieve.evaluate.benchmark.one_run import Job, Run, run
from sieve.evaluate.benchmark.rounds import in_fresh_process, measure_benchmark
from sieve.evaluate.present.benchmark_tables import benchmark_tables


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("benchmark") / "model"
    write_model(directory, toy_data.corpus, int8=True)
    return str(directory)


def test_turns_rotate_and_rounds_are_compared() -> None:
    turns: list[str] = []
    # the second round is twice as slow, for all alike
    slow = {"none": [10.0, 20.0, 10.0], "nvs:0.9": [5.0, 10.0, 6.5]}

    def fake(job: Job) -> Run:
        turns.append(job.selection)
        milliseconds = slow[job.selection][turns.count(job.selection) - 1]
        return Run(milliseconds / 2, milliseconds, 7.0, "fake (1 threads)")

    done: list[int] = []
    rows = measure_benchmark(Job("m", "", ("a", "b")), "toy", ["nvs:0.9"], 3, done.append, fake)
    assert turns == ["none", "nvs:0.9", "nvs:0.9", "none", "none", "nvs:0.9"]
    assert sum(done) == 6
    none, head = rows
    assert none.relative.value == 1.0 and none.relative.interval == 0.0
    assert none.p90.value == pytest.approx(40 / 3)
    # shares 0.5, 0.5, 0.65: mean 0.55, deviation 0.0866, times 4.302653 / √3
    assert head.relative.value == pytest.approx(0.55)
    assert head.relative.interval == pytest.approx(0.0866025 * 4.302653 / 3**0.5, rel=1e-5)
    (table,) = benchmark_tables(rows)
    assert table.rows[1][-1] == "55.0 ±21.5"
    assert "|runs:3|" in table.notes[1] and "|threads:1|" in table.notes[1]
    assert "selection" not in table.notes[1]


def test_worker_times_every_sentence_but_the_first(model: str, toy_data: Any) -> None:
    sources = tuple(toy_data.valid_src.read_text().splitlines()[:4])
    found = run(Job(model, "nvs:0.4", sources, beam_size=1, warm_up=6))
    assert 0 < found.p50 <= found.p90
    assert found.mean_size > 1
    assert found.engine.endswith("1 threads)")


def test_a_process_of_its_own(model: str, toy_data: Any) -> None:
    sources = tuple(toy_data.valid_src.read_text().splitlines()[:2])
    assert in_fresh_process(Job(model, "none", sources, beam_size=1)).p90 > 0


def test_what_a_process_refuses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        in_fresh_process(Job(str(tmp_path / "nowhere"), "none", ("a",)))
