"""Latency as in the paper: the same sentences, one at a time, in fresh processes, many times.

The processes of the ways to select take turns and the order rotates, so that a machine that slows
down slows all of them. p90 is that of one process; what is reported is its mean over processes
with a 95 % interval, and its share of the p90 without selection of the same round.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import sieve
from sieve.errors import InputError
from sieve.evaluate.benchmark.one_run import Job, Run
from sieve.evaluate.measure.comparison import NONE, with_baseline
from sieve.evaluate.measure.latency import processor
from sieve.evaluate.measure.statistics import Mean, mean


@dataclass(frozen=True)
class BenchmarkRow:
    """One way to select, over all rounds."""

    model: str
    test: str
    selection: str
    sentences: int
    p50: Mean
    p90: Mean
    """Milliseconds a sentence; the interval is over processes."""
    relative: Mean
    """p90 as a share of that without selection, round by round."""
    mean_size: float
    runs: tuple[Run, ...]
    signature: str


def measure_benchmark(
    job: Job,
    test: str,
    selections: Sequence[str],
    rounds: int,
    done: Callable[[int], object] = lambda number: None,
    run: Callable[[Job], Run] | None = None,
) -> list[BenchmarkRow]:
    """A row for each selection, the unrestricted one first.

    Args:
        job: What every process does; its selection is replaced.
        test: Name of the sentences.
        selections: Ways to select; none is always measured.
        rounds: Processes of each.
        done: Called with 1 after each process.
        run: Does a job; by default in a fresh process.
    """
    run = run or in_fresh_process
    names = with_baseline(selections)
    runs: dict[str, list[Run]] = {name: [] for name in names}
    for number in range(rounds):
        shift = number % len(names)
        for name in (*names[shift:], *names[:shift]):
            runs[name].append(run(replace(job, selection=name)))
            done(1)
    return [_row(job, test, name, runs) for name in names]


def in_fresh_process(job: Job) -> Run:
    """Runs the worker; what it refuses is refused here."""
    package = str(Path(sieve.__file__).parents[1])  # also where nothing is installed
    paths = [package, os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "sieve.evaluate.benchmark.one_run"],
        input=json.dumps(asdict(job)),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        check=False,
    )
    if done.returncode == 2:
        raise InputError(done.stderr.strip().splitlines()[-1])
    if done.returncode:
        raise RuntimeError(f"a run ended with {done.returncode}:\n{done.stderr.strip()}")
    return Run(**json.loads(done.stdout))


def _row(job: Job, test: str, name: str, runs: dict[str, list[Run]]) -> BenchmarkRow:
    here, base = runs[name], runs[NONE]
    parts = {
        "test": test,
        "sentences": len(job.sources),
        "batch": 1,
        "warmup": job.warm_up,
        "runs": len(here),
        "selection": name,
        "beam": job.beam_size,
        "engine": here[0].engine,
        "threads": job.threads,
        "cpu": processor(),
        "cores": os.cpu_count(),
        "version": sieve.__version__,
    }
    return BenchmarkRow(
        job.model,
        test,
        name,
        len(job.sources),
        mean([run.p50 for run in here]),
        mean([run.p90 for run in here]),
        mean([run.p90 / unrestricted.p90 for run, unrestricted in zip(here, base, strict=True)]),
        here[0].mean_size,
        tuple(here),
        "|".join(f"{key}:{value}" for key, value in parts.items()),
    )
