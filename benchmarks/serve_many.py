"""Several hundred models behind one server, each open while it is used.

A folder of models, which share the files of one (by links) and differ in the language that they
say they read: as many imported models, without their sizes on disk. Every model is asked for once;
then the server is left alone until all are closed again.

  python benchmarks/serve_many.py --models 300

Writes docs/results/serve_many.json.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from cpu_common import command, machine, note
from serve_clients import answer, good_request, metric
from serve_load import started
from sieve.bundle.catalogue import find_model
from sieve.bundle.integrity import MANIFEST_FILE
from sieve.files import read_json, write_json

RESULT = Path("docs/results/serve_many.json")
IDLE_MINUTES = 0.25
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def folder_of(model: Path, number: int, folder: Path) -> list[str]:
    """Models that are one model under many languages; gives these."""
    codes = [f"x{one}{two}" for one in LETTERS for two in LETTERS][:number]
    for code in codes:
        directory = folder / f"{code}-de"
        directory.mkdir()
        for path in model.iterdir():
            if path.name not in (MANIFEST_FILE, "config.json"):
                os.symlink(path, directory / path.name)
        config = read_json(model / "config.json")
        write_json(directory / "config.json", {**config, "languages": [code, "de"]})
    return codes


def megabytes(server: psutil.Process) -> float:
    """Of all processes of a server; what they share counts once."""
    processes = [server, *server.children(recursive=True)]
    return round(sum(each.memory_full_info().pss for each in processes) / 1e6, 1)


async def first_answers(port: int, codes: list[str]) -> list[float]:
    """Milliseconds of the first request of each model, each on a connection of its own."""
    times = []
    for code in codes:
        begin = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(good_request("Good morning.", code))
        status, _ = await answer(reader)
        assert status == 200
        writer.close()
        times.append(1000 * (time.perf_counter() - begin))
    return sorted(times)


def open_models(port: int, some: bool) -> int:
    """How many are open, once some are, or none; workers tell now and then."""
    while bool(count := int(asyncio.run(metric(port, "sieve_open_models")))) != some:
        time.sleep(0.2)
    return count


def served(folder: Path, codes: list[str], workers: int) -> dict[str, Any]:
    """A server of all models, from its start until the last one is closed."""
    program = [sys.executable, "-m", "sieve.cli", "serve", str(folder), "--port", "0"]
    program += ["--idle-minutes", str(IDLE_MINUTES), "--workers", str(workers)]
    begin = time.perf_counter()
    with started(program) as (port, server):
        result: dict[str, Any] = {
            "start_seconds": round(time.perf_counter() - begin, 2),
            "mb_at_first": megabytes(server),
        }
        times = asyncio.run(first_answers(port, codes))
        result |= {
            "first_answer_ms": {"median": round(median(times), 1), "longest": round(times[-1], 1)},
            "open_then": open_models(port, some=True),
            "mb_then": megabytes(server),
        }
        open_models(port, some=False)
        return {**result, "mb_when_all_are_closed": megabytes(server)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="en-de", help="directory or built-in name")
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--output", type=Path, default=RESULT)
    arguments = parser.parse_args()
    model = find_model(arguments.model)
    result: dict[str, Any] = {
        "command": command(),
        "machine": machine(),
        "models": arguments.models,
        "bytes_of_a_model": sum(path.stat().st_size for path in model.iterdir()),
        "idle_minutes": IDLE_MINUTES,
        "servers": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        codes = folder_of(model, arguments.models, Path(folder))
        for workers in (1, 2):
            result["servers"][f"workers_{workers}"] = served(Path(folder), codes, workers)
            note(f"{workers}: {result['servers'][f'workers_{workers}']}")
    write_json(arguments.output, result)


if __name__ == "__main__":
    main()
