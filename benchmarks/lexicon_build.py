"""Time, CPU time and memory of `sieve lexicon build` on a prepared corpus, all processes together.

    python benchmarks/lexicon_build.py CORPUS --output docs/results/lexicon_build.json -- OPTIONS

What follows -- goes to `sieve lexicon build`. Memory is the sum of what the processes hold (PSS:
shared pages counted once), looked at every second; the goal is 1M pairs in 40 minutes and 8 GB.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from sieve.data.corpus import Corpus
from sieve.files import write_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--output", type=Path)
    parser.add_argument("options", nargs="*", help="for sieve lexicon build, after --")
    arguments = parser.parse_args()
    load, start = os.getloadavg()[0], time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "sieve.cli", "lexicon", "build", arguments.corpus]
        output = ["--output", os.path.join(scratch, "lexicon")]
        process = subprocess.Popen([*command, *arguments.options, *output])
        peak, seconds = watch(psutil.Process(process.pid), process)
    if process.returncode:
        sys.exit(process.returncode)
    result = {
        "what": "sieve lexicon build, all processes together",
        "options": arguments.options,
        "pairs": Corpus.open(arguments.corpus).num_pairs,
        "wall_s": round(time.perf_counter() - start),
        "cpu_s": round(seconds),
        "peak_memory_gb": round(peak / 1e9, 2),
        "cores": os.cpu_count(),
        "load_average_before": round(load, 1),
    }
    print(result)
    if arguments.output:
        command = " ".join(["python", *sys.argv])
        write_json(arguments.output, {"command": command, **result})


def watch(root: psutil.Process, process: "subprocess.Popen[bytes]") -> tuple[int, float]:
    """Peak memory in bytes, and CPU seconds as last seen of every process."""
    peak, seconds = 0, {}
    while process.poll() is None:
        total = 0
        try:
            for one in (root, *root.children(recursive=True)):
                total += one.memory_full_info().pss
                times = one.cpu_times()
                seconds[one.pid] = times.user + times.system
        except psutil.Error:  # a process ended while it was looked at
            pass
        peak = max(peak, total)
        time.sleep(1)
    return peak, sum(seconds.values())


if __name__ == "__main__":
    main()
