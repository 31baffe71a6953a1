"""The server under load, beside CTranslate2 behind the same web layer.

16 clients ask one thing after the other for minutes, texts of mixed lengths; then once more with
bad requests in between, on Sieve alone. Then one client alone, against the engine's own time for
the same texts; and how long the server takes from its start to the first translation. Servers and
clients share this machine.

  python benchmarks/serve_load.py --duration 300 --malformed 10000
"""

import argparse
import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from cpu_common import command, machine, note, summary
from serve_clients import Tally, answer, bad_clients, good_client, good_request
from sieve.files import write_json
from sieve.translate.load import load
from sieve.translate.translation import Request

NEWSTEST = Path("test/newstest2019.en-de.en")
HERE = Path(__file__).parent
SENTENCES = """Good morning.
Where is the station?
The train to Hamburg leaves at half past nine.
She closed the window because it had started to rain.
We will let you know as soon as there is any news.
The new bridge is longer than the old one, but it took only half as long to build.
Nobody could say why the lights had gone out in the whole street that evening.
Please keep the receipt, as you may need it if you want to return the shoes.
The committee will meet again on Thursday to discuss the budget for the coming year.
He had been working in the garden all day, and when he came in he was too tired to eat.
According to the report, more than two thirds of the water is lost before it reaches the fields.
If you make yourself at home here, you will soon find out that the neighbours are friendly people.
""".splitlines()
"""Where no test set is at hand."""


def main() -> None:
    arguments = parse()
    if (busy := os.getloadavg()[0]) > 0.5:
        note(f"this machine is busy (load {busy:.1f}): times will be too long")
    sentences = read_sentences(arguments.data)
    result: dict[str, Any] = {
        "command": shown_command(),
        "what": "requests of 16 clients, each one after the other, on /translate; mixed lengths; "
        "clients and server on the same cores; CTranslate2 has random weights of the same "
        "dimensions and translates to as many tokens as the source has",
        "machine": machine(),
        "clients": arguments.clients,
        "seconds": arguments.duration,
        "servers": {},
    }
    programs = servers(arguments)
    for name, program in programs.items():
        result["servers"][name] = loaded(program, sentences, arguments)
        note(f"{name}: {result['servers'][name]}")
        write_json(arguments.output, result)
    ours, theirs = result["servers"].get("sieve"), result["servers"].get("ctranslate2")
    if ours and theirs:
        ratio = ours["requests_a_second"] / theirs["requests_a_second"]
        result["times_the_requests"] = round(ratio, 2)
    if ours and arguments.malformed:
        result["with_malformed_requests"] = loaded(
            programs["sieve"], sentences, arguments, arguments.malformed
        )
        write_json(arguments.output, result)
    if ours:
        result["single"] = single(arguments, sentences)
        result["start_seconds"] = starts(arguments)
    write_json(arguments.output, result)
    print({key: value for key, value in result.items() if key not in ("machine", "what")})


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="en-de", help="directory or built-in name")
    parser.add_argument("--duration", type=float, default=300.0, help="seconds for each server")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--malformed", type=int, default=0, help="bad requests of a second run")
    parser.add_argument("--only", default="", help="sieve or ctranslate2")
    parser.add_argument("--data", type=Path, help=f"directory with {NEWSTEST}")
    parser.add_argument("--output", type=Path, default=Path("docs/results/serve_load.json"))
    return parser.parse_args()


def shown_command() -> str:
    """The command line without places of this machine."""
    words = command().split(" ")
    if "--model" in words[:-1]:
        place = words.index("--model") + 1
        words[place] = Path(words[place]).name
    return " ".join(words)


def servers(arguments: argparse.Namespace) -> dict[str, list[str]]:
    found = {
        "sieve": [sys.executable, "-m", "sieve.cli", "serve", arguments.model, "--port", "0"],
        "ctranslate2": [sys.executable, str(HERE / "serve_ctranslate2.py"), arguments.model],
    }
    return {name: found[name] for name in found if arguments.only in ("", name)}


def read_sentences(data: Path | None) -> list[str]:
    if data is None:
        note("no --data: twelve sentences of this file instead of newstest2019")
        return SENTENCES
    return (data / NEWSTEST).read_text(encoding="utf-8").splitlines()


def mixed(sentences: list[str], seed: int, number: int = 500) -> list[str]:
    """Texts of one sentence mostly, some of two, few of six."""
    rng = random.Random(seed)
    return [
        " ".join(rng.choices(sentences, k=rng.choice([1, 1, 1, 1, 1, 1, 2, 2, 2, 6])))
        for _ in range(number)
    ]


