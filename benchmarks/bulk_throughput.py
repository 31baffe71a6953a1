"""Sentences per second of `sieve bulk` beside one process, and beside CTranslate2 under Ray Data.

    python benchmarks/bulk_throughput.py --data DATA [--minutes 5] [--rounds 2] [--only NAME …]

All use as many cores. The same lines, news and then parliament, each once; what starting costs is
taken off: every system translates a short file and a long one, and what counts is the difference of
lines over the difference of seconds. The long file keeps one process busy for --minutes. Systems
take turns. Seconds of the processors, of a system with all that it has started, are there, too:
other work on the machine raises them, if less than those of the clock. CTranslate2 has random
weights of the same dimensions, int8, and makes as many tokens as the source has. --only leaves
other systems out; what was measured before stays under `earlier`. Writes
docs/results/bulk_throughput.json. Needs the extra ray, and ctranslate2.
"""

import argparse
import bz2
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from cpu_common import command, earlier, machine, note
from process_tree import tree_clock
from sieve.bundle.catalogue import find_model
from sieve.files import read_json, write_json
from sieve.processes.cores import usable_cores

HERE = Path(__file__).parent
RESULT = HERE.parent / "docs" / "results" / "bulk_throughput.json"
TEXTS = ("news/news-2008-2016.en-de.en.bz2", "train/europarl.en-de.en.bz2")
ALONE, PEER = "one process", "CTranslate2 under Ray Data"
SHORT = 2000
CALIBRATION = 4000


@dataclass(frozen=True)
class Run:
    """What a run has taken, or the difference of two."""

    lines: int
    seconds: float
    cpu_seconds: float
    tokens: dict[str, int]
    """Of each side, where a manifest has them."""

    def __sub__(self, other: "Run") -> "Run":
        tokens = {side: count - other.tokens[side] for side, count in self.tokens.items()}
        return Run(
            self.lines - other.lines,
            self.seconds - other.seconds,
            self.cpu_seconds - other.cpu_seconds,
            tokens,
        )

    @property
    def speed(self) -> float:
        """Lines per second."""
        return self.lines / self.seconds

    @property
    def cost(self) -> float:
        """Seconds of the processors per 1,000 lines."""
        return 1000 * self.cpu_seconds / self.lines


class Systems:
    """What takes turns."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.arguments, self.folder, self.cores = arguments, folder, usable_cores()
        self.converted = folder / "converted"
        self.search = ("--beam-size", str(arguments.beam_size))

    def takes(self, name: str) -> bool:
        """Whether a system takes part; one process always does."""
        return name in (ALONE, *(self.arguments.only or (name,)))

    def commands(self, source: Path, output: Path) -> dict[str, list[str]]:
        """The command of each system."""
        sieve = [sys.executable, "-m", "sieve.cli"]
        bulk = [*sieve, "bulk", self.arguments.model, str(source), "--output", str(output)]
        files = ["--input", str(source), "--output", str(output)]
        peer = [sys.executable, str(HERE / "bulk_ctranslate2.py"), self.arguments.model]
        peer += [str(self.converted), str(source), str(output), "--workers", str(self.cores)]
        return {
            ALONE: [
                *sieve, "translate", self.arguments.model, *files, "--threads", str(self.cores),
                *self.search,
            ],
            "Ray": [*bulk, *self.search],
            "local": [*bulk, "--local", *self.search],
            PEER: [*peer, *self.search],
        }  # fmt: skip

    def convert(self) -> None:
        """Makes the peer's model."""
        from serve_ctranslate2 import converted

        converted(find_model(self.arguments.model), self.converted)

    def run(self, name: str, lines: list[str]) -> Run:
        """One run of a system."""
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            source, output = Path(scratch, "in.txt"), Path(scratch, "out")
            source.write_text("".join(lines), encoding="utf-8")
            started = time.perf_counter()
            with tree_clock() as clock:
                done = subprocess.run(
                    self.commands(source, output)[name], capture_output=True, text=True
                )
                seconds = time.perf_counter() - started
            if done.returncode:
                raise SystemExit(f"{name}: {done.stderr[-2000:]}")
            manifest = output / "manifest.json"
            tokens = read_json(manifest)["tokens"] if manifest.is_file() else {}
            return Run(len(lines), seconds, clock.seconds, tokens)


def sentences(data: Path) -> Iterator[str]:
    """Lines that hold words."""
    for text in TEXTS:
        with bz2.open(data / text, "rt", encoding="utf-8") as file:
            yield from (line for line in file if line.strip())


def measured(systems: Systems, arguments: argparse.Namespace) -> dict[str, Any]:
    """All rounds."""
    lines = list(islice(sentences(arguments.data), SHORT + CALIBRATION))
    begin = systems.run(ALONE, lines[:SHORT])
    tried = systems.run(ALONE, lines) - begin
    count = SHORT + int(60 * arguments.minutes * tried.speed)
    lines = list(islice(sentences(arguments.data), count))
    note(f"{len(lines)} lines")
    names = [name for name in systems.commands(Path(), Path()) if systems.takes(name)]
    runs: dict[str, list[Run]] = {name: [] for name in names}
    starts: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(arguments.rounds):
        for name in names:
            short = systems.run(name, lines[:SHORT])
            rest = systems.run(name, lines) - short
            runs[name].append(rest)
            starts[name].append(short.seconds - SHORT / rest.speed)
            note(f"{name}: {rest.speed:.1f} sentences per second, {rest.cost:.3f} CPU s per 1,000")
    tokens = next((run[0].tokens for run in runs.values() if run[0].tokens), {})
    return {
        "lines": len(lines),
        "tokens_per_line": {
            side: round(total / (len(lines) - SHORT), 2) for side, total in tokens.items()
        },
        "systems": {
            name: described(runs[name], runs[ALONE], systems.cores)
            | {"seconds_to_start": round(median(starts[name]), 1)}
            for name in names
        },
    }


def described(runs: list[Run], alone: list[Run], cores: int) -> dict[str, Any]:
    """A system beside one process, round by round."""
    pairs = list(zip(runs, alone, strict=True))
    return {
        "sentences_per_second": [round(run.speed, 2) for run in runs],
        "per_second_and_core": round(median(run.speed for run in runs) / cores, 2),
        "speed_relative_to_one_process": [round(run.speed / own.speed, 4) for run, own in pairs],
        "cpu_seconds_per_1000": [round(run.cost, 3) for run in runs],
        "cpu_relative_to_one_process": [round(run.cost / own.cost, 4) for run, own in pairs],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="DATA")
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="of the systems, as named there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        systems = Systems(arguments, Path(folder))
        if systems.takes(PEER):
            systems.convert()
        result = measured(systems, arguments)
    what = {"command": command(), "model": arguments.model, "beam_size": arguments.beam_size}
    kept = earlier(RESULT, arguments.only)
    write_json(RESULT, {**what, "cores": systems.cores, "machine": machine(), **result, **kept})


if __name__ == "__main__":
    main()
