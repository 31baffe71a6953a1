"""Memory and speed of `sieve prepare` as the corpus grows: 100 thousand and 5 million pairs.

The pairs are generated (English- and German-like, deterministic). Peak memory is the sum over the
process and its workers, sampled. Writes docs/results/prepare_memory.json.

    python benchmarks/prepare_memory.py [--pairs 100000 5000000] [--scratch DIR]
"""

import argparse
import json
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy
import psutil
import sentencepiece

import sieve

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "prepare_memory.json"
ENGLISH = (
    "the a my this every old new small large long happy strange house garden letter morning "
    "winter friend teacher question answer garden street window train river mountain brother "
    "doctor goes stands finds reads writes sees keeps loses wants likes knows near behind "
    "before after with without under and but because while today tomorrow never always often "
    "again only very quite there here"
)
GERMAN = (
    "der eine mein dieser jedes alte neue kleine große lange glückliche seltsame Haus Garten "
    "Brief Morgen Winter Freund Lehrer Frage Antwort Garten Straße Fenster Zug Fluss Berg "
    "Bruder Arzt geht steht findet liest schreibt sieht behält verliert will mag weiß neben "
    "hinter vor nach mit ohne unter und aber weil während heute morgen nie immer oft wieder nur "
    "sehr ziemlich dort hier"
)
CLAUSES = 20_000


def clauses(words: list[str], seed: int) -> list[str]:
    """Some words of the language, and sometimes a name or a number that nobody has seen."""
    rng = random.Random(seed)
    result = []
    for _ in range(CLAUSES):
        chosen = rng.choices(words, k=rng.randint(5, 9))
        if rng.random() < 0.3:
            chosen.append("".join(rng.choices("aeioubdfgklmnprstvz", k=7)).capitalize())
        if rng.random() < 0.2:
            chosen.append(str(rng.randint(1, 100_000)))
        result.append(" ".join(chosen))
    return result


def generate(directory: Path, pairs: int) -> None:
    sides = [(clauses(ENGLISH.split(), 1), "en"), (clauses(GERMAN.split(), 2), "de")]
    for texts, language in sides:
        rng = random.Random(3)  # the same for both sides: sentences of like length
        with (directory / f"{pairs}.{language}").open("w", encoding="utf-8") as file:
            for _ in range(pairs):
                first, second = int(rng.random() * CLAUSES), int(rng.random() * CLAUSES)
                file.write(f"{texts[first]}, {texts[second]}.\n")


def tree_memory(process: psutil.Process) -> dict[str, int]:
    """Resident bytes of a process and of all its children."""
    try:
        own = process.memory_info().rss
        children = process.children(recursive=True)
    except psutil.NoSuchProcess:
        return {"main": 0, "all": 0}
    total = own
    for child in children:
        try:
            total += child.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return {"main": own, "all": total}


def measure(command: list[str], log: Path) -> dict[str, Any]:
    """Runs a command; returns seconds and peaks."""
    peak = {"main": 0, "all": 0}
    start = time.monotonic()
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            memory = tree_memory(watched)
            peak = {key: max(peak[key], memory[key]) for key in peak}
            time.sleep(0.05)
        table = process.stdout.read() if process.stdout else ""
    if process.returncode:
        sys.exit(log.read_text())
    stages = re.findall(r"(clean|encode): .* (\d+) pairs/s", log.read_text())
    return {
        "seconds": round(time.monotonic() - start, 1),
        "pairs_per_second": {stage: int(speed) for stage, speed in stages},
        "peak_mib": {key: round(value / 2**20) for key, value in peak.items()},
        "table": table.splitlines(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 5_000_000])
    parser.add_argument("--scratch", type=Path, default=None)
    arguments = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as name:
        directory = Path(name)
        for pairs in arguments.pairs:
            generate(directory, pairs)
            options = [
                "--languages",
                "en",
                "de",
                "--vocab-size",
                "8000",
                "--sample-pairs",
                "100000",
            ]
            files = [str(directory / f"{pairs}.{side}") for side in ("en", "de")]
            command = ["sieve", "prepare", "--pair", *files, *options, "--output", "OUT"]
            real = [sys.executable, "-m", "sieve.cli", *command[1:-1], str(directory / "out")]
            result = measure([*real, "--overwrite"], directory / "log")
            shown = " ".join(command).replace(name, "SCRATCH")
            runs.append({"pairs": pairs, "command": shown, **result})
            print(json.dumps(runs[-1], indent=2), flush=True)
            for path in files:
                Path(path).unlink()
    machine = {
        "cores": psutil.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "cpu": cpu_name(),
        "load_at_end": round(psutil.getloadavg()[0], 1),
    }
    versions = {
        "sieve": sieve.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "sentencepiece": sentencepiece.__version__,
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    command = " ".join(["python", *sys.argv])
    content = {"command": command, "runs": runs, "machine": machine, "versions": versions}
    RESULTS.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    found = re.search(r"model name\s*: (.*)", text)
    return found[1] if found else platform.processor()


if __name__ == "__main__":
    main()
