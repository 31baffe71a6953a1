"""Throughput of a file on two cores: Sieve beside CTranslate2's best batch setting, both in int8.

    python benchmarks/cpu_bulk.py --data DATA

2,000 sentences with newstest2019's source lengths where DATA/test has the file, else of a fixed
distribution; lengths are rounded up to multiples of 4 and outputs are forced to as many tokens.
Beam 5, random weights, two threads. CTranslate2's settings (sentences or tokens a batch, threads a
batch or batches at a time, instruction set, with and without vocabulary map) are first compared on
an eighth of the sentences; the best ones and Sieve then translate everything, in turns. A request
to CTranslate2 holds sentences of one length, the longest first. Needs what cpu_latency.py needs,
and writes docs/results/cpu_bulk.json.
"""

import argparse
import os
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from cpu_common import SIZES, command, machine, note, random_sentences, real_lengths
from cpu_process import Worker, WorkerError, install_peers, prepared
from sieve.files import write_json

NEWSTEST = Path("test", "newstest2019.en-de.en")
THREADS = ({"inter_threads": 2, "intra_threads": 1}, {"inter_threads": 1, "intra_threads": 2})
ONE_CORE = ({"inter_threads": 1, "intra_threads": 1},)
BATCHES: tuple[dict[str, Any], ...] = (
    {"max_batch_size": 1},
    {"max_batch_size": 8},
    {"max_batch_size": 32},
    {"max_batch_size": 512, "batch_type": "tokens"},
    {"max_batch_size": 2048, "batch_type": "tokens"},
)
ISAS = ("", "AVX512")
"""Instruction sets of CTranslate2: its own choice, which is AVX2 on some CPUs, or forced."""
TUNING = 8
"""One of this many sentences is in the comparison of settings."""
Run = tuple[str, Worker, dict[str, Any]]


class Bench:
    """The engines of one size on two cores."""

    def __init__(self, size: str, arguments: argparse.Namespace) -> None:
        self.size, self.arguments = size, arguments
        self.workers: list[Worker] = []
        self.sentences = random_sentences(source_lengths(arguments), seed=3)
        self.part = self.sentences[::TUNING]

    def close(self) -> None:
        """Ends the workers."""
        for worker in self.workers:
            worker.close()

    def open(self, engine: str, selection: str, settings: dict[str, Any], isa: str = "") -> Worker:
        """A worker with a loaded model."""
        arguments = self.arguments
        directory = prepared(engine, self.size, arguments.set_size)
        environment = {"OMP_NUM_THREADS": str(settings.get("intra_threads", 1))}
        if isa:
            environment["CT2_FORCE_CPU_ISA"] = isa
        worker = Worker(engine, arguments.cores, environment)
        self.workers.append(worker)
        worker.ask(
            "load", directory=str(directory), size=self.size, selection=selection, settings=settings
        )
        return worker

    def sieve(self) -> list[Run]:
        """Our three ways to select."""
        settings = {"threads": len(self.arguments.cores), "engine": self.arguments.sieve_engine}
        with self.open("sieve", "none", settings) as finder:
            part, set_size = self.sentences[:64], self.arguments.set_size
            settings["threshold"] = finder.ask("threshold", sentences=part, set_size=set_size)
        return [
            (f"Sieve, {selection}", self.open("sieve", selection, settings), {})
            for selection in ("none", "lexicon", "nvs")
        ]

    def ctranslate2(self) -> tuple[list[Run], dict[str, float]]:
        """Their best settings with and without map, and the tokens a second of all settings."""
        isa, best = self._faster_isa(), []
        speeds: dict[str, float] = {}
        for selection in ("none", "lexicon"):
            runs: list[Run] = []
            for threads in self.arguments.threads:
                worker = self.open("ctranslate2", selection, threads, isa)
                worker.ask("bulk", sentences=self.part[:8], options=BATCHES[0])
                for batch in BATCHES:
                    name = setting_name(selection, threads, batch) + (f", {isa}" if isa else "")
                    answer = worker.ask("bulk", sentences=self.part, options=batch)
                    speeds[name] = round(speed(answer))
                    runs.append((name, worker, batch))
                    note(f"{SIZES[self.size].label}: {name}: {speeds[name]} tokens a second")
            best.append(max(runs, key=lambda run: speeds[run[0]]))
        return best, speeds

    def _faster_isa(self) -> str:
        speeds: dict[str, float] = {}
        for isa in ISAS * 2:
            try:
                with self.open("ctranslate2", "none", self.arguments.threads[0], isa) as worker:
                    answers = [
                        worker.ask("bulk", sentences=self.part[:64], options=BATCHES[2])
                        for _ in range(2)
                    ]
            except WorkerError:
                continue
            speeds[isa] = max(speeds.get(isa, 0.0), *map(speed, answers))
        return max(speeds, key=lambda isa: speeds[isa])

    def measure(self) -> dict[str, Any]:
        """Everything by the finalists and Sieve, in turns."""
        best, tried = self.ctranslate2()
        runs = [*self.sieve(), *best]
        speeds: dict[str, list[float]] = {name: [] for name, _, _ in runs}
        rng = np.random.default_rng(5)
        for _ in range(self.arguments.repeats):
            for index in rng.permutation(len(runs)):
                name, worker, options = runs[index]
                answer = worker.ask("bulk", sentences=self.sentences, options=options)
                assert answer["tokens"] == sum(map(len, self.sentences)), (name, answer)
                speeds[name].append(speed(answer))
                note(f"{SIZES[self.size].label}: {name}: {speeds[name][-1]:.0f} tokens a second")
        theirs = max(median(speeds[name]) for name, _, _ in best)
        rows = {
            name: {
                "tokens_per_second": round(median(values)),
                "runs": [round(value) for value in values],
                "times_ctranslate2": round(median(values) / theirs, 2),
                "peak_mb": worker.ask("peak"),
            }
            for (name, worker, _), values in zip(runs, speeds.values(), strict=True)
        }
        return {
            "size": SIZES[self.size].label,
            "sentences": len(self.sentences),
            "mean_length": round(fmean(map(len, self.sentences)), 1),
            "methods": rows,
            "ctranslate2_settings": tried,
        }


