"""Which implementation of fast_align's model is fastest, and what the other aligners cost.

Every aligner trains on the same subword ids and aligns them again, each in a process of its own,
one thread, five iterations. Seconds of CPU are what counts where other work shares the cores;
sieve's and thot's are of one direction, systran's of both, as it cannot do one alone.

    python benchmarks/aligners.py CORPUS --pairs 30000 --output docs/results/aligners.json
    (needs sil-thot, and systran-align: pip install systran-align)
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from sieve.data.corpus import Corpus, Ragged
from sieve.files import write_json
from sieve.selection.aligners.named_aligners import Aligner, make_aligner
from sieve.selection.aligners.thot_aligners import ThotAligner

SUBJECTS = ("sieve fast_align", "thot fast_align", "systran fast_align", "thot hmm", "thot eflomal")
SMALL = {"thot hmm": 5000, "thot eflomal": 5000, "thot ibm4": 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--subjects", nargs="+", default=SUBJECTS, metavar="NAME")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.corpus, arguments.pairs)))
        return
    results = [in_process(name, arguments) for name in arguments.subjects]
    print(f"{'aligner':<20}{'pairs':>8}{'directions':>11}{'train':>9}{'align':>9}{'ms a pair':>10}")
    for row in results:
        cost = 1000 * (row["train_cpu_s"] + row["align_cpu_s"]) / row["directions"] / row["pairs"]
        row["ms_per_pair_and_direction"] = round(cost, 3)
        print(
            f"{row['aligner']:<20}{row['pairs']:>8}{row['directions']:>11}"
            f"{row['train_cpu_s']:>8.1f}s{row['align_cpu_s']:>8.1f}s{cost:>10.2f}"
        )
    if arguments.output:
        write_json(arguments.output, {**circumstances(arguments), "results": results})


def in_process(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs one subject alone, so that memory and CPU time are its own."""
    pairs = min(arguments.pairs, SMALL.get(name, arguments.pairs))
    command = [sys.executable, __file__, arguments.corpus, "--pairs", str(pairs), "--one", name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"done: {name}", file=sys.stderr)
    return row


def measure(name: str, directory: str, pairs: int) -> dict[str, Any]:
    corpus = Corpus.open(directory)
    src, tgt = corpus.pairs(np.arange(pairs))
    tokenizers = corpus.tokenizers()
    sizes = tokenizers.source.vocab_size, tokenizers.target.vocab_size
    library, model = name.split()
    start, wall = cpu(), time.perf_counter()
    if library == "systran":
        trained, aligned = run_systran(src, tgt)
    else:
        aligner = make_aligner(model, *sizes) if library == "sieve" else ThotAligner(model, *sizes)
        trained, aligned = run(aligner, src, tgt)
    return {
        "aligner": name,
        "pairs": pairs,
        "cells": int((src.lengths * tgt.lengths).sum()),
        "directions": 2 if library == "systran" else 1,
        "train_cpu_s": round(trained - start, 2),
        "align_cpu_s": round(aligned - trained, 2),
        "wall_s": round(time.perf_counter() - wall, 2),
        "peak_memory_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 3),
    }


def run(aligner: Aligner, src: Ragged, tgt: Ragged) -> tuple[float, float]:
    aligner.train(src, tgt, np.ones(len(src), np.int64), lambda count: None)
    trained = cpu()
    aligner.align(src, tgt)
    return trained, cpu()


def run_systran(src: Ragged, tgt: Ragged) -> tuple[float, float]:
    import systran_align

    sides = [
        [[str(token) for token in side[i].tolist()] for i in range(len(side))]
        for side in (src, tgt)
    ]
    with tempfile.TemporaryDirectory() as scratch:
        text, ahead, back = (os.path.join(scratch, name) for name in ("text", "ahead", "back"))
        with open(text, "w", encoding="ascii") as file:
            file.writelines(
                f"{' '.join(s)} ||| {' '.join(t)}\n" for s, t in zip(*sides, strict=True)
            )
        systran_align.generate_alignment_probabilities(
            text,
            ahead,
            back,
            iterations=5,
            favor_diagonal=True,
            optimize_tension=True,
            variational_bayes=True,
        )
        trained = cpu()
        systran_align.Aligner(ahead, back).align_batch(*sides)
        return trained, cpu()


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def circumstances(arguments: argparse.Namespace) -> dict[str, Any]:
    versions = {}
    for package in ("numpy", "sil-thot", "systran-align"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "command": f"python benchmarks/aligners.py CORPUS --pairs {arguments.pairs}",
        "what": "CPU seconds of training (5 iterations) and of aligning the same pairs, one thread",
        "cpu": cpu_name(),
        "load_average": [round(value, 1) for value in os.getloadavg()],
        "python": platform.python_version(),
        "versions": versions,
    }


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
