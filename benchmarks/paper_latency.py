"""Table 5's latency as the paper takes it: fresh processes over the whole test set, one thread.

    python benchmarks/paper_latency.py MODEL --lexicon DIR --test SET --cores 12 13 14 15 \
        --output docs/results/latency_en_de.json

Each core has a round of its own: all ways to select in turn, in an order that rotates, pinned to
it. Ratios are to the process without selection of the same round. Processes that are done are kept
beside the output, and a run that was stopped resumes.
"""

import argparse
import json
import os
import queue
import threading
from dataclasses import asdict, replace
from pathlib import Path

from cpu_common import command_by_names
from sieve.evaluate.benchmark.one_run import Job, Run
from sieve.evaluate.benchmark.rounds import in_fresh_process, measure_benchmark
from sieve.evaluate.measure.sets import read_set
from sieve.evaluate.present.benchmark_tables import benchmark_tables
from sieve.files import write_json

SELECTIONS = ("none", "lexicon:200", "lexicon:1000", "nvs:0.99", "nvs:0.9", "nvs:0.5")
Known = dict[tuple[int, str], Run]
"""By round and selection."""


def work(rounds: "queue.Queue[int]", core: int, job: Job, known: Known, log: Path) -> None:
    """Takes rounds until none is left, on one core."""
    os.sched_setaffinity(0, {core})  # of this thread; its processes inherit it
    while True:
        try:
            number = rounds.get_nowait()
        except queue.Empty:
            return
        shift = number % len(SELECTIONS)
        for name in (*SELECTIONS[shift:], *SELECTIONS[:shift]):
            if (number, name) not in known:
                known[number, name] = run = in_fresh_process(replace(job, selection=name))
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([number, name, core, asdict(run)]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--lexicon", type=Path, required=True)
    parser.add_argument("--test", required=True, help="as in sieve evaluate")
    parser.add_argument("--sentences", type=int, default=0, help="0: all")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--cores", type=int, nargs="+", required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    test = read_set(args.test, ("en", "de"))
    sources = test.sources[: args.sentences or None]
    job = Job(args.model, "none", tuple(sources), lexicon=str(args.lexicon))
    log = args.output.with_suffix(".log")
    known: Known = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.is_file() else []:
        number, name, _, run = json.loads(line)
        known[number, name] = Run(**run)
    rounds: queue.Queue[int] = queue.Queue()
    for number in range(args.runs):
        rounds.put(number)
    threads = [
        threading.Thread(target=work, args=(rounds, core, job, known, log)) for core in args.cores
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    each = {name: iter([known[n, name] for n in range(args.runs)]) for name in SELECTIONS}
    rows = measure_benchmark(
        job, test.name, SELECTIONS, args.runs, run=lambda turn: next(each[turn.selection])
    )
    print("\n".join(table.as_text() for table in benchmark_tables(rows)))
    write_json(
        args.output,
        {
            "command": command_by_names(),
            "cores": len(args.cores),
            "load": [round(value, 1) for value in os.getloadavg()],
            "benchmark": [asdict(row) for row in rows],
        },
    )


if __name__ == "__main__":
    main()