def setting_name(selection: str, threads: dict[str, int], batch: dict[str, Any]) -> str:
    size, kind = batch["max_batch_size"], batch.get("batch_type", "examples")
    workers, each = threads["inter_threads"], threads["intra_threads"]
    vmap = ", vmap" if selection == "lexicon" else ""
    return f"CTranslate2{vmap}, {size} {kind}, {workers} x {each} threads"


def speed(answer: dict[str, float]) -> float:
    return answer["tokens"] / answer["seconds"]


def source_lengths(arguments: argparse.Namespace) -> list[int]:
    """Tokens of the sentences, EOS counted, in multiples of 4."""
    rng = np.random.default_rng(11)
    path = None if arguments.data is None else arguments.data / NEWSTEST
    if path is not None and path.is_file():
        lengths = rng.choice(real_lengths(path, arguments.tokenizer), arguments.sentences)
    else:
        note("the lengths are of a fixed distribution: newstest2019 is not at hand")
        lengths = np.clip(rng.gamma(3.2, 10.0, arguments.sentences), 4, 120).astype(np.int64)
    rounded: list[int] = (-(-lengths // 4) * 4).tolist()
    return rounded


def print_table(found: dict[str, Any]) -> None:
    print(f"\n{found['size']}: {found['sentences']} sentences, {found['mean_length']} tokens each")
    print(f"{'':<58}{'tokens/s':>10}{'x CTranslate2':>15}{'peak MB':>9}")
    for name, row in found["methods"].items():
        print(
            f"{name:<58}{row['tokens_per_second']:>10}{row['times_ctranslate2']:>15.2f}"
            f"{row['peak_mb']:>9.0f}"
        )


def main() -> None:
    arguments = parse()
    install_peers()
    result: dict[str, Any] = {
        "command": command(),
        "what": "output tokens a second, two threads, beam 5, int8, random weights, as many output "
        "as source tokens; CTranslate2 with its best settings",
        "machine": machine(),
        "set_size": arguments.set_size,
        "tables": [],
    }
    for size in arguments.sizes:
        bench = Bench(size, arguments)
        try:
            found = bench.measure()
        except WorkerError as error:
            note(f"{SIZES[size].label} left out: {error}")
            continue
        finally:
            bench.close()
        result["tables"].append(found)
        print_table(found)
        write_json(arguments.output, result)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=["256", "base"])
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--set-size", type=int, default=1000, help="words of a selected set")
    parser.add_argument("--data", type=Path, help="directory with test/newstest2019.en-de.en")
    parser.add_argument("--tokenizer", type=Path, help="SentencePiece model for the lengths")
    parser.add_argument(
        "--sieve-engine", default="native", help="'torch' tries the harness out without the native"
    )
    parser.add_argument("--output", type=Path, default=Path("docs/results/cpu_bulk.json"))
    arguments = parser.parse_args()
    arguments.cores = sorted(os.sched_getaffinity(0))[:2]
    arguments.threads = THREADS
    return arguments


if __name__ == "__main__":
    main()