@contextmanager
def started(program: list[str]) -> Iterator[tuple[int, psutil.Process]]:
    """A server's port and process."""
    process = subprocess.Popen(program, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        lines = []
        while not (found := re.search(r"at http://127\.0\.0\.1:(\d+)", line := _line(process))):
            lines.append(line)
            if not line:
                sys.exit(f"{' '.join(program)} did not start: {''.join(lines)}")
        # a pipe that nobody reads would hold the server up once it is full
        threading.Thread(target=_pass_on, args=(process,), daemon=True).start()
        yield int(found[1]), psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def _pass_on(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        note(line.rstrip())


def loaded(
    program: list[str], sentences: list[str], arguments: argparse.Namespace, malformed: int = 0
) -> dict[str, Any]:
    """A server under load, with so many bad requests in between."""
    with started(program) as (port, process):
        tally, memory = asyncio.run(_load(port, process, sentences, arguments, malformed))
        alive = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        cpu = process.cpu_times()
    times = np.array(tally.milliseconds)
    settled = memory[len(memory) // 5 :]
    return {
        "requests": len(times),
        "requests_a_second": round(len(times) / arguments.duration, 2),
        "ms": {f"p{q}": round(float(np.percentile(times, q)), 2) for q in (50, 90, 99)},
        "lost": dict(tally.lost),
        "malformed": dict(sorted(tally.malformed.items())),
        "alive": alive,
        "cpu_seconds": round(cpu.user + cpu.system, 1),
        "memory_mb": {
            "start": memory[0],
            "after_a_fifth": settled[0],
            "end": settled[-1],
            "most": max(memory),
            "growth_percent": round(100 * (settled[-1] / settled[0] - 1), 2),
        },
    }


async def _load(
    port: int,
    process: psutil.Process,
    sentences: list[str],
    arguments: argparse.Namespace,
    malformed: int,
) -> tuple[Tally, list[float]]:
    await good_client(port, mixed(sentences, seed=99), time.monotonic() + 1.0, Tally())  # warm
    tally = Tally()
    end = time.monotonic() + arguments.duration
    clients = [
        good_client(port, mixed(sentences, seed), end, tally) for seed in range(arguments.clients)
    ]
    noise = bad_clients(port, malformed, 0.95 * arguments.duration, tally)
    memory: list[float] = []

    async def watch() -> None:
        while time.monotonic() < end:
            memory.append(round(process.memory_info().rss / 1e6, 2))
            await asyncio.sleep(1.0)

    await asyncio.gather(watch(), noise, *clients)
    return tally, memory


def single(arguments: argparse.Namespace, sentences: list[str]) -> dict[str, Any]:
    """One client alone, and the engine's own time for the same texts in turns."""
    translator = load(arguments.model, threads=1)
    texts = sentences[:200] if len(sentences) >= 200 else sentences * 16
    ours, direct = [], []

    async def ask(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number, text in enumerate([*texts[:10], *texts]):
            begin = time.perf_counter()
            writer.write(good_request(text))
            await answer(reader)
            between = time.perf_counter()
            translator.run([text], Request())
            if number >= 10:
                ours.append(between - begin)
                direct.append(time.perf_counter() - between)
        writer.close()

    program = servers(argparse.Namespace(**{**vars(arguments), "only": "sieve"}))["sieve"]
    with started(program) as (port, _):
        asyncio.run(ask(port))
    http, engine = summary(ours), summary(direct)
    return {
        "http_ms": http,
        "engine_ms": engine,
        "p90_difference_ms": round(http["p90"] - engine["p90"], 3),
        "p90_of_differences_ms": round(
            float(np.percentile(1000 * (np.array(ours) - np.array(direct)), 90)), 3
        ),
    }


def starts(arguments: argparse.Namespace, number: int = 5) -> list[float]:
    """Seconds from the command to the first translation."""
    program = servers(argparse.Namespace(**{**vars(arguments), "only": "sieve"}))["sieve"]

    async def ask(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(good_request("Good morning."))
        await answer(reader)
        writer.close()

    found = []
    for _ in range(number):
        begin = time.perf_counter()
        with started(program) as (port, _):
            asyncio.run(ask(port))
            found.append(round(time.perf_counter() - begin, 3))
    return sorted(found)


if __name__ == "__main__":
    main()
