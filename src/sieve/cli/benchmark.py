"""Measure latency as in the paper: batch 1, repeated in fresh processes, p90 with its interval.

Every run of every selection is a process of its own; they take turns, so that a noisy machine
hurts all alike. Opening the model, tokenization and the first sentences are not counted. The
paper makes 30 runs; a quiet machine needs fewer, the interval says when there are enough.

A SET is as in `sieve evaluate`: NAME=SRC,TGT, SRC,TGT, or a prefix.

Examples:
  sieve benchmark model-int8 --test newstest2019.en-de
  sieve benchmark model-int8 --test news.en-de --selection none,lexicon:200,nvs:0.9 --runs 30
  sieve benchmark model --device cuda --precision float16 --test news.en-de --json gpu.json
"""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.cli.measured_models import SELECTIONS, check_writable, opened, selections
from sieve.cli.model_options import add_engine_arguments
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.evaluate.benchmark.rounds import BenchmarkRow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve benchmark`."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="model directories")
    parser.add_argument("--test", nargs="+", required=True, metavar="SET", help="test sets")
    parser.add_argument(
        "--selection",
        metavar="LIST",
        help=f"selections, separated by commas (default: those of {SELECTIONS} that the model "
        "supports); none is always measured",
    )
    parser.add_argument("--lexicon", type=Path, metavar="DIR", help="default: the model's own")
    parser.add_argument(
        "--runs",
        type=int,
        default=10,
        metavar="N",
        help="processes per selection (default: %(default)s)",
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=200,
        metavar="N",
        help="of each set, evenly spaced (default: %(default)s)",
    )
    parser.add_argument(
        "--warm-up",
        type=int,
        default=10,
        metavar="N",
        help="uncounted sentences at the start of each process (default: %(default)s)",
    )
    parser.add_argument("--beam-size", type=int, default=SearchOptions().beam_size, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables as Markdown"
    )
    add_engine_arguments(parser)
    parser.set_defaults(threads=1)


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve benchmark`."""
    _check(arguments)
    from sieve.cli.measured import write_measured
    from sieve.evaluate.benchmark.one_run import Job
    from sieve.evaluate.benchmark.rounds import measure_benchmark
    from sieve.evaluate.measure.comparison import with_baseline
    from sieve.evaluate.measure.sets import read_set
    from sieve.evaluate.measure.statistics import need_student
    from sieve.evaluate.present.benchmark_tables import benchmark_tables
    from sieve.log import progress

    if arguments.runs > 1:
        need_student()
    plans = []
    for model in arguments.models:
        translator = opened(model, arguments.lexicon, arguments)  # errors now, before any run
        names = selections(arguments.selection, translator)
        sets = [read_set(text, translator.languages) for text in arguments.test]
        plans += [(model, names, test_set.spread(arguments.sentences)) for test_set in sets]
    total = arguments.runs * sum(len(with_baseline(names)) for _, names, _ in plans)
    rows: list[BenchmarkRow] = []
    bar: tqdm[Any] = progress(total=total, unit="run", label="benchmark")
    with bar:
        for model, names, test_set in plans:
            job = Job(
                model,
                "none",
                test_set.sources,
                arguments.beam_size,
                arguments.warm_up,
                arguments.threads,
                str(arguments.lexicon) if arguments.lexicon else None,
                {name: getattr(arguments, name) for name in ("engine", "device", "precision")},
            )
            rows += measure_benchmark(job, test_set.name, names, arguments.runs, bar.update)
    tables = benchmark_tables(rows)
    sys.stdout.write("\n".join(table.as_text() for table in tables))
    write_measured(arguments, tables, {"benchmark": [asdict(row) for row in rows]})


def _check(arguments: argparse.Namespace) -> None:
    """Checks that need no model."""
    SearchOptions(beam_size=arguments.beam_size)
    if len(set(arguments.models)) < len(arguments.models):
        raise ConfigError(f"got {' '.join(arguments.models)}, expected different models")
    for name, least in (("runs", 1), ("sentences", 1), ("warm_up", 0), ("threads", 1)):
        value = getattr(arguments, name)
        if value < least:
            raise ConfigError(f"--{name.replace('_', '-')}: got {value}, expected {least} or more")
    for path in filter(None, (arguments.json, arguments.markdown)):
        check_writable(path)
