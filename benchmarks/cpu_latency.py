"""Latency of one sentence on one core: Sieve beside CTranslate2, Marian and torch, all in int8.

    python benchmarks/cpu_latency.py --data DATA

Installs the pinned peers into .bench-venv, then runs every method in a worker process of its own,
pinned to one core, one thread, batch 1, beam 5, random weights. The workers take turns, a block of
sentences each, in an order that changes from block to block; the first sentence of a block warms
the caches and is not counted. Sources have 30 tokens and outputs are forced to as many; a second
table has newstest2019's source lengths where DATA/test has the file. Of a peer's settings the
fastest is measured. Prints a table a size and writes docs/results/cpu_latency.json.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cpu_common import (
    LENGTH,
    SIZES,
    command,
    machine,
    note,
    random_sentences,
    real_lengths,
)
from cpu_process import Worker, WorkerError, install_peers, prepared
from cpu_report import Measured, print_table, table
from cpu_settings import AVX2, CANDIDATES
from sieve.files import write_json

NEWSTEST = Path("test", "newstest2019.en-de.en")
WARM_UP = random_sentences([LENGTH] * 2, seed=99)
NVS = "Sieve, NVS"
TRIALS = 4
"""Turns in which the settings of an engine are compared."""


@dataclass(frozen=True)
class Method:
    """One row of the table."""

    name: str
    engine: str
    selection: str = "none"
    kernels: str = ""


METHODS = (
    Method("Sieve, no selection", "sieve"),
    Method("Sieve, lexicon k=200", "sieve", "lexicon"),
    Method(NVS, "sieve", "nvs"),
    Method("CTranslate2", "ctranslate2"),
    Method("CTranslate2, vmap", "ctranslate2", "lexicon"),
    Method("Marian", "marian"),
    Method("Marian, shortlist 50/50", "marian", "lexicon"),
    Method("torch dynamic", "torch"),
)


class Column:
    """All methods of one size, loaded and ready."""

    def __init__(self, size: str, arguments: argparse.Namespace) -> None:
        self.size, self.arguments = size, arguments
        self.label = SIZES[size].label
        self.workers: dict[str, Worker] = {}
        self.facts: dict[str, dict[str, Any]] = {}
        self.floor = self._worker("floor", {})
        self.floor.ask("load", directory="", size=size, selection="none", settings={})
        for method in arguments.methods:
            if method.kernels and method.kernels == self.facts.get(NVS, {}).get("kernels"):
                continue  # it is what Sieve chose by itself
            try:
                self._start(method)
            except WorkerError as error:
                note(f"{self.label}: {method.name} left out: {error}")

    def close(self) -> None:
        """Ends the workers."""
        for worker in (self.floor, *self.workers.values()):
            worker.close()

    def _start(self, method: Method) -> None:
        """Loads a method with each setting it offers and keeps the fastest."""
        loaded: dict[str, tuple[Worker, dict[str, Any]]] = {}
        times: dict[str, list[float]] = {}
        failed: dict[str, str] = {}
        for name, candidate in self.arguments.candidates[method.engine].items():
            try:
                loaded[name] = self._load(method, candidate)
            except WorkerError as error:
                failed[name] = str(error)
        for name in list(loaded) * TRIALS:
            if name in failed:
                continue
            try:
                answers = loaded[name][0].ask("block", sentences=WARM_UP)
                times.setdefault(name, []).append(answers[-1]["seconds"])
            except WorkerError as error:
                failed[name] = str(error)
        tried: dict[str, Any] = {
            name: round(1000 * min(values), 3) for name, values in times.items()
        }
        best = min((name for name in tried if name not in failed), key=tried.get, default=None)
        for name, (worker, _) in loaded.items():
            if name != best:
                worker.close()
        if best is None:
            raise WorkerError("; ".join(failed.values()))
        worker, facts = loaded[best]
        tried |= failed
        self.workers[method.name] = worker
        self.facts[method.name] = {**facts, "settings": best, "tried_ms": tried}
        note(f"{self.label}: {method.name} ready: {best}, tried {tried}")

    def _load(self, method: Method, candidate: dict[str, Any]) -> tuple[Worker, dict[str, Any]]:
        directory = prepared(method.engine, self.size, self.arguments.set_size)
        settings = dict(candidate.get("settings", {}))
        if method.engine == "sieve":
            settings["engine"] = self.arguments.sieve_engine
        environment = dict(candidate.get("environment", {}))
        if method.kernels:
            environment["SIEVE_KERNELS"] = method.kernels
        worker = self._worker(method.engine, environment)
        try:
            facts = worker.ask(
                "load", directory=str(directory), size=self.size, selection=method.selection,
                settings=settings,
            )  # fmt: skip
        except WorkerError:
            worker.close()
            raise
        return worker, facts

    def _worker(self, engine: str, environment: dict[str, str]) -> Worker:
        return Worker(engine, [self.arguments.core], environment)

    def set_threshold(self, sentences: list[list[int]]) -> None:
        """Gives Sieve's NVS the threshold at which these sentences' mean set is as asked for.

        Another worker finds it, as the measured ones should not need the memory.
        """
        measured = [m for m in self.arguments.methods if m.selection == "nvs"]
        measured = [m for m in measured if m.name in self.workers]
        if not measured:
            return
        finder, _ = self._load(METHODS[0], {})
        with finder:
            threshold = finder.ask(
                "threshold", sentences=sentences[:64], set_size=self.arguments.set_size
            )
        for method in measured:
            self.workers[method.name].ask("use_threshold", threshold=threshold)

    def measure(self, lengths: list[int]) -> Measured:
        """Every method on sources of these lengths, in turns."""
        arguments = self.arguments
        sentences = random_sentences(lengths, seed=3)
        self.set_threshold(sentences)
        found = Measured(self.size, {name: [] for name in self.workers})
        rng = np.random.default_rng(5)
        for start in range(0, len(sentences), arguments.block):
            block = sentences[start : start + arguments.block]
            for name in rng.permutation(list(self.workers)):
                try:
                    answers = self.workers[name].ask("block", sentences=[WARM_UP[0], *block])
                    found.answers[name] += answers[1:]
                except WorkerError as error:
                    note(f"{self.label}: {name} left out: {error}")
                    self.workers.pop(name).close()
                    del found.answers[name]
            words = found.words(NVS) or arguments.set_size
            bytes_ = round(SIZES[self.size].step_bytes(words))
            found.bandwidths.append(self.floor.ask("bandwidth", bytes_=bytes_))
            note(f"{self.label}: {start + len(block)} of {len(sentences)} sentences")
        for name, worker in self.workers.items():
            self.facts[name]["peak_mb"] = worker.ask("peak")
            found.facts[name] = dict(self.facts[name])
        return found


def main() -> None:
    arguments = parse()
    install_peers()
    if (load := os.getloadavg()[0]) > 0.5:
        note(f"this machine is busy (load {load:.1f}): wall times will be too long and uneven")
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores) - {arguments.core} or set(cores))
    result: dict[str, Any] = {
        "command": command(),
        "what": "milliseconds a sentence: one core, one thread, batch 1, beam 5, int8, random "
        "weights, as many output as source tokens; ratios are against Sieve with NVS",
        "machine": machine(),
        "set_size": arguments.set_size,
        "tables": [],
    }
    jobs = {"30 source and 30 output tokens": None, **newstest(arguments)}
    for size in arguments.sizes:
        column = Column(size, arguments)
        repeats = arguments.repeats or SIZES[size].repeats
        try:
            for title, lengths in jobs.items():
                chosen = [LENGTH] * repeats if lengths is None else sample(lengths, repeats)
                found = table(column.measure(chosen), title, NVS)
                result["tables"].append(found)
                print_table(found)
                write_json(arguments.output, result)
        finally:
            column.close()


def newstest(arguments: argparse.Namespace) -> dict[str, list[int]]:
    """The second table's lengths, where the data is at hand."""
    if arguments.data is None:
        note("no table of newstest2019's lengths: --data DATA names no data")
        return {}
    path = arguments.data / NEWSTEST
    if not path.is_file():
        note(f"no table of newstest2019's lengths: {NEWSTEST} is not in the data directory")
        return {}
    return {"newstest2019 source lengths": real_lengths(path, arguments.tokenizer)}


