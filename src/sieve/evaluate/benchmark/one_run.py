"""A run of a benchmark in a process of its own.

Called by `python -m sieve.evaluate.benchmark.one_run`.

Reads a Job as JSON from stdin and writes a Run as JSON to stdout. What the user can mend is one
line on stderr and exit code 2, as in every verb; `benchmark.py` passes it on.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sieve.engines.options import SearchOptions
from sieve.errors import SieveError
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.tokenizer import source_ids
from sieve.translate.load import load
from sieve.translate.translator import Translator


@dataclass(frozen=True)
class Job:
    """What one process does."""

    model: str
    selection: str
    sources: tuple[str, ...]
    beam_size: int = 5
    warm_up: int = 10
    """Sentences translated first and not counted."""
    threads: int = 1
    lexicon: str | None = None
    engine: dict[str, Any] = field(default_factory=dict)
    """The other arguments of `sieve.load`."""


@dataclass(frozen=True)
class Run:
    """What one process saw: milliseconds a sentence."""

    p50: float
    p90: float
    mean_size: float
    engine: str


def opened(job: Job) -> Translator:
    """The translator of a job, its threads set."""
    translator = load(job.model, threads=job.threads, **job.engine)
    if job.lexicon is not None:
        own = partial(Lexicon.open, Path(job.lexicon))
        translator = replace(translator, resources=replace(translator.resources, lexicon=own))
    if str(translator.engine).startswith("torch on cpu"):
        import torch

        torch.set_num_threads(job.threads)
    return translator


def run(job: Job) -> Run:
    """Times every sentence, one at a time; opening the model and warming up do not count."""
    translator = opened(job)
    engine, selector = translator.engine, translator.selector(job.selection)
    src_ids = source_ids(translator.tokenizers.source, job.sources)
    options = SearchOptions(beam_size=job.beam_size)
    for place in range(job.warm_up):
        engine.translate([src_ids[place % len(src_ids)]], selector, options)
    seconds, sizes = [], []
    for sentence_ids in src_ids:
        start = time.perf_counter()
        ((best, *_),) = engine.translate([sentence_ids], selector, options)
        seconds.append(time.perf_counter() - start)
        sizes.append(best.shortlist_size)
    p50, p90 = (1000 * float(np.percentile(seconds, share)) for share in (50, 90))
    return Run(p50, p90, float(np.mean(sizes)), str(engine))


def main() -> int:
    """Runs the job on stdin."""
    try:
        result = run(Job(**json.load(sys.stdin)))
    except SieveError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps(asdict(result)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