def sample(lengths: list[int], number: int) -> list[int]:
    """Some of these lengths, the same in every run."""
    rng = np.random.default_rng(11)
    chosen: list[int] = rng.choice(np.maximum(lengths, 2), number).tolist()
    return chosen


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=listed, default=list(SIZES), help=", ".join(SIZES))
    parser.add_argument("--repeats", type=int, default=0, help="sentences a method and table")
    parser.add_argument("--block", type=int, default=4, help="sentences a turn")
    parser.add_argument("--quick", action="store_true", help="the smallest size, 8 sentences")
    parser.add_argument("--set-size", type=int, default=1000, help="words of a selected set")
    parser.add_argument(
        "--kernels", type=listed, default=["avx512vnni", "avx2"], help="also Sieve with these"
    )
    parser.add_argument("--avx2", action="store_true", help="every engine with AVX2 alone")
    parser.add_argument("--only", type=listed, default=[], help="engines to run")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--data", type=Path, help="directory with test/newstest2019.en-de.en")
    parser.add_argument("--tokenizer", type=Path, help="SentencePiece model for the lengths")
    parser.add_argument(
        "--sieve-engine", default="native", help="'torch' tries the harness out without the native"
    )
    parser.add_argument("--output", type=Path, default=Path("docs/results/cpu_latency.json"))
    arguments = parser.parse_args()
    if unknown := set(arguments.sizes) - set(SIZES):
        sys.exit(f"--sizes: got {', '.join(unknown)}, expected some of {', '.join(SIZES)}")
    if arguments.quick:
        arguments.sizes, arguments.repeats = arguments.sizes[:1], arguments.repeats or 8
    arguments.candidates = AVX2 if arguments.avx2 else CANDIDATES
    variants = (
        []
        if arguments.avx2
        else [
            Method(f"{method.name} ({kernels})", method.engine, method.selection, kernels)
            for kernels in arguments.kernels
            for method in METHODS
            if method.engine == "sieve" and method.selection != "lexicon"
        ]
    )
    arguments.methods = [
        method
        for method in (*METHODS, *variants)
        if method.engine in (arguments.only or arguments.candidates)
    ]
    return arguments


def listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


if __name__ == "__main__":
    main()
